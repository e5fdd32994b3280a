/* SPDX-License-Identifier: Apache-2.0 */
#include "arcs.h"

#include <string.h>

struct fm_analysis *analysed(const struct fm_profile *profile)
{
    struct fm_analysis *a = NULL;
    g_autoptr(GError) error = NULL;
    if (!fm_analysis_new(profile, NULL, &a, &error))
        g_error("%s", error->message);
    return a;
}

uint32_t function(const struct fm_profile *p, const char *name)
{
    for (uint32_t ps = 1; ps <= p->ps_count; ps++) {
        if (strcmp(p->ps[ps].name, name) == 0)
            return ps;
    }
    g_error("there is no %s", name);
}

struct fm_cost cost(const struct fm_analysis *a, const char *name)
{
    struct fm_cost ret;
    fm_analysis_ps_cost(a, function(a->profile, name), &ret);
    return ret;
}

/* The call of one function by another, of which there is one. */
uint32_t call(const struct fm_profile *p, const char *caller, const char *callee)
{
    for (uint32_t csd = 1; csd <= p->csd_count; csd++) {
        if (p->pd_ps[p->csd_caller[csd]] == function(p, caller) &&
            p->pd_ps[p->csd_callee[csd]] == function(p, callee))
            return csd;
    }
    g_error("%s does not call %s", caller, callee);
}

void assert_invariants(const struct fm_analysis *a)
{
    struct fm_invariant *all;
    unsigned count;
    fm_analysis_invariants(a, &all, &count);
    for (unsigned i = 0; i < count; i++) {
        if (!all[i].holds)
            g_error("%s: %s", all[i].name, all[i].detail);
    }
    fm_invariants_free(all, count);
}
