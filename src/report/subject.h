/* SPDX-License-Identifier: Apache-2.0 */
/* What a command is about, where it says so by name: one procedure or context, or several to
 * choose from. */
#pragma once

#include "report/report.h"

/* What is known of a recording must be at least this before the command's name can be looked up:
 * FM_KNOWN_NOTHING where it has none. */
enum fm_known fm_subject_needs(const struct fm_command *command);

struct fm_subject {
    uint32_t *numbers; /* procedures or cliques, whichever the command is about; owned */
    uint32_t count;    /* at least 1; at most FM_SUBJECTS_MAX */
    uint32_t total;    /* that the name fits, shown or not */
};
#define FM_SUBJECTS_MAX 100u

bool fm_subject_is_clique(enum fm_command_id id);
/* FM_ERROR_NOT_FOUND when nothing has the name; the message offers the nearest ones. */
FM_MUST_USE bool fm_subject_find(const struct fm_recording *recording,
                                 const struct fm_command *command, struct fm_subject *ret,
                                 GError **error);
void fm_subject_clear(struct fm_subject *subject);
