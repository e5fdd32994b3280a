/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/sampled/model.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "runs/sampled/tails.h"

#define ROW_FREEDOM 5.0    /* nuF: weight, in runs, of the assumed variation */
#define OWN_FREEDOM 4.0    /* nu_1: weight of the pooled variation in each row */
#define LEAST_PHI 0.003    /* no program repeats itself more exactly */
#define LEAST_EXPECTED 5.0 /* ticks of a row in a run: fewer do not show its variation */
#define STEPS 12
#define KAPPA 10.0 /* the test p_rel is this much less strict than p_abs */
#define COMMON_MAX 1.5
#define HALF_A_TICK 0.5

/* --- the sides --- */

static double sum_of(const double *values, unsigned count)
{
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* Sum of squares of the logarithms of T around their mean. */
static double scatter(const struct fm_sampled_side *side)
{
    double mean = 0, sum = 0;
    for (unsigned i = 0; i < side->runs; i++)
        mean += log(side->seconds[i]) / side->runs;
    for (unsigned i = 0; i < side->runs; i++) {
        double off = log(side->seconds[i]) - mean;
        sum += off * off;
    }
    return sum;
}

static double assumed(const struct fm_sampled *m)
{
    double phi = m->options.variation > 0 ? m->options.variation : FM_SAMPLED_VARIATION;
    return phi * phi;
}

static void take_side(struct fm_sampled *m, int s, const struct fm_sampled_side *side)
{
    m->side[s] = *side;
    for (unsigned i = 0; i < side->runs; i++) {
        double *seconds = &m->side[s].seconds[i];
        g_assert(side->tick[i] > 0);
        /* A run without ticks, and without clock, was shorter than one tick. */
        *seconds =
            fmax(*seconds, HALF_A_TICK * (m->options.seconds_sampled ? side->tick[i] : 1e-9));
        m->all[s] += *seconds / side->tick[i];
        m->per_second[s] += 1 / side->tick[i];
    }
    m->mean[s] = sum_of(m->side[s].seconds, side->runs) / side->runs;
}

void fm_sampled_begin(struct fm_sampled *ret, const struct fm_sampled_side *before,
                      const struct fm_sampled_side *after, const struct fm_sampled_options *options)
{
    g_assert(before->runs >= 1 && before->runs <= FM_SAMPLED_RUNS_MAX);
    g_assert(after->runs >= 1 && after->runs <= FM_SAMPLED_RUNS_MAX);
    *ret = (struct fm_sampled){.options = *options};
    take_side(ret, 0, before);
    take_side(ret, 1, after);
    ret->runs_apart = 1.0 / before->runs + 1.0 / after->runs;
    ret->freedom = before->runs + after->runs - 2;
    ret->whole_variance =
        ret->runs_apart * (ret->freedom == 0
                               ? assumed(ret)
                               : (scatter(&ret->side[0]) + scatter(&ret->side[1])) / ret->freedom);
    ret->whole_freedom = ret->freedom == 0 ? ROW_FREEDOM : ret->freedom;
    double common = ret->mean[1] / ret->mean[0];
    ret->common = options->other_work ? 1 : fmin(fmax(common, 1 / COMMON_MAX), COMMON_MAX);
    ret->pooled = assumed(ret);
    ret->pooled_freedom = ROW_FREEDOM;
}

static double share(const struct fm_sampled *m, double ticks, int side)
{
    return m->all[side] > 0 ? fmin(ticks / m->all[side], 1) : 0;
}

/* --- variation of rows between runs --- */

void fm_sampled_row_init(const struct fm_sampled *m, const double *ticks,
                         struct fm_sampled_row *ret)
{
    unsigned first = m->side[0].runs;
    double chi = 0, expected = 0;
    *ret = (struct fm_sampled_row){
        .ticks = {sum_of(ticks, first), sum_of(ticks + first, m->side[1].runs)}};
    for (int s = 0; s < 2; s++) {
        double part = share(m, ret->ticks[s], s);
        for (unsigned i = 0; i < m->side[s].runs; i++) {
            double n = m->side[s].seconds[i] / m->side[s].tick[i];
            double variance = n * part * (1 - part), off = ticks[s * first + i] - n * part;
            if (variance > 0)
                chi += off * off / variance;
            expected += variance;
        }
    }
    double mean = expected / (m->side[0].runs + m->side[1].runs);
    if (m->freedom == 0 || mean < LEAST_EXPECTED)
        return;
    ret->own_variance = (chi / m->freedom - 1) / mean;
    ret->own_weight = mean; /* until fm_sampled_pool() computes the weight */
}

/* Weight of the estimate of a row of m expected ticks when the variance is v. */
static double weight_of(const struct fm_sampled *m, double expected, double v)
{
    return m->freedom * expected * expected / (2 * (1 + v * expected) * (1 + v * expected));
}

/* The variance starts with the assumed one and follows the rows as far as they determine it. */
void fm_sampled_pool(struct fm_sampled *m, struct fm_sampled_row *rows, size_t count)
{
    const double prior = assumed(m), least = LEAST_PHI * LEAST_PHI;
    double v = prior;
    if (m->freedom == 0)
        return;
    for (int step = 0; step < STEPS; step++) {
        double w0 = ROW_FREEDOM / (2 * v * v), weights = w0, sum = w0 * prior;
        for (size_t i = 0; i < count; i++) {
            double w = rows[i].own_weight > 0 ? weight_of(m, rows[i].own_weight, v) : 0;
            sum += w * rows[i].own_variance;
            weights += w;
        }
        v = fmax(sum / weights, least);
    }
    double weights = ROW_FREEDOM / (2 * v * v);
    for (size_t i = 0; i < count; i++)
        weights += rows[i].own_weight > 0 ? weight_of(m, rows[i].own_weight, v) : 0;
    m->pooled = v;
    m->pooled_freedom = 2 * v * v * weights;
}

void fm_sampled_variance_of(const struct fm_sampled *m, const struct fm_sampled_row *row,
                            struct fm_sampled_variance *ret)
{
    double phi = m->pooled, freedom = m->pooled_freedom;
    if (m->freedom > 0) {
        double v = m->pooled, w1 = OWN_FREEDOM / (2 * v * v);
        double w = row->own_weight > 0 ? weight_of(m, row->own_weight, v) : 0;
        phi = fmax(v, (w1 * v + w * row->own_variance) / (w1 + w));
        freedom = fmin(m->pooled_freedom, OWN_FREEDOM) + 2 * phi * phi * w;
    }
    *ret = (struct fm_sampled_variance){.row = phi * m->runs_apart,
                                        .run = m->whole_variance,
                                        .phi = sqrt(phi),
                                        .phi_freedom = freedom};
    for (int s = 0; s < 2 && !m->options.measured; s++) {
        ret->split += 1 / (row->ticks[s] + 0.5);
        ret->sampling += (1 - share(m, row->ticks[s], s)) / (row->ticks[s] + 0.5);
    }
}

/* --- tests --- */

/* Satterthwaite; the sampling part has infinite degrees of freedom. */
static double freedom_of(const struct fm_sampled *m, const struct fm_sampled_variance *v,
                         double run)
{
    double all = v->sampling + v->row + run;
    double lost = v->row * v->row / v->phi_freedom + run * run / m->whole_freedom;
    return lost > 0 ? all * all / lost : INFINITY;
}

struct fm_sampled_score fm_sampled_score(const struct fm_sampled *m,
                                         const struct fm_sampled_row *row,
                                         const struct fm_sampled_variance *v, double ratio,
                                         bool with_run)
{
    double run = with_run ? v->run : 0, all = v->sampling + v->row + run;
    struct fm_sampled_score score = {.freedom = freedom_of(m, v, run)};
    double a = row->ticks[0] / m->per_second[0], b = row->ticks[1] / m->per_second[1];
    if (all <= 0)
        return score;
    if (m->options.measured) {
        score.t = a > 0 && b > 0 ? log(b / a / ratio) / sqrt(all) : b > a ? 37 : a > b ? -37 : 0;
        return score;
    }
    double q = ratio * m->per_second[1] / (m->per_second[0] + ratio * m->per_second[1]);
    score.t = fm_sampled_split(row->ticks[0], row->ticks[1], q) * sqrt(v->split / all);
    return score;
}

void fm_sampled_test(const struct fm_sampled *m, const struct fm_sampled_row *row, double ratio,
                     struct fm_sampled_test *ret)
{
    struct fm_sampled_variance v;
    fm_sampled_variance_of(m, row, &v);
    ret->absolute = fm_sampled_score(m, row, &v, ratio, true);
    ret->relative = fm_sampled_score(m, row, &v, ratio * m->common, false);
    ret->p_abs = fm_sampled_student(ret->absolute.t, ret->absolute.freedom);
    ret->p_rel = fm_sampled_student(ret->relative.t, ret->relative.freedom);
    double kappa = m->freedom == 0 ? 1 : KAPPA;
    ret->p = fmax(ret->p_abs, fmin(1, ret->p_rel / kappa));
}
