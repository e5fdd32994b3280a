/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/segments/totals.h"

#include "trace/segments/nests.h"

enum {
    DURATIONS_MAX = 8192, /* groups whose durations are kept */
};

struct fm_totals {
    struct fm_segments_view view;
    struct fm_totals_area area;
    GByteArray *lanes;                        /* NULL = all */
    GPtrArray *by_number[FM_LANE_KIND_COUNT]; /* struct fm_totals_group by number; NULL = none */
    GPtrArray *groups;                        /* owns them */
    struct fm_nests *nests;                   /* their times within the area */
    uint32_t next;                            /* block */
};

const char *fm_totals_by_name(enum fm_totals_by by)
{
    static const char *const names[] = {"name", "state", "lane", "kind"};
    return (unsigned)by < G_N_ELEMENTS(names) ? names[by] : NULL;
}

static void free_group(void *data)
{
    struct fm_totals_group *group = data;
    fm_histogram_clear(&group->durations);
    g_free(group);
}

GByteArray *fm_lanes_dup(const GByteArray *lanes)
{
    GByteArray *own = lanes == NULL ? NULL : g_byte_array_sized_new(lanes->len);
    return own == NULL ? NULL : g_byte_array_append(own, lanes->data, lanes->len);
}

struct fm_totals *fm_totals_new(struct fm_segments *segments, const struct fm_totals_area *area)
{
    struct fm_totals *totals = g_new0(struct fm_totals, 1);
    fm_segments_view_init(&totals->view, segments);
    totals->area = *area;
    totals->groups = g_ptr_array_new_with_free_func(free_group);
    totals->nests = fm_nests_new();
    totals->lanes = fm_lanes_dup(area->lanes);
    for (unsigned i = 0; i < FM_LANE_KIND_COUNT; i++)
        totals->by_number[i] = g_ptr_array_new();
    return totals;
}

void fm_totals_free(struct fm_totals *totals)
{
    if (totals == NULL)
        return;
    for (unsigned i = 0; i < FM_LANE_KIND_COUNT; i++)
        g_ptr_array_unref(totals->by_number[i]);
    fm_nests_free(totals->nests);
    g_ptr_array_unref(totals->groups);
    if (totals->lanes != NULL)
        g_byte_array_unref(totals->lanes);
    fm_segments_view_clear(&totals->view);
    g_free(totals);
}

struct fm_segments *fm_totals_segments(const struct fm_totals *totals)
{
    return totals->view.of;
}

/* --- counting --- */

static struct fm_totals_group *group_of(struct fm_totals *totals, const struct fm_segment *segment)
{
    const struct fm_segments_lane *lane = fm_segments_lane(totals->view.of, segment->lane);
    enum fm_lane_kind kind = lane->kind;
    uint32_t number = 0;
    switch (totals->area.by) {
    case FM_TOTALS_BY_NAME:
        number = segment->value;
        break;
    case FM_TOTALS_BY_STATE:
        number = fm_trace_value_class(fm_segments_trace(totals->view.of), segment->value);
        break;
    case FM_TOTALS_BY_LANE:
        number = segment->lane;
        break;
    case FM_TOTALS_BY_KIND:
    case FM_TOTALS_BY_COUNT:
        break;
    }
    GPtrArray *groups = totals->by_number[kind];
    if (number >= groups->len)
        g_ptr_array_set_size(groups, (gint)number + 1);
    struct fm_totals_group *group = groups->pdata[number];
    if (group == NULL) {
        group = groups->pdata[number] = g_new0(struct fm_totals_group, 1);
        group->number = number;
        group->kind = kind;
        group->has_durations = totals->groups->len < DURATIONS_MAX;
        g_ptr_array_add(totals->groups, group);
    }
    return group;
}

static void count_duration(struct fm_totals_group *group, const struct fm_segment *segment)
{
    uint64_t duration = segment->end - segment->start;
    if (group->whole == 0 || duration > group->longest) {
        group->longest = duration;
        group->longest_at = segment->start;
        group->longest_lane = segment->lane;
    }
    group->shortest = group->whole == 0 ? duration : MIN(group->shortest, duration);
    group->whole++;
    group->sum += (double)duration;
    if (group->has_durations)
        fm_histogram_add(&group->durations, duration);
}

static void count(struct fm_totals *totals, const struct fm_segment *segment)
{
    const struct fm_totals_area *area = &totals->area;
    uint64_t from = MAX(segment->start, area->start), to = MIN(segment->end, area->end);
    bool instant =
        segment->start == segment->end && from == segment->start && to == from && from < area->end;
    if (from >= to && !instant)
        return;
    if (!fm_lanes_hold(totals->lanes, segment->lane))
        return;
    uint64_t time = to - from;
    uint64_t nested = fm_nests_take(totals->nests, segment->lane, segment->depth, time);
    uint64_t duration = segment->end - segment->start;
    if (duration < area->least || (area->most > 0 && duration > area->most))
        return;
    struct fm_totals_group *group = group_of(totals, segment);
    group->count++;
    group->total += time;
    group->self += time - MIN(nested, time);
    if (fm_state_class_is_busy(
            fm_trace_value_class(fm_segments_trace(totals->view.of), segment->value)))
        group->busy += time - MIN(nested, time);
    if (!segment->open)
        count_duration(group, segment);
}

bool fm_totals_step(struct fm_totals *totals, unsigned blocks)
{
    uint32_t all = fm_segments_blocks(&totals->view);
    for (; totals->next < all && blocks > 0; totals->next++) {
        struct fm_segments_span span = fm_segments_span(&totals->view, totals->next);
        if (span.last_end < totals->area.start || span.first_start >= totals->area.end)
            continue;
        const struct fm_segment *segments = fm_segments_read(&totals->view, totals->next);
        for (uint32_t i = 0; i < span.count; i++)
            count(totals, &segments[i]);
        blocks--;
    }
    return totals->next < all;
}

/* --- results --- */

static int compare_groups(const void *a, const void *b)
{
    const struct fm_totals_group *left = *(struct fm_totals_group *const *)a;
    const struct fm_totals_group *right = *(struct fm_totals_group *const *)b;
    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

const GPtrArray *fm_totals_groups(struct fm_totals *totals)
{
    g_ptr_array_sort(totals->groups, compare_groups);
    return totals->groups;
}

uint64_t fm_totals_percentile(const struct fm_totals_group *group, double part)
{
    uint64_t value = fm_histogram_percentile(&group->durations, part);
    return CLAMP(value, group->shortest, group->longest);
}

const char *fm_totals_name(const struct fm_totals *totals, const struct fm_totals_group *group)
{
    const struct fm_trace *trace = fm_segments_trace(totals->view.of);
    switch (totals->area.by) {
    case FM_TOTALS_BY_NAME:
        return fm_trace_value_name(trace, group->number);
    case FM_TOTALS_BY_STATE:
        return fm_state_class_name((enum fm_state_class)group->number);
    case FM_TOTALS_BY_LANE:
        return fm_trace_value_name(trace, fm_segments_lane(totals->view.of, group->number)->name);
    case FM_TOTALS_BY_KIND:
    case FM_TOTALS_BY_COUNT:
        break;
    }
    return fm_lane_kind_name(group->kind);
}
