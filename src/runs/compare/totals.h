/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of contexts inside recursions, which the spanning tree does not have. */
#pragma once

#include "runs/compare/compare.h"

enum fm_record_state {
    FM_RECORD_NONE,    /* the run has nothing there, or it follows from the graph */
    FM_RECORD_KNOWN,   /* what the context adds to its function's total */
    FM_RECORD_UNKNOWN, /* it ran in a recursion, and that was not recorded */
};

/* One measure of one run, by context of the common graph: the cost of all stacks whose outermost
 * activation of the function is in that context. */
struct fm_compare_records {
    uint64_t *values;
    uint8_t *states; /* enum fm_record_state */
};
void fm_compare_records_init(struct fm_compare_records *ret, const struct fm_compare *compare,
                             enum fm_side side, unsigned run, enum fm_measure_id measure);
void fm_compare_records_done(struct fm_compare_records *records);

/* Whether the context is in a recursion that was entered by another. */
bool fm_compare_is_inside(const struct fm_compare *compare, uint32_t pd);
/* Whether the spanning tree leads to the context from outside of its recursion. */
bool fm_compare_crosses(const struct fm_compare *compare, uint32_t pd);
