/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of a profile's procedures: the cost and count of each goal in one context (proc
 * dynamic), and how its clique recurses. Costs are call sequence numbers. Results are cached
 * without locks, so one thread uses a struct fm_bodies. */
#pragma once

#include "mercury/body/coverage.h"

struct fm_bodies;

/* When procrep is NULL, message says why; NULL = there is no such file. All arguments are
 * borrowed. */
struct fm_bodies *fm_bodies_new(const struct fm_analysis *a, const struct fm_procrep *procrep,
                                const char *message);
void fm_bodies_free(struct fm_bodies *bodies); /* NULL is allowed */
typedef struct fm_bodies FmBodies;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmBodies, fm_bodies_free)
const struct fm_analysis *fm_bodies_analysis(const struct fm_bodies *bodies);

/* FM_ERROR_UNAVAILABLE when there is no readable file, or no such body in it; the message is that
 * of Mercury's pages ("Cannot find procedure representation"). The caller frees *ret. */
FM_MUST_USE bool fm_bodies_body(const struct fm_bodies *bodies, uint32_t ps, struct fm_body **ret,
                                GError **error);

/* A call site in one proc dynamic. */
struct fm_site_cost {
    uint32_t slot;
    int64_t calls, exits;
    int64_t total;      /* own + descendants: 1 for each call itself, and everything below */
    bool recursive;     /* a callee lies in the proc dynamic's clique */
    bool higher_order;  /* special, higher-order or method: its callee is not fixed */
    uint32_t csd_count; /* number of edges from this site */
    uint32_t csd;       /* the first edge, 0 = none */
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
    struct fm_site_cost *sites; /* [number of the procedure's call sites] */
    uint32_t site_count;
    uint32_t *goal_site; /* for each goal: into sites, or FM_NO_SITE */
    struct fm_cost cost; /* cost of the proc dynamic */
};

/* Returns facts about a proc dynamic; bodies owns them. Errors: of the body; of its coverage, in
 * the words of Mercury's pages; FM_ERROR_FORMAT when counts contradict each other, with procedure
 * and goal. Failures are cached, too. */
FM_MUST_USE bool fm_bodies_pd(struct fm_bodies *bodies, uint32_t pd, const struct fm_pd_body **ret,
                              GError **error);
/* Returns NULL for goals that are not calls. */
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

/* Executions of a body that make a given number of recursive calls. */
struct fm_recursion_level {
    uint32_t level;
    double cost; /* average cost, without the recursive calls */
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
    double runs;  /* number of runs that the profile sums up */
    double depth; /* SINGLE: average of the maximum depths; NONE: 0; others: negative, not known */
    uint32_t error_count; /* FM_RECURSION_ERRORS */
    char **errors;
};

/* For profiles with counts only (C programs): a clique of one proc dynamic is SINGLE when one of
 * its call sites recurses, OTHER when several do. levels are not known. depth is the average number
 * of activations for each call from outside. That is the recursion depth only when an activation
 * recurses at most once; a recursive call site in a loop is also called SINGLE. */
struct fm_recursion *fm_recursion_from_counts(const struct fm_analysis *a, uint32_t clique);
void fm_recursion_free(gpointer recursion); /* only for results of fm_recursion_from_counts() */

/* Returns the recursion of a clique, cached; bodies owns it. Never fails: errors become
 * FM_RECURSION_ERRORS. */
const struct fm_recursion *fm_bodies_recursion(struct fm_bodies *bodies, uint32_t clique);
/* Cost of a call at that depth of a single recursion. */
double fm_recursion_cost_at(const struct fm_recursion *recursion, double depth);
/* Average number of nested recursive calls below a call from outside, for FM_RECURSION_SINGLE. The
 * depth also counts the call from outside. */
double fm_recursion_levels(const struct fm_recursion *recursion);
/* Rounds to the nearest integer, halves upwards. */
double fm_round_half_up(double value);
/* Cost per call of a recursive site, for single recursion only. Mercury's tool computes it for one
 * run; for a sum of equal runs this gives the same result. */
double fm_recursion_site_cost(const struct fm_recursion *recursion,
                              const struct fm_site_cost *site);
/* Why recursive sites have no cost; NULL where they have one. The caller frees it. */
char *fm_recursion_why_no_cost(const struct fm_recursion *recursion);

/* The data that a body's recursion type is computed from: for tests, and for pages that show it. */
struct fm_recursion_data {
    bool dead; /* never entered */
    uint32_t maximum;
    uint32_t level_count;
    struct fm_recursion_level *levels;
    bool nondet, multi; /* true when a live goal is nondet, multi */
    char *error;        /* error message: a probability out of range, too many levels */
};
void fm_recursion_data_of(const struct fm_pd_body *pd, struct fm_recursion_data *ret);
void fm_recursion_data_done(struct fm_recursion_data *data);
