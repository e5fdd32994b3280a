/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of functions that no context had. */
#include "exchange/arcs.h"

/* Tarjan's algorithm with a stack of its own: arcs of a function are one run, since they are
 * sorted. */
struct search {
    const struct fm_exchange_arcs *arcs;
    size_t *first;                  /* [function_count + 1] into arcs */
    uint32_t *number, *low, *group; /* [function_count]; 0 = not yet */
    size_t *next;                   /* the arc to be followed */
    GArray *path, *open;            /* uint32_t functions */
    uint32_t numbers, groups;
};

static void enter(struct search *s, uint32_t f)
{
    s->number[f] = s->low[f] = ++s->numbers;
    s->next[f] = s->first[f];
    g_array_append_val(s->path, f);
    g_array_append_val(s->open, f);
}

static void leave(struct search *s, uint32_t f)
{
    g_array_set_size(s->path, s->path->len - 1);
    if (s->path->len > 0) {
        uint32_t above = g_array_index(s->path, uint32_t, s->path->len - 1);
        s->low[above] = MIN(s->low[above], s->low[f]);
    }
    if (s->low[f] != s->number[f])
        return;
    s->groups++;
    for (uint32_t member = UINT32_MAX; member != f;) {
        member = g_array_index(s->open, uint32_t, s->open->len - 1);
        g_array_set_size(s->open, s->open->len - 1);
        s->group[member] = s->groups;
    }
}

static void search_from(struct search *s, uint32_t start)
{
    enter(s, start);
    while (s->path->len > 0) {
        uint32_t f = g_array_index(s->path, uint32_t, s->path->len - 1);
        if (s->next[f] == s->first[f + 1]) {
            leave(s, f);
            continue;
        }
        uint32_t to = s->arcs->arcs[s->next[f]++].callee;
        if (s->number[to] == 0)
            enter(s, to);
        else if (s->group[to] == 0)
            s->low[f] = MIN(s->low[f], s->number[to]);
    }
}

static void group_functions(struct search *s)
{
    uint32_t count = s->arcs->function_count;
    s->first = g_new0(size_t, count + 1);
    s->number = g_new0(uint32_t, count + 1);
    s->low = g_new0(uint32_t, count + 1);
    s->group = g_new0(uint32_t, count + 1);
    s->next = g_new0(size_t, count + 1);
    s->path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    s->open = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (size_t i = 0; i < s->arcs->arc_count; i++)
        s->first[s->arcs->arcs[i].caller + 1]++;
    for (uint32_t f = 0; f < count; f++)
        s->first[f + 1] += s->first[f];
    for (uint32_t f = 0; f < count; f++) {
        if (s->number[f] == 0)
            search_from(s, f);
    }
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
    struct search s = {.arcs = arcs};
    uint32_t merged = 0;
    group_functions(&s);
    g_autofree uint32_t *members = g_new0(uint32_t, s.groups + 1);
    g_autofree bool *real = g_new0(bool, s.groups + 1);
    g_autofree uint32_t *group_of_ps = g_new0(uint32_t, nodes->a->profile->ps_count + 1);
    for (uint32_t f = 0; f < arcs->function_count; f++) {
        members[s.group[f]]++;
        group_of_ps[arcs->functions[f].ps] = s.group[f];
    }
    mark_real(nodes, group_of_ps, real);
    for (uint32_t group = 1; group <= s.groups; group++)
        merged += members[group] > 1 && !real[group];
    g_free(s.first), g_free(s.number), g_free(s.low), g_free(s.group), g_free(s.next);
    g_array_free(s.path, TRUE), g_array_free(s.open, TRUE);
    return merged;
}
