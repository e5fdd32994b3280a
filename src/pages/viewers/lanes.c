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
    if (index < known) { /* mostly all lanes of one trace are there */
        struct fm_viewer_lane *lane = &g_array_index(lanes->all, struct fm_viewer_lane, index);
        if (lane->part == part && lane->index == index)
            return lane;
    }
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

static void take_names(struct fm_viewer_lane *lane, const struct fm_state *state,
                       const struct fm_lane *from)
{
    lane->plain = from->name;
    lane->number = fm_lane_number(from);
    lane->process = from->parent == FM_LANE_NONE ? NULL : fm_state_lane(state, from->parent)->name;
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
            take_names(lane, state, from);
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
        take_names(&added, state, from);
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
static const enum fm_lane_kind kinds_in_order[] = {
    FM_LANE_CPU,   FM_LANE_CAPABILITY, FM_LANE_COLLECTOR, FM_LANE_PROCESS,        FM_LANE_THREAD,
    FM_LANE_ASYNC, FM_LANE_LOCK,       FM_LANE_INTERRUPT, FM_LANE_SOFT_INTERRUPT, FM_LANE_TRAP,
    FM_LANE_DISK,  FM_LANE_SPARKS,     FM_LANE_HEAP,      FM_LANE_COUNTER};
#define RANKS (G_N_ELEMENTS(kinds_in_order) + 1) /* the last: other kinds */

static unsigned rank_of(enum fm_lane_kind kind)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds_in_order); i++) {
        if (kinds_in_order[i] == kind)
            return i;
    }
    return RANKS - 1;
}

static const struct fm_viewer_lane *lane_at(const struct fm_viewer_lanes *lanes, uint32_t place)
{
    return &g_array_index(lanes->all, struct fm_viewer_lane, place);
}

/* Places of lanes of one part and kind. */
static int compare_lanes(gconstpointer a, gconstpointer b, gpointer lanes)
{
    const struct fm_viewer_lane *left = lane_at(lanes, *(const uint32_t *)a);
    const struct fm_viewer_lane *right = lane_at(lanes, *(const uint32_t *)b);
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->born < right->born ? -1 : left->born > right->born;
}

/* Mostly they were created in the order of their keys. */
static void sort_kind(struct fm_viewer_lanes *lanes, uint32_t *places, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (compare_lanes(&places[i - 1], &places[i], lanes) > 0) {
            g_qsort_with_data(places, (int)count, sizeof *places, compare_lanes, lanes);
            return;
        }
    }
}

/* Sorts the places from first to end, which are of one part, by kind, key and creation. */
static void sort_part(struct fm_viewer_lanes *lanes, uint32_t first, uint32_t end, uint32_t *sorted)
{
    uint32_t begins[RANKS + 1] = {0}, at[RANKS];
    g_autofree uint8_t *ranks = g_new(uint8_t, end - first);
    for (uint32_t i = first; i < end; i++) {
        bool same = i > first && lane_at(lanes, i)->kind == lane_at(lanes, i - 1)->kind;
        unsigned rank = same ? ranks[i - 1 - first] : rank_of(lane_at(lanes, i)->kind);
        ranks[i - first] = (uint8_t)rank;
        begins[rank + 1]++;
    }
    for (unsigned rank = 0; rank < RANKS; rank++) {
        begins[rank + 1] += begins[rank];
        at[rank] = begins[rank];
    }
    for (uint32_t i = first; i < end; i++)
        sorted[first + at[ranks[i - first]]++] = i;
    for (unsigned rank = 0; rank < RANKS; rank++)
        sort_kind(lanes, &sorted[first + begins[rank]], begins[rank + 1] - begins[rank]);
}

struct ordering {
    struct fm_viewer_lanes *lanes;
    GHashTable *hidden, *pinned, *folded; /* lane ids */
    char *find;                           /* case-folded; NULL = all */
    fm_viewer_lane_test *test;
    /* The forest: lanes by place + 1; 0 = above the roots, and none. */
    uint32_t *parent, *child, *next;
    bool *shown, *below; /* below: a folded one */
};

static bool is_in(GHashTable *ids, const struct fm_viewer_lane *lane)
{
    g_autofree char *id = g_hash_table_size(ids) == 0 ? NULL : fm_viewer_lane_id(lane);
    return id != NULL && g_hash_table_contains(ids, id);
}

static bool is_wanted(const struct ordering *ordering, const struct fm_viewer_lane *lane)
{
    if (!ordering->test(lane) || is_in(ordering->hidden, lane))
        return false;
    if (ordering->find == NULL)
        return true;
    g_autofree char *valid = g_utf8_make_valid(lane->name == NULL ? "" : lane->name, -1);
    g_autofree char *folded = g_utf8_casefold(valid, -1);
    return strstr(folded, ordering->find) != NULL;
}

/* The lane after this one, depth first. */
static uint32_t following(const struct ordering *ordering, uint32_t at)
{
    if (ordering->child[at] != 0)
        return ordering->child[at];
    while (at != 0 && ordering->next[at] == 0)
        at = ordering->parent[at];
    return at == 0 ? 0 : ordering->next[at];
}

static void visit(struct ordering *ordering)
{
    struct fm_viewer_lane *all = (struct fm_viewer_lane *)(void *)ordering->lanes->all->data;
    for (uint32_t at = ordering->child[0]; at != 0; at = following(ordering, at)) {
        struct fm_viewer_lane *lane = &all[at - 1];
        uint32_t parent = ordering->parent[at];
        lane->has_own = false;
        lane->is_pinned = is_in(ordering->pinned, lane);
        lane->indent =
            parent == 0 ? 0 : MIN(all[parent - 1].indent + ordering->shown[parent], INDENT_MAX);
        ordering->shown[at] = is_wanted(ordering, lane);
        bool below = parent != 0 && ordering->below[parent];
        lane->is_folded = !below && is_in(ordering->folded, lane);
        ordering->below[at] = below || lane->is_folded;
        if (parent != 0)
            all[parent - 1].has_own |= ordering->shown[at];
        if (ordering->shown[at] && (!below || lane->is_pinned))
            g_ptr_array_add(ordering->lanes->order, lane);
    }
}

/* --- other orders --- */

static int compare_by(const struct fm_viewer_lane *a, const struct fm_viewer_lane *b,
                      enum fm_trace_order order)
{
    if (order == FM_TRACE_ORDER_BUSY && a->busy != b->busy)
        return a->busy > b->busy ? -1 : 1;
    if (order == FM_TRACE_ORDER_NAME)
        return g_strcmp0(a->name, b->name);
    if (order == FM_TRACE_ORDER_NUMBER && a->kind != b->kind)
        return rank_of(a->kind) < rank_of(b->kind) ? -1 : 1;
    if (order == FM_TRACE_ORDER_NUMBER && a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return 0;
}

static int compare_shown(gconstpointer left, gconstpointer right, gpointer user)
{
    const struct fm_viewer_lane *a = *(struct fm_viewer_lane *const *)left;
    const struct fm_viewer_lane *b = *(struct fm_viewer_lane *const *)right;
    if (a->is_pinned != b->is_pinned)
        return a->is_pinned ? -1 : 1;
    return compare_by(a, b, *(const enum fm_trace_order *)user);
}

/* Equal ones keep their order. */
static void arrange(struct fm_viewer_lanes *lanes, const struct fm_trace_query *query)
{
    enum fm_trace_order order = query->order;
    if (order == FM_TRACE_ORDER_TREE && query->pinned->len == 0)
        return;
    g_ptr_array_sort_with_data(lanes->order, compare_shown, &order);
    for (guint i = 0; i < lanes->order->len; i++) {
        struct fm_viewer_lane *lane = lanes->order->pdata[i];
        if (order != FM_TRACE_ORDER_TREE || lane->is_pinned)
            lane->indent = 0;
    }
}

static GHashTable *set_of(const GPtrArray *ids)
{
    GHashTable *set = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < ids->len; i++)
        g_hash_table_add(set, ids->pdata[i]);
    return set;
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

/* Siblings keep the order of `sorted`. */
static void plant(struct ordering *ordering, const uint32_t *sorted, uint32_t count)
{
    const struct fm_viewer_lanes *lanes = ordering->lanes;
    const struct fm_viewer_lane *all = lane_at(lanes, 0), *before = NULL;
    for (uint32_t i = count; i-- > 0;) {
        const struct fm_viewer_lane *lane = &all[sorted[i]];
        bool again = before != NULL && before->parent == FM_LANE_NONE && lane != before &&
                     lane->part == before->part && lane->parent == before->index;
        const struct fm_viewer_lane *parent = again ? before : parent_of(lanes, lane);
        uint32_t of = parent == NULL ? 0 : (uint32_t)(parent - all) + 1, at = sorted[i] + 1;
        ordering->parent[at] = of;
        ordering->next[at] = ordering->child[of];
        ordering->child[of] = at;
        before = parent;
    }
}

static void sort_lanes(struct fm_viewer_lanes *lanes, uint32_t *sorted)
{
    for (uint32_t first = 0, end; first < lanes->all->len; first = end) {
        for (end = first + 1; end < lanes->all->len; end++) {
            if (lane_at(lanes, end)->part != lane_at(lanes, first)->part)
                break;
        }
        sort_part(lanes, first, end, sorted);
    }
}

void fm_viewer_lanes_order(struct fm_viewer_lanes *lanes, const struct fm_trace_query *query,
                           fm_viewer_lane_test *test)
{
    g_assert(test != NULL && lanes->all != NULL);
    uint32_t count = lanes->all->len;
    g_autofree uint32_t *sorted = g_new(uint32_t, MAX(count, 1u));
    struct ordering ordering = {
        .lanes = lanes,
        .hidden = set_of(query->hidden),
        .pinned = set_of(query->pinned),
        .folded = set_of(query->folded),
        .find = query->find == NULL ? NULL : g_utf8_casefold(query->find, -1),
        .test = test,
        .parent = g_new0(uint32_t, count + 1),
        .child = g_new0(uint32_t, count + 1),
        .next = g_new0(uint32_t, count + 1),
        .shown = g_new0(bool, count + 1),
        .below = g_new0(bool, count + 1),
    };
    g_ptr_array_set_size(lanes->order, 0);
    sort_lanes(lanes, sorted);
    plant(&ordering, sorted, count);
    visit(&ordering);
    arrange(lanes, query);
    g_hash_table_unref(ordering.hidden);
    g_hash_table_unref(ordering.pinned);
    g_hash_table_unref(ordering.folded);
    g_free(ordering.find);
    g_free(ordering.parent);
    g_free(ordering.child);
    g_free(ordering.next);
    g_free(ordering.shown);
    g_free(ordering.below);
}
