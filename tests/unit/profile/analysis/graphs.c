/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs.h"

struct fm_analysis *analyse(struct fm_build *build)
{
    struct fm_profile *profile;
    struct fm_analysis *analysis;
    GError *error = NULL;
    if (!fm_build_finish(build, &profile, &error) ||
        !fm_analysis_new(profile, NULL, &analysis, &error))
        g_error("%s", error->message);
    return analysis;
}

void done(struct fm_analysis *a)
{
    struct fm_profile *profile = (struct fm_profile *)(uintptr_t)a->profile;
    fm_analysis_free(a);
    fm_profile_free(profile);
}

uint32_t add_ps(struct fm_build *build, const char *name)
{
    return fm_build_ps(build, &(struct fm_ps){.decl_module = "m", .name = name});
}

uint32_t add_site(struct fm_build *build, uint32_t ps, enum fm_site_kind kind, uint32_t callee)
{
    return fm_build_css(build, ps, &(struct fm_css){.kind = kind, .callee_ps = callee});
}

void add_call(struct fm_build *build, uint32_t caller, uint32_t slot, uint32_t callee, uint64_t own)
{
    uint32_t csd = fm_build_csd(build, caller, slot, callee);
    fm_build_add(build, csd, FM_EXITS, own);
    fm_build_add(build, csd, FM_CALLSEQS, own);
}

int64_t pd_compensation(const struct fm_analysis *a, uint32_t pd, uint32_t ps)
{
    struct fm_cost cost = {0};
    fm_analysis_pd_compensation(a, pd, ps, 1, &cost);
    return cost.desc[FM_CALLSEQS];
}

int64_t csd_compensation(const struct fm_analysis *a, uint32_t csd, uint32_t ps)
{
    struct fm_cost cost = {0};
    fm_analysis_csd_compensation(a, csd, ps, 1, &cost);
    return cost.desc[FM_CALLSEQS];
}
