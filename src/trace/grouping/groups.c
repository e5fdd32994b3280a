/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/grouping/groups.h"

#include <math.h>
#include <string.h>

#include "trace/segments/nests.h"

enum { FRONT_SLOTS = 1024 };

/* A value by which groups differ. */
struct key {
    uint64_t bits; /* a text has its number */
    uint32_t kind; /* as fm_filter_value has it */
};

/* Long doubles hold every whole number of 64 bits. */
struct measure {
    uint64_t count;
    long double sum, least, greatest;
    bool has_durations; /* false: some values are no whole numbers from 0 on */
    struct fm_histogram durations;
};

struct group {
    uint64_t count;
    struct fm_segment greatest;  /* by the field that is measured first */
    struct fm_groups_cell order; /* by it rows are sorted; made before */
    struct key keys[FM_GROUPING_KEYS_MAX];
    struct measure measures[]; /* one for each field that is measured */
};

struct text {
    const char *at; /* lasting */
    uint32_t number;
};

struct fm_groups {
    struct fm_grouping *grouping;
    const struct fm_grouping_key *keys;
    unsigned key_count, measured_count;
    bool has_percentiles;
    /* for segments */
    struct fm_segments_view view;
    bool needs_self;
    uint64_t start, end;
    GByteArray *lanes; /* NULL = all */
    struct fm_nests *nests;
    GArray *subjects; /* holds struct fm_filter_segment: what is the same for all of a lane */
    uint32_t next;    /* block */
    /* groups */
    GPtrArray *groups; /* owns them */
    uint32_t *slots;   /* group + 1; 0 = free */
    uint32_t slot_mask;
    GHashTable *text_numbers; /* text -> number + 1 */
    GPtrArray *texts;         /* owns them */
    struct text front[FRONT_SLOTS];
    uint64_t counted, lost;
};

/* --- making --- */

static void free_group(struct fm_groups *groups, struct group *group)
{
    for (unsigned i = 0; i < groups->measured_count; i++)
        fm_histogram_clear(&group->measures[i].durations);
    g_free(group);
}

static bool needs_self(const struct fm_grouping *grouping)
{
    bool needed = grouping->filter != NULL && fm_filter_needs_self(grouping->filter);
    for (guint i = 0; i < grouping->measured->len; i++)
        needed |= g_ascii_strcasecmp(fm_filter_path_text(grouping->measured->pdata[i]),
                                     "segment.self") == 0;
    for (guint i = 0; i < grouping->keys->len; i++)
        needed |=
            g_ascii_strcasecmp(
                fm_filter_path_text(g_array_index(grouping->keys, struct fm_grouping_key, i).path),
                "segment.self") == 0;
    return needed;
}

static void make_subjects(struct fm_groups *groups)
{
    const struct fm_trace *trace = fm_segments_trace(groups->view.of);
    groups->subjects = g_array_new(false, true, sizeof(struct fm_filter_segment));
    g_array_set_size(groups->subjects, groups->view.lanes);
    for (uint32_t i = 0; i < groups->view.lanes; i++) {
        const struct fm_segments_lane *lane = fm_segments_lane(groups->view.of, i);
        bool has_process = lane->parent != FM_LANE_NONE && lane->parent < groups->view.lanes;
        g_array_index(groups->subjects, struct fm_filter_segment, i) = (struct fm_filter_segment){
            .trace = trace,
            .lane = fm_trace_value_name(trace, lane->name),
            .process = has_process
                           ? fm_trace_value_name(
                                 trace, fm_segments_lane(groups->view.of, lane->parent)->name)
                           : NULL,
            .kind = lane->kind,
            .number = lane->number,
            .lane_index = i,
        };
    }
}

struct fm_groups *fm_groups_new(struct fm_grouping *grouping, struct fm_segments *segments,
                                const struct fm_totals_area *area)
{
    g_assert((segments == NULL) == (grouping->of == FM_FILTER_OF_EVENTS));
    struct fm_groups *groups = g_new0(struct fm_groups, 1);
    groups->grouping = grouping;
    groups->keys = (const struct fm_grouping_key *)(const void *)grouping->keys->data;
    groups->key_count = grouping->keys->len;
    groups->measured_count = grouping->measured->len;
    for (guint i = 0; i < grouping->shown->len; i++)
        groups->has_percentiles |=
            g_array_index(grouping->shown, struct fm_grouping_shown, i).function ==
            FM_GROUPING_PERCENTILE;
    groups->groups = g_ptr_array_new();
    groups->slot_mask = 255;
    groups->slots = g_new0(uint32_t, groups->slot_mask + 1);
    groups->text_numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    groups->texts = g_ptr_array_new_with_free_func(g_free);
    if (segments == NULL)
        return groups;
    fm_segments_view_init(&groups->view, segments);
    groups->start = area->start;
    groups->end = area->end;
    groups->lanes = fm_lanes_dup(area->lanes);
    groups->needs_self = needs_self(grouping);
    groups->nests = fm_nests_new();
    make_subjects(groups);
    return groups;
}

void fm_groups_free(struct fm_groups *groups)
{
    if (groups == NULL)
        return;
    for (guint i = 0; i < groups->groups->len; i++)
        free_group(groups, groups->groups->pdata[i]);
    g_ptr_array_unref(groups->groups);
    g_free(groups->slots);
    g_hash_table_unref(groups->text_numbers);
    g_ptr_array_unref(groups->texts);
    if (groups->view.of != NULL) {
        fm_segments_view_clear(&groups->view);
        fm_nests_free(groups->nests);
        g_array_unref(groups->subjects);
    }
    if (groups->lanes != NULL)
        g_byte_array_unref(groups->lanes);
    g_free(groups);
}

struct fm_segments *fm_groups_segments(const struct fm_groups *groups)
{
    return groups->view.of;
}

/* --- texts as numbers --- */

static uint32_t number_of_text(struct fm_groups *groups, const struct fm_filter_value *value)
{
    struct text *front = &groups->front[((uintptr_t)value->text >> 3) % FRONT_SLOTS];
    if (value->lasting && front->at == value->text)
        return front->number;
    g_autofree char *text = g_strndup(value->text, value->length);
    uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(groups->text_numbers, text));
    if (number == 0) {
        char *kept = g_utf8_make_valid(text, -1);
        g_ptr_array_add(groups->texts, kept);
        number = groups->texts->len;
        g_hash_table_insert(groups->text_numbers, g_steal_pointer(&text), GUINT_TO_POINTER(number));
    }
    if (value->lasting)
        *front = (struct text){value->text, number - 1};
    return number - 1;
}

/* --- groups --- */

static void make_key(struct fm_groups *groups, const struct fm_grouping_key *by,
                     const struct fm_filter_value *value, struct key *ret)
{
    *ret = (struct key){0, value->kind};
    switch (value->kind) {
    case FM_FILTER_IS_NOTHING:
        break;
    case FM_FILTER_IS_TEXT:
        ret->bits = number_of_text(groups, value);
        break;
    case FM_FILTER_IS_NUMBER:
        ret->bits = by->every == 0 ? value->number : value->number / by->every * by->every;
        break;
    case FM_FILTER_IS_SIGNED:
        ret->bits = value->number;
        if (by->every != 0) { /* downwards, also below 0 */
            int64_t number = (int64_t)value->number, step = (int64_t)MIN(by->every, INT64_MAX);
            int64_t left = number % step;
            ret->bits = (uint64_t)(number - (left < 0 ? left + step : left));
        }
        break;
    case FM_FILTER_IS_REAL:
        memcpy(&ret->bits, &value->real, sizeof ret->bits);
        break;
    }
}

static uint32_t hash_keys(const struct fm_groups *groups, const struct key *keys)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < groups->key_count; i++)
        hash = (hash ^ keys[i].bits ^ (uint64_t)keys[i].kind << 60) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(hash >> 32);
}

static bool same_keys(const struct fm_groups *groups, const struct key *a, const struct key *b)
{
    for (unsigned i = 0; i < groups->key_count; i++) {
        if (a[i].bits != b[i].bits || a[i].kind != b[i].kind)
            return false;
    }
    return true;
}

static uint32_t *slot_of(const struct fm_groups *groups, const struct key *keys)
{
    for (uint32_t at = hash_keys(groups, keys);; at++) {
        uint32_t *slot = &groups->slots[at & groups->slot_mask];
        if (*slot == 0)
            return slot;
        const struct group *group = groups->groups->pdata[*slot - 1];
        if (same_keys(groups, group->keys, keys))
            return slot;
    }
}

static void widen(struct fm_groups *groups)
{
    g_free(groups->slots);
    groups->slot_mask = 2 * groups->slot_mask + 1;
    groups->slots = g_new0(uint32_t, (size_t)groups->slot_mask + 1);
    for (guint i = 0; i < groups->groups->len; i++)
        *slot_of(groups, ((const struct group *)groups->groups->pdata[i])->keys) = i + 1;
}

/* NULL when there is no room. */
static struct group *group_of(struct fm_groups *groups, const struct key *keys)
{
    uint32_t *slot = slot_of(groups, keys);
    if (*slot != 0)
        return groups->groups->pdata[*slot - 1];
    if (groups->groups->len >= FM_GROUPS_MAX)
        return NULL;
    struct group *group =
        g_malloc0(sizeof *group + groups->measured_count * sizeof(struct measure));
    memcpy(group->keys, keys, groups->key_count * sizeof *keys);
    for (unsigned i = 0; i < groups->measured_count; i++)
        group->measures[i].has_durations =
            groups->has_percentiles && groups->groups->len < FM_GROUPS_PERCENTILES_MAX;
    g_ptr_array_add(groups->groups, group);
    *slot = groups->groups->len;
    if (2 * (uint64_t)groups->groups->len > groups->slot_mask)
        widen(groups);
    return group;
}

/* True when it is the greatest so far. */
static bool measure(struct measure *to, const struct fm_filter_value *value)
{
    long double number;
    if (value->kind == FM_FILTER_IS_NUMBER)
        number = (long double)value->number;
    else if (value->kind == FM_FILTER_IS_SIGNED)
        number = (long double)(int64_t)value->number;
    else if (value->kind == FM_FILTER_IS_REAL && isfinite(value->real))
        number = (long double)value->real;
    else
        return false;
    bool greatest = to->count == 0 || number > to->greatest;
    to->least = to->count == 0 || number < to->least ? number : to->least;
    to->greatest = greatest ? number : to->greatest;
    to->sum += number;
    to->count++;
    to->has_durations &= value->kind != FM_FILTER_IS_REAL && number >= 0;
    if (to->has_durations)
        fm_histogram_add(&to->durations, value->number);
    return greatest;
}

/* --- segments --- */

static void count_segment(struct fm_groups *groups, const struct fm_segment *segment)
{
    if (segment->lane >= groups->subjects->len)
        return; /* its lane came later than the view */
    struct fm_filter_segment *subject =
        &g_array_index(groups->subjects, struct fm_filter_segment, segment->lane);
    const struct fm_grouping *grouping = groups->grouping;
    uint64_t duration = segment->end - segment->start;
    subject->self = duration;
    if (groups->needs_self) {
        uint64_t nested = fm_nests_take(groups->nests, segment->lane, segment->depth, duration);
        subject->self -= MIN(nested, duration);
    }
    if (segment->start >= groups->end ||
        (segment->end <= groups->start && segment->start < groups->start) ||
        !fm_lanes_hold(groups->lanes, segment->lane))
        return;
    subject->value = segment->value;
    subject->name = fm_trace_value_name(subject->trace, segment->value);
    subject->state_class = fm_trace_value_class(subject->trace, segment->value);
    subject->start = segment->start;
    subject->end = segment->end;
    subject->level = segment->depth;
    if (grouping->filter != NULL && !fm_filter_accepts_segment(grouping->filter, subject))
        return;
    struct key keys[FM_GROUPING_KEYS_MAX];
    struct fm_filter_value value;
    for (unsigned i = 0; i < groups->key_count; i++) {
        fm_filter_path_of_segment(groups->keys[i].path, subject, &value);
        make_key(groups, &groups->keys[i], &value, &keys[i]);
    }
    groups->counted++;
    struct group *group = group_of(groups, keys);
    if (group == NULL) {
        groups->lost++;
        return;
    }
    group->count++;
    for (unsigned i = 0; i < groups->measured_count && !segment->open; i++) {
        fm_filter_path_of_segment(grouping->measured->pdata[i], subject, &value);
        if (measure(&group->measures[i], &value) && i == 0)
            group->greatest = *segment;
    }
}

bool fm_groups_step(struct fm_groups *groups, unsigned blocks)
{
    uint32_t all = fm_segments_blocks(&groups->view);
    for (; groups->next < all && blocks > 0; groups->next++) {
        struct fm_segments_span span = fm_segments_span(&groups->view, groups->next);
        /* Self time needs what is nested also where that lies outside. */
        if (!groups->needs_self &&
            (span.last_end < groups->start || span.first_start >= groups->end))
            continue;
        const struct fm_segment *segments = fm_segments_read(&groups->view, groups->next);
        for (uint32_t i = 0; i < span.count; i++)
            count_segment(groups, &segments[i]);
        blocks--;
    }
    return groups->next < all;
}

/* --- events --- */

void fm_groups_take_event(struct fm_groups *groups, const struct fm_tracefile_context *at,
                          const struct fm_state *state)
{
    const struct fm_grouping *grouping = groups->grouping;
    struct key keys[FM_GROUPING_KEYS_MAX];
    struct fm_filter_value value;
    if (grouping->filter != NULL && !fm_filter_accepts(grouping->filter, at, state))
        return;
    for (unsigned i = 0; i < groups->key_count; i++) {
        fm_filter_path_of_event(groups->keys[i].path, at, state, &value);
        make_key(groups, &groups->keys[i], &value, &keys[i]);
    }
    groups->counted++;
    struct group *group = group_of(groups, keys);
    if (group == NULL) {
        groups->lost++;
        return;
    }
    group->count++;
    for (unsigned i = 0; i < groups->measured_count; i++) {
        fm_filter_path_of_event(grouping->measured->pdata[i], at, state, &value);
        measure(&group->measures[i], &value);
    }
}

/* --- rows --- */

static void key_cell(const struct fm_groups *groups, const struct group *group, unsigned column,
                     struct fm_groups_cell *ret)
{
    const struct key *key = &group->keys[column];
    bool is_time = fm_grouping_type(groups->grouping, column) == FM_FILTER_TIME;
    switch (key->kind) {
    case FM_FILTER_IS_TEXT:
        ret->kind = FM_GROUPS_TEXT;
        ret->text = groups->texts->pdata[key->bits];
        break;
    case FM_FILTER_IS_NUMBER:
    case FM_FILTER_IS_SIGNED:
        ret->kind = is_time ? FM_GROUPS_TIME : FM_GROUPS_NUMBER;
        ret->negative = key->kind == FM_FILTER_IS_SIGNED && (int64_t)key->bits < 0;
        ret->number = key->bits;
        ret->real = ret->negative ? (double)(int64_t)key->bits : (double)key->bits;
        break;
    case FM_FILTER_IS_REAL:
        ret->kind = FM_GROUPS_REAL;
        memcpy(&ret->real, &key->bits, sizeof ret->real);
        break;
    default:
        ret->kind = FM_GROUPS_NOTHING;
    }
}

static void put_number(struct fm_groups_cell *ret, long double number, bool is_time)
{
    bool whole = number == floorl(number) && fabsl(number) < 9e18L;
    ret->real = (double)number;
    ret->negative = number < 0;
    ret->kind = is_time ? FM_GROUPS_TIME : whole ? FM_GROUPS_NUMBER : FM_GROUPS_REAL;
    if (whole)
        ret->number = number < 0 ? (uint64_t)(int64_t)number : (uint64_t)number;
}

static void shown_cell(const struct fm_groups *groups, const struct group *group,
                       const struct fm_grouping_shown *shown, struct fm_groups_cell *ret)
{
    if (shown->function == FM_GROUPING_COUNT) {
        ret->kind = FM_GROUPS_NUMBER;
        ret->number = group->count;
        ret->real = (double)group->count;
        return;
    }
    const struct measure *of = &group->measures[shown->measured];
    bool is_time =
        fm_filter_path_type(groups->grouping->measured->pdata[shown->measured]) == FM_FILTER_TIME;
    if (of->count == 0)
        return;
    switch (shown->function) {
    case FM_GROUPING_COUNT:
        break;
    case FM_GROUPING_SUM:
        put_number(ret, of->sum, is_time);
        break;
    case FM_GROUPING_MEAN:
        put_number(ret, of->sum / (long double)of->count, is_time);
        break;
    case FM_GROUPING_MIN:
        put_number(ret, of->least, is_time);
        break;
    case FM_GROUPING_MAX:
        put_number(ret, of->greatest, is_time);
        break;
    case FM_GROUPING_PERCENTILE:
        if (of->has_durations) {
            long double value = (long double)fm_histogram_percentile(&of->durations, shown->part);
            put_number(ret, CLAMP(value, of->least, of->greatest), is_time);
        }
        break;
    }
}

static void cell_of(const struct fm_groups *groups, const struct group *group, unsigned column,
                    struct fm_groups_cell *ret)
{
    *ret = (struct fm_groups_cell){.kind = FM_GROUPS_NOTHING};
    if (column < groups->key_count)
        key_cell(groups, group, column, ret);
    else
        shown_cell(groups, group,
                   &g_array_index(groups->grouping->shown, struct fm_grouping_shown,
                                  column - groups->key_count),
                   ret);
}

static int compare_cells(const struct fm_groups_cell *a, const struct fm_groups_cell *b)
{
    bool texts = a->kind == FM_GROUPS_TEXT && b->kind == FM_GROUPS_TEXT;
    if (texts)
        return strcmp(a->text, b->text);
    if (a->kind == FM_GROUPS_TEXT || b->kind == FM_GROUPS_TEXT)
        return a->kind == FM_GROUPS_TEXT ? 1 : -1;
    return a->real < b->real ? -1 : a->real > b->real;
}

/* Rows without the value come last; equal rows by their keys. */
static int compare_groups(const void *left, const void *right, void *user)
{
    const struct fm_groups *groups = user;
    const struct group *a = *(struct group *const *)left, *b = *(struct group *const *)right;
    struct fm_groups_cell x = a->order, y = b->order;
    bool nothing = x.kind == FM_GROUPS_NOTHING || y.kind == FM_GROUPS_NOTHING;
    int order = compare_cells(&x, &y);
    if (nothing && x.kind != y.kind)
        return x.kind == FM_GROUPS_NOTHING ? 1 : -1;
    if (order != 0)
        return groups->grouping->ascending ? order : -order;
    for (unsigned i = 0; i < groups->key_count && order == 0; i++) {
        key_cell(groups, a, i, &x);
        key_cell(groups, b, i, &y);
        order = compare_cells(&x, &y);
    }
    return order;
}

unsigned fm_groups_rows(struct fm_groups *groups)
{
    for (guint i = 0; i < groups->groups->len; i++) {
        struct group *group = groups->groups->pdata[i];
        cell_of(groups, group, groups->grouping->order, &group->order);
    }
    g_ptr_array_sort_with_data(groups->groups, compare_groups, groups);
    /* The slots name groups by their places. */
    memset(groups->slots, 0, ((size_t)groups->slot_mask + 1) * sizeof *groups->slots);
    for (guint i = 0; i < groups->groups->len; i++)
        *slot_of(groups, ((const struct group *)groups->groups->pdata[i])->keys) = i + 1;
    return (unsigned)MIN(groups->grouping->limit, groups->groups->len);
}

unsigned fm_groups_all(const struct fm_groups *groups)
{
    return groups->groups->len;
}

uint64_t fm_groups_counted(const struct fm_groups *groups)
{
    return groups->counted;
}

uint64_t fm_groups_lost(const struct fm_groups *groups)
{
    return groups->lost;
}

void fm_groups_cell(const struct fm_groups *groups, unsigned row, unsigned column,
                    struct fm_groups_cell *ret)
{
    g_assert(row < groups->groups->len && column < fm_grouping_columns(groups->grouping));
    cell_of(groups, groups->groups->pdata[row], column, ret);
}

bool fm_groups_greatest(const struct fm_groups *groups, unsigned row, struct fm_segment *ret)
{
    const struct group *group = groups->groups->pdata[row];
    if (groups->view.of == NULL || groups->measured_count == 0 || group->measures[0].count == 0)
        return false;
    *ret = group->greatest;
    return true;
}
