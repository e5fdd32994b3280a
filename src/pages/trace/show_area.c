/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of an area, and critical paths, as tables. */
#include "pages/trace/show.h"
#include "pages/trace/totals.h"

enum { ROWS_MAX = 500, THREADS_MAX = 100 };

char *fm_trace_page_link_to(uint64_t start, uint64_t end, void *user)
{
    const struct fm_trace_page_show *show = user;
    struct fm_trace_query query = *show->query;
    uint64_t origin = show->set->origin, margin = end - start;
    start -= MIN(start, origin);
    end -= MIN(end, origin);
    query.start = start - MIN(start, margin);
    query.end = end + margin;
    query.cursor = start;
    return fm_trace_page_url(&query);
}

static void show_choices(const struct fm_trace_page_show *show, const struct fm_viewer_area *area)
{
    struct fm_list *list = fm_add_list(show->body, FM_LIST_HORIZONTAL, "Put together by");
    struct fm_trace_query query = *show->query;
    for (unsigned i = 0; i < FM_TRACE_BY_COUNT; i++) {
        query.by = (enum fm_trace_by)i;
        g_autofree char *url = fm_trace_page_url(&query);
        if (query.by == show->query->by)
            fm_add_text(list, fm_trace_by_name(query.by));
        else
            fm_add_href(list, url, fm_trace_by_name(query.by));
    }
    uint64_t origin = show->set->origin;
    g_autofree char *from = fm_trace_page_time_text(area->start - origin, 9);
    g_autofree char *to = fm_trace_page_time_text(area->end - origin, 9);
    g_autofree char *lanes = show->query->chosen->len > 0
                                 ? g_strdup_printf("%u chosen lanes", show->query->chosen->len)
                                 : g_strdup("all lanes that are not hidden");
    g_autofree char *text = g_strdup_printf(
        "From %s to %s, %s. Total and self are the time in this area; mean, percentiles (to 0.4 "
        "%%) and the longest are of whole durations.",
        from, to, lanes);
    fm_add_text(show->body, text);
}

void fm_trace_page_show_area(const struct fm_trace_page_show *show, struct fm_viewer_area *area)
{
    bool html = show->format == FM_FORMAT_HTML;
    if (html)
        show_choices(show, area);
    if (area->problem != NULL)
        fm_add_text(show->body, area->problem);
    for (unsigned i = 0; i < show->set->count; i++) {
        if (area->totals[i] == NULL && area->flames[i] == NULL)
            continue;
        struct fm_list *list = show->set->count == 1 ? show->body
                                                     : fm_add_list(show->body, FM_LIST_PLAIN,
                                                                   show->set->parts[i].name);
        unsigned left_out = area->flames[i] != NULL
                                ? fm_trace_page_add_flame(list, area->flames[i], ROWS_MAX)
                                : fm_trace_page_add_totals(
                                      list, area->totals[i], ROWS_MAX, show->set->origin,
                                      html ? fm_trace_page_link_to : NULL, (void *)(uintptr_t)show);
        g_autofree char *more = g_strdup_printf("and %u more rows", left_out);
        if (left_out > 0)
            fm_add_text(list, more);
    }
}

/* Links that choose a thread. */
static void show_threads(const struct fm_trace_page_show *show, const struct fm_viewer_path *path)
{
    struct fm_list *list = fm_add_list(show->body, FM_LIST_HORIZONTAL, "Threads");
    struct fm_trace_query query = *show->query;
    g_autoptr(GPtrArray) chosen = g_ptr_array_new();
    query.chosen = chosen;
    unsigned count = 0;
    for (unsigned i = 0; i < show->set->count; i++) {
        const char *problem = NULL;
        struct fm_segments *segments = fm_viewer_part_segments(path->job.set, i, &problem);
        uint32_t lanes = segments == NULL ? 0 : fm_segments_lane_count(segments);
        for (uint32_t j = 0; j < lanes && count < THREADS_MAX; j++) {
            const struct fm_segments_lane *from = fm_segments_lane(segments, j);
            if (from->kind != FM_LANE_THREAD)
                continue;
            const struct fm_viewer_lane lane = {.part = i, .kind = from->kind, .key = from->key};
            g_autofree char *id = fm_viewer_lane_id(&lane);
            g_autofree char *label = fm_segments_lane_label(segments, j);
            g_ptr_array_set_size(chosen, 0);
            g_ptr_array_add(chosen, id);
            g_autofree char *url = fm_trace_page_url(&query);
            fm_add_href(list, url, label);
            count++;
        }
    }
}

void fm_trace_page_show_path(const struct fm_trace_page_show *show, struct fm_viewer_path *path)
{
    bool html = show->format == FM_FORMAT_HTML;
    if (path->problem != NULL)
        fm_add_text(show->body, path->problem);
    if (!fm_viewer_path_is_known(path)) {
        if (html)
            show_threads(show, path);
        return;
    }
    g_autofree char *name = fm_segments_lane_label(path->segments, path->lane);
    g_autofree char *from = fm_trace_page_time_text(path->start - show->set->origin, 9);
    g_autofree char *to = fm_trace_page_time_text(path->end - show->set->origin, 9);
    g_autofree char *text = g_strdup_printf("Why %s took from %s to %s:", name, from, to);
    fm_add_text(show->body, text);
    fm_trace_page_add_path(show->body, path->segments, path->path, ROWS_MAX, show->set->origin,
                           html ? fm_trace_page_link_to : NULL, (void *)(uintptr_t)show);
}

void fm_trace_page_show_step(const struct fm_trace_page_show *show,
                             const struct fm_viewer_step *step)
{
    static const struct fm_column_head columns[] = {{"Lane", "lane", FM_COLUMN_PROC},
                                                    {"Name", "name", FM_COLUMN_FIELD_NAME},
                                                    {"Begin (ns)", "start_ns", FM_COLUMN_NUMBER},
                                                    {"Time", "time_seconds", FM_COLUMN_NUMBER}};
    unsigned part;
    const struct fm_segment *found = fm_viewer_step_found(step, &part);
    if (found == NULL) {
        fm_add_text(show->body, "There is no such segment.");
        return;
    }
    struct fm_segments *segments = step->segments[part];
    g_autofree char *label = fm_segments_lane_label(segments, found->lane);
    struct fm_table *table = fm_add_table(show->body, FM_BOX_IF_PREFERRED, "step");
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    fm_table_row(table, NULL, false);
    fm_cell_string(table, label, FM_STYLE_PLAIN);
    fm_cell_string(table, fm_trace_value_name(fm_segments_trace(segments), found->value),
                   FM_STYLE_PLAIN);
    fm_cell_int(table, (int64_t)(found->start - show->set->origin));
    fm_cell_time(table, (double)(found->end - found->start) / 1e9);
}
