/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over procedures and sites, a measure at a time, see at_once.c: what comes of it is what
 * summary.c makes in steps. */
#include "analysis/analysis_internal.h"

static void sum_own_costs(const struct fm_analysis *a, const struct fm_csd_sums *sums, unsigned m)
{
    const struct fm_profile *profile = a->profile;
    const struct fm_column *column = &profile->csd_own[m];
    size_t width = profile->measure_count;
    for (uint32_t csd = 1; column->width != 0 && csd <= profile->csd_count; csd++) {
        int64_t own = (int64_t)fm_column_get(column, csd);
        int64_t *of_ps = &sums->ps_own[profile->pd_ps[profile->csd_callee[csd]] * width + m];
        int64_t *of_css = &sums->css_own[profile->csd_css[csd] * width + m];
        *of_ps = fm_wrap_add(*of_ps, own);
        *of_css = fm_wrap_add(*of_css, own);
    }
}

/* By site, of the csds that enter a clique. */
static void sum_descendants(const struct fm_analysis *a, const struct fm_csd_sums *sums, unsigned m)
{
    const struct fm_profile *profile = a->profile;
    size_t width = a->storage->inherited;
    for (uint32_t clique = 1; clique <= a->clique_count; clique++) {
        uint32_t csd = a->clique_parent[clique];
        if (csd == 0)
            continue;
        int64_t *desc = &sums->css_desc[profile->csd_css[csd] * width + m - FM_FIRST_INHERITED];
        int64_t total = (int64_t)fm_clique_total(a, clique, m);
        int64_t own = (int64_t)fm_profile_own(profile, csd, (enum fm_measure_id)m);
        *desc = fm_wrap_add(*desc, fm_wrap_sub(total, own));
    }
}

static void sum_arc(const struct fm_analysis *a, const struct fm_csd_sums *sums, uint32_t csd,
                    bool inside)
{
    const struct fm_profile *profile = a->profile;
    struct fm_csd_cost cost = {0};
    for (unsigned m = 0; m < profile->measure_count; m++)
        cost.own[m] = (int64_t)fm_profile_own(profile, csd, (enum fm_measure_id)m);
    for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count && !inside; m++)
        cost.total[m] = a->storage->pd_total[m] != NULL ? (int64_t)fm_csd_total(a, csd, m) : 0;
    fm_arcs_add(a, sums, csd, inside, &cost);
}

void fm_sum_csds_at_once(const struct fm_analysis *a, const struct fm_csd_sums *sums)
{
    const struct fm_profile *profile = a->profile;
    for (unsigned m = 0; m < profile->measure_count; m++) {
        sum_own_costs(a, sums, m);
        if (m >= FM_FIRST_INHERITED && a->storage->pd_total[m] != NULL)
            sum_descendants(a, sums, m);
    }
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t callee = profile->csd_callee[csd];
        const struct fm_css *css = &profile->css[profile->csd_css[csd]];
        bool inside = !fm_csd_enters(a, csd);
        bool named = css->kind == FM_SITE_NORMAL && css->callee_ps == profile->pd_ps[callee];
        if (inside || !named) /* the sums of its site say all of others */
            sum_arc(a, sums, csd, inside);
    }
}

void fm_sum_pds_at_once(const struct fm_analysis *a, const bool *paid)
{
    const struct fm_profile *profile = a->profile;
    const struct fm_analysis_storage *storage = a->storage;
    size_t width = storage->inherited;
    for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count; m++) {
        if (storage->pd_total[m] == NULL)
            continue;
        for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
            size_t at = profile->pd_ps[pd] * width + m - FM_FIRST_INHERITED;
            int64_t total = (int64_t)fm_pd_total(a, pd, m);
            storage->ps_desc[at] = fm_wrap_add(storage->ps_desc[at], total);
            if (paid[pd])
                storage->ps_paid[at] = fm_wrap_add(storage->ps_paid[at], total);
        }
    }
}
