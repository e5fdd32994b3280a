/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled time of two sides, of 1 to 20 runs each: which differences exceed chance and the
 * variation between runs.
 *
 * Sources of variation (the moderated split test; README.md has literature and figures):
 *
 *   sampling  given the times, the ticks x of a row are binomial (N, share). Known, so it costs no
 *             degrees of freedom: V_S = (1 - s_A)/(X_A + 1/2) + (1 - s_B)/(X_B + 1/2)
 *   a row     each function varies from run to run by itself. Its variance phi^2 is estimated from
 *             all rows together, and begins with 2 %: V_B = phi^2 (1/k_A + 1/k_B)
 *   the run   one factor for all rows, which the exact CPU times T show: V_T
 *
 * A row has two tests: that its time changed (p_abs), and that it did not merely change with
 * everything else (p_rel, without V_T, against the ratio of the whole). All logarithms are
 * natural; index 0 is before, 1 after. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FM_SAMPLED_RUNS_MAX 20u
/* assumed variation of a row, and of a run, until the runs determine it */
#define FM_SAMPLED_VARIATION 0.02
#define FM_SAMPLED_LEAST_TICKS 10.0

struct fm_sampled_side {
    unsigned runs;                       /* 1 to FM_SAMPLED_RUNS_MAX */
    double seconds[FM_SAMPLED_RUNS_MAX]; /* CPU time of each run */
    double tick[FM_SAMPLED_RUNS_MAX];    /* seconds per effective tick */
};

struct fm_sampled_options {
    double variation; /* 0 = FM_SAMPLED_VARIATION */
    bool other_work;  /* the exact numbers of calls differ: there is no factor common to all rows */
    bool seconds_sampled; /* no clock was read: seconds are computed from ticks */
    bool measured;        /* rows are measured, not sampled: there is no sampling noise */
};

/* Values common to all rows; set by fm_sampled_begin(). */
struct fm_sampled {
    struct fm_sampled_side side[2];
    struct fm_sampled_options options;
    double mean[2];       /* seconds of a mean run */
    double all[2];        /* N: effective ticks of all runs of a side */
    double per_second[2]; /* e: ticks of one second of a mean run, over all runs of the side */
    double runs_apart;    /* K = 1/k_A + 1/k_B */
    unsigned freedom;     /* d: degrees of freedom of the variation between runs */
    double whole_variance, whole_freedom; /* V_T, nu_T */
    double common;                        /* c: ratio of the whole within [1/1.5, 1.5] */
    double pooled;                        /* v: variance of a row from run to run, from all rows */
    double pooled_freedom;                /* nu_0 */
};

/* Ticks of a row, by sides. */
struct fm_sampled_row {
    double ticks[2]; /* sums over the runs of a side */
    /* variation of this row itself, (Q - 1)/m, and its weight (w) */
    double own_variance, own_weight;
};

void fm_sampled_begin(struct fm_sampled *ret, const struct fm_sampled_side *before,
                      const struct fm_sampled_side *after,
                      const struct fm_sampled_options *options);
/* ticks: [runs before + runs after]. */
void fm_sampled_row_init(const struct fm_sampled *model, const double *ticks,
                         struct fm_sampled_row *ret);
/* Uses all rows of a table, shown or not; call it once, before judging any of them. */
void fm_sampled_pool(struct fm_sampled *model, struct fm_sampled_row *rows, size_t count);

/* The variances of a row, of relative deviations. */
struct fm_sampled_variance {
    double split;    /* V_P: of the split between the sides */
    double sampling; /* V_S */
    double row;      /* V_B */
    double run;      /* V_T */
    double phi;      /* deviation of the row from run to run */
    double phi_freedom;
};
void fm_sampled_variance_of(const struct fm_sampled *model, const struct fm_sampled_row *row,
                            struct fm_sampled_variance *ret);

/* Result for the hypothesis "after takes ratio times before": deviations, by Student's t. */
struct fm_sampled_score {
    double t, freedom;
};
/* with_run: includes the variation of the whole. */
struct fm_sampled_score fm_sampled_score(const struct fm_sampled *model,
                                         const struct fm_sampled_row *row,
                                         const struct fm_sampled_variance *variance, double ratio,
                                         bool with_run);

struct fm_sampled_test {
    double p_abs, p_rel, p; /* p of both together, by which rows are judged */
    struct fm_sampled_score absolute, relative;
};
/* ratio: 1, or that of exact call counts, to test whether a call became more expensive. */
void fm_sampled_test(const struct fm_sampled *model, const struct fm_sampled_row *row, double ratio,
                     struct fm_sampled_test *ret);

/* --- intervals, 99 % --- */

struct fm_sampled_interval {
    double before, after;                /* seconds of a mean run */
    double ratio, ratio_low, ratio_high; /* high INFINITY: before was 0 */
    double difference, low, high;        /* seconds of a mean run */
};
void fm_sampled_interval_of(const struct fm_sampled *model, const struct fm_sampled_row *row,
                            struct fm_sampled_interval *ret);

/* The whole program, by its clock, without samples. */
struct fm_sampled_whole {
    double ratio, low, high, t, p;
    bool told;
};
void fm_sampled_whole_of(const struct fm_sampled *model, struct fm_sampled_whole *ret);
/* Its variance and degrees of freedom, for scores. */
double fm_sampled_whole_variance(const struct fm_sampled *model, double *ret_freedom);

/* --- many rows --- */

#define FM_SAMPLED_ALPHA 0.008 /* in 1 % of tables of equal builds, a row is reported */
#define FM_SAMPLED_PERHAPS 0.1

/* Weighted Holm: told[i] for each p[i]. The weights (above 0) must not depend on which side has
 * more. level (may be NULL): the level for each p; after the first one that failed, the level of
 * that one. Allocates one array of count. S. Holm, Scand. J. Statist. 6, 1979, with weights. */
void fm_sampled_holm(const double *p, const double *weight, size_t count, double alpha, bool *told,
                     double *level);

/* --- required effort --- */

/* The ratio - 1 of a change that would be detected in four of five tries at this level. */
double fm_sampled_least_told(const struct fm_sampled *model, const struct fm_sampled_row *row,
                             double level);

/* Ways to detect a ratio at a level, one-sided tail; 0 = impossible by that alone. row NULL: the
 * whole. */
struct fm_sampled_needed {
    unsigned runs;  /* runs of each side, in total; 0 = more than 1,000 */
    double seconds; /* seconds of a run before */
    double rate;    /* ticks a second */
};
void fm_sampled_needed_for(const struct fm_sampled *model, const struct fm_sampled_row *row,
                           double ratio, double tail, struct fm_sampled_needed *ret);

/* --- limits --- */

enum fm_sampled_verdict { FM_SAMPLED_PASS, FM_SAMPLED_CANNOT_TELL, FM_SAMPLED_FAIL };
/* a function exactly at its limit fails in one of a hundred tries */
#define FM_SAMPLED_FAILS 0.01
#define FM_SAMPLED_PASSES 0.05 /* one at limit and margin passes in one of twenty */

/* p_fail: probability that chance gives a value that far beyond the limit; p_pass: that it gives
 * one that far within limit and margin. */
struct fm_sampled_limit {
    double p_fail, p_pass;
    struct fm_sampled_score fail, pass;
};
/* allowed, tolerated: ratios of after to before. at_least: lower limit. row NULL: the whole. */
void fm_sampled_limit_relative(const struct fm_sampled *model, const struct fm_sampled_row *row,
                               double allowed, double tolerated, bool at_least,
                               struct fm_sampled_limit *ret);
/* Limit on after's seconds in a mean run, independent of before. */
void fm_sampled_limit_absolute(const struct fm_sampled *model, const struct fm_sampled_row *row,
                               double allowed, double tolerated, bool at_least,
                               struct fm_sampled_limit *ret);
/* The level of each look when looking after 2, 3, ... n runs a side and stopping at the first
 * decision: Pocock's constant bounds, so that all looks together make no more errors than one.
 * fails: for FM_SAMPLED_FAILS, else for FM_SAMPLED_PASSES. n under 3: one look. */
double fm_sampled_look_level(unsigned n, bool fails);
