/* SPDX-License-Identifier: Apache-2.0 */
/* The procedures of a profile with their bodies: what each goal of a proc dynamic costs and how
 * often it ran, how its clique recurses. Costs are call sequence numbers. What was computed is
 * kept, so a pile belongs to one thread. */
#pragma once

#include "body/coverage.h"

struct fm_bodies;

/* procrep may be NULL: message then says why, NULL for "there is no file". All are borrowed. */
struct fm_bodies *fm_bodies_new(const struct fm_analysis *a, const struct fm_procrep *procrep,
                                const char *message);
void fm_bodies_free(struct fm_bodies *bodies); /* NULL is allowed */
typedef struct fm_bodies FmBodies;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmBodies, fm_bodies_free)
const struct fm_analysis *fm_bodies_analysis(const struct fm_bodies *bodies);

/* FM_ERROR_UNAVAILABLE when there is no readable file, or no body in it: in the words of the pages
 * ("Cannot find procedure representation"). The caller frees *ret. */
FM_MUST_USE bool fm_bodies_body(const struct fm_bodies *bodies, uint32_t ps, struct fm_body **ret,
                                GError **error);

/* A call site in one proc dynamic. */
struct fm_site_cost {
    uint32_t slot;
    int64_t calls, exits;
    int64_t total;      /* own + descendants: 1 for each call itself, and all below it */
    bool recursive;     /* a callee lies in the proc dynamic's clique */
    bool higher_order;  /* special, higher-order or method: its callee is not fixed */
    uint32_t csd_count; /* edges made here */
    uint32_t csd;       /* the first of them, 0 = none */
};
/* total / calls, 0 without calls. */
double fm_site_per_call(const struct fm_site_cost *site);

#define FM_NO_SITE UINT32_MAX

/* A proc dynamic with its body. */
struct fm_pd_body {
    uint32_t pd, ps, clique;
    uint32_t proc; /* index in the procrep */
    struct fm_body *body;
    struct fm_body_index *index;
    struct fm_coverage *coverage;
    struct fm_site_cost *sites; /* [css_count of the ps] */
    uint32_t site_count;
    uint32_t *goal_site; /* for each goal: into sites, or FM_NO_SITE */
    struct fm_cost cost; /* cost of the proc dynamic */
};

/* Facts about a proc dynamic; they belong to bodies. Errors: of the body, of its coverage (in the
 * words of the pages), and FM_ERROR_FORMAT when the counts contradict each other, naming procedure
 * and goal. A failure is kept too. */
FM_MUST_USE bool fm_bodies_pd(struct fm_bodies *bodies, uint32_t pd, const struct fm_pd_body **ret,
                              GError **error);
/* NULL for goals that are no calls. */
static inline const struct fm_site_cost *fm_pd_body_site(const struct fm_pd_body *pd, uint32_t goal)
{
    return pd->goal_site[goal] == FM_NO_SITE ? NULL : &pd->sites[pd->goal_site[goal]];
}

/* --- recursion (recursion.c) --- */

enum fm_recursion_kind {
    FM_RECURSION_NONE,
    FM_RECURSION_SINGLE,
    FM_RECURSION_DIVIDE, /* none or two recursive calls: divide and conquer */
    FM_RECURSION_MUTUAL, /* several proc dynamics */
    FM_RECURSION_OTHER,
    FM_RECURSION_ERRORS, /* not known */
};

/* Executions of a body with so many recursive calls. */
struct fm_recursion_level {
    uint32_t level;
    double cost; /* on average, of all but the recursive calls */
    double probability;
};

struct fm_recursion {
    enum fm_recursion_kind kind;
    uint32_t member_count; /* proc dynamics of the clique */
    uint32_t level_count;
    struct fm_recursion_level *levels; /* ascending */
    double total_calls;                /* calls of the proc dynamic, from outside and recursive */
    double parent_calls;               /* calls of the edge into the clique */
    double base_cost, base_probability, recursive_cost, recursive_probability; /* SINGLE */
    double runs;          /* that are in the profile */
    double depth;         /* SINGLE: average greatest; NONE: 0; others: negative, not known */
    uint32_t error_count; /* FM_RECURSION_ERRORS */
    char **errors;
};

/* For a program with counts only (C): a clique of one proc dynamic is SINGLE when
 * one of its call sites recurses, OTHER when several do. levels are not known; depth is the average
 * number of activations for each call from outside, which is the depth only where an activation
 * recurses at most once: SINGLE in nothing but name when the site stands in a loop. */
struct fm_recursion *fm_recursion_from_counts(const struct fm_analysis *a, uint32_t clique);
void fm_recursion_free(gpointer recursion); /* only for results of fm_recursion_from_counts() */

/* Recursion of a clique, cached; it belongs to bodies. Never fails: what goes wrong is
 * FM_RECURSION_ERRORS. */
const struct fm_recursion *fm_bodies_recursion(struct fm_bodies *bodies, uint32_t clique);
/* Cost of a call at that depth of a single recursion. */
double fm_recursion_cost_at(const struct fm_recursion *recursion, double depth);
/* Of FM_RECURSION_SINGLE: recursive calls within each other below a call from outside, on average;
 * the depth counts that call, too. */
double fm_recursion_levels(const struct fm_recursion *recursion);
/* The nearest whole number, halves upwards. */
double fm_round_half_up(double value);
/* The per-call cost of a recursive site: single recursion only. It is what the tool of Mercury
 * takes for one run, and so the same for a sum of equal runs. */
double fm_recursion_site_cost(const struct fm_recursion *recursion,
                              const struct fm_site_cost *site);
/* Why recursive sites have no cost; NULL where they have. The caller frees. */
char *fm_recursion_why_no_cost(const struct fm_recursion *recursion);

/* The data that the type is read from, of a body: for tests, and for pages that show it. */
struct fm_recursion_data {
    bool dead; /* never entered */
    uint32_t maximum;
    uint32_t level_count;
    struct fm_recursion_level *levels;
    bool nondet, multi; /* a live goal is */
    char *error;        /* a probability out of range, too many levels */
};
void fm_recursion_data_of(const struct fm_pd_body *pd, struct fm_recursion_data *ret);
void fm_recursion_data_clear(struct fm_recursion_data *data);
