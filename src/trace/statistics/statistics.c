/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics tree. While events are counted nodes stand in one array, children are found by a
 * table of (parent, value); the tree that is shown is made of it when it is asked for. */
#include <string.h>

#include "trace/statistics/statistics_internal.h"

/* --- nodes --- */

static uint32_t slot_of(const struct fm_statistics *statistics, uint32_t parent, uint32_t value)
{
    uint64_t mixed = ((uint64_t)parent << 32 | value) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 32) & statistics->table_mask;
}

static void insert(struct fm_statistics *statistics, uint32_t index)
{
    const struct node *node = node_at(statistics, index);
    uint32_t slot = slot_of(statistics, node->parent, node->value);
    while (statistics->table[slot] != 0)
        slot = (slot + 1) & statistics->table_mask;
    statistics->table[slot] = index + 1;
}

static void grow_table(struct fm_statistics *statistics)
{
    uint32_t slots = 2 * (statistics->table_mask + 1);
    g_free(statistics->table);
    statistics->table = g_new0(uint32_t, slots);
    statistics->table_mask = slots - 1;
    for (uint32_t i = 0; i < statistics->nodes->len; i++)
        insert(statistics, i);
}

static uint32_t add_node(struct fm_statistics *statistics, uint32_t parent, uint32_t value)
{
    if (statistics->nodes->len >= statistics->table_mask / 2)
        grow_table(statistics);
    uint32_t index = statistics->nodes->len;
    struct node node = {.parent = parent,
                        .value = value,
                        .next = NONE,
                        .child = NONE,
                        .recent = NONE,
                        .numbers = NONE};
    if (parent != NONE) {
        node.next = node_at(statistics, parent)->child;
        node_at(statistics, parent)->child = index;
    }
    g_array_append_val(statistics->nodes, node);
    insert(statistics, index);
    return index;
}

/* NONE when there is none. */
static uint32_t find_child(const struct fm_statistics *statistics, uint32_t parent, uint32_t value)
{
    uint32_t slot = slot_of(statistics, parent, value);
    for (; statistics->table[slot] != 0; slot = (slot + 1) & statistics->table_mask) {
        uint32_t index = statistics->table[slot] - 1;
        const struct node *node = node_at(statistics, index);
        if (node->parent == parent && node->value == value)
            return index;
    }
    return NONE;
}

static bool is_lane_node(const struct fm_statistics *statistics, uint32_t index)
{
    uint32_t kind = node_at(statistics, index)->parent;
    return kind != NONE && kind != 0 && node_at(statistics, kind)->parent == 0;
}

/* When there are too many nodes: of a lane's outermost states one more, for all further ones, as
 * nothing stands around them that their time could belong to. So a lane has two at most beyond the
 * limit: its others and its marks. */
static uint32_t child_of(struct fm_statistics *statistics, uint32_t parent, uint32_t value)
{
    uint32_t recent = node_at(statistics, parent)->recent;
    if (recent != NONE && node_at(statistics, recent)->value == value)
        return recent;
    uint32_t index = find_child(statistics, parent, value);
    if (index == NONE && statistics->nodes->len >= statistics->nodes_max) {
        if (!is_lane_node(statistics, parent))
            return parent;
        if (value != statistics->marks) {
            value = statistics->other_states;
            index = find_child(statistics, parent, value);
        }
    }
    if (index == NONE)
        return add_node(statistics, parent, value);
    node_at(statistics, parent)->recent = index;
    return index;
}

/* Kinds are the first level: their "value" is the kind, below the root that is number 0. Lanes are
 * the second, one node each although names may be the same: they are found by their paths. */
static uint32_t lane_node(struct fm_statistics *statistics, const struct fm_lane *lane)
{
    uint32_t kind = lane->kind;
    if (statistics->kinds[kind] == NONE)
        statistics->kinds[kind] = add_node(statistics, 0, kind);
    if (statistics->kind_lanes[kind] < LANES_MAX) {
        statistics->kind_lanes[kind]++;
        return add_node(statistics, statistics->kinds[kind], lane->name_value);
    }
    if (statistics->others[kind] == NONE)
        statistics->others[kind] =
            add_node(statistics, statistics->kinds[kind],
                     fm_trace_value(statistics->trace, "others", FM_STATE_UNKNOWN));
    return statistics->others[kind];
}

/* The lanes beyond LANES_MAX share a node, whose name stays. */
static bool is_shared(const struct fm_statistics *statistics, const struct fm_lane *lane,
                      uint32_t node)
{
    return node == statistics->others[lane->kind];
}

/* --- paths --- */

static void grow_paths(struct fm_statistics *statistics, uint32_t index)
{
    uint32_t count = MAX(index + 1, 2 * statistics->path_count);
    statistics->paths = g_renew(struct lane_path, statistics->paths, count);
    for (uint32_t i = statistics->path_count; i < count; i++)
        statistics->paths[i] = (struct lane_path){.root = NONE, .numbers = NONE};
    statistics->path_count = count;
}

static void grow_path(struct lane_path *path, uint32_t depth)
{
    uint32_t capacity = MAX(depth, MAX(4, 2 * path->capacity));
    path->nodes = g_renew(uint32_t, path->nodes, capacity);
    path->nested = g_renew(uint64_t, path->nested, capacity);
    memset(path->nested + path->capacity, 0, (capacity - path->capacity) * sizeof(uint64_t));
    path->capacity = capacity;
}

/* The lane's path, with the nodes of its first depth entries. */
static struct lane_path *path_to(struct fm_statistics *statistics, const struct fm_lane *lane,
                                 uint32_t depth)
{
    if (lane->index >= statistics->path_count)
        grow_paths(statistics, lane->index);
    struct lane_path *path = &statistics->paths[lane->index];
    if (path->root == NONE)
        path->root = lane_node(statistics, lane);
    if (depth > path->capacity)
        grow_path(path, depth);
    while (path->known < depth) {
        uint32_t parent = path->known == 0 ? path->root : path->nodes[path->known - 1];
        path->nodes[path->known] = child_of(statistics, parent, lane->stack[path->known].value);
        path->known++;
    }
    return path;
}

static void observe_segment(void *user, const struct fm_lane *lane, uint32_t depth,
                            const struct fm_state_entry *entry, uint64_t end)
{
    struct fm_statistics *statistics = user;
    struct lane_path *path = path_to(statistics, lane, depth);
    if (depth + 1 > path->capacity)
        grow_path(path, depth + 1);
    uint32_t index, around = depth == 0 ? path->root : path->nodes[depth - 1];
    if (path->known > depth) {
        index = path->nodes[depth];
        path->known = depth;
    } else {
        index = child_of(statistics, around, entry->value);
    }
    if (depth == 0 && !is_shared(statistics, lane, path->root)) /* it may have another name now */
        node_at(statistics, path->root)->value = lane->name_value;
    uint64_t from = MAX(entry->since, statistics->start);
    uint64_t to = MIN(end, statistics->end);
    uint64_t nested = path->nested[depth];
    path->nested[depth] = 0;
    /* What only touches the interval is not in it; what takes no time counts where it stands. */
    bool inside =
        from < to || (entry->since == end && end >= statistics->start && end < statistics->end);
    if (!inside)
        return;
    uint64_t time = to - from;
    if (index == around) { /* beyond NODES_MAX: what was nested in it is nested in the one around */
        if (depth > 0)
            path->nested[depth - 1] += nested;
        return;
    }
    if (depth > 0)
        path->nested[depth - 1] += time;
    struct node *node = node_at(statistics, index);
    node->count++;
    node->time += time;
    node->self_time += time - MIN(time, nested);
    if (time > node->longest || node->count == 1) {
        node->longest = time;
        node->longest_at = from;
    }
    statistics->stale = true;
}

static void observe_mark(void *user, const struct fm_lane *lane, uint64_t time, uint32_t value)
{
    struct fm_statistics *statistics = user;
    if (time < statistics->start || time >= statistics->end)
        return;
    uint32_t marks = child_of(statistics, path_to(statistics, lane, 0)->root, statistics->marks);
    uint32_t mark = child_of(statistics, marks, value);
    node_at(statistics, marks)->count++;
    if (mark != marks)
        node_at(statistics, mark)->count++;
    statistics->stale = true;
}

static void observe_number(void *user, const struct fm_lane *lane, uint64_t time, double value)
{
    struct fm_statistics *statistics = user;
    if (time >= statistics->end)
        return;
    struct lane_path *path = path_to(statistics, lane, 0);
    if (path->numbers == NONE) {
        if (is_shared(statistics, lane, path->root))
            return;
        path->numbers = statistics->numbers->len;
        node_at(statistics, path->root)->numbers = path->numbers;
        node_at(statistics, path->root)->value = lane->name_value;
        g_array_append_val(statistics->numbers, ((struct numbers){0}));
    }
    struct numbers *numbers = &g_array_index(statistics->numbers, struct numbers, path->numbers);
    uint64_t now = MAX(time, statistics->start);
    if (time < statistics->start || numbers->count == 0) { /* what it is when the interval begins */
        *numbers = (struct numbers){.count = 1,
                                    .first = now,
                                    .since = now,
                                    .least = value,
                                    .greatest = value,
                                    .last = value};
    } else {
        if (now > numbers->since) {
            numbers->area += numbers->last * (double)(now - numbers->since);
            numbers->since = now;
        }
        numbers->count++;
        numbers->last = value;
        numbers->least = MIN(numbers->least, value);
        numbers->greatest = MAX(numbers->greatest, value);
    }
    statistics->stale = true;
}

void fm_statistics_begin(struct fm_statistics *statistics)
{
    for (uint32_t i = 0; i < fm_state_lane_count(statistics->state); i++) {
        const struct fm_lane *lane = fm_state_lane(statistics->state, i);
        if (lane->has_number && !lane->ended)
            observe_number(statistics, lane, statistics->start, lane->number);
    }
}

/* --- events --- */

static void count_type(struct fm_statistics *statistics, struct fm_tracefile *tracefile,
                       uint32_t id)
{
    while (tracefile->index >= statistics->types->len)
        g_array_append_val(statistics->types, ((struct types){0}));
    struct types *types = &g_array_index(statistics->types, struct types, tracefile->index);
    types->tracefile = tracefile;
    id = MIN(id, TYPES_MAX);
    if (id >= types->count) {
        uint32_t count = MAX(id + 1, MIN(2 * types->count, TYPES_MAX + 1));
        types->counts = g_renew(uint64_t, types->counts, count);
        memset(types->counts + types->count, 0, (count - types->count) * sizeof(uint64_t));
        types->count = count;
    }
    types->counts[id]++;
}

bool fm_statistics_hook(void *hook_data, void *call_data)
{
    struct fm_statistics *statistics = hook_data;
    const struct fm_tracefile_context *at = call_data;
    uint64_t time = at->event.time;
    if (at->tracefile->trace != statistics->trace || time < statistics->start ||
        time >= statistics->end)
        return false;
    statistics->events++;
    statistics->latest = MAX(statistics->latest, time);
    statistics->stale = true;
    count_type(statistics, at->tracefile, at->event.id);
    const struct fm_lane *lane = fm_state_event_lane(statistics->state);
    if (lane == NULL) {
        statistics->elsewhere++;
        return false;
    }
    const struct lane_path *path = path_to(statistics, lane, lane->depth);
    uint32_t node = lane->depth == 0 ? path->root : path->nodes[lane->depth - 1];
    node_at(statistics, node)->events++;
    return false;
}

/* --- making --- */

struct fm_statistics *fm_statistics_new(const struct fm_state *state)
{
    struct fm_statistics *statistics = g_new0(struct fm_statistics, 1);
    statistics->trace = fm_state_trace(state);
    statistics->state = state;
    statistics->observer = (struct fm_state_observer){.user = statistics,
                                                      .segment = observe_segment,
                                                      .number = observe_number,
                                                      .mark = observe_mark};
    statistics->nodes = g_array_new(false, false, sizeof(struct node));
    statistics->types = g_array_new(false, false, sizeof(struct types));
    statistics->numbers = g_array_new(false, false, sizeof(struct numbers));
    statistics->table = g_new0(uint32_t, FIRST_SLOTS);
    statistics->table_mask = FIRST_SLOTS - 1;
    statistics->marks = fm_trace_value(statistics->trace, "marks", FM_STATE_UNKNOWN);
    statistics->other_states = fm_trace_value(statistics->trace, "others", FM_STATE_UNKNOWN);
    statistics->nodes_max = NODES_MAX;
    statistics->end = FM_TIME_INF;
    statistics->names = g_string_chunk_new(4096);
    for (unsigned i = 0; i < FM_LANE_KIND_COUNT; i++)
        statistics->kinds[i] = statistics->others[i] = NONE;
    add_node(statistics, NONE, 0);
    return statistics;
}

void fm_statistics_free(struct fm_statistics *statistics)
{
    if (statistics == NULL)
        return;
    fm_statistics_free_tree(statistics->root);
    fm_statistics_free_tree(statistics->added);
    if (statistics->added_names != NULL)
        g_string_chunk_free(statistics->added_names);
    for (uint32_t i = 0; i < statistics->path_count; i++) {
        g_free(statistics->paths[i].nodes);
        g_free(statistics->paths[i].nested);
    }
    for (guint i = 0; i < statistics->types->len; i++)
        g_free(g_array_index(statistics->types, struct types, i).counts);
    g_free(statistics->paths);
    g_free(statistics->table);
    g_array_unref(statistics->nodes);
    g_array_unref(statistics->types);
    g_array_unref(statistics->numbers);
    g_string_chunk_free(statistics->names);
    g_free(statistics);
}

const struct fm_state_observer *fm_statistics_observer(struct fm_statistics *statistics)
{
    return &statistics->observer;
}

void fm_statistics_set_interval(struct fm_statistics *statistics, uint64_t start, uint64_t end)
{
    statistics->start = start;
    statistics->end = end;
}
