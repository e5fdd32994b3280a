/* SPDX-License-Identifier: Apache-2.0 */
/* Callees of call sites with very many callees: summing and sorting them takes long, and each page
 * of a site needs them again. The most recent ones are cached, within a budget. Threads may share a
 * cache. */
#pragma once

#include "profile/analysis/analysis.h"

struct fm_site_cache;
struct fm_site_cache *fm_site_cache_new(void);
void fm_site_cache_free(struct fm_site_cache *cache); /* NULL is allowed */

/* The callees of a call site without a fixed callee: index of each callee's first call, as
 * fm_analysis_site_callee() takes it, and the cost of all its calls. */
struct fm_site_callees {
    uint32_t count;
    struct fm_cost cost;
    uint32_t starts[]; /* count */
};
/* A reference: g_atomic_rc_box_release(). cache may be NULL. */
struct fm_site_callees *fm_site_cache_callees(struct fm_site_cache *cache,
                                              const struct fm_analysis *a, uint32_t css);

/* Returns the order that fm_site_cache_keep_order() stored for the site and key: for each place,
 * the index of the callee there. A reference; NULL when it is not cached. */
GBytes *fm_site_cache_order(struct fm_site_cache *cache, uint32_t css, uint32_t key);
/* Only for sites whose callees are cached. */
void fm_site_cache_keep_order(struct fm_site_cache *cache, uint32_t css, uint32_t key,
                              GBytes *order);
/* Whether orders of that number of callees are cached: then it pays to sort all. */
bool fm_site_cache_keeps(uint32_t callees);
