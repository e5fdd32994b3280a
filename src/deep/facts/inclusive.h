/* SPDX-License-Identifier: Apache-2.0 */
/* Totals inside recursions, by context. A profile keeps one context for all depths of a recursion,
 * so what a function in one costs with all that it calls does not follow from the graph: only who
 * saw the stacks knows it. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The cost of all stacks that hold the function of a proc dynamic, whose outermost activation on
 * them is in that proc dynamic. So each stack counts once for a function, and the sum over the proc
 * dynamics of a function is the function's total.
 *
 * Proc dynamics of recursions of several have a record, or their totals are not known. Another has
 * one only if its function may be active above it, in another context: its total as a context
 * follows from the graph, and what it adds to its function's total is the record. */
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
