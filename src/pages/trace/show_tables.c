/* SPDX-License-Identifier: Apache-2.0 */
/* Events, statistics and counters as tables. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "pages/trace/show.h"

#define INDENT "\xE2\x80\x83" /* em space */

static struct fm_table *add_table(const struct fm_trace_page_show *show, const char *name,
                                  const struct fm_column_head *columns, unsigned count)
{
    struct fm_table *table = fm_add_table(show->body, FM_BOX_IF_PREFERRED, name);
    fm_table_columns(table, columns, count, FM_COLOUR_NEVER);
    return table;
}

/* --- events --- */

static char *fields_text(const struct fm_viewer_event_row *row)
{
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i + 1 < row->fields->len; i += 2)
        g_string_append_printf(text, "%s%s = %s", i > 0 ? ", " : "",
                               (const char *)row->fields->pdata[i],
                               (const char *)row->fields->pdata[i + 1]);
    return g_string_free(text, FALSE);
}

#define DATA ".data"
#define CALLS ".calls.eventlog"

char *fm_trace_page_context_url(const struct fm_viewer_set *set,
                                const struct fm_viewer_event_row *row)
{
    const char *log = set->parts[row->part].name, *text = NULL, *value = NULL;
    for (unsigned i = 0; i + 1 < row->fields->len; i += 2) {
        if (strcmp(row->fields->pdata[i], "text") == 0)
            text = row->fields->pdata[i + 1];
        else if (strcmp(row->fields->pdata[i], "value") == 0)
            value = row->fields->pdata[i + 1];
    }
    if (text == NULL || value == NULL || !g_str_has_prefix(text, "context") ||
        !g_str_has_suffix(log, CALLS) || value[0] == '\0' ||
        value[strspn(value, "0123456789")] != '\0')
        return NULL;
    g_autofree char *profile =
        g_strdup_printf("%.*s" DATA, (int)(strlen(log) - strlen(CALLS)), log);
    g_autofree char *file = g_uri_escape_string(profile, "/", FALSE);
    return g_strdup_printf("deep?clique/csd:%s&%s", value, file);
}

static char *source_text(const struct fm_trace_page_show *show,
                         const struct fm_viewer_event_row *row)
{
    g_autofree char *trace =
        show->set->count > 1 ? g_path_get_basename(show->set->parts[row->part].name) : NULL;
    return trace == NULL ? g_strdup(row->source) : g_strdup_printf("%s: %s", trace, row->source);
}

static void add_step(const struct fm_trace_page_show *show, struct fm_list *list, const char *label,
                     const char *from, const char *until)
{
    struct fm_trace_query query = *show->query;
    query.from = (char *)(uintptr_t)from;
    query.until = (char *)(uintptr_t)until;
    query.at = FM_TRACE_TIME_UNSET;
    g_autofree char *url = fm_trace_page_url(&query);
    fm_add_href(list, url, label);
}

static void show_steps(const struct fm_trace_page_show *show, const struct fm_viewer_events *events)
{
    const GPtrArray *rows = events->rows;
    struct fm_list *list = fm_add_list(show->body, FM_LIST_HORIZONTAL, NULL);
    if (rows->len > 0 && !events->at_start)
        add_step(show, list, "Events before", NULL,
                 ((const struct fm_viewer_event_row *)rows->pdata[0])->position);
    if (events->next != NULL)
        add_step(show, list, "Events after", events->next, NULL);
    if (rows->len > 0)
        return;
    fm_add_text(list, !fm_viewer_job_is_done(&events->job) ? "Still searching."
                      : events->job.filter != NULL         ? "No event passes the filter."
                                                           : "There are no events here.");
}

void fm_trace_page_show_event_rows(const struct fm_trace_page_show *show, const GPtrArray *rows)
{
    static const struct fm_column_head columns[] = {{"Time (s)", "time_seconds", FM_COLUMN_NUMBER},
                                                    {"Where", "source", FM_COLUMN_FIELD_NAME},
                                                    {"Event", "event", FM_COLUMN_FIELD_NAME},
                                                    {"Fields", "fields", FM_COLUMN_FIELD_NAME}};
    struct fm_table *table = add_table(show, "events", columns, G_N_ELEMENTS(columns));
    for (unsigned i = 0; i < rows->len; i++) {
        const struct fm_viewer_event_row *row = rows->pdata[i];
        bool selected = g_strcmp0(row->position, show->query->event) == 0;
        struct fm_trace_query query = *show->query;
        query.view = FM_TRACE_VIEW_EVENTS;
        query.event = row->position;
        query.cursor = row->time - show->set->origin;
        if (query.from == NULL && query.until == NULL)
            query.from = ((struct fm_viewer_event_row *)rows->pdata[0])->position;
        g_autofree char *url = fm_trace_page_url(&query);
        g_autofree char *time = fm_trace_page_time_text(row->time - show->set->origin, 9);
        g_autofree char *fields = fields_text(row);
        g_autofree char *source = source_text(show, row);
        time[strlen(time) - 2] = '\0';
        fm_table_row(table, selected ? "selected" : NULL, false);
        if (show->format == FM_FORMAT_HTML)
            fm_cell_href(table, url, time, selected ? FM_STYLE_BOLD : FM_STYLE_PLAIN);
        else
            fm_cell_string(table, time, FM_STYLE_PLAIN);
        fm_cell_string(table, source, FM_STYLE_PLAIN);
        fm_cell_string(table, row->name, selected ? FM_STYLE_BOLD : FM_STYLE_PLAIN);
        g_autofree char *context = fm_trace_page_context_url(show->set, row);
        if (show->format == FM_FORMAT_HTML && context != NULL)
            fm_cell_href(table, context, fields, FM_STYLE_PLAIN);
        else
            fm_cell_string(table, fields, FM_STYLE_PLAIN);
    }
}

void fm_trace_page_show_events(const struct fm_trace_page_show *show,
                               const struct fm_viewer_events *events)
{
    if (show->format == FM_FORMAT_HTML)
        show_steps(show, events);
    if (events->rows->len > 0)
        fm_trace_page_show_event_rows(show, events->rows);
}

/* --- statistics --- */

static void show_choices(const struct fm_trace_page_show *show)
{
    struct fm_list *list = fm_add_list(show->body, FM_LIST_HORIZONTAL, "Of");
    struct fm_trace_query query = *show->query;
    for (unsigned i = 0; i < 2; i++) {
        query.whole_trace = i == 1;
        g_autofree char *url = fm_trace_page_url(&query);
        const char *label = i == 1 ? "the whole trace" : "this window";
        if (query.whole_trace == show->query->whole_trace)
            fm_add_text(list, label);
        else
            fm_add_href(list, url, label);
    }
    list = fm_add_list(show->body, FM_LIST_HORIZONTAL, "Sorted by");
    query = *show->query;
    for (unsigned i = 0; i < FM_TRACE_SORT_KINDS; i++) {
        query.sort = (enum fm_trace_sort)i;
        g_autofree char *url = fm_trace_page_url(&query);
        if (query.sort == show->query->sort)
            fm_add_text(list, fm_trace_sort_name(query.sort));
        else
            fm_add_href(list, url, fm_trace_sort_name(query.sort));
    }
}

static char *indented(const char *name, unsigned depth, enum fm_format format)
{
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; format != FM_FORMAT_CSV && i < depth; i++)
        g_string_append(text, INDENT);
    g_string_append(text, name);
    return g_string_free(text, FALSE);
}

void fm_trace_page_show_statistics(const struct fm_trace_page_show *show,
                                   struct fm_viewer_statistics *statistics)
{
    g_assert(show->start < show->end);
    static const struct fm_column_head columns[] = {
        {"Depth", "depth", FM_COLUMN_NUMBER},
        {"What", "name", FM_COLUMN_FIELD_NAME},
        {"Count", "count", FM_COLUMN_NUMBER},
        {"Time", "time_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Of the window", "share_percent", FM_COLUMN_TICKS_AND_TIMES},
        {"Self", "self_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Longest", "longest_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Events", "events_count", FM_COLUMN_NUMBER},
    };
    bool csv = show->format == FM_FORMAT_CSV;
    if (show->format == FM_FORMAT_HTML)
        show_choices(show);
    fm_viewer_statistics_fill(statistics);
    struct fm_table *table =
        add_table(show, "statistics", columns + !csv, G_N_ELEMENTS(columns) - !csv);
    for (unsigned i = 0; i < statistics->rows->len; i++) {
        const struct fm_viewer_statistics_row *row =
            &g_array_index(statistics->rows, struct fm_viewer_statistics_row, i);
        const struct fm_statistics_node *node = row->node;
        const char *name = row->depth == 0 ? show->set->parts[row->part].name : node->name;
        g_autofree char *shown = indented(name, row->depth, show->format);
        fm_table_row(table, NULL, false);
        if (csv)
            fm_cell_int(table, row->depth);
        fm_cell_string(table, shown, row->depth <= 1 ? FM_STYLE_BOLD : FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)node->count);
        fm_cell_time(table, (double)node->time / 1e9);
        if (isnan(row->share))
            fm_cell_empty(table);
        else
            fm_cell_percent(table, row->share);
        fm_cell_time(table, (double)node->self_time / 1e9);
        fm_cell_time(table, (double)node->longest / 1e9);
        fm_cell_int(table, (int64_t)node->all_events);
    }
}

/* --- counters --- */

static void draw_series(const struct fm_viewer_counters *counters,
                        const struct fm_viewer_series *series, struct fm_drawing *drawing)
{
    unsigned columns = counters->job.columns;
    g_autofree double *heights = g_new(double, columns);
    double height = series->greatest - series->least, last = (double)NAN;
    for (unsigned i = 0; i < columns; i++) {
        const double *column = &series->numbers[3 * (size_t)i];
        last = isnan(column[2]) ? last : column[2];
        heights[i] = isnan(last) ? last : height > 0 ? (last - series->least) / height : 0.5;
    }
    g_autofree char *greatest = fm_format_float(series->greatest, 0);
    fm_drawing_row(drawing,
                   &(struct fm_drawing_row){.label = series->name == NULL ? "" : series->name,
                                            .note = isnan(series->greatest) ? NULL : greatest,
                                            .height = 48,
                                            .levels = 1});
    fm_drawing_line(drawing, heights, columns);
}

void fm_trace_page_show_counters(const struct fm_trace_page_show *show,
                                 struct fm_viewer_counters *counters)
{
    static const struct fm_column_head columns[] = {{"Counter", "name", FM_COLUMN_FIELD_NAME},
                                                    {"Kind", "kind", FM_COLUMN_FIELD_NAME},
                                                    {"Minimum", "least", FM_COLUMN_NUMBER},
                                                    {"Maximum", "greatest", FM_COLUMN_NUMBER},
                                                    {"Last", "last", FM_COLUMN_NUMBER}};
    fm_viewer_counters_choose(counters);
    if (counters->series->len == 0) {
        fm_add_text(show->body, fm_viewer_job_is_done(&counters->job)
                                    ? "There are no counters in this window."
                                    : "Nothing has been read yet.");
        return;
    }
    if (show->format == FM_FORMAT_HTML) {
        struct fm_drawing *drawing =
            fm_add_drawing(show->body, "counters", "Counters over time", TRACE_WIDTH_DEFAULT);
        fm_trace_page_show_ticks(show, drawing, show->start, show->end);
        for (unsigned i = 0; i < counters->series->len; i++)
            draw_series(counters, counters->series->pdata[i], drawing);
    }
    struct fm_table *table = add_table(show, "counters", columns, G_N_ELEMENTS(columns));
    for (unsigned i = 0; i < counters->series->len; i++) {
        const struct fm_viewer_series *series = counters->series->pdata[i];
        fm_table_row(table, NULL, false);
        fm_cell_string(table, series->name, FM_STYLE_PLAIN);
        fm_cell_string(table, fm_lane_kind_name(series->kind), FM_STYLE_PLAIN);
        fm_cell_float(table, series->least);
        fm_cell_float(table, series->greatest);
        fm_cell_float(table, series->last);
    }
    if (counters->left_out > 0) {
        g_autofree char *more =
            g_strdup_printf("%u more counters are not shown.", counters->left_out);
        fm_add_text(show->body, more);
    }
}
