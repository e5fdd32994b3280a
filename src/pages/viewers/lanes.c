/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that a viewer shows, and their order. */
#include <string.h>

#include "pages/viewers/viewers.h"

#define SPAN_COLOURS 12u
#define INDENT_MAX 8u
#define ANCESTORS_MAX 64u

static void clear_lane(gpointer lane)
{
    g_free(((struct fm_viewer_lane *)lane)->name);
}

void fm_viewer_lanes_init(struct fm_viewer_lanes *lanes)
{
    lanes->all = g_array_new(FALSE, TRUE, sizeof(struct fm_viewer_lane));
    g_array_set_clear_func(lanes->all, clear_lane);
    lanes->order = g_ptr_array_new();
}

void fm_viewer_lanes_done(struct fm_viewer_lanes *lanes)
{
    g_clear_pointer(&lanes->order, g_ptr_array_unref);
    g_clear_pointer(&lanes->all, g_array_unref);
}

/* Lanes of one part are contiguous, by index, in the order of taking. */
static struct fm_viewer_lane *find_known(const struct fm_viewer_lanes *lanes, unsigned known,
                                         unsigned part, uint32_t index)
{
    unsigned low = 0, high = known;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        struct fm_viewer_lane *lane = &g_array_index(lanes->all, struct fm_viewer_lane, middle);
        if (lane->part == part && lane->index == index)
            return lane;
        if (lane->part < part || (lane->part == part && lane->index < index))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static struct fm_viewer_lane *find_lane(const struct fm_viewer_lanes *lanes, unsigned part,
                                        uint32_t index)
{
    return find_known(lanes, lanes->all->len, part, index);
}

static int compare_places(gconstpointer a, gconstpointer b)
{
    const struct fm_viewer_lane *left = a, *right = b;
    if (left->part != right->part)
        return left->part < right->part ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

void fm_viewer_lanes_take(struct fm_viewer_lanes *lanes, unsigned part,
                          const struct fm_state *state)
{
    unsigned known = lanes->all->len;
    bool in_order = true;
    lanes->fresh = false;
    for (uint32_t i = 0; i < fm_state_lane_count(state); i++) {
        const struct fm_lane *from = fm_state_lane(state, i);
        struct fm_viewer_lane *lane =
            known == 0 ? NULL : find_known(lanes, known, part, from->index);
        char *label = fm_state_lane_label(state, from);
        if (lane != NULL) {
            g_free(lane->name);
            lane->name = label;
            lane->parent = from->parent;
            lane->ended = from->ended;
            lane->has_number = from->has_number;
            continue;
        }
        struct fm_viewer_lane added = {.part = part,
                                       .index = from->index,
                                       .parent = from->parent,
                                       .kind = from->kind,
                                       .key = from->key,
                                       .born = from->born,
                                       .ended = from->ended,
                                       .has_number = from->has_number,
                                       .name = label,
                                       .levels = 1};
        in_order &=
            lanes->all->len == 0 ||
            compare_places(&g_array_index(lanes->all, struct fm_viewer_lane, lanes->all->len - 1),
                           &added) < 0;
        g_array_append_val(lanes->all, added);
    }
    if (!in_order)
        g_array_sort(lanes->all, compare_places);
}

/* --- kinds --- */

bool fm_viewer_lane_is_resource(const struct fm_viewer_lane *lane)
{
    switch (lane->kind) {
    case FM_LANE_CAPABILITY:
    case FM_LANE_COLLECTOR:
    case FM_LANE_LOCK:
    case FM_LANE_CPU:
    case FM_LANE_INTERRUPT:
    case FM_LANE_SOFT_INTERRUPT:
    case FM_LANE_TRAP:
    case FM_LANE_DISK:
        return true;
    default:
        return false;
    }
}

bool fm_viewer_lane_is_timeline(const struct fm_viewer_lane *lane)
{
    return lane->kind != FM_LANE_COUNTER && lane->kind != FM_LANE_HEAP &&
           lane->kind != FM_LANE_SPARKS;
}

unsigned fm_viewer_colour(const struct fm_trace *trace, uint32_t value)
{
    enum fm_state_class state_class = fm_trace_value_class(trace, value);
    if (state_class != FM_STATE_SPAN)
        return state_class;
    const char *name = fm_trace_value_name(trace, value);
    return FM_STATE_CLASS_COUNT + g_str_hash(name == NULL ? "" : name) % SPAN_COLOURS;
}

char *fm_viewer_lane_id(const struct fm_viewer_lane *lane)
{
    return g_strdup_printf("%u-%d-%" G_GUINT64_FORMAT, lane->part, (int)lane->kind,
                           (guint64)lane->key);
}

/* --- order --- */

/* Active lanes come first: CPUs and capabilities, then the threads on them. */
static unsigned rank_of(enum fm_lane_kind kind)
{
    static const enum fm_lane_kind order[] = {
        FM_LANE_CPU,     FM_LANE_CAPABILITY, FM_LANE_COLLECTOR,
        FM_LANE_PROCESS, FM_LANE_THREAD,     FM_LANE_ASYNC,
        FM_LANE_LOCK,    FM_LANE_INTERRUPT,  FM_LANE_SOFT_INTERRUPT,
        FM_LANE_TRAP,    FM_LANE_DISK,       FM_LANE_SPARKS,
        FM_LANE_HEAP,    FM_LANE_COUNTER};
    for (unsigned i = 0; i < G_N_ELEMENTS(order); i++) {
        if (order[i] == kind)
            return i;
    }
    return G_N_ELEMENTS(order);
}

static int compare_lanes(gconstpointer a, gconstpointer b)
{
    const struct fm_viewer_lane *left = *(struct fm_viewer_lane *const *)a;
    const struct fm_viewer_lane *right = *(struct fm_viewer_lane *const *)b;
    if (left->part != right->part)
        return left->part < right->part ? -1 : 1;
    unsigned left_rank = rank_of(left->kind), right_rank = rank_of(right->kind);
    if (left_rank != right_rank)
        return left_rank < right_rank ? -1 : 1;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->born < right->born ? -1 : left->born > right->born;
}

struct ordering {
    struct fm_viewer_lanes *lanes;
    GHashTable *hidden;   /* lane ids */
    char *find;           /* case-folded; NULL = all */
    GHashTable *children; /* parent lane -> GPtrArray of lanes, in order */
    fm_viewer_lane_test *test;
};

static bool is_wanted(const struct ordering *ordering, const struct fm_viewer_lane *lane)
{
    if (!ordering->test(lane))
        return false;
    g_autofree char *id = g_hash_table_size(ordering->hidden) == 0 ? NULL : fm_viewer_lane_id(lane);
    if (id != NULL && g_hash_table_contains(ordering->hidden, id))
        return false;
    if (ordering->find == NULL)
        return true;
    g_autofree char *valid = g_utf8_make_valid(lane->name == NULL ? "" : lane->name, -1);
    g_autofree char *folded = g_utf8_casefold(valid, -1);
    return strstr(folded, ordering->find) != NULL;
}

/* Depth first, without recursion: a stack of lanes still to visit. */
static void visit_tree(struct ordering *ordering, struct fm_viewer_lane *root)
{
    g_autoptr(GPtrArray) stack = g_ptr_array_new();
    root->indent = 0;
    g_ptr_array_add(stack, root);
    while (stack->len > 0) {
        struct fm_viewer_lane *lane = g_ptr_array_steal_index(stack, stack->len - 1);
        bool shown = is_wanted(ordering, lane);
        if (shown)
            g_ptr_array_add(ordering->lanes->order, lane);
        GPtrArray *children = g_hash_table_lookup(ordering->children, lane);
        for (unsigned i = children == NULL ? 0 : children->len; i-- > 0;) {
            struct fm_viewer_lane *child = children->pdata[i];
            child->indent = MIN(lane->indent + (shown ? 1 : 0), INDENT_MAX);
            g_ptr_array_add(stack, child);
        }
    }
}

/* A lane's parent, when that is known and the lane is not its own ancestor. */
static struct fm_viewer_lane *parent_of(const struct fm_viewer_lanes *lanes,
                                        const struct fm_viewer_lane *lane)
{
    struct fm_viewer_lane *parent =
        lane->parent == FM_LANE_NONE ? NULL : find_lane(lanes, lane->part, lane->parent);
    unsigned steps = 0;
    for (const struct fm_viewer_lane *at = parent; at != NULL; steps++) {
        if (at == lane || steps > ANCESTORS_MAX)
            return NULL;
        at = at->parent == FM_LANE_NONE ? NULL : find_lane(lanes, at->part, at->parent);
    }
    return parent;
}

void fm_viewer_lanes_order(struct fm_viewer_lanes *lanes, const struct fm_trace_query *query,
                           fm_viewer_lane_test *test)
{
    g_assert(test != NULL && lanes->all != NULL);
    struct ordering ordering = {
        .lanes = lanes,
        .hidden = g_hash_table_new(g_str_hash, g_str_equal),
        .find = query->find == NULL ? NULL : g_utf8_casefold(query->find, -1),
        .children = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref),
        .test = test,
    };
    for (unsigned i = 0; i < query->hidden->len; i++)
        g_hash_table_add(ordering.hidden, query->hidden->pdata[i]);
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (unsigned i = 0; i < lanes->all->len; i++)
        g_ptr_array_add(sorted, &g_array_index(lanes->all, struct fm_viewer_lane, i));
    g_ptr_array_sort(sorted, compare_lanes);
    g_autoptr(GPtrArray) roots = g_ptr_array_new();
    for (unsigned i = 0; i < sorted->len; i++) {
        struct fm_viewer_lane *lane = sorted->pdata[i], *parent = parent_of(lanes, lane);
        GPtrArray *to = roots;
        if (parent != NULL) {
            to = g_hash_table_lookup(ordering.children, parent);
            if (to == NULL) {
                to = g_ptr_array_new();
                g_hash_table_insert(ordering.children, parent, to);
            }
        }
        g_ptr_array_add(to, lane);
    }
    g_ptr_array_set_size(lanes->order, 0);
    for (unsigned i = 0; i < roots->len; i++)
        visit_tree(&ordering, roots->pdata[i]);
    g_hash_table_unref(ordering.hidden);
    g_hash_table_unref(ordering.children);
    g_free(ordering.find);
}
