/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of costs and their order. */
#pragma once

#include "pages/profile/parts/page.h"

struct fm_row {
    struct fm_cost cost;
    const char *file; /* order by context: file, then line */
    uint32_t line;
    const char *name;        /* order by name; borrowed */
    const char *full;        /* fm_full_name_ps() of the named procedure; borrowed */
    enum fm_command_id link; /* link of the name, with link_number; FM_CMD_COUNT = none */
    uint32_t link_number;
    uint32_t id; /* value for the page's own use: a ps, css, index */
};
/* Sorts by the page's order preference; fallback, when not NULL, replaces orders that are not by
 * cost. Cost: most expensive first, equal rows in reverse order of input; else stable. */
void fm_rows_sort(const struct fm_page *page, struct fm_row *rows, uint32_t count,
                  const struct fm_cost_order *fallback);
/* As above, for many rows, which are made only when they are shown. */
struct fm_row_source {
    void (*cost)(void *data, uint32_t index, struct fm_cost *ret);
    const char *(*name)(void *data, uint32_t index); /* borrowed */
    void *data;
    /* The file, borrowed; NULL: rows are in order of contexts. */
    const char *(*place)(void *data, uint32_t index, uint32_t *ret_line);
};
/* Index of the row at each of the first `wanted` places; NULL: unsorted. The caller frees it. */
uint32_t *fm_rows_order(const struct fm_page *page, const struct fm_row_source *source,
                        uint32_t count, uint32_t wanted);
/* Most expensive first: negative when a comes before b. Equal times are ordered by call sequence
 * numbers. */
int fm_cost_compare(const struct fm_cost *a, const struct fm_cost *b,
                    const struct fm_cost_order *order);
/* First and second key of that comparison. */
void fm_cost_key(const struct fm_cost *cost, const struct fm_cost_order *order, double *ret_value,
                 double *ret_tie);
/* A cell with the row's name, as a link when it leads somewhere. */
void fm_row_name_cell(const struct fm_page *page, struct fm_table *table, const struct fm_row *row,
                      unsigned style);
/* Costs that pages leave out by default: never called, or, for a file that ends in the middle of
 * things, entered but never left and without any cost. */
bool fm_cost_is_hidden(const struct fm_cost *cost);
