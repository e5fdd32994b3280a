/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/nodes.h"

#include <string.h>

#include "base/error.h"
#include "exchange/nodes_internal.h"

struct visit {
    uint32_t pd, parent, css, thread;
};

/* Nodes below the root without a place are not functions: a thread, a signal. */
static bool is_thread(const struct fm_profile *p, uint32_t pd)
{
    return !fm_profile_is_function(p, p->pd_ps[pd]);
}

static void push_children(const struct fm_exchange_nodes *nodes, GArray *stack, uint32_t index)
{
    const struct fm_profile *p = nodes->a->profile;
    const struct fm_exchange_node *node = &nodes->nodes[index];
    uint32_t slots = p->ps[node->ps].css_count;
    /* Last slot first: the stack gives them back in their order. */
    for (uint32_t slot = slots; slot-- > 0;) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(p, node->pd, slot, &count);
        for (uint32_t i = count; i-- > 0;) {
            uint32_t callee = p->csd_callee[csds[i]];
            if (nodes->tree_csd[callee] != csds[i])
                continue;
            struct visit visit = {callee, index, p->csd_css[csds[i]],
                                  index == 0 && is_thread(p, callee) ? UINT32_MAX : node->thread};
            g_array_append_val(stack, visit);
        }
    }
}

/* Each pd once, depth first. */
static void order(struct fm_exchange_nodes *nodes)
{
    const struct fm_profile *p = nodes->a->profile;
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(struct visit));
    nodes->nodes = g_new0(struct fm_exchange_node, p->pd_count + 1);
    nodes->count = 0;
    /* Nodes that nothing leads to are put below the root. Last ones first, since it is a stack. */
    for (uint32_t pd = p->pd_count; pd >= 1; pd--) {
        if (nodes->tree_csd[pd] == 0 && pd != p->root_pd)
            g_array_append_val(
                stack, ((struct visit){.pd = pd, .thread = is_thread(p, pd) ? UINT32_MAX : 0}));
    }
    g_array_append_val(stack, ((struct visit){.pd = p->root_pd}));
    while (stack->len > 0) {
        struct visit visit = g_array_index(stack, struct visit, stack->len - 1);
        uint32_t index = nodes->count++;
        g_array_set_size(stack, stack->len - 1);
        nodes->nodes[index] = (struct fm_exchange_node){
            .parent = visit.parent,
            .pd = visit.pd,
            .ps = p->pd_ps[visit.pd],
            .css = visit.css,
            .thread = visit.thread == UINT32_MAX ? index : visit.thread,
        };
        push_children(nodes, stack, index);
    }
}

/* value * multiply / divide; false when it does not fit. */
static bool convert(const struct fm_exchange_column *column, int64_t value, int64_t *ret)
{
    __int128 wide = (__int128)value * (__int128)column->multiply / (__int128)column->divide;
    *ret = (int64_t)wide;
    return wide <= INT64_MAX && wide >= INT64_MIN;
}

static bool sum_column(struct fm_exchange_nodes *nodes, unsigned column, int64_t *by_pd,
                       GError **error)
{
    const struct fm_profile *p = nodes->a->profile;
    const struct fm_exchange_column *c = &nodes->columns[column];
    int64_t *own = &nodes->own[(size_t)column * nodes->count];
    int64_t *total = &nodes->total[(size_t)column * nodes->count];
    bool fits = true;
    memset(by_pd, 0, (p->pd_count + 1) * sizeof *by_pd);
    if (c->is_calls || p->csd_own[c->id].width != 0) {
        for (uint32_t csd = 1; csd <= p->csd_count; csd++) {
            int64_t value = c->is_calls ? fm_profile_calls_of_code(p, csd)
                                        : (int64_t)fm_profile_own(p, csd, c->id);
            int64_t *sum = &by_pd[p->csd_callee[csd]];
            fits = fits && (c->is_calls || value >= 0) && !__builtin_add_overflow(*sum, value, sum);
        }
    }
    for (uint32_t i = 0; i < nodes->count; i++) {
        fits = convert(c, by_pd[nodes->nodes[i].pd], &own[i]) && fits;
        total[i] = own[i];
    }
    for (uint32_t i = nodes->count; i-- > 1;) {
        int64_t *above = &total[nodes->nodes[i].parent];
        fits = fits && !__builtin_add_overflow(*above, total[i], above);
    }
    if (!fits)
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "the sum of %s does not fit 63 bits", c->name);
    return fits;
}

bool fm_exchange_nodes_init(struct fm_exchange_nodes *nodes, const struct fm_analysis *a,
                            double min_share, GError **error)
{
    g_assert(min_share >= 0 && min_share <= 1);
    *nodes = (struct fm_exchange_nodes){.a = a};
    fm_exchange_add_columns(nodes);
    fm_exchange_span(nodes);
    order(nodes);
    nodes->own = g_new(int64_t, (size_t)nodes->column_count * nodes->count);
    nodes->total = g_new(int64_t, (size_t)nodes->column_count * nodes->count);
    g_autofree int64_t *by_pd = g_new(int64_t, a->profile->pd_count + 1);
    for (unsigned column = 0; column < nodes->column_count; column++) {
        if (!sum_column(nodes, column, by_pd, error)) {
            fm_exchange_nodes_done(nodes);
            return false;
        }
    }
    if (min_share > 0)
        fm_exchange_prune(nodes, min_share);
    return true;
}

void fm_exchange_nodes_done(struct fm_exchange_nodes *nodes)
{
    g_free(nodes->nodes);
    g_free(nodes->own);
    g_free(nodes->total);
    g_free(nodes->tree_csd);
    *nodes = (struct fm_exchange_nodes){0};
}

int64_t fm_exchange_given(const struct fm_exchange_nodes *nodes, unsigned column, uint32_t csd)
{
    const struct fm_profile *p = nodes->a->profile;
    const struct fm_exchange_column *c = &nodes->columns[column];
    int64_t ret, value = c->is_calls ? fm_profile_calls_of_code(p, csd)
                                     : (int64_t)fm_column_get(&p->csd_inclusive[c->id], csd);
    return convert(c, value, &ret) ? ret : INT64_MAX;
}

bool fm_exchange_has_own(const struct fm_exchange_nodes *nodes, uint32_t node)
{
    for (unsigned column = 0; column < nodes->column_count; column++) {
        if (fm_exchange_own(nodes, column, node) != 0)
            return true;
    }
    return false;
}

uint32_t fm_exchange_thread_ps(const struct fm_exchange_nodes *nodes, uint32_t node)
{
    uint32_t thread = nodes->nodes[node].thread;
    return thread == 0 ? 0 : nodes->nodes[thread].ps;
}

uint32_t fm_exchange_thread_end(const struct fm_exchange_nodes *nodes, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < nodes->count && nodes->nodes[end].thread == nodes->nodes[first].thread)
        end++;
    return end;
}
