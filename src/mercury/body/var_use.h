/* SPDX-License-Identifier: Apache-2.0 */
/* How far into a call an argument is produced or first used, in call sequence numbers. Unifications
 * and other code without calls cost nothing. */
#pragma once

#include "mercury/body/bodies.h"

enum fm_var_use_type {
    FM_USE_CONSUMPTION, /* ground before: the first goal that mentions it */
    FM_USE_PRODUCTION,  /* free before, ground after: the goal that binds it */
    FM_USE_OTHER,
};
enum fm_var_use_type fm_var_use_type_of(const struct fm_head_var *head);

struct fm_var_use {
    double time; /* from entering the call to the first use */
    double cost; /* cost of the call, as a yardstick */
};

struct fm_var_use_search;

/* module: follow only callees that this module defines; NULL = all. totals: cliques that are not
 * followed cost the total of all their calls, as in the feedback files of Mercury's compiler;
 * otherwise the cost per call. */
struct fm_var_use_search *fm_var_use_search_new(struct fm_bodies *bodies, const char *module,
                                                bool totals);
void fm_var_use_search_free(struct fm_var_use_search *search); /* NULL is allowed */

/* Result for a callee that is not followed: consumed at once, produced at the end. */
struct fm_var_use fm_var_use_pessimistic(enum fm_var_use_type type, double cost);

/* Computes the use of argument number `argument`, from 0, by the call through csd, which costs
 * `cost`. recursion: of the caller's clique; depth: the depth in it, negative = not known. On false
 * *why says why it could not be computed; the caller frees it. */
FM_MUST_USE bool fm_var_use_of_call(struct fm_var_use_search *search, uint32_t csd,
                                    uint32_t argument, enum fm_var_use_type type, double cost,
                                    const struct fm_recursion *recursion, double depth,
                                    struct fm_var_use *ret, char **why);
/* Computes the use of a variable in a goal of a body, measured from the goal's beginning; cost: of
 * the goal. */
FM_MUST_USE bool fm_var_use_of_goal(struct fm_var_use_search *search, const struct fm_pd_body *pd,
                                    uint32_t goal, uint32_t var, enum fm_var_use_type type,
                                    double cost, double depth, struct fm_var_use *ret, char **why);

/* Returns, for each goal of a body, the probability that it makes a recursive call once it is
 * entered; g_free(). */
double *fm_recursion_probabilities(const struct fm_pd_body *pd);
/* Sum of weight * value / sum of weights; 0 without weight. */
double fm_weighted_average(const double *weights, const double *values, uint32_t count);
