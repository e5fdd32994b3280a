/* SPDX-License-Identifier: Apache-2.0 */
/* Totals inside recursions, by context. A profile has one context for all depths of a recursion, so
 * the total of a function in one does not follow from the graph: it must be recorded when the
 * stacks are seen. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The cost of all stacks that contain the function of a proc dynamic and whose outermost
 * activation of it is in that proc dynamic. So each stack counts once for a function, and the
 * sum over the proc dynamics of a function is the function's total.
 *
 * Proc dynamics in recursions of several functions have a record, or their totals are not known.
 * Others have one only if their function may be active above, in another context: their total as
 * a context follows from the graph, and the record is their contribution to the function's
 * total. */
struct fm_inclusive_info {
    uint32_t measures; /* bit m: recorded of measure m */
    unsigned width;    /* how many these are */
    uint32_t count;
    uint32_t *pds;    /* ascending */
    uint64_t *values; /* [count * width], of each pd its measures in their order */
};

/* NULL: there is no record of the pd. Else `width` values. */
const uint64_t *fm_inclusive_find(const struct fm_inclusive_info *info, uint32_t pd);
/* Index of the measure in a record; -1: not recorded. */
static inline int fm_inclusive_place(const struct fm_inclusive_info *info, unsigned measure)
{
    if ((info->measures >> measure & 1u) == 0)
        return -1;
    return __builtin_popcount(info->measures & ((1u << measure) - 1u));
}
