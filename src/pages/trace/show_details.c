/* SPDX-License-Identifier: Apache-2.0 */
/* One segment as tables: what it is, what is in it, who woke its lane, its events. */
#include "pages/trace/show.h"

static struct fm_table *add_table(const struct fm_trace_page_show *show, const char *name,
                                  const struct fm_column_head *columns, size_t count)
{
    struct fm_table *table = fm_add_table(show->body, FM_BOX_IF_PREFERRED, name);
    fm_table_columns(table, columns, count, FM_COLOUR_NEVER);
    return table;
}

static const char *name_of(const struct fm_viewer_details *details, uint32_t value)
{
    return fm_trace_value_name(fm_segments_trace(fm_details_segments(details->details)), value);
}

/* The page on which another segment of the lane is selected. */
static void add_begin(const struct fm_trace_page_show *show,
                      const struct fm_viewer_details *details, struct fm_table *table,
                      uint64_t begin, unsigned level)
{
    uint64_t time = begin - MIN(begin, show->set->origin);
    g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, time);
    g_autofree char *selected =
        g_strdup_printf("%s:%" G_GUINT64_FORMAT ":%u", details->lane_id, time, level);
    struct fm_trace_query query = *show->query;
    query.selected = selected;
    query.cursor = time;
    g_autofree char *url = fm_trace_page_url(&query);
    if (show->format == FM_FORMAT_HTML)
        fm_cell_href(table, url, text, FM_STYLE_PLAIN);
    else
        fm_cell_int(table, (int64_t)time);
}

/* The segment, below the ones that it lies in. */
static void show_nest(const struct fm_trace_page_show *show,
                      const struct fm_viewer_details *details, const struct fm_segment *found)
{
    static const struct fm_column_head columns[] = {
        {"Level", "level", FM_COLUMN_NUMBER},       {"Name", "name", FM_COLUMN_PROC},
        {"State", "state", FM_COLUMN_FIELD_NAME},   {"Begin (ns)", "start_ns", FM_COLUMN_NUMBER},
        {"Time", "time_seconds", FM_COLUMN_NUMBER}, {"Self", "self_seconds", FM_COLUMN_NUMBER}};
    const GArray *around = fm_details_around(details->details);
    struct fm_table *table = add_table(show, "selected", columns, G_N_ELEMENTS(columns));
    for (guint i = 0; i <= around->len; i++) {
        bool last = i == around->len;
        const struct fm_segment *one = last ? found : &g_array_index(around, struct fm_segment, i);
        enum fm_state_class class_ = fm_trace_value_class(
            fm_segments_trace(fm_details_segments(details->details)), one->value);
        fm_table_row(table, last ? "selected" : "around", false);
        fm_cell_int(table, one->depth);
        fm_cell_string(table, name_of(details, one->value), last ? FM_STYLE_BOLD : FM_STYLE_PLAIN);
        fm_cell_string(table, fm_state_class_name(class_), FM_STYLE_PLAIN);
        add_begin(show, details, table, one->start, one->depth);
        fm_cell_time(table, (double)(one->end - one->start) / 1e9);
        if (last)
            fm_cell_time(table, (double)fm_details_self(details->details) / 1e9);
        else
            fm_cell_empty(table);
    }
    if (found->open)
        fm_add_text(show->body, "Its end is not recorded: it goes on where reading ended.");
}

static void show_inside(const struct fm_trace_page_show *show,
                        const struct fm_viewer_details *details, const struct fm_segment *found)
{
    static const struct fm_column_head columns[] = {
        {"In it", "name", FM_COLUMN_PROC},
        {"Count", "count", FM_COLUMN_NUMBER},
        {"Total", "total_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Longest", "longest_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"At (ns)", "longest_at_ns", FM_COLUMN_NUMBER}};
    const GArray *inside = fm_details_inside(details->details);
    if (inside->len == 0)
        return;
    struct fm_table *table = add_table(show, "inside", columns, G_N_ELEMENTS(columns));
    for (guint i = 0; i < MIN(inside->len, FM_DETAILS_PARTS_MAX); i++) {
        const struct fm_details_part *part = &g_array_index(inside, struct fm_details_part, i);
        fm_table_row(table, "part", false);
        fm_cell_string(table, name_of(details, part->value), FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)part->count);
        fm_cell_time(table, (double)part->total / 1e9);
        fm_cell_time(table, (double)part->longest / 1e9);
        add_begin(show, details, table, part->longest_at, found->depth + 1u);
    }
}

static void show_arrows(const struct fm_trace_page_show *show,
                        const struct fm_viewer_details *details, bool to)
{
    const struct fm_column_head columns[] = {{to ? "Woken by" : "Wakes", "lane", FM_COLUMN_PROC},
                                             {"From (ns)", "from_ns", FM_COLUMN_NUMBER},
                                             {"To (ns)", "to_ns", FM_COLUMN_NUMBER}};
    const GArray *arrows = fm_details_arrows(details->details, to);
    if (arrows->len == 0)
        return;
    struct fm_table *table =
        add_table(show, to ? "woken_by" : "wakes", columns, G_N_ELEMENTS(columns));
    uint64_t origin = show->set->origin;
    for (guint i = 0; i < arrows->len; i++) {
        const struct fm_arrow *arrow = &g_array_index(arrows, struct fm_arrow, i);
        g_autofree char *label = fm_segments_lane_label(fm_details_segments(details->details),
                                                        to ? arrow->from : arrow->to);
        fm_table_row(table, "arrow", false);
        fm_cell_string(table, label, FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)(arrow->from_time - MIN(arrow->from_time, origin)));
        fm_cell_int(table, (int64_t)(arrow->to_time - MIN(arrow->to_time, origin)));
    }
    uint64_t all = fm_details_arrow_count(details->details, to);
    g_autofree char *more = g_strdup_printf("and %" G_GUINT64_FORMAT " more", all - arrows->len);
    if (all > arrows->len)
        fm_add_text(show->body, more);
}

void fm_trace_page_show_details(const struct fm_trace_page_show *show,
                                const struct fm_viewer_details *details)
{
    if (details->problem != NULL)
        fm_add_text(show->body, details->problem);
    if (!fm_viewer_details_is_known(details))
        return;
    const struct fm_segment *found = fm_details_found(details->details);
    g_autofree char *label =
        fm_segments_lane_label(fm_details_segments(details->details), found->lane);
    g_autofree char *text = g_strdup_printf("On %s:", label);
    fm_add_text(show->body, text);
    show_nest(show, details, found);
    show_inside(show, details, found);
    show_arrows(show, details, true);
    show_arrows(show, details, false);
    if (details->events->len > 0)
        fm_trace_page_show_event_rows(show, details->events);
}
