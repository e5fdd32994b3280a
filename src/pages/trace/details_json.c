/* SPDX-License-Identifier: Apache-2.0 */
/* One event or segment, and the tree of an area, as JSON. */
#include "pages/trace/json.h"
#include "pages/trace/show.h"
#include "pages/trace/totals.h"

enum { NODES_MAX = 3000, PARTS = 5000 }; /* smaller ones are narrower than a pixel */

void fm_trace_page_json_event(struct fm_json *json, const struct fm_viewer_job *job,
                              const struct fm_viewer_event_row *row)
{
    fm_json_line(json, 2);
    fm_json_object(json, NULL);
    fm_json_text(json, "position", row->position);
    fm_json_uint(json, "time_ns", row->time - job->set->origin);
    fm_json_uint(json, "trace", row->part);
    if (row->cpu < 0)
        fm_json_null(json, "lane");
    else
        fm_json_int(json, "lane", row->cpu);
    fm_json_text(json, "source", row->source);
    fm_json_text(json, "name", row->name);
    g_autofree char *context = fm_trace_page_context_url(job->set, row);
    if (context != NULL)
        fm_json_text(json, "context_url", context);
    fm_json_object(json, "fields");
    for (unsigned i = 0; i + 1 < row->fields->len; i += 2)
        fm_json_text(json, row->fields->pdata[i], row->fields->pdata[i + 1]);
    fm_json_end(json);
    fm_json_end(json);
}

static const struct fm_trace *trace_of(const struct fm_viewer_details *details)
{
    return fm_segments_trace(fm_details_segments(details->details));
}

static void write_lane(struct fm_json *json, const struct fm_viewer_details *details,
                       uint32_t index)
{
    struct fm_segments *segments = fm_details_segments(details->details);
    const struct fm_segments_lane *from = fm_segments_lane(segments, index);
    const struct fm_viewer_lane lane = {
        .part = details->lane.part, .kind = from->kind, .key = from->key};
    g_autofree char *id = fm_viewer_lane_id(&lane);
    g_autofree char *label = fm_segments_lane_label(segments, index);
    fm_json_text(json, "lane", id);
    fm_json_text(json, "lane_name", label);
}

static void write_segment(struct fm_json *json, const struct fm_viewer_details *details,
                          const struct fm_segment *segment)
{
    const struct fm_trace *trace = trace_of(details);
    uint64_t origin = details->job.set->origin;
    enum fm_state_class class_ = fm_trace_value_class(trace, segment->value);
    fm_json_text(json, "name", fm_trace_value_name(trace, segment->value));
    fm_json_text(json, "state", fm_state_class_name(class_));
    fm_json_uint(json, "level", segment->depth);
    fm_json_uint(json, "segment_start_ns", segment->start - MIN(segment->start, origin));
    fm_json_uint(json, "segment_end_ns", segment->end - MIN(segment->end, origin));
    fm_json_bool(json, "open", segment->open);
}

static void write_inside(struct fm_json *json, const struct fm_viewer_details *details)
{
    const GArray *inside = fm_details_inside(details->details);
    uint64_t origin = details->job.set->origin;
    guint count = MIN(inside->len, FM_DETAILS_PARTS_MAX);
    fm_json_uint(json, "inside_left_out", inside->len - count);
    fm_json_line(json, 1);
    fm_json_array(json, "inside");
    for (guint i = 0; i < count; i++) {
        const struct fm_details_part *part = &g_array_index(inside, struct fm_details_part, i);
        fm_json_object(json, NULL);
        fm_json_text(json, "name", fm_trace_value_name(trace_of(details), part->value));
        fm_json_uint(json, "count", part->count);
        fm_json_uint(json, "total_ns", part->total);
        fm_json_uint(json, "longest_ns", part->longest);
        fm_json_uint(json, "longest_at_ns", part->longest_at - MIN(part->longest_at, origin));
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_arrows(struct fm_json *json, const struct fm_viewer_details *details, bool to)
{
    const GArray *arrows = fm_details_arrows(details->details, to);
    uint64_t origin = details->job.set->origin;
    fm_json_uint(json, to ? "woken_by_count" : "wakes_count",
                 fm_details_arrow_count(details->details, to));
    fm_json_array(json, to ? "woken_by" : "wakes");
    for (guint i = 0; i < arrows->len; i++) {
        const struct fm_arrow *arrow = &g_array_index(arrows, struct fm_arrow, i);
        fm_json_object(json, NULL);
        write_lane(json, details, to ? arrow->from : arrow->to);
        fm_json_uint(json, "from_ns", arrow->from_time - MIN(arrow->from_time, origin));
        fm_json_uint(json, "to_ns", arrow->to_time - MIN(arrow->to_time, origin));
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_found(struct fm_json *json, const struct fm_viewer_details *details)
{
    const struct fm_segment *found = fm_details_found(details->details);
    const GArray *around = fm_details_around(details->details);
    struct fm_segments *segments = fm_details_segments(details->details);
    const struct fm_segments_lane *lane = fm_segments_lane(segments, found->lane);
    g_autofree char *process =
        lane->parent == FM_LANE_NONE ? NULL : fm_segments_lane_label(segments, lane->parent);
    write_lane(json, details, found->lane);
    fm_json_text(json, "kind", fm_lane_kind_name(lane->kind));
    fm_json_text(json, "process", process);
    write_segment(json, details, found);
    fm_json_uint(json, "self_ns", fm_details_self(details->details));
    fm_json_line(json, 1);
    fm_json_array(json, "around");
    for (guint i = 0; i < around->len; i++) {
        fm_json_object(json, NULL);
        write_segment(json, details, &g_array_index(around, struct fm_segment, i));
        fm_json_end(json);
    }
    fm_json_end(json);
    write_inside(json, details);
    write_arrows(json, details, true);
    write_arrows(json, details, false);
    fm_json_line(json, 1);
    fm_json_array(json, "events");
    for (guint i = 0; i < details->events->len; i++)
        fm_trace_page_json_event(json, &details->job, details->events->pdata[i]);
    fm_json_end(json);
}

void fm_trace_page_json_details(struct fm_json *json, struct fm_viewer_job *job)
{
    const struct fm_viewer_details *details = (const struct fm_viewer_details *)job;
    bool known = fm_viewer_details_is_known(details);
    fm_json_text(json, "problem", details->problem);
    fm_json_bool(json, "found", known);
    if (known)
        write_found(json, details);
}

/* --- the tree of an area --- */

static void write_tree(struct fm_json *json, const struct fm_viewer_area *area, unsigned part)
{
    const struct fm_flame *flame = area->flames[part];
    const struct fm_trace *trace = fm_segments_trace(fm_flame_segments(flame));
    unsigned left_out;
    g_autoptr(GArray) nodes = fm_trace_page_flame_nodes(flame, NODES_MAX, PARTS, &left_out);
    fm_json_line(json, 2);
    fm_json_object(json, NULL);
    fm_json_uint(json, "trace", part);
    fm_json_uint(json, "left_out", left_out);
    fm_json_uint(json, "lost", fm_flame_lost(flame));
    fm_json_array(json, "nodes");
    json->spaced = false;
    for (guint i = 0; i < nodes->len; i++) {
        const struct fm_flame_node *node = &g_array_index(nodes, struct fm_flame_node, i);
        fm_json_array(json, NULL);
        fm_json_uint(json, NULL, node->parent);
        fm_json_text(json, NULL, i == 0 ? NULL : fm_trace_value_name(trace, node->value));
        fm_json_uint(json, NULL, i == 0 ? 0 : fm_viewer_colour(trace, node->value));
        fm_json_uint(json, NULL, node->count);
        fm_json_uint(json, NULL, node->total);
        fm_json_uint(json, NULL, node->self);
        fm_json_end(json);
    }
    json->spaced = true;
    fm_json_end(json);
    fm_json_end(json);
}

void fm_trace_page_json_trees(struct fm_json *json, const struct fm_viewer_area *area)
{
    fm_json_line(json, 1);
    fm_json_array(json, "trees");
    for (unsigned i = 0; i < area->job.set->count; i++) {
        if (area->flames[i] != NULL)
            write_tree(json, area, i);
    }
    fm_json_end(json);
}
