/* SPDX-License-Identifier: Apache-2.0 */
/* Call sites with their callees: of a clique, of a procedure. */
#pragma once

#include "pages/profile/parts/order.h"
#include "pages/profile/parts/perf_columns.h"

struct fm_site {
    struct fm_row row;
    char *label;       /* owned; shown as the row's name */
    uint32_t *callees; /* owned; data for the page's callees, NULL for a normal call */
    uint32_t callee_count;
    bool keeps_order; /* whether the order of its callees may be cached: it does not depend on the
                         page */
};
/* For sites with many callees, a page shows at most this number; others are on the next pages. */
#define FM_CALLEES_A_PAGE 1000u
struct fm_callees {
    /* Returns the procedure of a callee, and its row with the cost. */
    uint32_t (*ps)(void *data, const struct fm_site *site, uint32_t index);
    struct fm_row (*row)(void *data, const struct fm_site *site, uint32_t index);
    /* For a site with cached orders: all its callees' places by key, or NULL; and a function to
     * store them. */
    GBytes *(*kept_order)(void *data, const struct fm_site *site, uint32_t key);
    void (*keep_order)(void *data, const struct fm_site *site, uint32_t key, GBytes *order);
    void *data;
    uint64_t first, seen; /* counts over all sites of the page so far: fm_callees_begin() */
};
/* Selects the page of the command. */
void fm_callees_begin(const struct fm_page *page, struct fm_callees *callees);
/* Which of a site's next `count` callees are on the page: *ret_from up to, but not including,
 * *ret_end. */
void fm_callees_next(struct fm_callees *callees, uint32_t count, uint32_t *ret_from,
                     uint32_t *ret_end);
/* After all sites: which are shown, and links to the others. Nothing where all are shown. */
void fm_callees_end(struct fm_page *page, const struct fm_callees *callees);
void fm_sites_free(struct fm_site *sites, uint32_t count);
/* Sorts sites and their callees and adds their rows: location, name, performance; only callees on
 * this page. */
void fm_sites_print(const struct fm_page *page, struct fm_table *table, const struct fm_perf *perf,
                    struct fm_site *sites, uint32_t count, struct fm_callees *callees);
