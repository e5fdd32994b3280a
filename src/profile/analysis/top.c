/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/analysis/analysis_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct candidate {
    double value;
    int64_t quanta, words; /* totals: break ties */
    uint32_t ps;
    int64_t further; /* maximum of other measures, for rows without cost of this kind */
};

enum fm_cost_kind fm_cost_kind_of(enum fm_measure_id measure)
{
    switch (measure) {
    case FM_REDOS:
        return FM_BY_REDOS;
    case FM_QUANTA:
        return FM_BY_TIME;
    case FM_CALLSEQS:
        return FM_BY_CALLSEQS;
    case FM_ALLOCS:
        return FM_BY_ALLOCS;
    case FM_WORDS:
        return FM_BY_WORDS;
    default:
        g_return_val_if_fail((unsigned)measure < FM_MEASURES_MAX, FM_BY_CALLSEQS);
        return (enum fm_cost_kind)((unsigned)FM_BY_FURTHER + (unsigned)measure);
    }
}

enum fm_measure_id fm_cost_measure(enum fm_cost_kind kind)
{
    if (kind >= FM_BY_FURTHER)
        return (enum fm_measure_id)((unsigned)kind - (unsigned)FM_BY_FURTHER);
    switch (kind) {
    case FM_BY_REDOS:
        return FM_REDOS;
    case FM_BY_TIME:
        return FM_QUANTA;
    case FM_BY_ALLOCS:
        return FM_ALLOCS;
    case FM_BY_WORDS:
        return FM_WORDS;
    default:
        return FM_CALLSEQS;
    }
}

/* Calls and redos are not inherited, and per call they say nothing. */
static bool is_own_only(enum fm_cost_kind kind)
{
    return kind == FM_BY_CALLS || kind == FM_BY_REDOS;
}

double fm_cost_value(const struct fm_cost *cost, enum fm_cost_kind kind, bool with_descendants,
                     enum fm_cost_scope scope)
{
    if (kind == FM_BY_CALLS)
        return (double)cost->calls;
    enum fm_measure_id measure = fm_cost_measure(kind);
    if (is_own_only(kind))
        return (double)cost->own[measure];
    double value = (double)(with_descendants ? fm_cost_total(cost, measure) : cost->own[measure]);
    if (scope == FM_OVERALL)
        return value;
    return cost->calls == 0 ? 0 : value / (double)cost->calls;
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    if (left->value != right->value)
        return left->value > right->value ? -1 : 1;
    if (left->quanta != right->quanta)
        return left->quanta > right->quanta ? -1 : 1;
    if (left->words != right->words)
        return left->words > right->words ? -1 : 1;
    if (left->further != right->further)
        return left->further > right->further ? -1 : 1;
    return left->ps < right->ps ? -1 : left->ps > right->ps;
}

/* Maximum of the measures that have no kind. */
static int64_t greatest_further(const struct fm_profile *profile, const struct fm_cost *cost)
{
    int64_t greatest = 0;
    for (unsigned m = FM_MEASURES_MERCURY; m < profile->measure_count; m++)
        greatest = MAX(greatest, fm_cost_total(cost, (enum fm_measure_id)m));
    return greatest;
}

static void collect(const struct fm_analysis *a, const struct fm_top_query *query, GArray *to)
{
    uint32_t root_ps = a->profile->pd_ps[a->profile->root_pd];
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++) {
        struct fm_cost cost;
        fm_analysis_ps_cost(a, ps, &cost);
        bool any = fm_cost_value(&cost, query->kind, query->with_descendants, FM_OVERALL) > 0;
        int64_t further = query->further && query->limit == FM_LIMIT_RANK && !any
                              ? greatest_further(a->profile, &cost)
                              : 0;
        if (ps == root_ps || (!any && further == 0))
            continue;
        struct candidate candidate = {
            .value =
                any ? fm_cost_value(&cost, query->kind, query->with_descendants, query->scope) : 0,
            .further = further,
            .quanta = fm_cost_total(&cost, FM_QUANTA),
            .words = fm_cost_total(&cost, FM_WORDS),
            .ps = ps,
        };
        g_array_append_val(to, candidate);
    }
}

/* Sum of a kind over the whole program. */
static double whole(const struct fm_analysis *a, enum fm_cost_kind kind)
{
    if (!is_own_only(kind))
        return fm_cost_value(&a->root_total, kind, true, FM_OVERALL);
    double sum = 0;
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++) {
        struct fm_cost cost;
        fm_analysis_ps_cost(a, ps, &cost);
        sum += fm_cost_value(&cost, kind, false, FM_OVERALL);
    }
    return sum;
}

/* How many of the ordered candidates are at least the threshold. */
static uint32_t count_above(const struct candidate *candidates, uint32_t count, double threshold)
{
    uint32_t above = 0;
    /* Decimal thresholds and costs per call are not exact in binary: values that are equal on paper
     * may differ by rounding errors. */
    double least = threshold - fabs(threshold) * 4 * DBL_EPSILON;
    while (above < count && candidates[above].value >= least)
        above++;
    return above;
}

void fm_analysis_top(const struct fm_analysis *a, const struct fm_top_query *query, uint32_t **ret,
                     uint32_t *ret_count)
{
    g_return_if_fail(query != NULL && ret != NULL && ret_count != NULL);
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct candidate));
    collect(a, query, found);
    struct candidate *candidates = (struct candidate *)(void *)found->data;
    if (found->len > 0)
        qsort(candidates, found->len, sizeof(*candidates), compare_candidates);
    uint32_t first = 0, end = found->len;
    switch (query->limit) {
    case FM_LIMIT_RANK:
        first = query->first == 0 ? end : MIN(query->first - 1, end);
        end = CLAMP(query->last, first, end);
        break;
    case FM_LIMIT_PERCENT:
        end = count_above(candidates, end, query->threshold / 100 * whole(a, query->kind));
        break;
    case FM_LIMIT_VALUE:
        end = count_above(candidates, end, query->threshold);
        break;
    }
    *ret_count = end - first;
    *ret = g_new(uint32_t, MAX(*ret_count, 1));
    for (uint32_t i = first; i < end; i++)
        (*ret)[i - first] = candidates[i].ps;
}
