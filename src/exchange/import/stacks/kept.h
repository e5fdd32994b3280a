/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks with a recursion that come again: who is on such a stack does not follow from the call of
 * its innermost frame, so their values are summed up by stack, and each stack is built once more in
 * the end. */
#pragma once

#include "exchange/import/stacks.h"

struct kept_frame {
    uint32_t function, line;
};

/* Part of struct fm_stacks; zeroed at first. */
struct kept {
    GArray *stacks;                /* struct kept_stack; NULL = none */
    GArray *frames;                /* struct kept_frame */
    GArray *sums[FM_MEASURES_MAX]; /* uint64_t by stack; NULL = all 0 */
};

/* Numbers of kept stacks among those of calls. */
#define KEPT_FIRST (1u << 31)

/* Keeps a stack whose frames are filled in by the caller; *ret_number: KEPT_FIRST, ... NULL: there
 * is no room. */
struct kept_frame *fm_stacks_kept_stack(struct kept *kept, uint32_t depth, uint32_t *ret_number);
void fm_stacks_kept_add(struct kept *kept, uint32_t number, unsigned measure, uint64_t value);
/* The frames of a stack, outermost first; NULL: there is none of this number. */
const struct kept_frame *fm_stacks_kept_frames(const struct kept *kept, uint32_t number,
                                               uint32_t *ret_depth);
uint64_t fm_stacks_kept_sum(const struct kept *kept, uint32_t number, unsigned measure);
void fm_stacks_kept_done(struct kept *kept);
