/* SPDX-License-Identifier: Apache-2.0 */
/* Time against bounds. Of s samples out of all N that a run had, a context has a binomial number;
 * of two runs' samples together those of the second are binomial, too. The test is the score test,
 * which fits Wilson's limits. */
#include <math.h>

#include "gate/internal.h"

/* No claim is made of time within this part of what it was: two runs of one build differ by as
 * much. */
#define FLOOR 0.02
#define LEAST_SAMPLES 20.0
/* A difference shows in four of five pairs of runs when it is so many deviations. */
#define SHOWS 4.0

static double upper_tail(double z)
{
    return 0.5 * erfc(z / G_SQRT2);
}

/* After may be this many times before, so that the limit is just kept. */
static double ratio_allowed(const struct fm_limit *limit, const struct fm_amount *amount,
                            double seconds_a_quantum)
{
    double before = (double)amount->value[FM_BEFORE] / (double)amount->calls[FM_BEFORE];
    double allowed = fm_bound_allowed(limit, amount, seconds_a_quantum) / seconds_a_quantum;
    return before > 0 ? allowed / before : INFINITY;
}

/* Deviations by which a share of n samples lies above (below) what the bound gives. */
static double deviations(double share, double expected, double n, bool at_most)
{
    double z = (share - expected) / sqrt(fmax(expected * (1 - expected), 1e-12) / n);
    return at_most ? z : -z;
}

static void relative(const double *samples, double ratio, double factor, bool at_most,
                     double confident, struct fm_told *ret)
{
    double n = samples[FM_BEFORE] + samples[FM_AFTER];
    double edge = ratio;
    /* Where the bound lies within the floor, what differs by less than the floor is no breach. */
    if (fabs(ratio - 1) < FLOOR)
        edge = at_most ? 1 + FLOOR : 1 - FLOOR;
    double expected = ratio * factor / (1 + ratio * factor);
    double beyond = edge * factor / (1 + edge * factor);
    double share = samples[FM_AFTER] / n;
    ret->p = upper_tail(deviations(share, beyond, n, at_most));
    ret->within = deviations(share, expected, n, at_most) <= -confident;
}

static void absolute(double samples, double bound, double all, bool at_most, double confident,
                     struct fm_told *ret)
{
    double expected = fmin(bound / all, 1);
    double z = deviations(samples / all, expected, all, at_most);
    ret->p = expected >= 1 && at_most ? 1 : upper_tail(z);
    ret->within = (expected >= 1 && at_most) || z <= -confident;
}

/* The z of a one-sided confidence. */
static double z_of(double confidence)
{
    double low = 0, high = 10;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(upper_tail(middle) > 1 - confidence / 100 ? &low : &high) = middle;
    }
    return low;
}

void fm_time_against_bound(const struct fm_compare *c, enum fm_measure_id measure,
                           const struct fm_limit *limit, const struct fm_amount *amount,
                           struct fm_told *ret)
{
    double samples[FM_SIDES], each[FM_SIDES];
    double seconds = fm_compare_scale(c, measure);
    bool at_most = limit->op == FM_AT_MOST || limit->op == FM_BELOW;
    double confident = z_of(limit->confidence);
    *ret = (struct fm_told){.p = 1};
    g_assert(limit->op != FM_EQUAL);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        each[side] = fmax(fm_compare_sample(c, measure, (enum fm_side)side), 1);
        samples[side] = (double)amount->value[side] / each[side];
    }
    double base = limit->bound == FM_BOUND_ABSOLUTE ? samples[FM_AFTER] : samples[FM_BEFORE];
    ret->least = base > 0 ? SHOWS / sqrt(base) : 0;
    if (limit->bound == FM_BOUND_ABSOLUTE) {
        double whole = measure == FM_QUANTA ? (double)c->side[FM_AFTER]->user_quanta
                                            : (double)fm_compare_total(c, measure, FM_AFTER);
        double bound = fm_bound_allowed(limit, amount, seconds) * (double)amount->calls[FM_AFTER] /
                       seconds / each[FM_AFTER];
        double all = fmax(whole / each[FM_AFTER], 1);
        ret->few = samples[FM_AFTER] < LEAST_SAMPLES && bound < LEAST_SAMPLES;
        absolute(samples[FM_AFTER], bound, all, at_most, confident, ret);
        return;
    }
    ret->few = samples[FM_BEFORE] + samples[FM_AFTER] < LEAST_SAMPLES;
    double ratio = ratio_allowed(limit, amount, seconds);
    double factor = each[FM_BEFORE] / each[FM_AFTER] * (double)amount->calls[FM_AFTER] /
                    (double)amount->calls[FM_BEFORE];
    if (ret->few)
        return;
    if (!isfinite(ratio) || ratio <= 0) {
        /* Nothing was there before, or nothing may be left: any time that is told is too much. */
        ret->within = !at_most;
        ret->p = at_most ? 0 : 1;
        return;
    }
    relative(samples, ratio, factor, at_most, confident, ret);
}
