/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/arcs.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Functions are interned by (procedure, caller's function with one caller less). */
struct interned {
    GHashTable *ids; /* guint64* -> id + 1 */
    GArray *functions;
};

static uint32_t intern(struct interned *table, uint32_t ps, uint32_t caller)
{
    guint64 key = (guint64)caller << 32 | ps;
    gpointer id = g_hash_table_lookup(table->ids, &key);
    if (id != NULL)
        return GPOINTER_TO_UINT(id) - 1;
    struct fm_exchange_function function = {ps, caller};
    g_array_append_val(table->functions, function);
    g_hash_table_insert(table->ids, g_memdup2(&key, sizeof key),
                        GUINT_TO_POINTER(table->functions->len));
    return table->functions->len - 1;
}

/* The function of each node: names grow a caller at a time, from that of the node above. */
static uint32_t *functions_of(const struct fm_exchange_nodes *nodes, unsigned callers,
                              struct interned *table)
{
    uint32_t *now = g_new(uint32_t, nodes->count), *before = g_new(uint32_t, nodes->count);
    memset(before, 0xff, nodes->count * sizeof *before); /* FM_EXCHANGE_NO_FUNCTION */
    for (unsigned level = 0; level <= callers; level++) {
        now[0] = FM_EXCHANGE_NO_FUNCTION;
        for (uint32_t i = 1; i < nodes->count; i++)
            now[i] = intern(table, nodes->nodes[i].ps,
                            level == 0 ? FM_EXCHANGE_NO_FUNCTION : before[nodes->nodes[i].parent]);
        uint32_t *swap = before;
        before = now, now = swap;
    }
    g_free(now);
    return before;
}

static int by_arc(const void *left, const void *right)
{
    const struct fm_exchange_arc *a = left, *b = right;
    if (a->caller != b->caller)
        return a->caller < b->caller ? -1 : 1;
    if (a->css != b->css)
        return a->css < b->css ? -1 : 1;
    return a->callee < b->callee ? -1 : a->callee > b->callee;
}

/* One call of a context, before equal ones are added up. */
struct call {
    struct fm_exchange_arc arc;
    uint32_t node; /* node that has its total; 0 = none */
    uint32_t csd;  /* csd that has its recorded cost; 0 = not recorded */
};

static struct call *collect(const struct fm_exchange_nodes *nodes, const uint32_t *function,
                            size_t *ret_count)
{
    const struct fm_profile *p = nodes->a->profile;
    g_autofree uint32_t *node_of = g_new0(uint32_t, p->pd_count + 1);
    struct call *calls = g_new(struct call, p->csd_count + 1);
    bool given = fm_profile_is(p, FM_NATURE_ARCS);
    *ret_count = 0;
    for (uint32_t i = 0; i < nodes->count; i++)
        node_of[nodes->nodes[i].pd] = i;
    for (uint32_t csd = 1; csd <= p->csd_count; csd++) {
        uint32_t caller = node_of[p->csd_caller[csd]], callee = node_of[p->csd_callee[csd]];
        bool leads = nodes->tree_csd[p->csd_callee[csd]] == csd;
        if (caller == 0 || callee == 0) /* the root's calls have nobody to stand at */
            continue;
        calls[(*ret_count)++] = (struct call){
            .arc = {function[caller], p->csd_css[csd], function[callee], fm_profile_calls(p, csd)},
            .node = leads && !given ? callee : 0,
            .csd = given ? csd : 0,
        };
    }
    qsort(calls, *ret_count, sizeof *calls, by_arc);
    return calls;
}

static void add_up(struct fm_exchange_arcs *arcs, const struct fm_exchange_nodes *nodes,
                   const struct call *calls, size_t count)
{
    unsigned columns = nodes->column_count;
    size_t different = 0;
    for (size_t i = 0; i < count; i++)
        different += i == 0 || by_arc(&calls[i - 1], &calls[i]) != 0;
    arcs->arcs = g_new(struct fm_exchange_arc, different + 1);
    arcs->costs = g_new0(int64_t, (different + 1) * columns);
    arcs->arc_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_arc(&calls[i - 1], &calls[i]) != 0)
            arcs->arcs[arcs->arc_count++] = calls[i].arc;
        else
            arcs->arcs[arcs->arc_count - 1].calls += calls[i].arc.calls;
        for (unsigned c = 0; c < columns && calls[i].node != 0; c++)
            arcs->costs[(arcs->arc_count - 1) * columns + c] +=
                fm_exchange_total(nodes, c, calls[i].node);
        for (unsigned c = 0; c < columns && calls[i].csd != 0; c++)
            arcs->costs[(arcs->arc_count - 1) * columns + c] +=
                fm_exchange_given(nodes, c, calls[i].csd);
    }
}

void fm_exchange_arcs_init(struct fm_exchange_arcs *arcs, const struct fm_exchange_nodes *nodes,
                           unsigned callers)
{
    struct interned table = {
        g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL),
        g_array_new(FALSE, FALSE, sizeof(struct fm_exchange_function)),
    };
    size_t count;
    *arcs = (struct fm_exchange_arcs){0};
    g_autofree uint32_t *function = functions_of(nodes, callers, &table);
    arcs->function_count = table.functions->len;
    arcs->functions = (struct fm_exchange_function *)(void *)g_array_free(table.functions, FALSE);
    g_hash_table_destroy(table.ids);
    arcs->own = g_new0(int64_t, (size_t)arcs->function_count * nodes->column_count + 1);
    for (uint32_t i = 1; i < nodes->count; i++) {
        g_assert(nodes->nodes[i].pd != 0);
        for (unsigned c = 0; c < nodes->column_count; c++)
            arcs->own[(size_t)function[i] * nodes->column_count + c] +=
                fm_exchange_own(nodes, c, i);
    }
    struct call *calls = collect(nodes, function, &count);
    add_up(arcs, nodes, calls, count);
    g_free(calls);
}

void fm_exchange_arcs_done(struct fm_exchange_arcs *arcs)
{
    g_free(arcs->functions);
    g_free(arcs->own);
    g_free(arcs->arcs);
    g_free(arcs->costs);
    *arcs = (struct fm_exchange_arcs){0};
}
