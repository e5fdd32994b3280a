/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes, their boxes, marks, arrows and times of states as JSON; how many lanes are at work. */
#include "pages/trace/json.h"

enum { CUT_DIMMED = 16 }; /* beside the bits of fm_box */

struct value {
    unsigned part;
    uint32_t value;
};

/* Values in an answer are renumbered in order of appearance. */
struct values {
    GHashTable *numbers; /* part and value -> number */
    GArray *met;         /* struct value */
};

static unsigned number_of(struct values *values, unsigned part, uint32_t value)
{
    gpointer key = GSIZE_TO_POINTER((gsize)part << 32 | value), found;
    if (g_hash_table_lookup_extended(values->numbers, key, NULL, &found))
        return GPOINTER_TO_UINT(found);
    const struct value met = {part, value};
    unsigned number = values->met->len;
    g_hash_table_insert(values->numbers, key, GUINT_TO_POINTER(number));
    g_array_append_val(values->met, met);
    return number;
}

static void write_values(struct fm_json *json, const struct values *values,
                         const struct fm_viewer_set *set)
{
    fm_json_line(json, 1);
    fm_json_array(json, "values");
    for (unsigned i = 0; i < values->met->len; i++) {
        const struct value *met = &g_array_index(values->met, struct value, i);
        const struct fm_trace *trace = set->parts[met->part].trace;
        fm_json_array(json, NULL);
        fm_json_text(json, NULL, fm_trace_value_name(trace, met->value));
        fm_json_uint(json, NULL, fm_viewer_colour(trace, met->value));
        fm_json_text(json, NULL, fm_state_class_name(fm_trace_value_class(trace, met->value)));
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_boxes(struct fm_json *json, const struct fm_viewer_timeline *timeline,
                        const struct fm_viewer_lane *lane, struct values *values)
{
    unsigned count;
    const struct fm_box *boxes = fm_viewer_timeline_boxes(timeline, lane, &count);
    uint64_t origin = timeline->job.set->origin;
    fm_json_line(json, 3);
    fm_json_array(json, "boxes");
    for (unsigned i = 0; i < MIN(count, TRACE_BOXES_MAX); i++) {
        const struct fm_box *box = &boxes[i];
        fm_json_array(json, NULL);
        fm_json_uint(json, NULL, box->depth);
        fm_json_uint(json, NULL, box->start - origin);
        fm_json_uint(json, NULL, box->end - origin);
        fm_json_uint(json, NULL, number_of(values, lane->part, box->value));
        fm_json_uint(json, NULL, box->count);
        fm_json_digits(json, NULL, (double)box->share, 3);
        fm_json_uint(json, NULL, box->detail);
        fm_json_digits(json, NULL, (double)box->load, 3);
        fm_json_uint(json, NULL,
                     box->cut |
                         (fm_viewer_timeline_is_dimmed(timeline, lane, box) ? CUT_DIMMED : 0));
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_usage(struct fm_json *json, const struct fm_viewer_timeline *timeline,
                        const struct fm_viewer_lane *lane, struct values *values)
{
    double busy = fm_viewer_timeline_busy(timeline, lane);
    if (busy < 0)
        return;
    g_autoptr(GPtrArray) all = fm_viewer_timeline_usage(timeline, lane);
    fm_json_fixed(json, "busy_percent", 100 * busy, 2);
    fm_json_array(json, "states");
    for (unsigned i = 0; i < all->len; i++) {
        const struct fm_viewer_usage *usage = all->pdata[i];
        fm_json_array(json, NULL);
        fm_json_uint(json, NULL, number_of(values, lane->part, usage->value));
        fm_json_uint(json, NULL, (uint64_t)usage->time);
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_lane(struct fm_json *json, const struct fm_viewer_timeline *timeline,
                       const struct fm_viewer_lane *lane, struct values *values)
{
    g_autofree char *id = fm_viewer_lane_id(lane);
    fm_json_line(json, 2);
    fm_json_object(json, NULL);
    fm_json_text(json, "id", id);
    fm_json_uint(json, "trace", lane->part);
    fm_json_text(json, "kind", fm_lane_kind_name(lane->kind));
    fm_json_text(json, "name", lane->name);
    fm_json_uint(json, "indent", lane->indent);
    if (lane->has_own)
        fm_json_bool(json, "has_own", true);
    if (lane->is_folded)
        fm_json_bool(json, "folded", true);
    if (lane->is_pinned)
        fm_json_bool(json, "pinned", true);
    if (timeline->busy != NULL)
        fm_json_uint(json, "busy_ns", lane->busy);
    fm_json_uint(json, "levels", lane->levels);
    write_usage(json, timeline, lane, values);
    write_boxes(json, timeline, lane, values);
    fm_json_end(json);
}

/* --- marks and arrows, at the lanes that are shown --- */

static int place_of(const struct fm_viewer_timeline *timeline, unsigned first, unsigned end,
                    unsigned part, uint32_t index)
{
    for (unsigned i = first; i < end; i++) {
        const struct fm_viewer_lane *lane = timeline->lanes.order->pdata[i];
        if (lane->part == part && lane->index == index)
            return (int)(i - first);
    }
    return -1;
}

static void write_marks(struct fm_json *json, const struct fm_viewer_timeline *timeline,
                        unsigned first, unsigned end, struct values *values)
{
    fm_json_line(json, 1);
    fm_json_array(json, "marks");
    for (unsigned i = 0; i < timeline->marks->len; i++) {
        const struct fm_viewer_point *mark =
            &g_array_index(timeline->marks, struct fm_viewer_point, i);
        int place = place_of(timeline, first, end, mark->part, mark->lane);
        if (place < 0)
            continue;
        fm_json_array(json, NULL);
        fm_json_int(json, NULL, place);
        fm_json_uint(json, NULL, mark->time - timeline->job.set->origin);
        fm_json_uint(json, NULL, number_of(values, mark->part, mark->value));
        fm_json_end(json);
    }
    fm_json_end(json);
}

/* Rows of all lanes, by part and index: + 1; 0 = not shown. */
struct rows {
    uint32_t **of; /* by part */
    uint32_t *counts;
};

static struct rows find_rows(const struct fm_viewer_timeline *timeline)
{
    const GPtrArray *order = timeline->lanes.order;
    unsigned parts = timeline->job.set->count;
    struct rows rows = {g_new0(uint32_t *, parts), g_new0(uint32_t, parts)};
    if (timeline->arrows.all->len == 0) /* with many lanes it takes long */
        return rows;
    for (unsigned i = 0; i < order->len; i++) {
        const struct fm_viewer_lane *lane = order->pdata[i];
        rows.counts[lane->part] = MAX(rows.counts[lane->part], lane->index + 1);
    }
    for (unsigned i = 0; i < parts; i++)
        rows.of[i] = g_new0(uint32_t, MAX(rows.counts[i], 1));
    for (unsigned i = 0; i < order->len; i++) {
        const struct fm_viewer_lane *lane = order->pdata[i];
        rows.of[lane->part][lane->index] = i + 1;
    }
    return rows;
}

static void clear_rows(struct rows *rows, unsigned parts)
{
    for (unsigned i = 0; i < parts; i++)
        g_free(rows->of[i]);
    g_free(rows->of);
    g_free(rows->counts);
}

/* -1: the lane is hidden. */
static int64_t row_of(const struct rows *rows, unsigned part, uint32_t index)
{
    return index < rows->counts[part] ? (int64_t)rows->of[part][index] - 1 : -1;
}

static void write_arrow(struct fm_json *json, const struct fm_viewer_arrow *arrow, int64_t from,
                        int64_t to, uint64_t origin)
{
    fm_json_array(json, NULL);
    fm_json_int(json, NULL, from);
    fm_json_uint(json, NULL, arrow->from_time - MIN(arrow->from_time, origin));
    fm_json_int(json, NULL, to);
    fm_json_uint(json, NULL, arrow->to_time - MIN(arrow->to_time, origin));
    fm_json_uint(json, NULL, arrow->count);
    fm_json_end(json);
}

/* Writes arrows between lanes that are shown; else, with rows, those to or from other lanes. */
static void write_some_arrows(struct fm_json *json, struct fm_viewer_timeline *timeline,
                              const struct rows *rows, unsigned first, unsigned end, bool elsewhere)
{
    const GPtrArray *arrows = fm_viewer_arrows_sorted(&timeline->arrows);
    unsigned written = 0;
    fm_json_line(json, 1);
    fm_json_array(json, elsewhere ? "arrows_elsewhere" : "arrows");
    for (unsigned i = 0; i < arrows->len && written < TRACE_ARROWS_MAX; i++) {
        const struct fm_viewer_arrow *arrow = arrows->pdata[i];
        int64_t from = row_of(rows, arrow->part, arrow->from);
        int64_t to = row_of(rows, arrow->part, arrow->to);
        bool from_here = from >= first && from < end, to_here = to >= first && to < end;
        if (from < 0 || to < 0 || (elsewhere ? from_here == to_here : !(from_here && to_here)))
            continue;
        write_arrow(json, arrow, elsewhere ? from : from - first, elsewhere ? to : to - first,
                    timeline->job.set->origin);
        written++;
    }
    fm_json_end(json);
}

static void write_arrows(struct fm_json *json, struct fm_viewer_timeline *timeline, unsigned first,
                         unsigned end)
{
    struct rows rows = find_rows(timeline);
    fm_json_bool(json, "arrows_known", timeline->arrows.known);
    write_some_arrows(json, timeline, &rows, first, end, false);
    write_some_arrows(json, timeline, &rows, first, end, true);
    clear_rows(&rows, timeline->job.set->count);
}

/* --- lanes at work --- */

static void write_classes(struct fm_json *json, const struct fm_viewer_activity *activity)
{
    fm_json_array(json, "classes");
    for (unsigned i = 0; i < FM_STATE_CLASS_COUNT; i++) {
        enum fm_state_class state_class = (enum fm_state_class)i;
        double time = fm_load_time(&activity->load, state_class);
        if (time < 0.5)
            continue;
        fm_json_line(json, 3);
        fm_json_object(json, NULL);
        fm_json_text(json, "class", fm_state_class_name(state_class));
        fm_json_uint(json, "colour", i);
        fm_json_bool(json, "at_work",
                     fm_state_class_is_busy(state_class) && state_class != FM_STATE_COLLECTING);
        fm_json_uint(json, "time_ns", (uint64_t)(time + 0.5));
        fm_json_array(json, "load");
        for (unsigned k = 0; k < activity->load.columns; k++)
            fm_json_digits(json, NULL, fm_viewer_activity_at(activity, state_class, k), 3);
        fm_json_end(json);
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_activity(struct fm_json *json, const struct fm_viewer_activity *activity,
                           unsigned part, uint64_t origin)
{
    double mean = fm_viewer_activity_mean(activity);
    double productivity = fm_viewer_activity_productivity(activity);
    fm_json_object(json, NULL);
    fm_json_uint(json, "trace", part);
    fm_json_text(json, "kind", fm_lane_kind_name(activity->kind));
    fm_json_uint(json, "lanes", activity->lanes);
    fm_json_uint(json, "scale", fm_viewer_activity_scale(activity));
    fm_json_bool(json, "from_summary", activity->from_summary);
    fm_json_bool(json, "complete", activity->complete);
    fm_json_uint(json, "known_until_ns", activity->known_until - origin);
    fm_json_digits(json, "at_work", mean < 1e-6 ? 0 : mean, 4);
    fm_json_fixed(json, "at_work_percent", 100 * mean / MAX(activity->lanes, 1), 2);
    if (productivity >= 0) {
        fm_json_digits(json, "collecting",
                       fm_viewer_activity_mean_of(activity, FM_STATE_COLLECTING), 4);
        fm_json_fixed(json, "productivity_percent", 100 * productivity, 2);
    }
    write_classes(json, activity);
    fm_json_end(json);
}

static void write_activities(struct fm_json *json, const struct fm_viewer_timeline *timeline)
{
    const struct fm_viewer_set *set = timeline->job.set;
    bool any = false;
    if (timeline->activity == NULL)
        return;
    fm_json_line(json, 1);
    fm_json_array(json, "activity");
    for (unsigned i = 0; i < set->count; i++) {
        if (fm_viewer_activity_is_empty(&timeline->activity[i]))
            continue;
        if (any)
            fm_json_line(json, 2);
        write_activity(json, &timeline->activity[i], i, set->origin);
        any = true;
    }
    fm_json_end(json);
}

void fm_trace_page_json_timeline(struct fm_json *json, struct fm_viewer_job *job)
{
    struct fm_viewer_timeline *timeline = (struct fm_viewer_timeline *)job;
    struct values values = {g_hash_table_new(NULL, NULL),
                            g_array_new(FALSE, FALSE, sizeof(struct value))};
    unsigned first, end;
    fm_viewer_timeline_arrange(timeline, &first, &end);
    g_assert(first <= end && end <= timeline->lanes.order->len);
    fm_json_uint(json, "lanes_total", timeline->lanes.order->len);
    fm_json_uint(json, "first", first);
    fm_json_bool(json, "clipped", timeline->clipped);
    fm_json_bool(json, "exact", !job->from_summary);
    fm_json_line(json, 1);
    fm_json_array(json, "lanes");
    for (unsigned i = first; i < end; i++)
        write_lane(json, timeline, timeline->lanes.order->pdata[i], &values);
    fm_json_end(json);
    write_marks(json, timeline, first, end, &values);
    write_arrows(json, timeline, first, end);
    write_activities(json, timeline);
    write_values(json, &values, job->set);
    g_hash_table_unref(values.numbers);
    g_array_unref(values.met);
}
