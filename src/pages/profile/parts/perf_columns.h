/* SPDX-License-Identifier: Apache-2.0 */
/* The cost columns of tables, and the cells of a row. */
#pragma once

#include "pages/profile/parts/page.h"

enum fm_perf_value {
    FM_PERF_CALLS,
    FM_PERF_PORT,
    FM_PERF_COUNT,
    FM_PERF_PERCENT,
    FM_PERF_COUNT_PER_CALL,
    FM_PERF_TIME,
    FM_PERF_TIME_PER_CALL,
    FM_PERF_MEMORY,
    FM_PERF_MEMORY_PER_CALL,
};

struct fm_perf_column {
    enum fm_perf_value value;
    enum fm_measure_id measure;
    bool total;        /* own + descendants */
    const char *group; /* heading; equal neighbours form one group */
    enum fm_column_class column_class;
    const char *title;
    char name[64];
    bool sorts; /* the heading is a link that sorts by order */
    struct fm_cost_order order;
};

#define FM_PERF_COLUMNS_MAX 72
struct fm_perf {
    struct fm_perf_column columns[FM_PERF_COLUMNS_MAX];
    unsigned count;
    char further_titles[FM_MEASURES_MAX][32]; /* "Freed bytes" */
};
/* Chooses the columns of this page by its preferences; totals: also own + descendants. */
void fm_perf_init(struct fm_perf *perf, const struct fm_page *page, bool totals);
void fm_perf_header(const struct fm_perf *perf, const struct fm_page *page, struct fm_table *table);
/* The place and the name of a procedure, with a link that sorts each, before the other columns. */
void fm_perf_proc_header(const struct fm_perf *perf, const struct fm_page *page,
                         struct fm_table *table);
void fm_perf_cells(const struct fm_perf *perf, const struct fm_page *page, struct fm_table *table,
                   const struct fm_cost *cost);
/* Totals are left empty: of calls that have none. */
void fm_perf_self_cells(const struct fm_perf *perf, const struct fm_page *page,
                        struct fm_table *table, const struct fm_cost *cost);
void fm_perf_empty_cells(const struct fm_perf *perf, struct fm_table *table);

/* Appends to the cell of a total that it is an upper bound: that of this recursion. */
void fm_cell_of_recursion(const struct fm_page *page, struct fm_table *table, uint32_t clique);
/* The same where the cost says so. */
void fm_total_at_most(const struct fm_page *page, struct fm_table *table,
                      const struct fm_cost *cost, enum fm_measure_id measure);
