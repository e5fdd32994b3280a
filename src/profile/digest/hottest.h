/* SPDX-License-Identifier: Apache-2.0 */
/* Where most of a measure is spent: the most expensive (context, function) pairs and recursions,
 * and the contexts that allocate most. The walk over all proc dynamics is done once, in steps, when
 * a recording is opened, or at the first request. The lists are short. */
#pragma once

#include "profile/analysis/analysis.h"

#define FM_HOT_MAX 20u

/* A function in one context, or in several with the same path (of several threads or calling
 * lines). */
struct fm_hot_path {
    uint32_t ps;
    uint32_t clique;   /* the most expensive of its contexts */
    uint32_t contexts; /* cliques */
    int64_t own, total, calls;
    bool inlined; /* further calls were not recorded */
};

/* A recursion in all its contexts: cliques of the same name and number of functions. */
struct fm_hot_recursion {
    uint32_t ps, procs; /* procs 1: calls itself only */
    uint32_t clique;    /* the most expensive context */
    uint32_t contexts;
    int64_t own, total; /* total: of contexts that are not nested in another of it */
    int64_t entered;    /* from outside */
    int64_t calls;      /* calls of its functions */
    bool inlined;       /* it was entered also where that was not recorded */
};

struct fm_hot; /* immutable when complete; before that, for one thread */

struct fm_hot *fm_hot_new(const struct fm_analysis *a);
/* Processes about `nodes` proc dynamics and cliques; true when done. */
bool fm_hot_step(struct fm_hot *hot, uint32_t nodes);
/* Another thread does a part of it by fm_hot_step_recursions(), which it calls until that is true;
 * fm_hot_step() does the rest, and while fm_hot_waits() there is nothing that it could do. To be
 * called before any step. */
void fm_hot_recursions_beside(struct fm_hot *hot);
bool fm_hot_step_recursions(struct fm_hot *hot, uint32_t nodes);
bool fm_hot_waits(const struct fm_hot *hot);
void fm_hot_free(struct fm_hot *hot); /* NULL is allowed */

/* Does the remaining steps. For time, calls, allocations, words, and bytes live at the end and at
 * the peak; empty for other measures. Largest own cost first; at most FM_HOT_MAX, in *ret,
 * borrowed. With skip (measures of memory only), wrappers of the allocator are replaced by their
 * callers. The costs are exact; the ranking is made among the 4,096 most expensive contexts. */
unsigned fm_hot_paths(struct fm_hot *hot, enum fm_measure_id measure, bool skip,
                      const struct fm_hot_path **ret);
/* Largest total first. */
unsigned fm_hot_recursions(struct fm_hot *hot, enum fm_measure_id measure,
                           const struct fm_hot_recursion **ret);
/* Number of functions that fm_hot_paths() skips: each has one call that allocates, allocates at
 * most once a call, and is called from several places. */
unsigned fm_hot_wrappers(struct fm_hot *hot);
bool fm_hot_is_wrapper(struct fm_hot *hot, uint32_t ps);
/* The function that allocates in a proc dynamic: the caller of a wrapper, which fm_hot_paths()
 * names, else its own. */
uint32_t fm_hot_owner(struct fm_hot *hot, uint32_t pd);
