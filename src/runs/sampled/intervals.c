/* SPDX-License-Identifier: Apache-2.0 */
/* Confidence intervals of a change, and the effort needed to detect one. */
#include <math.h>

#include "runs/sampled/model.h"
#include "runs/sampled/tails.h"

#define TAIL 0.005 /* on each side of 99 % */
#define RUNS_MAX 1000.0
#define POWER 0.842 /* in standard deviations: four of five tries */

static double freedom_of(const struct fm_sampled *m, const struct fm_sampled_variance *v,
                         double sampling, double row, double run)
{
    double all = sampling + row + run;
    double lost = row * row / v->phi_freedom + run * run / m->whole_freedom;
    return lost > 0 ? all * all / lost : INFINITY;
}

/* Converts limits of b's share to limits of the ratio. */
static double ratio_of(const struct fm_sampled *m, double q)
{
    return q < 1 ? q / (1 - q) * m->per_second[0] / m->per_second[1] : INFINITY;
}

static void ratio_limits(const struct fm_sampled *m, const struct fm_sampled_row *row,
                         const struct fm_sampled_variance *v, struct fm_sampled_interval *ret)
{
    double low, high, all = v->sampling + v->row + v->run;
    double t = fm_sampled_student_quantile(TAIL, freedom_of(m, v, v->sampling, v->row, v->run));
    double a = row->ticks[0], b = row->ticks[1];
    ret->ratio = a > 0 ? b / a * m->per_second[0] / m->per_second[1] : b > 0 ? INFINITY : 1;
    if (m->options.measured) {
        ret->ratio_low = a > 0 ? ret->ratio * exp(-t * sqrt(all)) : 0;
        ret->ratio_high = a > 0 ? ret->ratio * exp(t * sqrt(all)) : INFINITY;
        return;
    }
    fm_sampled_split_limits(a, b, TAIL, &low, &high);
    if (a <= 0 || b <= 0) {
        a += 0.5;
        b += 0.5;
    }
    double middle = b / a * m->per_second[0] / m->per_second[1];
    double arm = sqrt(all / v->split) * t / fm_sampled_deviate(TAIL);
    ret->ratio_low = low > 0 ? middle * pow(ratio_of(m, low) / middle, arm) : 0;
    ret->ratio_high = high < 1 ? middle * pow(ratio_of(m, high) / middle, arm) : INFINITY;
}

static void difference_limits(const struct fm_sampled *m, const struct fm_sampled_row *row,
                              const struct fm_sampled_variance *v, struct fm_sampled_interval *ret)
{
    double low[2], high[2], mean[2] = {ret->before, ret->after};
    double sampling = 0, row_part = 0, run_part = 0, g = fm_sampled_deviate(TAIL);
    for (int s = 0; s < 2; s++) {
        double e = m->per_second[s], squares = mean[s] * mean[s] / m->side[s].runs;
        double part = m->all[s] > 0 ? fmin(row->ticks[s] / m->all[s], 1) : 0;
        if (!m->options.measured)
            sampling += (row->ticks[s] + 0.5) * (1 - part) / (e * e);
        row_part += v->phi * v->phi * squares;
        run_part += v->run / m->runs_apart * squares;
        fm_sampled_wilson(row->ticks[s], m->all[s], g, &low[s], &high[s]);
        low[s] /= e;
        high[s] /= e;
    }
    double all = sampling + row_part + run_part;
    double t = fm_sampled_student_quantile(TAIL, freedom_of(m, v, sampling, row_part, run_part));
    if (sampling <= 0) { /* measured, or the whole program: only its runs vary */
        ret->low = ret->difference - t * sqrt(all);
        ret->high = ret->difference + t * sqrt(all);
        return;
    }
    double arm = sqrt(all / sampling) * t / g;
    ret->low = ret->difference - arm * hypot(mean[1] - low[1], high[0] - mean[0]);
    ret->high = ret->difference + arm * hypot(high[1] - mean[1], mean[0] - low[0]);
}

void fm_sampled_interval_of(const struct fm_sampled *m, const struct fm_sampled_row *row,
                            struct fm_sampled_interval *ret)
{
    struct fm_sampled_variance v;
    fm_sampled_variance_of(m, row, &v);
    *ret = (struct fm_sampled_interval){.before = row->ticks[0] / m->per_second[0],
                                        .after = row->ticks[1] / m->per_second[1]};
    ret->difference = ret->after - ret->before;
    ratio_limits(m, row, &v, ret);
    difference_limits(m, row, &v, ret);
}

/* Without a clock the whole is the number of ticks, whose variation the runs contain, too. */
double fm_sampled_whole_variance(const struct fm_sampled *m, double *ret_freedom)
{
    double variance = m->whole_variance;
    *ret_freedom = m->whole_freedom;
    if (!m->options.seconds_sampled || m->options.measured || m->freedom > 0)
        return variance;
    double all = variance + 1 / (m->all[0] + 0.5) + 1 / (m->all[1] + 0.5);
    *ret_freedom *= all * all / (variance * variance);
    return all;
}

void fm_sampled_whole_of(const struct fm_sampled *m, struct fm_sampled_whole *ret)
{
    double l = log(m->mean[1] / m->mean[0]), freedom;
    double deviation = sqrt(fm_sampled_whole_variance(m, &freedom));
    double t = fm_sampled_student_quantile(TAIL, freedom);
    *ret = (struct fm_sampled_whole){.ratio = exp(l),
                                     .low = exp(l - t * deviation),
                                     .high = exp(l + t * deviation),
                                     .t = deviation > 0    ? fabs(l) / deviation
                                          : l < 0 || l > 0 ? 37
                                                           : 0};
    ret->p = fm_sampled_student(ret->t, freedom);
    ret->told = ret->p < 2 * TAIL;
}

double fm_sampled_least_told(const struct fm_sampled *m, const struct fm_sampled_row *row,
                             double level)
{
    struct fm_sampled_variance v;
    fm_sampled_variance_of(m, row, &v);
    double t = fm_sampled_student_quantile(level / 2, freedom_of(m, &v, v.sampling, v.row, v.run));
    return exp((t + POWER) * sqrt(v.sampling + v.row + v.run)) - 1;
}

void fm_sampled_needed_for(const struct fm_sampled *m, const struct fm_sampled_row *row,
                           double ratio, double tail, struct fm_sampled_needed *ret)
{
    struct fm_sampled_variance v = {0};
    double freedom;
    if (row == NULL) {
        v.run = fm_sampled_whole_variance(m, &freedom);
    } else {
        fm_sampled_variance_of(m, row, &v);
        freedom = freedom_of(m, &v, v.sampling, v.row, v.run);
    }
    double all = v.sampling + v.row + v.run, t = fm_sampled_student_quantile(tail, freedom);
    double deviation = log(ratio) / (t + POWER), wanted = deviation * deviation;
    double runs = (m->side[0].runs + m->side[1].runs) / 2.0;
    *ret = (struct fm_sampled_needed){0};
    if (!(wanted > 0))
        return;
    double needed = ceil(runs * all / wanted);
    ret->runs = needed <= RUNS_MAX ? (unsigned)needed : 0;
    double left = wanted - v.row - v.run; /* what is left for sampling */
    if (left <= 0 || v.sampling <= 0)
        return;
    ret->seconds = m->mean[0] * v.sampling / left;
    ret->rate = (m->per_second[0] + m->per_second[1]) / (2 * runs) * v.sampling / left;
}
