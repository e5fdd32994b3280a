/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts as classes of a union-find. Two are joined when they are reached from one context by one
 * call site and belong to one procedure, and when they belong to one procedure and are in one
 * clique. A joined context brings its edges, which may join further contexts. */
#include <string.h>

#include "runs/merge/internal.h"

uint32_t fm_merge_class_of(struct fm_merge *m, uint32_t node)
{
    uint32_t *parents = (uint32_t *)(void *)m->parents->data, at = node;
    while (parents[at] != at)
        at = parents[at];
    while (node != at) {
        uint32_t next = parents[node];
        parents[node] = at;
        node = next;
    }
    return at;
}

uint32_t fm_merge_new_node(struct fm_merge *m, uint32_t ps)
{
    g_return_val_if_fail(m->nodes->len < UINT32_MAX, 0);
    struct fm_merged_node node = {
        .ps = ps, .first = FM_NO_EDGE, .last = FM_NO_EDGE, .points = m->points->len};
    g_array_append_val(m->parents, m->nodes->len);
    g_array_append_val(m->nodes, node);
    if (m->coverage == FM_COVERAGE_DYNAMIC)
        g_array_set_size(m->points, m->points->len + fm_merge_proc(m, ps)->points->len);
    return m->nodes->len - 1;
}

/* --- edges by class, site and callee's procedure --- */

/* Most classes have few edges, one behind the other: only those of others are in the table. */
#define EDGES_IN_LIST 12u

static size_t edge_hash(uint32_t from, uint32_t site, uint32_t callee_ps)
{
    uint64_t hash = ((uint64_t)from << 32 | site) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ callee_ps) * 0xbf58476d1ce4e5b9u;
    return (size_t)(hash ^ hash >> 32);
}

static void insert_place(struct fm_merge *m, const struct fm_edge_place *place)
{
    size_t mask = m->edge_capacity - 1;
    size_t at = edge_hash(place->from, place->site, place->callee_ps) & mask;
    while (m->edge_places[at].edge != 0)
        at = (at + 1) & mask;
    m->edge_places[at] = *place;
    m->edge_used++;
}

static void grow(struct fm_merge *m)
{
    struct fm_edge_place *places = m->edge_places;
    size_t capacity = m->edge_capacity;
    m->edge_capacity = MAX((size_t)1024, capacity * 2);
    m->edge_places = g_new0(struct fm_edge_place, m->edge_capacity);
    m->edge_used = 0;
    for (size_t i = 0; i < capacity; i++) {
        if (places[i].edge != 0)
            insert_place(m, &places[i]);
    }
    g_free(places);
}

/* UINT32_MAX when it is not there. */
static uint32_t find_edge(const struct fm_merge *m, uint32_t from, uint32_t site,
                          uint32_t callee_ps)
{
    const struct fm_merged_node *node = fm_merge_node(m, from);
    if (node->edge_count <= EDGES_IN_LIST) {
        for (uint32_t at = node->first; at != FM_NO_EDGE; at = fm_merge_edge(m, at)->next) {
            const struct fm_merged_edge *edge = fm_merge_edge(m, at);
            if (edge->site == site && edge->callee_ps == callee_ps)
                return at;
        }
        return UINT32_MAX;
    }
    size_t mask = m->edge_capacity - 1;
    for (size_t at = edge_hash(from, site, callee_ps) & mask; m->edge_places[at].edge != 0;
         at = (at + 1) & mask) {
        const struct fm_edge_place *place = &m->edge_places[at];
        if (place->from == from && place->site == site && place->callee_ps == callee_ps)
            return place->edge - 1;
    }
    return UINT32_MAX;
}

static void put_place(struct fm_merge *m, uint32_t from, uint32_t edge)
{
    const struct fm_merged_edge *of = fm_merge_edge(m, edge);
    if (2 * (m->edge_used + 1) > m->edge_capacity)
        grow(m);
    const struct fm_edge_place place = {from, of->site, of->callee_ps, edge + 1};
    insert_place(m, &place);
}

static void put_edge(struct fm_merge *m, uint32_t from, uint32_t edge)
{
    struct fm_merged_edge *of = fm_merge_edge(m, edge);
    struct fm_merged_node *node = fm_merge_node(m, from);
    for (uint32_t at = node->edge_count == EDGES_IN_LIST ? node->first : FM_NO_EDGE;
         at != FM_NO_EDGE; at = fm_merge_edge(m, at)->next)
        put_place(m, from, at);
    if (node->edge_count >= EDGES_IN_LIST)
        put_place(m, from, edge);
    of->next = FM_NO_EDGE;
    if (node->last == FM_NO_EDGE)
        node->first = edge;
    else
        fm_merge_edge(m, node->last)->next = edge;
    node->last = edge;
    node->edge_count++;
}

uint32_t fm_merge_find_edge(const struct fm_merge *m, uint32_t from, uint32_t site,
                            uint32_t callee_ps, uint32_t *guess)
{
    /* Runs of one program are much alike, and so in step: the next edge is mostly the one. */
    uint32_t edge = *guess;
    if (edge != FM_NO_EDGE) {
        const struct fm_merged_edge *there = fm_merge_edge(m, edge);
        if (there->site != site || there->callee_ps != callee_ps)
            edge = FM_NO_EDGE;
    }
    if (edge == FM_NO_EDGE)
        edge = find_edge(m, from, site, callee_ps);
    if (edge != FM_NO_EDGE)
        *guess = fm_merge_edge(m, edge)->next;
    return edge;
}

uint32_t fm_merge_edge_at(struct fm_merge *m, uint32_t from, uint32_t site, uint32_t callee_ps,
                          uint32_t *guess, uint32_t *callee, bool *ret_new)
{
    uint32_t edge = fm_merge_find_edge(m, from, site, callee_ps, guess);
    *ret_new = edge == FM_NO_EDGE;
    if (!*ret_new) {
        *callee = fm_merge_edge(m, edge)->callee;
        return edge;
    }
    struct fm_merged_edge made = {.site = site, .callee = *callee, .callee_ps = callee_ps};
    if (*callee == UINT32_MAX)
        made.callee = *callee = fm_merge_new_node(m, callee_ps);
    edge = m->edges->len;
    g_array_append_val(m->edges, made);
    if (m->value_count > 0)
        g_array_set_size(m->values, m->values->len + m->value_count);
    put_edge(m, from, edge);
    return edge;
}

static void add_values(struct fm_merge *m, uint32_t edge, const uint64_t *values)
{
    g_assert(edge < m->edges->len);
    g_return_if_fail(edge < m->edges->len && (values != NULL || m->value_count == 0));
    uint64_t *to = fm_merge_values(m, edge);
    for (unsigned i = 0; i < m->value_count; i++)
        to[i] = fm_merge_sum(to[i], values[i]);
}

/* --- uniting --- */

static void unite_points(struct fm_merge *m, const struct fm_merged_node *to,
                         const struct fm_merged_node *from)
{
    guint count = fm_merge_proc(m, to->ps)->points->len;
    for (guint i = 0; m->coverage == FM_COVERAGE_DYNAMIC && i < count; i++) {
        uint64_t *sum = &g_array_index(m->points, uint64_t, to->points + i);
        *sum = fm_merge_sum(*sum, g_array_index(m->points, uint64_t, from->points + i));
    }
}

static void push_pair(struct fm_merge *m, uint32_t a, uint32_t b)
{
    g_array_append_val(m->to_unite, a);
    g_array_append_val(m->to_unite, b);
}

/* The edges of one class become the other's; equal ones are added up and their callees united. */
static void unite_classes(struct fm_merge *m, uint32_t to, uint32_t from)
{
    uint32_t next = fm_merge_node(m, from)->first;
    unite_points(m, fm_merge_node(m, to), fm_merge_node(m, from));
    g_array_index(m->parents, uint32_t, from) = to;
    fm_merge_node(m, from)->first = fm_merge_node(m, from)->last = FM_NO_EDGE;
    while (next != FM_NO_EDGE) {
        uint32_t edge = next;
        struct fm_merged_edge *of = fm_merge_edge(m, edge);
        uint32_t there = find_edge(m, to, of->site, of->callee_ps);
        next = of->next;
        if (there == UINT32_MAX) {
            put_edge(m, to, edge);
            continue;
        }
        add_values(m, there, fm_merge_values(m, edge));
        of->site = FM_NO_EDGE; /* it is no edge any more, whoever remembers it: */
        of->next = there;
        push_pair(m, fm_merge_edge(m, there)->callee, of->callee);
    }
}

void fm_merge_unite(struct fm_merge *m, uint32_t a, uint32_t b)
{
    g_return_if_fail(a < m->nodes->len && b < m->nodes->len);
    push_pair(m, a, b);
    while (m->to_unite->len > 0) {
        guint at = m->to_unite->len;
        a = fm_merge_class_of(m, g_array_index(m->to_unite, uint32_t, at - 1));
        b = fm_merge_class_of(m, g_array_index(m->to_unite, uint32_t, at - 2));
        g_array_set_size(m->to_unite, at - 2);
        if (a == b)
            continue;
        bool a_larger = fm_merge_node(m, a)->edge_count >= fm_merge_node(m, b)->edge_count;
        unite_classes(m, a_larger ? a : b, a_larger ? b : a);
    }
}

/* --- cliques --- */

struct frame {
    uint32_t node, next; /* edge */
};

/* number: 0 = not seen, UINT32_MAX = its clique is complete. */
struct link {
    uint32_t number, low;
};

struct low_link {
    struct link *links;   /* by class */
    struct frame *frames; /* stacks, with room for all classes */
    uint32_t *members;
    uint32_t frame_count, member_count, seen;
};

static void enter_node(const struct fm_merge *m, struct low_link *l, uint32_t node)
{
    l->links[node].number = l->links[node].low = ++l->seen;
    l->frames[l->frame_count++] = (struct frame){node, fm_merge_node(m, node)->first};
    l->members[l->member_count++] = node;
}

/* Members of a clique that are of one procedure are noted as pairs to be united. */
static void end_clique(struct fm_merge *m, struct low_link *l, uint32_t node, GArray *pairs)
{
    uint32_t end = l->member_count, begin = end;
    do {
        begin--;
        l->links[l->members[begin]].number = UINT32_MAX;
    } while (l->members[begin] != node);
    for (uint32_t i = begin; m->clique_size != NULL && i < end; i++)
        m->clique_size[l->members[i]] = end - begin;
    if (end - begin > 1) {
        g_autoptr(GHashTable) by_ps = g_hash_table_new(NULL, NULL);
        for (uint32_t i = begin; i < end; i++) {
            uint32_t member = l->members[i], first;
            gpointer ps = GUINT_TO_POINTER(fm_merge_node(m, member)->ps + 1), there;
            if (g_hash_table_lookup_extended(by_ps, ps, NULL, &there)) {
                first = GPOINTER_TO_UINT(there);
                g_array_append_val(pairs, first);
                g_array_append_val(pairs, member);
            } else {
                g_hash_table_insert(by_ps, ps, GUINT_TO_POINTER(member));
            }
        }
    }
    l->member_count = begin;
}

static void find_cliques(struct fm_merge *m, struct low_link *l, GArray *pairs)
{
    enter_node(m, l, fm_merge_class_of(m, m->root));
    while (l->frame_count > 0) {
        struct frame *top = &l->frames[l->frame_count - 1];
        uint32_t node = top->node;
        if (top->next != FM_NO_EDGE) {
            const struct fm_merged_edge *edge = fm_merge_edge(m, top->next);
            uint32_t callee = fm_merge_class_of(m, edge->callee);
            top->next = edge->next;
            uint32_t number = l->links[callee].number;
            if (number == 0)
                enter_node(m, l, callee);
            else
                l->links[node].low = MIN(l->links[node].low, number);
            continue;
        }
        l->frame_count--;
        if (l->frame_count > 0) {
            uint32_t above = l->frames[l->frame_count - 1].node;
            l->links[above].low = MIN(l->links[above].low, l->links[node].low);
        }
        if (l->links[node].low == l->links[node].number)
            end_clique(m, l, node, pairs);
    }
}

void fm_merge_close(struct fm_merge *m)
{
    guint pairs_found;
    if (m->options.places || fm_merge_has_totals(m))
        m->clique_size = g_new0(uint32_t, m->nodes->len + 1u);
    do {
        struct low_link l = {
            .links = g_new0(struct link, m->nodes->len),
            .frames = g_new(struct frame, m->nodes->len),
            .members = g_new(uint32_t, m->nodes->len),
        };
        g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        find_cliques(m, &l, pairs);
        pairs_found = pairs->len;
        for (guint i = 0; i < pairs->len; i += 2)
            fm_merge_unite(m, g_array_index(pairs, uint32_t, i),
                           g_array_index(pairs, uint32_t, i + 1));
        g_free(l.links);
        g_free(l.frames);
        g_free(l.members);
    } while (pairs_found > 0);
    g_clear_pointer(&m->edge_places, g_free);
    m->edge_capacity = m->edge_used = 0;
}
