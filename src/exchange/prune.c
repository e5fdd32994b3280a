/* SPDX-License-Identifier: Apache-2.0 */
/* Small contexts left out: their sums stay, at one child of the node above them. */
#include <string.h>

#include "exchange/nodes_internal.h"

static bool is_small(const struct fm_exchange_nodes *nodes, uint32_t node, double share)
{
    for (unsigned column = 0; column < nodes->column_count; column++) {
        double all = (double)fm_exchange_total(nodes, column, 0);
        if (all > 0 && (double)fm_exchange_total(nodes, column, node) >= share * all)
            return false;
    }
    return true;
}

/* Result for each node: kept; the first small child of a kept one (a node of its own); or merged
 * into such a one. */
static uint32_t place(struct fm_exchange_nodes *nodes, double share, uint32_t *to)
{
    g_autofree uint32_t *rest = g_new0(uint32_t, nodes->count); /* for kept nodes, by old index */
    uint32_t count = 1;
    to[0] = 0;
    for (uint32_t i = 1; i < nodes->count; i++) {
        struct fm_exchange_node *node = &nodes->nodes[i];
        if (nodes->nodes[node->parent].pd == 0) { /* within what is left out */
            to[i] = to[node->parent];
            node->pd = 0;
        } else if (is_small(nodes, i, share)) {
            if (rest[node->parent] == 0)
                rest[node->parent] = count++;
            to[i] = rest[node->parent];
            node->pd = 0;
        } else {
            to[i] = count++;
        }
    }
    return count;
}

void fm_exchange_prune(struct fm_exchange_nodes *nodes, double min_share)
{
    g_autofree uint32_t *to = g_new(uint32_t, nodes->count);
    uint32_t count = place(nodes, min_share, to);
    struct fm_exchange_node *kept = g_new0(struct fm_exchange_node, count);
    int64_t *own = g_new0(int64_t, (size_t)nodes->column_count * count);
    int64_t *total = g_new0(int64_t, (size_t)nodes->column_count * count);
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct fm_exchange_node *node = &nodes->nodes[i];
        struct fm_exchange_node *now = &kept[to[i]];
        bool whole = node->pd == 0 && nodes->nodes[node->parent].pd != 0;
        if (node->pd != 0 || now->joined == 0) {
            *now = *node;
            now->parent = to[node->parent];
            now->thread = to[node->thread];
        }
        if (node->pd == 0) {
            now->pd = now->ps = now->css = 0;
            now->joined++;
        }
        for (unsigned c = 0; c < nodes->column_count; c++) {
            /* The sums of what was left out are own cost of the node that stands for it. */
            own[(size_t)c * count + to[i]] += fm_exchange_own(nodes, c, i);
            if (whole || node->pd != 0)
                total[(size_t)c * count + to[i]] += fm_exchange_total(nodes, c, i);
        }
    }
    g_free(nodes->nodes), g_free(nodes->own), g_free(nodes->total);
    nodes->nodes = kept, nodes->own = own, nodes->total = total, nodes->count = count;
}
