/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes, their boxes, marks, arrows and times of states as JSON; the two viewers that show them. */
#include "viewers/viewers.h"

struct values { /* those that an answer names, numbered anew */
    GHashTable *numbers;
    GString *text;
};

static unsigned number_of(struct values *values, const struct trace_timeline *timeline,
                          unsigned part, uint32_t value)
{
    gpointer key = GUINT_TO_POINTER((part << 24) ^ value), found;
    if (g_hash_table_lookup_extended(values->numbers, key, NULL, &found))
        return GPOINTER_TO_UINT(found);
    unsigned number = g_hash_table_size(values->numbers);
    const struct fm_trace *trace = timeline->job.set->parts[part].trace;
    g_hash_table_insert(values->numbers, key, GUINT_TO_POINTER(number));
    g_string_append(values->text, number > 0 ? ", [" : "[");
    fm_json_append_text(values->text, fm_trace_value_name(trace, value));
    g_string_append_printf(values->text, ", %u, \"%s\"]", trace_colour(trace, value),
                           fm_state_class_name(fm_trace_value_class(trace, value)));
    return number;
}

static void write_boxes(const struct trace_timeline *timeline, const struct trace_lane *lane,
                        struct values *values, GString *out)
{
    unsigned count;
    const struct fm_box *boxes = trace_timeline_boxes(timeline, lane, &count);
    uint64_t origin = timeline->job.set->origin;
    for (unsigned i = 0; i < MIN(count, TRACE_BOXES_MAX); i++) {
        const struct fm_box *box = &boxes[i];
        char share[G_ASCII_DTOSTR_BUF_SIZE], load[G_ASCII_DTOSTR_BUF_SIZE];
        g_string_append_printf(
            out,
            "%s[%u, %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT ", %u, %u, %s, %" G_GUINT64_FORMAT
            ", %s]",
            i > 0 ? ", " : "", box->depth, (guint64)(box->start - origin),
            (guint64)(box->end - origin), number_of(values, timeline, lane->part, box->value),
            box->count, g_ascii_formatd(share, sizeof share, "%.3g", (double)box->share),
            (guint64)box->detail, g_ascii_formatd(load, sizeof load, "%.3g", (double)box->load));
    }
}

static void write_lane(const struct trace_timeline *timeline, const struct trace_lane *lane,
                       struct values *values, GString *out)
{
    g_autofree char *id = trace_lane_id(lane);
    g_string_append_printf(out, "{\"id\": \"%s\", \"trace\": %u, \"kind\": \"%s\", \"name\": ", id,
                           lane->part, fm_lane_kind_name(lane->kind));
    fm_json_append_text(out, lane->name);
    g_string_append_printf(out, ", \"indent\": %u, \"levels\": %u", lane->indent, lane->levels);
    double busy = trace_timeline_busy(timeline, lane);
    if (busy >= 0) {
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        g_string_append_printf(out, ", \"busy_percent\": %s",
                               g_ascii_formatd(text, sizeof text, "%.2f", 100 * busy));
        g_string_append(out, ", \"states\": [");
        g_autoptr(GPtrArray) all = trace_timeline_usage(timeline, lane);
        for (unsigned i = 0; i < all->len; i++) {
            const struct trace_usage *usage = all->pdata[i];
            g_string_append_printf(out, "%s[%u, %" G_GUINT64_FORMAT "]", i > 0 ? ", " : "",
                                   number_of(values, timeline, lane->part, usage->value),
                                   (guint64)usage->time);
        }
        g_string_append_c(out, ']');
    }
    g_string_append(out, ",\n   \"boxes\": [");
    write_boxes(timeline, lane, values, out);
    g_string_append(out, "]}");
}

static int place_of(const struct trace_timeline *timeline, unsigned first, unsigned end,
                    unsigned part, uint32_t index)
{
    for (unsigned i = first; i < end; i++) {
        const struct trace_lane *lane = timeline->lanes.order->pdata[i];
        if (lane->part == part && lane->index == index)
            return (int)(i - first);
    }
    return -1;
}

static void write_marks(const struct trace_timeline *timeline, unsigned first, unsigned end,
                        struct values *values, GString *out)
{
    uint64_t origin = timeline->job.set->origin;
    bool any = false;
    g_string_append(out, "],\n \"marks\": [");
    for (unsigned i = 0; i < timeline->marks->len; i++) {
        const struct trace_point *mark = &g_array_index(timeline->marks, struct trace_point, i);
        int place = place_of(timeline, first, end, mark->part, mark->lane);
        if (place < 0)
            continue;
        g_string_append_printf(out, "%s[%d, %" G_GUINT64_FORMAT ", %u]", any ? ", " : "", place,
                               (guint64)(mark->time - origin),
                               number_of(values, timeline, mark->part, mark->value));
        any = true;
    }
    any = false;
    g_string_append(out, "],\n \"arrows\": [");
    for (unsigned i = 0; i < timeline->arrows->len; i++) {
        const struct trace_arrow *arrow = &g_array_index(timeline->arrows, struct trace_arrow, i);
        int from = place_of(timeline, first, end, arrow->part, arrow->from);
        int to = place_of(timeline, first, end, arrow->part, arrow->to);
        if (from < 0 || to < 0)
            continue;
        g_string_append_printf(out, "%s[%d, %" G_GUINT64_FORMAT ", %d, %" G_GUINT64_FORMAT "]",
                               any ? ", " : "", from, (guint64)(arrow->from_time - origin), to,
                               (guint64)(arrow->to_time - origin));
        any = true;
    }
    g_string_append_c(out, ']');
}

static void write_json(struct trace_job *job, GString *out)
{
    struct trace_timeline *timeline = (struct trace_timeline *)job;
    struct values values = {g_hash_table_new(NULL, NULL), g_string_new(NULL)};
    unsigned first, end;
    trace_timeline_arrange(timeline, &first, &end);
    g_string_append_printf(out,
                           ", \"lanes_total\": %u, \"first\": %u, \"clipped\": %s, \"exact\": %s",
                           timeline->lanes.order->len, first, timeline->clipped ? "true" : "false",
                           job->from_summary ? "false" : "true");
    g_string_append(out, ",\n \"lanes\": [");
    for (unsigned i = first; i < end; i++) {
        g_string_append(out, i > first ? ",\n  " : "\n  ");
        write_lane(timeline, timeline->lanes.order->pdata[i], &values, out);
    }
    write_marks(timeline, first, end, &values, out);
    if (timeline->activity != NULL) {
        g_string_append(out, ",\n \"activity\": ");
        trace_activity_write_json(timeline->activity, job->set->count, job->set->origin, out);
    }
    g_string_append_printf(out, ",\n \"values\": [%s]", values.text->str);
    g_hash_table_unref(values.numbers);
    g_string_free(values.text, TRUE);
}

const struct trace_viewer trace_viewer_timeline = {"timeline", sizeof(struct trace_timeline),
                                                   trace_timeline_begin, write_json,
                                                   trace_timeline_clear};
const struct trace_viewer trace_viewer_resources = {"resources", sizeof(struct trace_timeline),
                                                    trace_timeline_begin_resources, write_json,
                                                    trace_timeline_clear};
