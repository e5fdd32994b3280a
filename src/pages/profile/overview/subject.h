/* SPDX-License-Identifier: Apache-2.0 */
/* The subject of a command that gives it by name: one procedure or context, or several to choose
 * from. */
#pragma once

#include "pages/report.h"

/* How much of a recording must be known before the command's name can be looked up;
 * FM_KNOWN_NOTHING when it has no name. */
enum fm_known fm_subject_needs(const struct fm_command *command);

struct fm_subject {
    uint32_t *numbers; /* procedures or cliques, whichever the command is about; owned */
    uint32_t count;    /* at least 1; at most FM_SUBJECTS_MAX */
    uint32_t total;    /* that the name fits, shown or not */
    bool cliques;      /* numbers of cliques; else of procedures */
};
#define FM_SUBJECTS_MAX 100u

/* The command about the first of them by its number, as links of its page write it. A focus is
 * written to the buffer, which the command borrows; any name it had was borrowed likewise. */
void fm_subject_set(struct fm_command *command, const struct fm_subject *subject, char *focus,
                    size_t focus_size);
/* FM_ERROR_NOT_FOUND when nothing has the name; the message suggests similar ones. */
FM_MUST_USE bool fm_subject_find(const struct fm_open_profile *recording,
                                 const struct fm_command *command, struct fm_subject *ret,
                                 GError **error);
void fm_subject_done(struct fm_subject *subject);
