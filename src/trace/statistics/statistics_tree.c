/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <string.h>

#include "trace/statistics/statistics_internal.h"

static struct fm_statistics_node *show(struct fm_statistics_node *parent, const char *name,
                                       enum fm_state_class state_class)
{
    struct fm_statistics_node *node = g_new0(struct fm_statistics_node, 1);
    node->name = name;
    node->state_class = state_class;
    node->parent = parent;
    if (parent != NULL) {
        if (parent->children == NULL)
            parent->children = g_ptr_array_new();
        g_ptr_array_add(parent->children, node);
    }
    return node;
}

static void fill_numbers(const struct fm_statistics *statistics, uint32_t index,
                         struct fm_statistics_node *node)
{
    if (index == NONE)
        return;
    g_assert(index < statistics->numbers->len);
    const struct numbers *numbers = &g_array_index(statistics->numbers, struct numbers, index);
    uint64_t until = MAX(statistics->latest, numbers->since);
    double area = numbers->area + numbers->last * (double)(until - numbers->since);
    node->numbers = numbers->count;
    node->least = numbers->least;
    node->greatest = numbers->greatest;
    node->last = numbers->last;
    node->mean = until > numbers->first ? area / (double)(until - numbers->first) : numbers->last;
}

static int by_time(const void *a, const void *b)
{
    const struct fm_statistics_node *x = *(struct fm_statistics_node *const *)a;
    const struct fm_statistics_node *y = *(struct fm_statistics_node *const *)b;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Children of each node, and numbers of each: counting needs neither. */
struct links {
    uint32_t *child, *next; /* by node: its latest child, its sibling before; NONE = none */
    uint32_t *numbers;      /* by node; NONE = it has none */
    uint32_t *lane;         /* by node; NONE = it is none */
};

static void make_links(const struct fm_statistics *statistics, struct links *ret)
{
    uint32_t count = statistics->node_count;
    ret->child = g_new(uint32_t, count);
    ret->next = g_new(uint32_t, count);
    ret->numbers = g_new(uint32_t, count);
    ret->lane = g_new(uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = node_at(statistics, i)->parent;
        ret->child[i] = ret->next[i] = ret->numbers[i] = ret->lane[i] = NONE;
        if (parent == NONE)
            continue;
        g_assert(parent < i);
        ret->next[i] = ret->child[parent];
        ret->child[parent] = i;
    }
    for (guint i = 0; i < statistics->numbers->len; i++)
        ret->numbers[g_array_index(statistics->numbers, struct numbers, i).node] = i;
    for (uint32_t i = 0; i < statistics->path_count; i++) {
        if (statistics->paths[i].root != NONE)
            ret->lane[statistics->paths[i].root] = i;
    }
}

/* Facts about the lane that a node stands for. */
static void fill_lane(const struct fm_statistics *statistics, uint32_t lane,
                      struct fm_statistics_node *node)
{
    if (lane == NONE || node->is_shared)
        return;
    const struct lane_path *path = &statistics->paths[lane];
    node->number = path->number;
    if (path->parent >= statistics->path_count ||
        statistics->paths[path->parent].kind != FM_LANE_PROCESS)
        return;
    const struct lane_path *process = &statistics->paths[path->parent];
    g_autofree char *label =
        g_strdup_printf("%s (pid %" G_GUINT64_FORMAT ")",
                        fm_trace_value_name(statistics->trace, process->name), process->number);
    node->process = g_string_chunk_insert_const(statistics->names, label);
}

static void clear_links(struct links *links)
{
    g_free(links->child);
    g_free(links->next);
    g_free(links->numbers);
    g_free(links->lane);
}

/* Kinds and lanes have no time of their own: they get the sums. level: 0 = root, 1 = kind, 2 =
 * lane. Recursion is as deep as stacks are, at most FM_STATE_DEPTH_MAX + 2. */
static void show_children(const struct fm_statistics *statistics, const struct links *links,
                          uint32_t index, struct fm_statistics_node *shown, unsigned level)
{
    for (uint32_t i = links->child[index]; i != NONE; i = links->next[i]) {
        const struct node *node = node_at(statistics, i);
        const char *name = level == 0 ? fm_lane_kind_name(node->value)
                                      : fm_trace_value_name(statistics->trace, node->value);
        enum fm_state_class state_class =
            level < 2 ? FM_STATE_UNKNOWN : fm_trace_value_class(statistics->trace, node->value);
        struct fm_statistics_node *child = show(shown, name, state_class);
        child->count = node->count;
        child->time = node->time;
        child->self_time = node->self_time;
        child->longest = node->longest;
        child->longest_at = node->longest_at;
        child->events = child->all_events = node->events;
        child->is_shared = level == 1 && statistics->others[node_at(statistics, index)->value] == i;
        fill_numbers(statistics, links->numbers[i], child);
        if (level == 1)
            fill_lane(statistics, links->lane[i], child);
        show_children(statistics, links, i, child, level + 1);
        shown->all_events += child->all_events;
        if (level == 2 && node->value == statistics->marks)
            continue;
        if (level <= 2) { /* the sum of what is below */
            shown->count += child->count;
            shown->time += child->time;
        }
        if (level <= 2 && child->longest > shown->longest) {
            shown->longest = child->longest;
            shown->longest_at = child->longest_at;
        }
    }
    g_assert(shown->all_events >= shown->events);
    if (level > 0 && shown->children != NULL)
        g_ptr_array_sort(shown->children, by_time);
}

static void show_types(struct fm_statistics *statistics, struct fm_statistics_node *root)
{
    struct fm_statistics_node *list = show(root, "event types", FM_STATE_UNKNOWN);
    for (guint i = 0; i < statistics->types->len; i++) {
        const struct types *types = &g_array_index(statistics->types, struct types, i);
        struct fm_tracefile *tracefile = g_ptr_array_index(statistics->trace->tracefiles, i);
        for (uint32_t id = 0; id < types->count; id++) {
            if (types->counts[id] == 0)
                continue;
            const char *name = NULL;
            if (tracefile->class_->event_name != NULL && id < TYPES_MAX)
                name = tracefile->class_->event_name(tracefile, id);
            char unknown[32];
            g_snprintf(unknown, sizeof unknown, id < TYPES_MAX ? "event %u" : "other types", id);
            name = g_string_chunk_insert_const(statistics->names, name == NULL ? unknown : name);
            struct fm_statistics_node *node = NULL;
            for (guint j = 0; i > 0 && list->children != NULL && j < list->children->len; j++) {
                struct fm_statistics_node *other = g_ptr_array_index(list->children, j);
                if (other->name == name)
                    node = other; /* the same type in another tracefile */
            }
            if (node == NULL)
                node = show(list, name, FM_STATE_UNKNOWN);
            node->count += types->counts[id];
            node->events = node->all_events = node->count;
            list->count += types->counts[id];
        }
    }
    list->events = list->all_events = list->count;
    if (list->children != NULL)
        g_ptr_array_sort(list->children, by_time);
}

/* --- several traces: by names --- */

static void merge_numbers(struct fm_statistics_node *to, const struct fm_statistics_node *from)
{
    if (from->numbers == 0)
        return;
    if (to->numbers == 0) {
        to->least = from->least;
        to->greatest = from->greatest;
        to->mean = from->mean;
    } else { /* each trace weighs the same */
        to->least = MIN(to->least, from->least);
        to->greatest = MAX(to->greatest, from->greatest);
        to->mean = (to->mean + from->mean) / 2;
    }
    to->last = from->last;
    to->numbers += from->numbers;
}

static void merge(struct fm_statistics_node *to, const struct fm_statistics_node *from,
                  GStringChunk *names)
{
    to->count += from->count;
    to->time += from->time;
    to->self_time += from->self_time;
    to->events += from->events;
    to->all_events += from->all_events;
    if (from->longest > to->longest) {
        to->longest = from->longest;
        to->longest_at = from->longest_at;
    }
    merge_numbers(to, from);
    if (from->children == NULL)
        return;
    GHashTable *known = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; to->children != NULL && i < to->children->len; i++) {
        struct fm_statistics_node *child = g_ptr_array_index(to->children, i);
        g_hash_table_insert(known, (void *)(uintptr_t)child->name, child);
    }
    for (guint i = 0; i < from->children->len; i++) {
        const struct fm_statistics_node *other = g_ptr_array_index(from->children, i);
        struct fm_statistics_node *child = g_hash_table_lookup(known, other->name);
        if (child == NULL) {
            const char *name = g_string_chunk_insert_const(names, other->name);
            child = show(to, name, other->state_class);
            child->number = other->number;
            if (other->process != NULL)
                child->process = g_string_chunk_insert_const(names, other->process);
            g_hash_table_insert(known, (void *)(uintptr_t)name, child);
        }
        merge(child, other, names);
    }
    g_hash_table_unref(known);
    if (to->parent != NULL)
        g_ptr_array_sort(to->children, by_time);
}

void fm_statistics_add(struct fm_statistics *to, struct fm_statistics *from)
{
    const struct fm_statistics_node *other = fm_statistics_root(from);
    if (to->added == NULL) {
        to->added_names = g_string_chunk_new(4096);
        to->added = show(NULL, "added", FM_STATE_UNKNOWN);
    }
    merge(to->added, other, to->added_names);
    to->stale = true;
}

const struct fm_statistics_node *fm_statistics_root(struct fm_statistics *statistics)
{
    if (statistics->root != NULL && !statistics->stale)
        return statistics->root;
    fm_statistics_settle(statistics);
    fm_statistics_free_tree(statistics->root);
    g_string_chunk_clear(statistics->names);
    struct fm_statistics_node *root = show(NULL, "trace", FM_STATE_UNKNOWN);
    struct links links;
    make_links(statistics, &links);
    show_children(statistics, &links, 0, root, 0);
    clear_links(&links);
    root->events = statistics->elsewhere;
    root->all_events += statistics->elsewhere;
    show_types(statistics, root);
    if (statistics->added != NULL)
        merge(root, statistics->added, statistics->names);
    g_assert(root->all_events >= root->events);
    statistics->root = root;
    statistics->stale = false;
    return root;
}

const struct fm_statistics_node *fm_statistics_find(const struct fm_statistics_node *root, ...)
{
    va_list names;
    va_start(names, root);
    const char *name;
    while (root != NULL && (name = va_arg(names, const char *)) != NULL) {
        const struct fm_statistics_node *found = NULL;
        for (guint i = 0; root->children != NULL && found == NULL && i < root->children->len; i++) {
            const struct fm_statistics_node *child = g_ptr_array_index(root->children, i);
            if (strcmp(child->name, name) == 0)
                found = child;
        }
        root = found;
    }
    va_end(names);
    return root;
}
