/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that share their nodes with an earlier one: of a program that runs on, in which nothing
 * new was called. */
#include <string.h>

#include "base/error.h"
#include "profile/file/build.h"
#include "profile/file/deep_internal.h"

struct fm_build *fm_build_new_recount(struct fm_profile *base)
{
    g_return_val_if_fail(base != NULL && base->coverage == FM_COVERAGE_NONE, NULL);
    struct fm_build *build = fm_build_new(base->flavour, base->program_name);
    build->base = fm_profile_ref(base);
    build->csd_callee.count = build->csd_capacity = base->csd_count + 1u;
    build->profile->pd_count = base->pd_count;
    build->profile->csd_count = base->csd_count;
    return build;
}

static bool has_same_measures(const struct fm_profile *a, const struct fm_profile *b)
{
    bool same = a->measure_count == b->measure_count;
    for (unsigned m = 0; same && m < a->measure_count; m++)
        same = strcmp(a->measures[m].name, b->measures[m].name) == 0;
    return same;
}

static bool share_nodes(struct fm_build *build)
{
    struct fm_profile *profile = build->profile;
    const struct fm_profile *base = build->base;
    if (profile->ps_count > 0 || profile->css_count > 0 || build->points->len > 0 ||
        build->pd_ps.count > 1)
        fm_build_fault(build, "there are new nodes");
    else if (!has_same_measures(profile, base))
        fm_build_fault(build, "there are other measures than before");
    if (build->fault == NULL)
        fm_build_lay_facts(build);
    if (build->fault != NULL)
        return false;
    fm_profile_free_nodes(profile);
    profile->ps_count = base->ps_count;
    profile->css_count = base->css_count;
    profile->ps = base->ps;
    profile->css = base->css;
    profile->css_of_ps = base->css_of_ps;
    profile->points = base->points;
    profile->pd_ps = base->pd_ps;
    profile->pd_slot_first = base->pd_slot_first;
    profile->slots = base->slots;
    profile->multi = base->multi;
    profile->pd_points = base->pd_points;
    profile->pd_point_first = base->pd_point_first;
    profile->csd_caller = base->csd_caller;
    profile->csd_callee = base->csd_callee;
    profile->csd_css = base->csd_css;
    profile->storage->base = g_steal_pointer(&build->base);
    return true;
}

bool fm_build_finish_recount(struct fm_build *build, struct fm_profile **ret, GError **error)
{
    g_return_val_if_fail(build != NULL && build->base != NULL && ret != NULL, false);
    bool done = share_nodes(build);
    if (done)
        *ret = g_steal_pointer(&build->profile);
    else
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "cannot reuse the nodes of the earlier profile: %s", build->fault);
    fm_build_free(build);
    return done;
}
