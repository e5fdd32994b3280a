/* SPDX-License-Identifier: Apache-2.0 */
/* Costs added up a measure at a time, over all nodes without a pause: several times as fast as in
 * steps, as columns are read in a row and the arrays that they are added to stay in the cache. What
 * comes of it is what propagate.c makes. */
#include "analysis/analysis_internal.h"

#include <string.h>

bool fm_at_once_pays(const struct fm_analysis *a)
{
    return !fm_profile_is(a->profile, FM_NATURE_ARCS) && a->clique_entries_extra == 0;
}

/* By callee. */
static void sum_own(const struct fm_profile *profile, unsigned measure, uint64_t *sums)
{
    const struct fm_column *column = &profile->csd_own[measure];
    const uint32_t *callee = profile->csd_callee;
    for (uint32_t csd = 1; column->width == 4 && csd <= profile->csd_count; csd++)
        sums[callee[csd]] += column->u32[csd];
    for (uint32_t csd = 1; column->width == 8 && csd <= profile->csd_count; csd++)
        sums[callee[csd]] += column->u64[csd];
}

/* Callees have smaller numbers, so a clique's total is whole when it is come to. */
static void propagate(struct fm_analysis *a, unsigned measure, uint64_t *sums)
{
    uint32_t *column = a->storage->pd_total[measure];
    for (uint32_t clique = 1; clique <= a->clique_count; clique++) {
        uint32_t first = a->clique_first[clique], end = a->clique_first[clique + 1];
        uint64_t total = 0;
        for (uint32_t i = first; i < end; i++) {
            uint32_t pd = a->clique_pds[i];
            total += sums[pd];
            column[pd] = sums[pd] < FM_TOTAL_WIDE ? (uint32_t)sums[pd] : FM_TOTAL_WIDE;
            if (FM_UNLIKELY(sums[pd] >= FM_TOTAL_WIDE))
                *fm_map_at(&a->storage->pd_total_wide, (uint64_t)pd << 4 | measure) = sums[pd];
        }
        if (end - first > 1)
            *fm_map_at(&a->storage->clique_total, (uint64_t)clique << 4 | measure) = total;
        if (a->clique_parent[clique] != 0)
            sums[a->profile->csd_caller[a->clique_parent[clique]]] += total;
    }
}

bool fm_propagate_at_once(struct fm_analysis *a, const unsigned *measures, unsigned measure_count)
{
    size_t count = a->profile->pd_count + 1u;
    g_autofree uint64_t *sums = g_try_new(uint64_t, count);
    if (sums == NULL)
        return false;
    for (unsigned m = 0; m < measure_count; m++) {
        memset(sums, 0, count * sizeof *sums);
        sum_own(a->profile, measures[m], sums);
        propagate(a, measures[m], sums);
    }
    return true;
}
