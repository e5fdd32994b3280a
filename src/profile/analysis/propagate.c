/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of descendants, cliques in order: callees before callers.
 *
 * What is kept is the total of each pd (own + descendants); all else follows from it:
 *   desc(pd)  = total(pd) - own(pd), own(pd) = sum of own over the csds that call it
 *   desc(csd) = sum of total over the members of the clique that it enters - own(csd); 0 for a csd
 *               that stays inside its clique.
 * Of arcs (FM_NATURE_ARCS) what a csd costs is given, and total(pd) = own(pd) + that of the csds
 * that leave its clique.
 *
 * So each total begins as the own cost, and each clique, when it is done, adds its total to that of
 * the pd from which it was entered: both walk over memory in order. */
#include "profile/analysis/analysis_internal.h"

#define CSDS_AHEAD 16u /* distance of memory prefetch */

G_STATIC_ASSERT(FM_MEASURES_MAX <= 1 << 4); /* keys below have four bits for the measure */

uint64_t fm_pd_total_wide(const struct fm_analysis *a, uint32_t pd, unsigned measure)
{
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
    const struct fm_column *column = &a->profile->csd_own[measure];
    uint64_t own = 0;
    if (column->width == 0)
        return 0;
    uint32_t place = a->storage->pd_in[pd], csd;
    while ((csd = fm_pd_in_next(a, &place)) != 0)
        own += fm_column_get(column, csd);
    return own;
}

/* Lists the measures with totals, in the order of a pd's totals. */
unsigned fm_total_measures(const struct fm_analysis *a, unsigned *measures)
{
    unsigned count = 0;
    for (unsigned m = FM_FIRST_INHERITED; m < a->profile->measure_count; m++) {
        if (a->profile->csd_own[m].width != 0 || a->profile->csd_inclusive[m].width != 0)
            measures[count++] = m;
    }
    return count;
}

static void set_pd_total(struct fm_analysis *a, uint32_t pd, unsigned measure, uint64_t value)
{
    struct fm_analysis_storage *storage = a->storage;
    uint32_t *total =
        &storage->pd_totals[(size_t)pd * storage->total_width + storage->total_place[measure] - 1u];
    *total = value < FM_TOTAL_WIDE ? (uint32_t)value : FM_TOTAL_WIDE;
    if (FM_UNLIKELY(value >= FM_TOTAL_WIDE))
        *fm_map_at(&storage->pd_total_wide, (uint64_t)pd << 4 | measure) = value;
}

static inline void add_to_total(struct fm_analysis *a, uint32_t pd, unsigned measure,
                                uint64_t amount)
{
    struct fm_analysis_storage *storage = a->storage;
    uint32_t *total =
        &storage->pd_totals[(size_t)pd * storage->total_width + storage->total_place[measure] - 1u];
    if (FM_LIKELY(amount < FM_TOTAL_WIDE - (uint64_t)*total)) { /* never for a wide one */
        *total += (uint32_t)amount;
        return;
    }
    uint64_t sum = fm_pd_total(a, pd, measure) + amount;
    storage->totals_wrapped |= sum < amount;
    set_pd_total(a, pd, measure, sum);
}

/* Totals start as the own cost of each pd. */
bool fm_phase_own(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    struct fm_analysis_storage *storage = a->storage;
    const struct fm_profile *profile = a->profile;
    unsigned measures[FM_MEASURES_MAX], count = fm_total_measures(a, measures);
    if (storage->pd_totals == NULL) {
        for (unsigned i = 0; i < count; i++)
            storage->total_place[measures[i]] = (uint8_t)(i + 1);
        storage->total_width = count;
        storage->pd_totals = fm_job_numbers(job, (profile->pd_count + (size_t)1) * count);
    }
    if (job->failed || fm_job_must_touch(job))
        return false;
    for (; budget > 0 && job->cursor < profile->csd_count; budget--) {
        uint32_t csd = ++job->cursor, ahead = MIN(csd + CSDS_AHEAD, profile->csd_count);
        __builtin_prefetch(&storage->pd_totals[(size_t)profile->csd_callee[ahead] * count], 1);
        for (unsigned i = 0; i < count; i++) {
            uint64_t own = fm_column_get(&profile->csd_own[measures[i]], csd);
            if (own != 0)
                add_to_total(a, profile->csd_callee[csd], measures[i], own);
        }
    }
    return job->cursor == profile->csd_count;
}

/* In arc profiles: the sum of all functions' self costs. Recorded costs of calls are no substitute:
 * calls that began before the recording may cost less than they contain. */
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

/* Adds to the caller's total, for a csd that leaves its caller's clique, the part that no clique
 * below will add: in arc profiles the recorded cost; otherwise only its own cost, when another csd
 * enters that clique. */
static void add_given(struct fm_analysis *a, uint32_t csd, const unsigned *measures,
                      unsigned measure_count)
{
    const struct fm_profile *profile = a->profile;
    uint32_t caller = profile->csd_caller[csd];
    bool arcs = fm_profile_is(profile, FM_NATURE_ARCS);
    if (a->pd_clique[caller] == a->pd_clique[profile->csd_callee[csd]] ||
        (!arcs && fm_csd_enters(a, csd)))
        return;
    for (unsigned i = 0; i < measure_count; i++)
        add_to_total(a, caller, measures[i],
                     arcs ? fm_csd_total(a, csd, measures[i])
                          : fm_profile_own(profile, csd, measures[i]));
}

/* All callees' totals have been added to the members: adds the clique's total to its caller. */
static void propagate_clique(struct fm_analysis *a, uint32_t clique, const unsigned *measures,
                             unsigned measure_count)
{
    uint32_t first = a->clique_first[clique], end = a->clique_first[clique + 1];
    uint32_t parent = a->clique_parent[clique];
    bool pays = parent != 0 && !fm_profile_is(a->profile, FM_NATURE_ARCS);
    for (unsigned m = 0; m < measure_count; m++) {
        uint64_t sum = 0;
        for (uint32_t i = first; i < end; i++)
            sum += fm_pd_total(a, a->clique_pds[i], measures[m]);
        if (end - first > 1)
            *fm_map_at(&a->storage->clique_total, (uint64_t)clique << 4 | measures[m]) = sum;
        if (pays && sum != 0)
            add_to_total(a, a->profile->csd_caller[parent], measures[m], sum);
    }
}

bool fm_phase_propagate(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    unsigned measures[FM_MEASURES_MAX], count = fm_total_measures(a, measures);
    bool given = fm_profile_is(a->profile, FM_NATURE_ARCS) || a->clique_entries_extra > 0;
    for (; given && budget > 0 && job->inner < a->profile->csd_count; budget--)
        add_given(a, ++job->inner, measures, count);
    if (given && job->inner < a->profile->csd_count)
        return false;
    while (budget > 0 && job->cursor < a->clique_count) {
        uint32_t clique = ++job->cursor;
        propagate_clique(a, clique, measures, count);
        budget -= MIN(budget, a->clique_first[clique + 1] - a->clique_first[clique]);
    }
    if (job->cursor < a->clique_count)
        return false;
    if (fm_profile_is(a->profile, FM_NATURE_ARCS))
        set_root_total(a, measures, count);
    return true;
}
