/* SPDX-License-Identifier: Apache-2.0 */
/* Segments are kept in the order of their ends, so what a segment lies in comes after it. They are
 * read from the last one backwards: then it comes before, and its node is known. */
#include "trace/segments/flame.h"

#include <string.h>

/* The nodes of a lane's latest segments, by depth. */
struct stack {
    uint32_t *nodes;
    uint32_t depths;
};

struct fm_flame {
    struct fm_segments_view view;
    uint64_t start, end;
    GByteArray *lanes; /* NULL = all */
    GArray *nodes;     /* holds struct fm_flame_node */
    uint32_t *slots;   /* nodes by parent and value, + 1; 0 = free */
    uint32_t slot_mask;
    GArray *stacks; /* holds struct stack, by lane */
    uint32_t left;  /* blocks that have not been looked at */
    uint64_t lost;
};

struct fm_flame *fm_flame_new(struct fm_segments *segments, const struct fm_totals_area *area)
{
    struct fm_flame *flame = g_new0(struct fm_flame, 1);
    const struct fm_flame_node root = {0};
    fm_segments_view_init(&flame->view, segments);
    flame->start = area->start;
    flame->end = area->end;
    flame->lanes = fm_lanes_dup(area->lanes);
    flame->nodes = g_array_new(false, false, sizeof(struct fm_flame_node));
    g_array_append_val(flame->nodes, root);
    flame->slot_mask = 1023;
    flame->slots = g_new0(uint32_t, flame->slot_mask + 1);
    flame->stacks = g_array_new(false, true, sizeof(struct stack));
    flame->left = fm_segments_blocks(&flame->view);
    return flame;
}

void fm_flame_free(struct fm_flame *flame)
{
    if (flame == NULL)
        return;
    for (guint i = 0; i < flame->stacks->len; i++)
        g_free(g_array_index(flame->stacks, struct stack, i).nodes);
    g_array_unref(flame->stacks);
    g_array_unref(flame->nodes);
    g_free(flame->slots);
    if (flame->lanes != NULL)
        g_byte_array_unref(flame->lanes);
    fm_segments_view_clear(&flame->view);
    g_free(flame);
}

struct fm_segments *fm_flame_segments(const struct fm_flame *flame)
{
    return flame->view.of;
}

/* --- nodes --- */

static struct fm_flame_node *node_at(const struct fm_flame *flame, uint32_t index)
{
    return &g_array_index(flame->nodes, struct fm_flame_node, index);
}

/* The slot of a node, or the free one where it belongs. */
static uint32_t *slot_of(const struct fm_flame *flame, uint32_t parent, uint32_t value)
{
    uint64_t mixed = ((uint64_t)parent << 32 | value) * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t at = (uint32_t)(mixed >> 32);; at++) {
        uint32_t *slot = &flame->slots[at & flame->slot_mask];
        if (*slot == 0)
            return slot;
        const struct fm_flame_node *node = node_at(flame, *slot - 1);
        if (node->parent == parent && node->value == value)
            return slot;
    }
}

static void widen(struct fm_flame *flame)
{
    g_free(flame->slots);
    flame->slot_mask = 2 * flame->slot_mask + 1;
    flame->slots = g_new0(uint32_t, (size_t)flame->slot_mask + 1);
    for (uint32_t i = 1; i < flame->nodes->len; i++)
        *slot_of(flame, node_at(flame, i)->parent, node_at(flame, i)->value) = i + 1;
}

/* 0 when there is no room. */
static uint32_t child_of(struct fm_flame *flame, uint32_t parent, uint32_t value)
{
    uint32_t *slot = slot_of(flame, parent, value);
    if (*slot != 0)
        return *slot - 1;
    if (flame->nodes->len >= FM_FLAME_NODES_MAX)
        return 0;
    const struct fm_flame_node node = {
        .value = value, .parent = parent, .depth = node_at(flame, parent)->depth + 1};
    uint32_t index = flame->nodes->len;
    *slot = index + 1;
    g_array_append_val(flame->nodes, node);
    if (2 * (uint64_t)flame->nodes->len > flame->slot_mask)
        widen(flame);
    return index;
}

static uint32_t *stack_of(struct fm_flame *flame, uint32_t lane, uint32_t depth)
{
    if (lane >= flame->stacks->len)
        g_array_set_size(flame->stacks, lane + 1);
    struct stack *stack = &g_array_index(flame->stacks, struct stack, lane);
    if (depth >= stack->depths) {
        uint32_t depths = MAX(depth + 1, 2 * stack->depths);
        stack->nodes = g_renew(uint32_t, stack->nodes, depths);
        memset(stack->nodes + stack->depths, 0, (depths - stack->depths) * sizeof *stack->nodes);
        stack->depths = depths;
    }
    return stack->nodes;
}

static void count(struct fm_flame *flame, const struct fm_segment *segment)
{
    uint64_t from = MAX(segment->start, flame->start), to = MIN(segment->end, flame->end);
    bool instant = segment->start == segment->end && from == segment->start && from < flame->end;
    if (from >= to && !instant)
        return;
    if (!fm_lanes_hold(flame->lanes, segment->lane))
        return;
    uint32_t *nodes = stack_of(flame, segment->lane, segment->depth);
    uint32_t parent = segment->depth == 0 ? 0 : nodes[segment->depth - 1];
    uint32_t index = child_of(flame, parent, segment->value);
    if (index == 0) {
        nodes[segment->depth] = parent; /* its nested segments count around it */
        flame->lost++;
        return;
    }
    nodes[segment->depth] = index;
    node_at(flame, index)->count++;
    node_at(flame, index)->total += to - from;
}

bool fm_flame_step(struct fm_flame *flame, unsigned blocks)
{
    for (; flame->left > 0 && blocks > 0; flame->left--) {
        struct fm_segments_span span = fm_segments_span(&flame->view, flame->left - 1);
        if (span.last_end < flame->start || span.first_start >= flame->end)
            continue;
        const struct fm_segment *segments = fm_segments_read(&flame->view, flame->left - 1);
        for (uint32_t i = span.count; i-- > 0;)
            count(flame, &segments[i]);
        blocks--;
    }
    return flame->left > 0;
}

/* --- results --- */

static int compare_nodes(const void *a, const void *b)
{
    const struct fm_flame_node *left = *(const struct fm_flame_node *const *)a;
    const struct fm_flame_node *right = *(const struct fm_flame_node *const *)b;
    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    return left < right ? -1 : left > right;
}

GArray *fm_flame_nodes(const struct fm_flame *flame)
{
    uint32_t count = flame->nodes->len;
    g_autofree const struct fm_flame_node **order = g_new(const struct fm_flame_node *, count);
    g_autofree uint32_t *places = g_new0(uint32_t, count);
    GArray *nodes = g_array_sized_new(false, false, sizeof(struct fm_flame_node), count);
    for (uint32_t i = 0; i < count; i++)
        order[i] = node_at(flame, i);
    qsort(order, count, sizeof(const struct fm_flame_node *), compare_nodes);
    for (uint32_t i = 0; i < count; i++) {
        struct fm_flame_node node = *order[i];
        places[order[i] - node_at(flame, 0)] = i;
        node.parent = places[node.parent];
        node.self = node.total;
        g_array_append_val(nodes, node);
    }
    struct fm_flame_node *all = (struct fm_flame_node *)(void *)nodes->data;
    for (uint32_t i = 1; i < count; i++) {
        if (all[i].depth == 1) {
            all[0].count += all[i].count;
            all[0].total += all[i].total;
            continue;
        }
        all[all[i].parent].self -= MIN(all[i].total, all[all[i].parent].self);
    }
    return nodes;
}

uint64_t fm_flame_lost(const struct fm_flame *flame)
{
    return flame->lost;
}
