/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes and the overview as drawings, with tables for the formats that have no drawings. */
#include "pages/trace/show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LINKED_BOXES_MAX 600u
#define ROW_HEIGHT 17u
#define LEVELS_MAX 24u

char *fm_trace_page_duration_text(uint64_t ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
    for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
        double value = (double)ns / units[i].ns;
        if (value < 0.9995)
            continue;
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        const char *form = value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f";
        return g_strdup_printf("%s %s", g_ascii_formatd(text, sizeof text, form, value),
                               units[i].unit);
    }
    return g_strdup_printf("%" PRIu64 " ns", ns);
}

char *fm_trace_page_time_text(uint64_t ns, unsigned decimals)
{
    g_assert(decimals <= 9);
    uint64_t part = ns % 1000000000;
    for (unsigned i = decimals; i < 9; i++)
        part /= 10;
    if (decimals == 0)
        return g_strdup_printf("%" PRIu64 " s", ns / 1000000000);
    return g_strdup_printf("%" PRIu64 ".%0*" PRIu64 " s", ns / 1000000000, (int)decimals, part);
}

char *fm_trace_page_url(const struct fm_trace_query *query)
{
    GString *url = g_string_new("?");
    fm_trace_query_print(query, url);
    return g_string_free(url, FALSE);
}

void fm_trace_page_show_ticks(const struct fm_trace_page_show *show, struct fm_drawing *drawing,
                              uint64_t start, uint64_t end)
{
    g_assert(start < end && start >= show->set->origin);
    unsigned decimals = 9;
    uint64_t origin = show->set->origin;
    uint64_t step = fm_drawing_step((double)(end - start) / 8, &decimals);
    uint64_t first = (start - origin + step - 1) / step * step;
    for (uint64_t time = first; time < end - origin; time += step) {
        g_autofree char *label = fm_trace_page_time_text(time, decimals);
        fm_drawing_tick(drawing, (double)(time + origin - start) / (double)(end - start), label);
        if (time > UINT64_MAX - step)
            break;
    }
}

double fm_trace_page_show_fraction(uint64_t time, uint64_t start, uint64_t end)
{
    g_assert(start < end);
    return time <= start ? 0 : MIN((double)(time - start) / (double)(end - start), 1.0);
}

void fm_trace_page_show_cursor(const struct fm_trace_page_show *show, struct fm_drawing *drawing,
                               uint64_t start, uint64_t end)
{
    if (show->query->cursor == FM_TRACE_TIME_UNSET)
        return;
    uint64_t time = show->set->origin + show->query->cursor;
    if (time < start || time > end)
        return;
    g_autofree char *text = fm_trace_page_time_text(show->query->cursor, 9);
    fm_drawing_cursor(drawing, fm_trace_page_show_fraction(time, start, end), text);
}

/* --- overview --- */

void fm_trace_page_show_overview(const struct fm_trace_page_show *show,
                                 struct fm_viewer_overview *overview)
{
    const struct fm_viewer_job *job = &overview->job;
    fm_viewer_overview_add_up(overview);
    g_autofree char *nothing = fm_viewer_overview_nothing(overview);
    if (nothing != NULL)
        fm_add_text(show->body, nothing);
    if (show->format != FM_FORMAT_HTML) {
        struct fm_table *table = fm_add_table(show->body, FM_BOX_NEVER, "overview");
        fm_table_group(table, "From (s)", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
        fm_table_column(table, NULL, "start_seconds", NULL);
        fm_table_group(table, "Events", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
        fm_table_column(table, NULL, "events_count", NULL);
        for (unsigned i = 0; i < job->columns; i++) {
            double width = (double)(job->end - job->start) / job->columns;
            g_autofree char *time =
                fm_trace_page_time_text(job->start - show->set->origin + (uint64_t)(width * i), 9);
            time[strlen(time) - 2] = '\0';
            fm_table_row(table, NULL, false);
            fm_cell_string(table, time, FM_STYLE_PLAIN);
            fm_cell_int(table, (int64_t)overview->counts[i]);
        }
        return;
    }
    g_autofree char *label = g_strdup_printf("Density of events over the whole span: %" PRIu64
                                             " events, at most %" PRIu64 " in one column",
                                             overview->total, overview->greatest);
    g_autofree double *heights = g_new0(double, job->columns);
    for (unsigned i = 0; i < job->columns; i++)
        heights[i] = overview->greatest == 0
                         ? 0
                         : sqrt((double)overview->counts[i] / (double)overview->greatest);
    struct fm_drawing *drawing = fm_add_drawing(show->body, "overview", label, TRACE_WIDTH_DEFAULT);
    g_autofree char *note = g_strdup_printf("%" PRIu64, overview->total);
    fm_trace_page_show_ticks(show, drawing, job->start, job->end);
    fm_drawing_row(drawing, &(struct fm_drawing_row){
                                .label = job->filter == NULL ? "All events" : "Events that pass",
                                .note = note,
                                .height = 40,
                                .levels = 1});
    fm_drawing_bars(drawing, heights, job->columns);
    fm_drawing_window(drawing, fm_trace_page_show_fraction(show->start, job->start, job->end),
                      fm_trace_page_show_fraction(show->end, job->start, job->end));
    fm_trace_page_show_cursor(show, drawing, job->start, job->end);
}

/* --- lanes --- */

static char *box_title(const struct fm_trace_page_show *show, const struct fm_viewer_lane *lane,
                       const struct fm_box *box)
{
    const struct fm_trace *trace = show->set->parts[lane->part].trace;
    bool known = (box->cut & (FM_BOX_BEGIN_UNKNOWN | FM_BOX_END_UNKNOWN)) == 0;
    g_autofree char *at = fm_trace_page_time_text(box->start - show->set->origin, 9);
    g_autofree char *length = fm_trace_page_duration_text(box->end - box->start);
    g_autofree char *part = box->count <= 1 ? g_strdup("")
                                            : g_strdup_printf(" (%.0f %% of it; %u in all)",
                                                              (double)box->share * 100, box->count);
    const char *name = fm_trace_value_name(trace, box->value);
    return g_strdup_printf("%s, %s%s %s %s%s", name == NULL ? "?" : name, known ? "" : "at least ",
                           length, box->cut & FM_BOX_BEGIN_UNKNOWN ? "from before" : "at", at,
                           part);
}

/* The window around a box, with a little before and after it. A box of one entry is selected. */
static char *box_url(const struct fm_trace_page_show *show, const struct fm_viewer_lane *lane,
                     const struct fm_box *box)
{
    struct fm_trace_query query = *show->query;
    g_autofree char *id = fm_viewer_lane_id(lane);
    uint64_t margin = (box->end - box->start) / 4 + 1, origin = show->set->origin;
    uint64_t start = box->start - origin, end = box->end - origin;
    query.start = start - MIN(start, margin);
    query.end = end + margin;
    g_autofree char *selected = g_strdup_printf("%s:%" PRIu64 ":%u", id, start, box->depth);
    query.selected = box->count == 1 ? selected : NULL;
    return fm_trace_page_url(&query);
}

/* A box of several entries is named after one that took nearly all of its time. */
#define NAMED_SHARE 0.9F

static void draw_boxes(const struct fm_trace_page_show *show,
                       const struct fm_viewer_timeline *timeline, const struct fm_viewer_lane *lane,
                       struct fm_drawing *drawing, bool links)
{
    unsigned count;
    const struct fm_box *boxes = fm_viewer_timeline_boxes(timeline, lane, &count);
    const struct fm_trace *trace = show->set->parts[lane->part].trace;
    for (unsigned i = 0; i < MIN(count, TRACE_BOXES_MAX); i++) {
        g_autofree char *title = box_title(show, lane, &boxes[i]);
        g_autofree char *url = links ? box_url(show, lane, &boxes[i]) : NULL;
        fm_drawing_box(
            drawing,
            &(struct fm_drawing_box){
                .from = fm_trace_page_show_fraction(boxes[i].start, show->start, show->end),
                .to = fm_trace_page_show_fraction(boxes[i].end, show->start, show->end),
                .level = boxes[i].depth,
                .colour = fm_viewer_colour(trace, boxes[i].value),
                .mixed = boxes[i].count > 1,
                .load = (double)boxes[i].load,
                .text = boxes[i].count > 1 && boxes[i].share < NAMED_SHARE
                            ? NULL
                            : fm_trace_value_name(trace, boxes[i].value),
                .title = title,
                .url = url,
            });
    }
}

static void draw_lane(const struct fm_trace_page_show *show,
                      const struct fm_viewer_timeline *timeline, const struct fm_viewer_lane *lane,
                      struct fm_drawing *drawing, bool links)
{
    g_autofree char *id = fm_viewer_lane_id(lane);
    struct fm_trace_query without;
    fm_trace_query_copy(show->query, &without);
    g_ptr_array_add(without.hidden, g_strdup(id));
    g_autofree char *url = fm_trace_page_url(&without);
    g_autofree char *title =
        g_strdup_printf("%s %" PRIu64 " of %s: hide it", fm_lane_kind_name(lane->kind), lane->key,
                        show->set->parts[lane->part].name);
    double busy = fm_viewer_timeline_busy(timeline, lane);
    g_autofree char *note = busy < 0 ? NULL : g_strdup_printf("%.0f %%", 100 * busy);
    fm_trace_query_done(&without);
    fm_drawing_row(drawing, &(struct fm_drawing_row){.label = lane->name == NULL ? id : lane->name,
                                                     .note = note,
                                                     .url = url,
                                                     .title = title,
                                                     .indent = lane->indent,
                                                     .height = lane->levels > 8 ? 12 : ROW_HEIGHT,
                                                     .levels = MIN(lane->levels, LEVELS_MAX)});
    draw_boxes(show, timeline, lane, drawing, links);
}

static unsigned row_of(const struct fm_viewer_timeline *timeline, unsigned first, unsigned end,
                       unsigned part, uint32_t index)
{
    for (unsigned i = first; i < end; i++) {
        const struct fm_viewer_lane *lane = timeline->lanes.order->pdata[i];
        if (lane->part == part && lane->index == index)
            return i - first;
    }
    return UINT32_MAX;
}

static void draw_arrows(const struct fm_trace_page_show *show, struct fm_viewer_timeline *timeline,
                        struct fm_drawing *drawing, unsigned first, unsigned end)
{
    const GPtrArray *arrows = fm_viewer_arrows_sorted(&timeline->arrows);
    for (unsigned i = 0; i < MIN(arrows->len, 200); i++) {
        const struct fm_viewer_arrow *arrow = arrows->pdata[i];
        unsigned from = row_of(timeline, first, end, arrow->part, arrow->from);
        unsigned to = row_of(timeline, first, end, arrow->part, arrow->to);
        if (from == UINT32_MAX || to == UINT32_MAX || from == to)
            continue;
        g_autofree char *one =
            fm_trace_page_duration_text(arrow->to_time - MIN(arrow->from_time, arrow->to_time));
        g_autofree char *length =
            arrow->count == 1 ? g_strdup(one)
                              : g_strdup_printf("%" PRIu64 ", the first %s", arrow->count, one);
        fm_drawing_arrow(
            drawing, from, fm_trace_page_show_fraction(arrow->from_time, show->start, show->end),
            to, fm_trace_page_show_fraction(arrow->to_time, show->start, show->end), length);
    }
}

static void draw_marks(const struct fm_trace_page_show *show,
                       const struct fm_viewer_timeline *timeline, const struct fm_viewer_lane *lane,
                       struct fm_drawing *drawing)
{
    for (unsigned i = 0; i < timeline->marks->len; i++) {
        const struct fm_viewer_point *mark =
            &g_array_index(timeline->marks, struct fm_viewer_point, i);
        if (mark->part != lane->part || mark->lane != lane->index)
            continue;
        g_autofree char *at = fm_trace_page_time_text(mark->time - show->set->origin, 9);
        g_autofree char *title = g_strdup_printf(
            "%s at %s", fm_trace_value_name(show->set->parts[lane->part].trace, mark->value), at);
        fm_drawing_mark(drawing, fm_trace_page_show_fraction(mark->time, show->start, show->end),
                        title, NULL);
    }
}

static void list_boxes(const struct fm_trace_page_show *show,
                       const struct fm_viewer_timeline *timeline, unsigned first, unsigned end)
{
    static const struct fm_column_head columns[] = {{"Lane", "lane", FM_COLUMN_FIELD_NAME},
                                                    {"Level", "level", FM_COLUMN_NUMBER},
                                                    {"From (s)", "start_seconds", FM_COLUMN_NUMBER},
                                                    {"To (s)", "end_seconds", FM_COLUMN_NUMBER},
                                                    {"State", "state", FM_COLUMN_FIELD_NAME},
                                                    {"Count", "count", FM_COLUMN_NUMBER},
                                                    {"Share", "share_percent", FM_COLUMN_NUMBER}};
    struct fm_table *table = fm_add_table(show->body, FM_BOX_NEVER, timeline->job.viewer->name);
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    for (unsigned i = first; i < end; i++) {
        const struct fm_viewer_lane *lane = timeline->lanes.order->pdata[i];
        unsigned count;
        const struct fm_box *boxes = fm_viewer_timeline_boxes(timeline, lane, &count);
        for (unsigned j = 0; j < MIN(count, TRACE_BOXES_MAX); j++) {
            g_autofree char *from = fm_trace_page_time_text(boxes[j].start - show->set->origin, 9);
            g_autofree char *to = fm_trace_page_time_text(boxes[j].end - show->set->origin, 9);
            from[strlen(from) - 2] = to[strlen(to) - 2] = '\0';
            fm_table_row(table, NULL, false);
            fm_cell_string(table, lane->name, FM_STYLE_PLAIN);
            fm_cell_int(table, boxes[j].depth);
            fm_cell_string(table, boxes[j].cut & FM_BOX_BEGIN_UNKNOWN ? "" : from, FM_STYLE_PLAIN);
            fm_cell_string(table, boxes[j].cut & FM_BOX_END_UNKNOWN ? "" : to, FM_STYLE_PLAIN);
            fm_cell_string(table,
                           fm_trace_value_name(show->set->parts[lane->part].trace, boxes[j].value),
                           FM_STYLE_PLAIN);
            fm_cell_int(table, boxes[j].count);
            fm_cell_percent(table, (double)boxes[j].share);
        }
    }
}

/* Links to previous and next lanes, and to show hidden ones again. */
static void show_paging(const struct fm_trace_page_show *show,
                        const struct fm_viewer_timeline *timeline, unsigned first, unsigned end)
{
    unsigned total = timeline->lanes.order->len;
    bool some = show->query->hidden->len > 0 || show->query->find != NULL;
    if (first == 0 && end == total && !some)
        return;
    struct fm_list *list = fm_add_list(show->body, FM_LIST_HORIZONTAL, NULL);
    g_autofree char *which = g_strdup_printf("Lanes %u to %u of %u%s", MIN(first + 1, total), end,
                                             total, timeline->clipped ? " (no more fit)" : "");
    fm_add_text(list, which);
    struct fm_trace_query query = *show->query;
    unsigned step = query.lanes == 0 ? TRACE_LANES_DEFAULT : query.lanes;
    if (first > 0) {
        query.first = first - MIN(first, step);
        g_autofree char *url = fm_trace_page_url(&query);
        fm_add_href(list, url, "Lanes before");
    }
    if (end < total) {
        query.first = end;
        g_autofree char *url = fm_trace_page_url(&query);
        fm_add_href(list, url, "Lanes after");
    }
    if (some) {
        g_autoptr(GPtrArray) none = g_ptr_array_new();
        query.first = 0;
        query.hidden = none;
        query.find = NULL;
        g_autofree char *url = fm_trace_page_url(&query);
        fm_add_href(list, url, "Show all lanes");
    }
}

static void show_lanes(const struct fm_trace_page_show *show, struct fm_viewer_timeline *timeline,
                       const char *label)
{
    unsigned first, end, boxes = 0;
    fm_viewer_timeline_arrange(timeline, &first, &end);
    if (show->format != FM_FORMAT_HTML) {
        list_boxes(show, timeline, first, end);
        return;
    }
    if (first == end) {
        fm_add_text(show->body, fm_viewer_job_is_done(&timeline->job)
                                    ? "There is no such lane in this window."
                                    : "Nothing has been read yet.");
        show_paging(show, timeline, first, end);
        return;
    }
    for (unsigned i = first; i < end; i++) {
        unsigned count;
        fm_viewer_timeline_boxes(timeline, timeline->lanes.order->pdata[i], &count);
        boxes += count;
    }
    struct fm_drawing *drawing =
        fm_add_drawing(show->body, timeline->job.viewer->name, label, TRACE_WIDTH_DEFAULT);
    fm_trace_page_show_ticks(show, drawing, show->start, show->end);
    for (unsigned i = first; i < end; i++) {
        const struct fm_viewer_lane *lane = timeline->lanes.order->pdata[i];
        draw_lane(show, timeline, lane, drawing, boxes <= LINKED_BOXES_MAX);
        draw_marks(show, timeline, lane, drawing);
    }
    draw_arrows(show, timeline, drawing, first, end);
    fm_trace_page_show_cursor(show, drawing, show->start, show->end);
    show_paging(show, timeline, first, end);
}

void fm_trace_page_show_timeline(const struct fm_trace_page_show *show,
                                 struct fm_viewer_timeline *timeline)
{
    show_lanes(show, timeline, "Lanes over time");
}

void fm_trace_page_show_resources(const struct fm_trace_page_show *show,
                                  struct fm_viewer_timeline *resources)
{
    show_lanes(show, resources, "Resources over time, with the part of the window they were busy");
    unsigned first, end;
    fm_viewer_timeline_arrange(resources, &first, &end);
    struct fm_table *table = fm_add_table(show->body, FM_BOX_IF_PREFERRED, "usage");
    fm_table_group(table, "Resource", FM_COLUMN_FIELD_NAME, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "lane", NULL);
    fm_table_group(table, "State", FM_COLUMN_FIELD_NAME, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "state", NULL);
    fm_table_group(table, "Time", FM_COLUMN_TICKS_AND_TIMES, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "time_seconds", NULL);
    fm_table_group(table, "Of the window", FM_COLUMN_TICKS_AND_TIMES, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "share_percent", NULL);
    double length = (double)(show->end - show->start);
    for (unsigned i = first; i < end; i++) {
        const struct fm_viewer_lane *lane = resources->lanes.order->pdata[i];
        g_autoptr(GPtrArray) all = fm_viewer_timeline_usage(resources, lane);
        for (unsigned j = 0; j < all->len; j++) {
            const struct fm_viewer_usage *usage = all->pdata[j];
            fm_table_row(table, NULL, false);
            fm_cell_string(table, lane->name, FM_STYLE_PLAIN);
            fm_cell_string(table,
                           fm_trace_value_name(show->set->parts[lane->part].trace, usage->value),
                           FM_STYLE_PLAIN);
            fm_cell_time(table, (double)usage->time / 1e9);
            fm_cell_percent(table, (double)usage->time / length);
        }
    }
}
