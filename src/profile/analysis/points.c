/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage counts of a procedure. */
#include "profile/analysis/analysis.h"

uint64_t *fm_analysis_point_counts(const struct fm_analysis *a, uint32_t ps, uint32_t pd)
{
    const struct fm_profile *profile = a->profile;
    g_assert(ps >= 1 && ps <= profile->ps_count && pd <= profile->pd_count);
    uint32_t points = profile->ps[ps].point_count;
    uint64_t *counts = g_new0(uint64_t, points + 1u);
    for (uint32_t i = 0; i < points && profile->pd_point_first == NULL; i++)
        counts[i] = profile->points[profile->ps[ps].point_first + i].count;
    if (profile->pd_point_first == NULL)
        return counts;
    for (uint32_t at = a->ps_pd_first[ps]; at < a->ps_pd_first[ps + 1]; at++) {
        uint32_t of = a->ps_pds[at];
        for (uint32_t i = 0; (pd == 0 || pd == of) && i < points; i++)
            counts[i] += fm_column_get(&profile->pd_points, profile->pd_point_first[of] + i);
    }
    return counts;
}
