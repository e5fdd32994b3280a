/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of costs for a window: a bar, one measure, the name last. The same page with tables of all
 * measures is a link away, and is used in other formats. */
#pragma once

#include "pages/profile/measured/measure.h"
#include "pages/profile/parts/page.h"

/* Whether the page is for a window, of a C program, with default columns. Then *ret is the measure
 * by which it is ordered. The default order is by that measure, most expensive first: total, or
 * self only. */
bool fm_page_is_ranked(struct fm_page *page, bool with_descendants, struct fm_measured *ret);

enum fm_cost_columns {
    FM_COSTS_TOTAL = 1,
    FM_COSTS_PER_CALL = 2, /* columns per call, of the total */
    FM_COSTS_BYTES = 4,    /* allocated, where that is recorded and not the measure */
};
struct fm_cost_table {
    struct fm_page *page;
    struct fm_measured measured, bytes;
    unsigned columns;
    bool has_calls, has_bytes;
    struct fm_table *table;
};
/* Begins the table and adds its columns, except the last ones, which the caller adds. */
void fm_cost_table_begin(struct fm_cost_table *ret, struct fm_page *page,
                         const struct fm_measured *measured, unsigned columns, const char *name);
void fm_cost_column(struct fm_table *table, const char *title, const char *name, unsigned priority,
                    enum fm_column_class column_class);
/* Begins a row and adds all cells except those of the caller's columns. has_total: false for calls
 * within recursions. */
void fm_cost_table_row(const struct fm_cost_table *costs, const char *role,
                       const struct fm_cost *cost, bool has_total);
/* A link to the same page with all columns. */
void fm_link_all_columns(struct fm_page *page);
