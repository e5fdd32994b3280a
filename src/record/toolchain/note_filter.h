/* SPDX-License-Identifier: Apache-2.0 */
/* gcc tells of a pass that an option of fathom's disables, in each compilation, and nothing makes
 * it silent. Build systems take any word on standard error for a warning, so this one line is taken
 * out of what the compiler says. */
#pragma once

#include <glib.h>
#include <stdbool.h>

struct fm_note_filter {
    GString *held; /* a line that may become the note, so far */
    bool decided;  /* the held text is known to begin like the note */
    bool inside;   /* a line of which something was handed on */
};

void fm_note_filter_init(struct fm_note_filter *filter);
void fm_note_filter_done(struct fm_note_filter *filter);

/* Appends to out what may be handed on now: all but the note, and lines of the compiler proper (by
 * its name at their beginning) as soon as they are whole. */
void fm_note_filter_pass(struct fm_note_filter *filter, const char *bytes, gsize size,
                         GString *out);

/* Nothing comes any more: appends what is held. */
void fm_note_filter_end(struct fm_note_filter *filter, GString *out);

/* Does this compiler's command (NULL at its end) print the note? */
bool fm_note_filter_is_needed(const char *const *arguments);
