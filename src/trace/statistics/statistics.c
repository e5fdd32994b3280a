/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics tree. While events are counted nodes stand in one array, children are found by a
 * table of (parent, value); the tree that is shown is made of it when it is asked for. */
#include <string.h>
#include <sys/mman.h>

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
    while (statistics->table[slot].number != 0)
        slot = (slot + 1) & statistics->table_mask;
    statistics->table[slot] = (struct slot){node->parent, node->value, index + 1, 0};
}

/* Memory that is looked at here and there: in large pages, where the system has them. */
static void *alloc_scattered(size_t count, size_t size)
{
    enum { LARGE_PAGE = 2 << 20 };
    if (count * size < LARGE_PAGE)
        return g_aligned_alloc0(count, size, sizeof(struct node));
    void *memory = g_aligned_alloc(count, size, LARGE_PAGE);
    madvise(memory, count * size, MADV_HUGEPAGE);
    return memset(memory, 0, count * size);
}

static void grow_table(struct fm_statistics *statistics)
{
    uint32_t slots = 2 * (statistics->table_mask + 1);
    g_aligned_free(statistics->table);
    statistics->table = alloc_scattered(slots, sizeof(struct slot));
    statistics->table_mask = slots - 1;
    for (uint32_t i = 0; i < statistics->node_count; i++)
        insert(statistics, i);
}

/* The first slab is taken in small pieces: most traces have few nodes. */
static void add_slab(struct fm_statistics *statistics)
{
    uint32_t count = statistics->node_count / NODE_SLAB;
    statistics->slabs = g_renew(struct node *, statistics->slabs, count + 1);
    statistics->slabs[count] =
        count == 0 ? g_aligned_alloc(NODE_SLAB, sizeof(struct node), sizeof(struct node))
                   : alloc_scattered(NODE_SLAB, sizeof(struct node));
}

static uint32_t add_node(struct fm_statistics *statistics, uint32_t parent, uint32_t value)
{
    if (statistics->node_count >= statistics->table_mask / 2)
        grow_table(statistics);
    if (statistics->node_count % NODE_SLAB == 0)
        add_slab(statistics);
    uint32_t index = statistics->node_count++;
    *node_at(statistics, index) = (struct node){.parent = parent, .value = value, .recent = NONE};
    insert(statistics, index);
    return index;
}

/* NONE when there is none. */
static uint32_t find_child(const struct fm_statistics *statistics, uint32_t parent, uint32_t value)
{
    uint32_t slot = slot_of(statistics, parent, value);
    for (; statistics->table[slot].number != 0; slot = (slot + 1) & statistics->table_mask) {
        const struct slot *at = &statistics->table[slot];
        if (at->parent == parent && at->value == value)
            return at->number - 1;
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
    const struct node *around = node_at(statistics, parent);
    if (around->recent != NONE && around->recent_value == value)
        return around->recent;
    uint32_t index = find_child(statistics, parent, value);
    if (index == NONE && statistics->node_count >= statistics->nodes_max) {
        if (!is_lane_node(statistics, parent))
            return parent;
        if (value != statistics->marks) {
            value = statistics->other_states;
            index = find_child(statistics, parent, value);
        }
    }
    if (index == NONE)
        index = add_node(statistics, parent, value);
    node_at(statistics, parent)->recent = index;
    node_at(statistics, parent)->recent_value = value;
    return index;
}

/* Kinds are the first level: their "value" is the kind, below the root that is number 0. Lanes are
 * the second, one node each although names may be the same: they are found by their paths. */
static uint32_t lane_node(struct fm_statistics *statistics, const struct lane_path *path)
{
    g_assert((unsigned)path->kind < FM_LANE_KIND_COUNT);
    uint32_t kind = path->kind;
    if (statistics->kinds[kind] == NONE)
        statistics->kinds[kind] = add_node(statistics, 0, kind);
    if (statistics->kind_lanes[kind] < LANES_MAX) {
        statistics->kind_lanes[kind]++;
        return add_node(statistics, statistics->kinds[kind], path->name);
    }
    if (statistics->others[kind] == NONE)
        statistics->others[kind] =
            add_node(statistics, statistics->kinds[kind], statistics->other_states);
    return statistics->others[kind];
}

/* The lanes beyond LANES_MAX share a node, whose name stays. */
static bool is_shared(const struct fm_statistics *statistics, const struct lane_path *path)
{
    return path->root == statistics->others[path->kind];
}

/* --- paths --- */

static void grow_paths(struct fm_statistics *statistics, uint32_t index)
{
    uint32_t count = MAX(index + 1, 2 * statistics->path_count);
    statistics->paths = g_renew(struct lane_path, statistics->paths, count);
    for (uint32_t i = statistics->path_count; i < count; i++)
        statistics->paths[i] =
            (struct lane_path){.root = NONE, .numbers = NONE, .parent = FM_LANE_NONE};
    statistics->path_count = count;
}

static void grow_path(struct lane_path *path, uint32_t depth)
{
    uint32_t capacity = MAX(depth, MAX(4, 2 * path->capacity));
    path->entries = g_renew(struct path_entry, path->entries, capacity);
    memset(path->entries + path->capacity, 0, (capacity - path->capacity) * sizeof *path->entries);
    path->capacity = capacity;
}

/* The node of an entry on the lane's root. */
static uint32_t outermost(struct fm_statistics *statistics, struct lane_path *path, uint32_t value)
{
    struct path_near *near = &path->near[value % G_N_ELEMENTS(path->near)];
    if (near->number == 0 || near->value != value)
        *near = (struct path_near){value, child_of(statistics, path->root, value) + 1};
    return near->number - 1;
}

/* For the first entry that is not known: its node, with the events in it so far. */
static uint32_t first_unknown(struct fm_statistics *statistics, struct lane_path *path,
                              uint32_t value)
{
    uint32_t index = path->known == 0
                         ? outermost(statistics, path, value)
                         : child_of(statistics, path->entries[path->known - 1].node, value);
    if (path->ahead_events > 0) {
        g_assert(path->ahead_value == value);
        node_at(statistics, index)->events += path->ahead_events;
        path->ahead_events = 0;
    }
    return index;
}

static void find_out(struct fm_statistics *statistics, struct lane_path *path, uint32_t depth)
{
    if (path->root == NONE)
        path->root = lane_node(statistics, path);
    while (path->known < depth) {
        path->entries[path->known].node =
            first_unknown(statistics, path, path->entries[path->known].value);
        path->known++;
    }
    g_assert(path->known >= depth && path->known <= path->capacity);
}

/* The nodes of the path's first depth entries. */
static inline void know(struct fm_statistics *statistics, struct lane_path *path, uint32_t depth)
{
    if (path->root == NONE || path->known < depth)
        find_out(statistics, path, depth);
}

/* An event in a lane's innermost entry, whose node may not be known. */
static void count_ahead(struct fm_statistics *statistics, struct lane_path *path)
{
    uint32_t depth = path->depth;
    bool ahead = depth > 0 && statistics->node_count >= statistics->ahead_nodes;
    know(statistics, path, depth - (ahead ? 1 : 0));
    if (path->known >= depth) {
        node_at(statistics, depth == 0 ? path->root : path->entries[depth - 1].node)->events++;
        return;
    }
    uint32_t around = depth < 2 ? path->root : path->entries[depth - 2].node;
    g_assert(path->known == depth - 1 && path->ahead_events < UINT32_MAX);
    path->ahead_value = path->entries[depth - 1].value;
    if (path->ahead_events++ == 0)
        __builtin_prefetch(&statistics->table[slot_of(statistics, around, path->ahead_value)]);
}

static inline void count_event(struct fm_statistics *statistics, struct lane_path *path)
{
    uint32_t depth = path->depth;
    if (path->root == NONE || path->known < depth)
        count_ahead(statistics, path);
    else
        node_at(statistics, depth == 0 ? path->root : path->entries[depth - 1].node)->events++;
}

void fm_statistics_settle(struct fm_statistics *statistics)
{
    for (uint32_t i = 0; i < statistics->path_count; i++) {
        struct lane_path *path = &statistics->paths[i];
        if (path->ahead_events > 0)
            first_unknown(statistics, path, path->ahead_value);
    }
}

/* --- what happens --- */

/* The entry at depth, the innermost one, ends; what is around it is in the path. */
static void end_entry(struct fm_statistics *statistics, struct lane_path *path, uint32_t depth,
                      uint32_t value, uint64_t since, uint64_t end)
{
    know(statistics, path, depth);
    uint32_t index, around = depth == 0 ? path->root : path->entries[depth - 1].node;
    if (path->known > depth) {
        index = path->entries[depth].node;
        path->known = depth;
    } else {
        index = first_unknown(statistics, path, value);
    }
    path->depth = depth;
    if (depth == 0 && !is_shared(statistics, path)) /* it may have another name now */
        node_at(statistics, path->root)->value = path->name;
    uint64_t from = MAX(since, statistics->start);
    uint64_t to = MIN(end, statistics->end);
    uint64_t nested = path->entries[depth].nested;
    path->entries[depth].nested = 0;
    /* An entry that only touches the interval is not in it; one without duration counts where it
     * is. */
    bool inside = from < to || (since == end && end >= statistics->start && end < statistics->end);
    if (!inside)
        return;
    uint64_t time = to - from;
    if (index == around) { /* beyond NODES_MAX: what was nested in it is nested in the one around */
        if (depth > 0)
            path->entries[depth - 1].nested += nested;
        return;
    }
    if (depth > 0)
        path->entries[depth - 1].nested += time;
    struct node *node = node_at(statistics, index);
    node->count++;
    node->time += time;
    node->self_time += time - MIN(time, nested);
    g_assert(node->self_time <= node->time);
    if (time > node->longest || node->count == 1) {
        node->longest = time;
        node->longest_at = from;
    }
    statistics->stale = true;
}

static void count_mark(struct fm_statistics *statistics, struct lane_path *path, uint64_t time,
                       uint32_t value)
{
    if (time < statistics->start || time >= statistics->end)
        return;
    know(statistics, path, 0);
    uint32_t marks = outermost(statistics, path, statistics->marks);
    uint32_t mark = child_of(statistics, marks, value);
    node_at(statistics, marks)->count++;
    if (mark != marks)
        node_at(statistics, mark)->count++;
    statistics->stale = true;
}

static void set_number(struct fm_statistics *statistics, struct lane_path *path, uint64_t time,
                       double value)
{
    if (time >= statistics->end)
        return;
    know(statistics, path, 0);
    if (path->numbers == NONE) {
        if (is_shared(statistics, path))
            return;
        path->numbers = statistics->numbers->len;
        node_at(statistics, path->root)->value = path->name;
        g_array_append_val(statistics->numbers, ((struct numbers){.node = path->root}));
    }
    struct numbers *numbers = &g_array_index(statistics->numbers, struct numbers, path->numbers);
    uint64_t now = MAX(time, statistics->start);
    if (time < statistics->start || numbers->count == 0) { /* value when the interval begins */
        *numbers = (struct numbers){.node = path->root,
                                    .count = 1,
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

static struct types *count_new_type(struct fm_statistics *statistics, unsigned tracefile,
                                    uint32_t id)
{
    while (tracefile >= statistics->types->len)
        g_array_append_val(statistics->types, ((struct types){0}));
    struct types *types = &g_array_index(statistics->types, struct types, tracefile);
    id = MIN(id, TYPES_MAX);
    if (id >= types->count) {
        uint32_t count = MAX(id + 1, MIN(2 * types->count, TYPES_MAX + 1));
        types->counts = g_renew(uint64_t, types->counts, count);
        memset(types->counts + types->count, 0, (count - types->count) * sizeof(uint64_t));
        types->count = count;
    }
    g_assert(id < types->count && types->count <= TYPES_MAX + 1);
    types->counts[id]++;
    return types;
}

/* known: those of that tracefile, or NULL. Returns them. */
static inline struct types *count_type(struct fm_statistics *statistics, struct types *known,
                                       unsigned tracefile, uint32_t id)
{
    if (known == NULL || FM_UNLIKELY(id >= known->count))
        return count_new_type(statistics, tracefile, id);
    known->counts[id]++;
    return known;
}

/* False when it is not of the interval. */
static bool count_anywhere(struct fm_statistics *statistics, unsigned tracefile, uint32_t id,
                           uint64_t time)
{
    if (time < statistics->start || time >= statistics->end)
        return false;
    statistics->events++;
    statistics->latest = MAX(statistics->latest, time);
    statistics->stale = true;
    count_type(statistics, NULL, tracefile, id);
    return true;
}

/* --- from a state --- */

static inline struct lane_path *path_at(struct fm_statistics *statistics, uint32_t lane)
{
    if (FM_UNLIKELY(lane >= statistics->path_count))
        grow_paths(statistics, lane);
    return &statistics->paths[lane];
}

/* The path of a lane, up to depth as it is there now. */
static struct lane_path *look(struct fm_statistics *statistics, const struct fm_lane *lane,
                              uint32_t depth)
{
    struct lane_path *path = path_at(statistics, lane->index);
    path->kind = lane->kind;
    path->name = lane->name_value;
    path->parent = lane->parent;
    path->number = fm_lane_number(lane);
    path->depth = lane->depth;
    if (depth > path->capacity)
        grow_path(path, depth);
    for (uint32_t i = path->known; i < depth; i++)
        path->entries[i].value = lane->stack[i].value;
    return path;
}

static void observe_segment(void *user, const struct fm_lane *lane, uint32_t depth,
                            const struct fm_state_entry *entry, uint64_t end)
{
    struct fm_statistics *statistics = user;
    struct lane_path *path = look(statistics, lane, depth);
    if (depth == path->capacity)
        grow_path(path, depth + 1);
    end_entry(statistics, path, depth, entry->value, entry->since, end);
}

static void observe_mark(void *user, const struct fm_lane *lane, uint64_t time, uint32_t value)
{
    struct fm_statistics *statistics = user;
    count_mark(statistics, look(statistics, lane, 0), time, value);
}

static void observe_number(void *user, const struct fm_lane *lane, uint64_t time, double value)
{
    struct fm_statistics *statistics = user;
    set_number(statistics, look(statistics, lane, 0), time, value);
}

void fm_statistics_begin(struct fm_statistics *statistics)
{
    for (uint32_t i = 0; i < fm_state_lane_count(statistics->state); i++) {
        const struct fm_lane *lane = fm_state_lane(statistics->state, i);
        if (lane->has_number && !lane->ended)
            observe_number(statistics, lane, statistics->start, lane->number);
    }
}

bool fm_statistics_hook(void *hook_data, void *call_data)
{
    struct fm_statistics *statistics = hook_data;
    const struct fm_tracefile_context *at = call_data;
    if (at->tracefile->trace != statistics->trace ||
        !count_anywhere(statistics, at->tracefile->index, at->event.id, at->event.time))
        return false;
    const struct fm_lane *lane = fm_state_event_lane(statistics->state);
    if (lane == NULL)
        statistics->elsewhere++;
    else
        count_event(statistics, look(statistics, lane, lane->depth));
    return false;
}

/* --- from a tape --- */

static void begin_entry(struct lane_path *path, uint32_t depth, uint32_t value)
{
    if (depth >= path->capacity)
        grow_path(path, depth + 1);
    path->entries[depth].value = value;
    path->depth = depth + 1;
}

static inline void take_change(struct fm_statistics *statistics,
                               const struct fm_tape_change *change)
{
    if (change->kind == FM_TAPE_ARROW || change->kind == FM_TAPE_CLOSING)
        return;
    struct lane_path *path = path_at(statistics, change->lane);
    double number;
    switch ((enum fm_tape_kind)change->kind) {
    case FM_TAPE_LANE:
        path->name = change->value;
        path->kind = (enum fm_lane_kind)change->depth;
        path->parent = (uint32_t)change->since;
        path->number = change->detail;
        break;
    case FM_TAPE_BEGUN:
        begin_entry(path, change->depth, change->value);
        break;
    case FM_TAPE_ENDED:
        end_entry(statistics, path, change->depth, change->value, change->since, change->end);
        break;
    case FM_TAPE_NUMBER:
        memcpy(&number, &change->since, sizeof number);
        set_number(statistics, path, change->end, number);
        break;
    case FM_TAPE_MARK:
        count_mark(statistics, path, change->end, change->value);
        break;
    case FM_TAPE_ARROW:
    case FM_TAPE_CLOSING:
        break;
    }
}

void fm_statistics_take(void *user, const struct fm_tape_batch *batch)
{
    struct fm_statistics *statistics = user;
    const struct fm_tape_change *change = batch->changes;
    const struct fm_tape_change *end = change + batch->change_count;
    struct types *types = NULL;
    unsigned tracefile = 0; /* that the types are of */
    for (uint32_t i = 0; i < batch->event_count; i++) {
        for (; change < end && change->event == i; change++)
            take_change(statistics, change);
        const struct fm_tape_event *event = &batch->events[i];
        if (event->time < statistics->start || event->time >= statistics->end)
            continue;
        statistics->events++;
        statistics->latest = MAX(statistics->latest, event->time);
        statistics->stale = true;
        types = count_type(statistics, tracefile == event->tracefile ? types : NULL,
                           event->tracefile, event->id);
        tracefile = event->tracefile;
        if (event->lane == FM_LANE_NONE)
            statistics->elsewhere++;
        else
            count_event(statistics, path_at(statistics, event->lane));
    }
    for (; change < end; change++)
        take_change(statistics, change);
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
    statistics->types = g_array_new(false, false, sizeof(struct types));
    statistics->numbers = g_array_new(false, false, sizeof(struct numbers));
    statistics->table = alloc_scattered(FIRST_SLOTS, sizeof(struct slot));
    statistics->table_mask = FIRST_SLOTS - 1;
    statistics->marks = fm_trace_value(statistics->trace, "marks", FM_STATE_UNKNOWN);
    statistics->other_states = fm_trace_value(statistics->trace, "others", FM_STATE_UNKNOWN);
    statistics->nodes_max = NODES_MAX;
    statistics->ahead_nodes = AHEAD_NODES;
    statistics->end = FM_TIME_INF;
    statistics->names = g_string_chunk_new(4096);
    for (unsigned i = 0; i < FM_LANE_KIND_COUNT; i++)
        statistics->kinds[i] = statistics->others[i] = NONE;
    add_node(statistics, NONE, 0);
    return statistics;
}

void fm_statistics_free_tree(struct fm_statistics_node *node)
{
    if (node == NULL)
        return;
    for (guint i = 0; node->children != NULL && i < node->children->len; i++)
        fm_statistics_free_tree(g_ptr_array_index(node->children, i));
    if (node->children != NULL)
        g_ptr_array_unref(node->children);
    g_free(node);
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
        g_free(statistics->paths[i].entries);
    }
    for (guint i = 0; i < statistics->types->len; i++)
        g_free(g_array_index(statistics->types, struct types, i).counts);
    g_free(statistics->paths);
    g_aligned_free(statistics->table);
    for (uint32_t i = 0; i * (size_t)NODE_SLAB < statistics->node_count; i++)
        g_aligned_free(statistics->slabs[i]);
    g_free(statistics->slabs);
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
    g_assert(statistics->events == 0); /* before the first event */
    statistics->start = start;
    statistics->end = end;
}
