/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of costs as a window shows them: a bar, one measure, who it is last. Pages that have it are
 * the same as their tables of all measures, which are a click away and what other formats have. */
#pragma once

#include "pages/profile/measured/measure.h"
#include "pages/profile/parts/page.h"

/* Whether the page is for a window, of a C program, and nobody chose its columns; then *ret is the
 * measure that it is ordered by. Where no order was asked for it is by that measure, dearest first:
 * with what is called, or alone. */
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
/* Begins the table and adds its columns but the last ones, which the caller adds. */
void fm_cost_table_begin(struct fm_cost_table *ret, struct fm_page *page,
                         const struct fm_measured *measured, unsigned columns, const char *name);
void fm_cost_column(struct fm_table *table, const char *title, const char *name, unsigned priority,
                    enum fm_column_class column_class);
/* Begins a row and adds all cells but those of the caller's
 * columns. has_total: else there is none, as of calls within recursions. */
void fm_cost_table_row(const struct fm_cost_table *costs, const char *role,
                       const struct fm_cost *cost, bool has_total);
/* A link to the same page with all columns. */
void fm_link_all_columns(struct fm_page *page);
