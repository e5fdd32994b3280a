/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of descendants, cliques in order: callees before callers.
 *
 * What is kept is the total of each pd (own + descendants); all else follows from it:
 *   desc(pd)  = total(pd) - own(pd), own(pd) = sum of own over the csds that call it
 *   desc(csd) = sum of total over the members of the clique that it enters - own(csd); 0 for a csd
 *               that stays inside its clique.
 * Of arcs (FM_NATURE_ARCS) what a csd costs is given, and total(pd) = own(pd) + that of the csds
 * that leave its clique. */
#include "analysis/analysis_internal.h"

G_STATIC_ASSERT(FM_MEASURES_MAX <= 1 << 4); /* keys below have four bits for the measure */

uint64_t fm_pd_total(const struct fm_analysis *a, uint32_t pd, unsigned measure)
{
    const uint32_t *column = a->storage->pd_total[measure];
    if (!column)
        return 0;
    if (FM_LIKELY(column[pd] != FM_TOTAL_WIDE))
        return column[pd];
    return *fm_map_find(&a->storage->pd_total_wide, (uint64_t)pd << 4 | measure);
}

uint64_t fm_clique_total(const struct fm_analysis *a, uint32_t clique, unsigned measure)
{
    uint32_t first = a->clique_first[clique];
    if (a->clique_first[clique + 1] - first == 1)
        return fm_pd_total(a, a->clique_pds[first], measure);
    const uint64_t *total = fm_map_find(&a->storage->clique_total, (uint64_t)clique << 4 | measure);
    return total ? *total : 0;
}

uint64_t fm_pd_own(const struct fm_analysis *a, uint32_t pd, unsigned measure)
{
    const struct fm_analysis_storage *storage = a->storage;
    const struct fm_column *column = &a->profile->csd_own[measure];
    uint64_t own = 0;
    if (column->width == 0)
        return 0;
    for (uint32_t i = storage->pd_in_first[pd]; i < storage->pd_in_first[pd + 1]; i++)
        own += fm_column_get(column, storage->pd_in[i]);
    return own;
}

static void set_pd_total(struct fm_analysis *a, uint32_t pd, unsigned measure, uint64_t value)
{
    if (FM_LIKELY(value < FM_TOTAL_WIDE)) {
        a->storage->pd_total[measure][pd] = (uint32_t)value;
        return;
    }
    a->storage->pd_total[measure][pd] = FM_TOTAL_WIDE;
    *fm_map_at(&a->storage->pd_total_wide, (uint64_t)pd << 4 | measure) = value;
}

/* Adds what the csds that leave pd's clique cost, each with all that it called. */
static void add_callees(const struct fm_analysis *a, uint32_t pd, const unsigned *measures,
                        unsigned measure_count, uint64_t *totals)
{
    const struct fm_profile *profile = a->profile;
    uint32_t clique = a->pd_clique[pd];
    uint32_t slots = fm_slot_count(profile, pd);
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t callee_clique = a->pd_clique[profile->csd_callee[csds[i]]];
            if (callee_clique == clique)
                continue;
            bool enters = fm_csd_enters(a, csds[i]);
            for (unsigned m = 0; m < measure_count; m++)
                totals[m] += enters ? fm_csd_total(a, csds[i], measures[m])
                                    : fm_profile_own(profile, csds[i], measures[m]);
        }
    }
}

/* Of arcs: what all functions cost themselves. That is the whole whatever calls are said to have
 * cost, and calls that were not seen from their beginning may say less. */
static void set_root_total(struct fm_analysis *a, const unsigned *measures, unsigned measure_count)
{
    const struct fm_profile *profile = a->profile;
    for (unsigned m = 0; m < measure_count; m++) {
        uint64_t sum = 0;
        for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
            sum += fm_profile_own(profile, csd, measures[m]);
        set_pd_total(a, profile->root_pd, measures[m], sum);
    }
}

static void propagate_clique(struct fm_analysis *a, uint32_t clique, const unsigned *measures,
                             unsigned measure_count)
{
    uint32_t first = a->clique_first[clique], end = a->clique_first[clique + 1];
    uint64_t sums[FM_MEASURES_MAX] = {0};
    for (uint32_t i = first; i < end; i++) {
        uint32_t pd = a->clique_pds[i];
        uint64_t totals[FM_MEASURES_MAX] = {0};
        add_callees(a, pd, measures, measure_count, totals);
        for (unsigned m = 0; m < measure_count; m++) {
            totals[m] += fm_pd_own(a, pd, measures[m]);
            set_pd_total(a, pd, measures[m], totals[m]);
            sums[m] += totals[m];
        }
    }
    for (unsigned m = 0; end - first > 1 && m < measure_count; m++)
        *fm_map_at(&a->storage->clique_total, (uint64_t)clique << 4 | measures[m]) = sums[m];
}

bool fm_phase_propagate(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    unsigned measures[FM_MEASURES_MAX];
    unsigned measure_count = 0;
    for (unsigned m = FM_FIRST_INHERITED; m < a->profile->measure_count; m++) {
        if (a->profile->csd_own[m].width == 0 && a->profile->csd_inclusive[m].width == 0)
            continue;
        measures[measure_count++] = m;
        if (job->stage == 0)
            a->storage->pd_total[m] = fm_job_numbers(job, a->profile->pd_count + 1u);
    }
    job->stage = 1;
    if (job->failed || fm_job_must_touch(job))
        return false;
    while (budget > 0 && job->cursor < a->clique_count) {
        uint32_t clique = ++job->cursor;
        propagate_clique(a, clique, measures, measure_count);
        budget -= MIN(budget, a->clique_first[clique + 1] - a->clique_first[clique]);
    }
    if (job->cursor < a->clique_count)
        return false;
    if (fm_profile_is(a->profile, FM_NATURE_ARCS))
        set_root_total(a, measures, measure_count);
    return true;
}
