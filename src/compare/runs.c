/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/runs.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of Student's t, two-sided, by degrees of freedom from 1. */
static const double t_99[] = {63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355,
                              3.250,  3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921,
                              2.898,  2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797,
                              2.787,  2.779, 2.771, 2.763, 2.756, 2.750};
#define NORMAL_99 2.576

static int by_amount(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void sum_up(const double *amounts, unsigned count, struct fm_runs_side *ret)
{
    g_autofree double *sorted = g_memdup2(amounts, count * sizeof *amounts);
    double sum = 0;
    qsort(sorted, count, sizeof *sorted, by_amount);
    for (unsigned i = 0; i < count; i++)
        sum += sorted[i];
    *ret = (struct fm_runs_side){.count = count,
                                 .least = sorted[0],
                                 .median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
                                 .most = sorted[count - 1],
                                 .mean = sum / count};
}

/* Sum of squares around the mean, in parts of the mean; in samples. */
static double scatter(const double *amounts, const struct fm_runs_side *side, double sample)
{
    double sum = 0;
    for (unsigned i = 0; i < side->count; i++)
        sum += (amounts[i] - side->mean) * (amounts[i] - side->mean);
    return side->mean > 0 ? sum / side->mean / sample : 0;
}

void fm_runs_compare(const double *before, unsigned before_count, const double *after,
                     unsigned after_count, double sample, struct fm_runs_difference *ret)
{
    g_return_if_fail(before_count > 0 && after_count > 0 && sample >= 0 && ret != NULL);
    unsigned freedom = before_count + after_count - 2;
    double each = fmax(sample, 1);
    *ret = (struct fm_runs_difference){.interval = before_count > 1 && after_count > 1};
    sum_up(before, before_count, &ret->before);
    sum_up(after, after_count, &ret->after);
    ret->exact = sample <= 0 && !(ret->before.least < ret->before.most) &&
                 !(ret->after.least < ret->after.most);
    double difference = ret->after.mean - ret->before.mean;
    if (ret->interval && !ret->exact) {
        g_assert(freedom >= 2); /* two runs on each side */
        double dispersion =
            (scatter(before, &ret->before, each) + scatter(after, &ret->after, each)) / freedom;
        double variance = fmax(dispersion, 1) * each *
                          (ret->before.mean / before_count + ret->after.mean / after_count);
        double t = freedom <= G_N_ELEMENTS(t_99) ? t_99[freedom - 1] : NORMAL_99;
        ret->low = difference - t * sqrt(variance);
        ret->high = difference + t * sqrt(variance);
    } else {
        ret->low = ret->high = difference;
    }
    ret->told = ret->exact      ? difference < 0 || difference > 0
                : ret->interval ? ret->low > 0 || ret->high < 0
                                : false;
}

bool fm_runs_total(const struct fm_profile *p, const char *measure, double *ret)
{
    static const struct {
        const char *name;
        enum fm_measure_id id;
    } named[] = {{"time", FM_QUANTA}, {"bytes", FM_WORDS}, {"allocs", FM_ALLOCS}};
    bool calls = strcmp(measure, "calls") == 0;
    unsigned id = calls ? FM_EXITS : fm_profile_measure(p, measure);
    for (unsigned i = 0; i < G_N_ELEMENTS(named); i++) {
        if (strcmp(measure, named[i].name) == 0)
            id = named[i].id;
    }
    if (strcmp(measure, p->measures[FM_QUANTA].name) == 0)
        id = FM_QUANTA;
    if ((!calls && id == 0) || !fm_profile_knows(p, id))
        return false;
    *ret = calls ? (double)fm_profile_calls_of_all(p) : 0;
    for (uint32_t csd = 1; csd <= p->csd_count && !calls; csd++)
        *ret += (double)fm_profile_own(p, csd, (enum fm_measure_id)id);
    return true;
}

unsigned fm_runs_middle(const double *amounts, unsigned count)
{
    g_return_val_if_fail(count > 0, 0);
    unsigned best = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned below = 0;
        for (unsigned j = 0; j < count; j++)
            below += amounts[j] < amounts[i] || (j < i && !(amounts[j] > amounts[i]));
        if (below == (count - 1) / 2)
            best = i;
    }
    return best;
}
