/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/analysis/analysis_internal.h"

/* Number of csds that leave the clique with at least the given cost; *ret_csd is one of them. */
static uint32_t count_heavy(const struct fm_analysis *a, uint32_t clique,
                            enum fm_measure_id measure, double least, uint32_t *ret_csd)
{
    const struct fm_profile *profile = a->profile;
    uint32_t heavy = 0;
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        uint32_t pd = a->clique_pds[i];
        uint32_t slots = fm_slot_count(profile, pd);
        for (uint32_t slot = 0; slot < slots; slot++) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
            for (uint32_t j = 0; j < count; j++) {
                struct fm_cost cost;
                fm_analysis_csd_cost(a, csds[j], &cost);
                if (fm_analysis_csd_child_clique(a, csds[j]) == 0 ||
                    100.0 * (double)fm_cost_total(&cost, measure) < least)
                    continue;
                *ret_csd = csds[j];
                heavy++;
            }
        }
    }
    return heavy;
}

uint32_t fm_analysis_action_clique(const struct fm_analysis *a, unsigned percent,
                                   enum fm_measure_id measure)
{
    g_return_val_if_fail(measure < FM_MEASURES_MAX, 0);
    uint32_t clique = a->pd_clique[a->profile->root_pd];
    double least = (double)percent * (double)fm_cost_total(&a->root_total, measure);
    uint32_t csd = 0;
    /* Ends: every callee clique has a smaller number. */
    while (count_heavy(a, clique, measure, least, &csd) == 1)
        clique = fm_analysis_csd_child_clique(a, csd);
    return clique;
}
