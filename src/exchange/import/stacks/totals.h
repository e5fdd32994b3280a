/* SPDX-License-Identifier: Apache-2.0 */
/* Totals inside recursions, of stacks that are read (struct fm_inclusive_info).
 *
 * A stack is plain when each of its contexts was made by the very call on it. Who is on a plain
 * stack follows from its innermost context, so those cost nothing here. On others a function may
 * stand more than once, or be left out by a call that closes a recursion: what is added to such a
 * stack is kept with its innermost frame, goes to the frame below when a frame is left, and is
 * charged to a function as its outermost frame is. So each stack counts once for each function, and
 * a frame costs the same however deep the stack is. */
#pragma once

#include "profile/file/profile.h"

struct fm_import_totals;

struct fm_import_totals *fm_import_totals_new(void);
void fm_import_totals_free(struct fm_import_totals *totals); /* NULL is allowed */

/* A frame that is not plain was pushed. */
void fm_import_totals_begin(struct fm_import_totals *totals);
/* A context was entered while its function was active in another. */
void fm_import_totals_below_itself(struct fm_import_totals *totals, uint32_t pd);
/* To the innermost frame, number index of the stack, which is not plain. made: its context, if the
 * call on the stack made it, else 0. */
void fm_import_totals_add(struct fm_import_totals *totals, uint32_t index, uint32_t made,
                          unsigned measure, uint64_t value);
/* The frame is left, which is not plain. outermost: its context, if its function is active nowhere
 * below, else 0. plain: the context of the frame below, if that is plain, else 0. */
void fm_import_totals_leave(struct fm_import_totals *totals, uint32_t index, uint32_t outermost,
                            uint32_t plain);

/* To the profile, when all frames are left. */
void fm_import_totals_tell(struct fm_import_totals *totals, struct fm_profile *profile);
/* For a profile without contexts (FM_NATURE_ARCS): the recorded cost of a function's calls from
 * others, but at most its recursion's cost. */
void fm_import_totals_of_arcs(struct fm_profile *profile);
