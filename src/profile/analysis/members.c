/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of contexts in the totals of their functions. */
#include "profile/analysis/analysis_internal.h"

int64_t fm_analysis_member_total(const struct fm_analysis *a, uint32_t pd,
                                 enum fm_measure_id measure, bool *ret_at_most)
{
    g_return_val_if_fail(pd >= 1 && pd <= a->profile->pd_count && ret_at_most != NULL, 0);
    uint32_t clique = a->pd_clique[pd], ps = a->profile->pd_ps[pd], count = 0;
    *ret_at_most = false;
    if (fm_pd_is_alone(a, pd))
        return (int64_t)fm_pd_total(a, pd, measure);
    g_autofree uint32_t *pds =
        g_new0(uint32_t, a->clique_first[clique + 1] - a->clique_first[clique]);
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        if (a->profile->pd_ps[a->clique_pds[i]] == ps)
            pds[count++] = a->clique_pds[i];
    }
    return pds[0] == pd ? (int64_t)fm_group_total(a, pds, count, measure, ret_at_most) : 0;
}

int64_t fm_analysis_pd_adds(const struct fm_analysis *a, uint32_t pd, enum fm_measure_id measure,
                            bool *ret_at_most)
{
    g_return_val_if_fail(pd >= 1 && pd <= a->profile->pd_count, 0);
    uint32_t clique = a->pd_clique[pd], ps = a->profile->pd_ps[pd];
    int64_t total = fm_analysis_member_total(a, pd, measure, ret_at_most);
    struct fm_cost nested = {0};
    if (fm_pd_is_alone(a, pd)) {
        fm_analysis_pd_compensation(a, pd, ps, -1, &nested);
    } else if (total != 0 && !fm_counts_once(a, measure)) {
        for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++)
            fm_analysis_pd_compensation(a, a->clique_pds[i], ps, -1, &nested);
    }
    return fm_wrap_add(total, nested.desc[measure]);
}
