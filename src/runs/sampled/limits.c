/* SPDX-License-Identifier: Apache-2.0 */
/* Compares time with limits: beyond, within limit and margin, or neither can be shown. */
#include <math.h>

#include "runs/sampled/model.h"
#include "runs/sampled/tails.h"

/* P(t >= t), one-sided. */
static double upper(struct fm_sampled_score score)
{
    double tail = fm_sampled_student(score.t, score.freedom) / 2;
    return score.t >= 0 ? tail : 1 - tail;
}

static struct fm_sampled_score turned(struct fm_sampled_score score)
{
    return (struct fm_sampled_score){-score.t, score.freedom};
}

static void judge(struct fm_sampled_limit *ret, bool at_least)
{
    if (at_least)
        ret->fail = turned(ret->fail);
    else
        ret->pass = turned(ret->pass);
    ret->p_fail = upper(ret->fail);
    ret->p_pass = upper(ret->pass);
}

/* From the logarithm of a ratio that was not sampled. */
static struct fm_sampled_score of_ratio(double ratio, double variance, double freedom)
{
    struct fm_sampled_score score = {.freedom = freedom};
    if (variance > 0)
        score.t = log(ratio) / sqrt(variance);
    else
        score.t = ratio > 1 ? 37 : ratio < 1 ? -37 : 0;
    return score;
}

static struct fm_sampled_score of_both(const struct fm_sampled *m, const struct fm_sampled_row *row,
                                       double ratio)
{
    struct fm_sampled_variance v;
    double freedom;
    if (row == NULL) {
        double variance = fm_sampled_whole_variance(m, &freedom);
        return of_ratio(m->mean[1] / m->mean[0] / ratio, variance, freedom);
    }
    fm_sampled_variance_of(m, row, &v);
    return fm_sampled_score(m, row, &v, ratio, true);
}

void fm_sampled_limit_relative(const struct fm_sampled *m, const struct fm_sampled_row *row,
                               double allowed, double tolerated, bool at_least,
                               struct fm_sampled_limit *ret)
{
    *ret = (struct fm_sampled_limit){.fail = of_both(m, row, allowed),
                                     .pass = of_both(m, row, tolerated)};
    judge(ret, at_least);
}

/* The binomial of all ticks of after; its variance contains the factor 1 - share. */
static struct fm_sampled_score of_all(const struct fm_sampled *m, const struct fm_sampled_row *row,
                                      double seconds)
{
    struct fm_sampled_variance v;
    if (row == NULL) {
        double freedom, variance = fm_sampled_whole_variance(m, &freedom);
        return of_ratio(m->mean[1] / seconds, variance / m->runs_apart / m->side[1].runs, freedom);
    }
    double n = m->all[1], x = fmin(row->ticks[1], n), runs = m->side[1].runs;
    fm_sampled_variance_of(m, row, &v);
    double sampling = m->options.measured ? 0 : (1 - x / n) / (x + 0.5);
    double row_part = v.phi * v.phi / runs, run_part = v.run / m->runs_apart / runs;
    double all = sampling + row_part + run_part;
    double lost = row_part * row_part / v.phi_freedom + run_part * run_part / m->whole_freedom;
    struct fm_sampled_score score = {.freedom = lost > 0 ? all * all / lost : INFINITY};
    double expected = seconds * m->per_second[1];
    if (sampling <= 0) {
        score.t = x > 0 && expected > 0 ? log(x / expected) / sqrt(all) : x > expected ? 37 : -37;
        return score;
    }
    if (expected >= n) { /* more than the whole run */
        score.t = -37;
        return score;
    }
    score.t = fm_sampled_split(n - x, x, expected / n) * sqrt(sampling / all);
    return score;
}

void fm_sampled_limit_absolute(const struct fm_sampled *m, const struct fm_sampled_row *row,
                               double allowed, double tolerated, bool at_least,
                               struct fm_sampled_limit *ret)
{
    *ret = (struct fm_sampled_limit){.fail = of_all(m, row, allowed),
                                     .pass = of_all(m, row, tolerated)};
    judge(ret, at_least);
}

/* S. J. Pocock, Biometrika 64, 1977; computed for looks at equal steps from 2 runs on. Between two
 * rows of the table, the stricter one is used. */
double fm_sampled_look_level(unsigned n, bool fails)
{
    static const struct {
        unsigned n;
        double fails, passes;
    } bounds[] = {{2, FM_SAMPLED_FAILS, FM_SAMPLED_PASSES},
                  {3, 0.0061, 0.0329},
                  {4, 0.0046, 0.0257},
                  {5, 0.0037, 0.0216},
                  {6, 0.0032, 0.0190},
                  {8, 0.0026, 0.0157},
                  {10, 0.0022, 0.0137},
                  {15, 0.0017, 0.0109},
                  {20, 0.0015, 0.0095}};
    size_t last = sizeof bounds / sizeof bounds[0] - 1, i = 0;
    while (i < last && bounds[i].n < n)
        i++;
    return fails ? bounds[i].fails : bounds[i].passes;
}
