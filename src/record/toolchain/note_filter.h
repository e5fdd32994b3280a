/* SPDX-License-Identifier: Apache-2.0 */
/* gcc prints a note on a pass that an option of fathom's disables, in each compilation, and cannot
 * be silenced. Build systems take any output on standard error for a warning, so this line is
 * removed from the compiler's output. */
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

/* Appends to out what may be passed on now: everything but the note; lines of the compiler proper
 * (recognised by its name) as soon as they are complete. */
void fm_note_filter_pass(struct fm_note_filter *filter, const char *bytes, gsize size,
                         GString *out);

/* At the end of input: appends the rest. */
void fm_note_filter_end(struct fm_note_filter *filter, GString *out);

/* Does this compiler's command (NULL at its end) print the note? */
bool fm_note_filter_is_needed(const char *const *arguments);
