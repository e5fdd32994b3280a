/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of functions that no context had. */
#include "exchange/arcs.h"
#include "exchange/groups.h"

static uint32_t *group_functions(const struct fm_exchange_arcs *arcs, uint32_t *ret_groups)
{
    uint32_t count = arcs->function_count;
    g_autofree size_t *first = g_new0(size_t, (size_t)count + 1);
    g_autofree uint32_t *to = g_new(uint32_t, arcs->arc_count + 1);
    for (size_t i = 0; i < arcs->arc_count; i++) { /* they are sorted by caller */
        first[arcs->arcs[i].caller + 1]++;
        to[i] = arcs->arcs[i].callee;
    }
    for (uint32_t f = 0; f < count; f++)
        first[f + 1] += first[f];
    return fm_exchange_groups(count, first, to, ret_groups);
}

/* Groups in which two procedures are of one recursion in some context. */
static void mark_real(const struct fm_exchange_nodes *nodes, const uint32_t *group_of_ps,
                      bool *real)
{
    const struct fm_analysis *a = nodes->a;
    for (uint32_t clique = 1; clique <= a->clique_count; clique++) {
        uint32_t first = a->clique_first[clique], end = a->clique_first[clique + 1];
        for (uint32_t i = first + 1; i < end; i++) {
            uint32_t ps = a->profile->pd_ps[a->clique_pds[i]];
            if (ps != a->profile->pd_ps[a->clique_pds[first]])
                real[group_of_ps[ps]] = true;
        }
    }
}

uint32_t fm_exchange_merged_cycles(const struct fm_exchange_arcs *arcs,
                                   const struct fm_exchange_nodes *nodes)
{
    uint32_t merged = 0, groups;
    g_autofree uint32_t *group = group_functions(arcs, &groups);
    g_autofree uint32_t *members = g_new0(uint32_t, groups + 1);
    g_autofree bool *real = g_new0(bool, groups + 1);
    g_autofree uint32_t *group_of_ps = g_new0(uint32_t, nodes->a->profile->ps_count + 1);
    for (uint32_t f = 0; f < arcs->function_count; f++) {
        members[group[f]]++;
        group_of_ps[arcs->functions[f].ps] = group[f];
    }
    mark_real(nodes, group_of_ps, real);
    for (uint32_t g = 1; g <= groups; g++)
        merged += members[g] > 1 && !real[g];
    return merged;
}
