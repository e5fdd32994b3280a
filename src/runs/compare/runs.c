/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/compare/runs.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runs/sampled/tails.h"

#define TAIL 0.005 /* on each side of 99 % */

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

/* Sum of squares around the mean. */
static double scatter(const double *amounts, const struct fm_runs_side *side)
{
    double sum = 0;
    for (unsigned i = 0; i < side->count; i++)
        sum += (amounts[i] - side->mean) * (amounts[i] - side->mean);
    return sum;
}

void fm_runs_compare(const double *before, unsigned before_count, const double *after,
                     unsigned after_count, struct fm_runs_difference *ret)
{
    g_return_if_fail(before_count > 0 && after_count > 0 && ret != NULL);
    unsigned freedom = before_count + after_count - 2;
    *ret = (struct fm_runs_difference){.interval = before_count > 1 && after_count > 1};
    sum_up(before, before_count, &ret->before);
    sum_up(after, after_count, &ret->after);
    ret->exact = !(ret->before.least < ret->before.most) && !(ret->after.least < ret->after.most);
    double difference = ret->after.mean - ret->before.mean;
    ret->low = ret->high = difference;
    if (ret->interval && !ret->exact) {
        g_assert(freedom >= 2); /* two runs on each side */
        double variance = (scatter(before, &ret->before) + scatter(after, &ret->after)) / freedom *
                          (1.0 / before_count + 1.0 / after_count);
        double t = fm_sampled_student_quantile(TAIL, freedom);
        ret->low -= t * sqrt(variance);
        ret->high += t * sqrt(variance);
    }
    ret->told = ret->exact      ? difference < 0 || difference > 0
                : ret->interval ? ret->low > 0 || ret->high < 0
                                : false;
}

bool fm_runs_total(const struct fm_profile *p, const char *measure, double *ret)
{
    bool calls = strcmp(measure, "calls") == 0;
    unsigned id = calls ? FM_EXITS : fm_profile_find_measure(p, measure);
    if (id == FM_MEASURES_MAX || !fm_profile_knows(p, id))
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
