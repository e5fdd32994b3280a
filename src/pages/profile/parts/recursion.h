/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that connect the callers' cost of a recursion with a procedure's total. */
#pragma once

#include "pages/profile/parts/perf_columns.h"

struct fm_recursion_row {
    const char *role;
    unsigned before; /* empty cells before the label */
    const char *label;
    unsigned style;
    const struct fm_cost *cost;
};
void fm_recursion_row(struct fm_page *page, struct fm_table *table, const struct fm_perf *perf,
                      const struct fm_recursion_row *row);
/* Nothing when the others cost nothing. */
void fm_recursion_others_row(struct fm_page *page, struct fm_table *table,
                             const struct fm_perf *perf, unsigned before,
                             const struct fm_callers_sum *sum);
/* The sentence above the table; where: "below the callers". */
void fm_recursion_text(struct fm_page *page, const char *where);
