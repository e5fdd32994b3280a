/* SPDX-License-Identifier: Apache-2.0 */
/* The source text of C procedures with the cost of their lines. */
#pragma once

#include "pages/profile/parts/page.h"

/* pd 0: in all contexts, else in that one. */
void fm_source_add(struct fm_page *page, uint32_t ps, uint32_t pd);

/* --- pieces, for whole files --- */

struct fm_line_cost {
    bool any; /* calls are made there: their cost */
    struct fm_cost cost;
    bool time_known;
    uint64_t quanta; /* self time of the line */
    bool hottest;    /* the listing is opened there; of one line at most */
    bool runs_known;
    uint64_t runs;
    uint32_t callees[FM_SOURCE_CALLEES_MAX]; /* procedures that the line calls, each once */
    unsigned callee_count;
};
struct fm_line_span {
    uint32_t first, count;
};
/* Adds the costs of a procedure's lines to those of the span. */
void fm_source_add_costs(const struct fm_page *page, uint32_t ps, uint32_t pd,
                         struct fm_line_span span, struct fm_line_cost *costs);
/* Adds the listing. whole: reference of the heat colours. body: the text of the lines, which is
 * modified; NULL = only lines with costs are shown. Returns the number of lines. */
uint32_t fm_source_add_lines(struct fm_page *page, const char *file, struct fm_line_span span,
                             const struct fm_line_cost *costs, int64_t whole, char *body);
/* Says that times of lines are missing, where they could be there. Returns whether it did. */
bool fm_source_add_time_note(struct fm_page *page);
