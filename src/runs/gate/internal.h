/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runs/compare/timing.h"
#include "runs/gate/gate.h"

/* --- contexts selected by a path --- */

struct fm_places {
    const struct fm_compare *compare;
    GHashTable *after_name; /* ps of the common graph -> its name in after */
    uint32_t *pd_first;     /* [ps + 2] into pds */
    uint32_t *pds;          /* contexts of the spanning tree, by ps, ascending in its order */
};
void fm_places_init(struct fm_places *ret, const struct fm_compare *compare);
void fm_places_done(struct fm_places *places);
/* The contexts selected by the path of a limit, in the order of the tree; g_array_unref. */
GArray *fm_places_match(const struct fm_places *places, const struct fm_limit *limit);
/* Whether the context, or one above it, is among the matches, which are sorted by id as
 * fm_places_match returns them. */
bool fm_places_is_within(const struct fm_places *places, uint32_t pd, const GArray *matches);
/* Contexts whose totals add up to the cost of all stacks that contain one of the matches. */
struct fm_stacks {
    GArray *pds;  /* uint32_t, those of a recursion behind each other */
    bool overlap; /* some stacks may contain several of them: the sum is an upper bound */
};
void fm_places_stacks(const struct fm_places *places, const GArray *matches, struct fm_stacks *ret);
/* Adds up what each context adds to its function's total; a recursion counts once at most. whole:
 * totals of the spanning tree. */
int64_t fm_stacks_sum(const struct fm_stacks *stacks, const struct fm_compare *compare,
                      const int64_t *adds, const int64_t *whole);
double fm_stacks_sum_ticks(const struct fm_stacks *stacks, const struct fm_compare *compare,
                           const double *adds, const double *whole);
/* Whether that sum is an upper bound, if totals of these contexts are. */
bool fm_stacks_is_at_most(const struct fm_stacks *stacks, const struct fm_compare *compare,
                          const bool *at_most);
/* Whether a procedure of the common graph is in a file or folder. */
bool fm_places_is_in(const struct fm_places *places, uint32_t ps, const char *place);

/* --- bounds --- */

/* The quantity of a limit, for both sides, in the measure's own unit. */
struct fm_amount {
    int64_t value[FM_SIDES];
    int64_t calls[FM_SIDES]; /* divisor, at least 1 */
    bool uncounted;          /* it should be divided by calls, which were not counted */
    bool at_most[FM_SIDES];  /* an upper bound, as fm_judgement.at_most */
};

/* Evaluates "after op bound" exactly, whatever the numbers. scale: bytes a word and the like. */
bool fm_bound_holds(const struct fm_limit *limit, const struct fm_amount *amount, int64_t scale);
/* The value that just keeps the limit, for that value before; both in the displayed unit. */
double fm_bound_allowed(const struct fm_limit *limit, double before);
/* The bound's number in per cent. */
double fm_bound_percent(const struct fm_limit *limit);

/* --- time --- */

/* How an amount of time compares with its bound. */
struct fm_told {
    double p_fail; /* probability that chance gives a value that far beyond the bound */
    double p_pass; /* probability that chance gives a value that far within bound and margin */
    bool absolute; /* the bound applies to after's seconds; otherwise to the ratio of after to
                      before */
    double allowed, tolerated;
};
/* row NULL: the whole program. before, allowed: in the displayed unit, per call; calls: divisor, or
 * 1. */
void fm_time_against_bound(const struct fm_sampled *model, const struct fm_sampled_row *row,
                           const struct fm_limit *limit, double before, double allowed,
                           const double calls[FM_SIDES], struct fm_told *ret);

/* A limit on a sampled measure; these are judged together at the end. */
struct fm_timed {
    guint number; /* index of the judgement */
    enum fm_measure_id id;
    GArray *contexts; /* uint32_t; NULL = the whole program */
    bool overlap;     /* as fm_stacks */
    bool self;
    double calls[FM_SIDES];
};
void fm_timed_done(void *timed); /* for GArray */
/* timed: struct fm_timed. */
void fm_timed_judge(const struct fm_compare *compare, const GArray *timed, GArray *judgements,
                    const struct fm_gate_options *options);
