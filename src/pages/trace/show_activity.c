/* SPDX-License-Identifier: Apache-2.0 */
/* How many lanes are at work: a graph of layers by class of state, with a sentence and a table. */
#include <inttypes.h>

#include "pages/trace/show.h"

#define GRAPH_HEIGHT 44u

static bool is_empty(const struct fm_trace_page_show *show,
                     const struct fm_viewer_timeline *timeline)
{
    for (unsigned i = 0; i < show->set->count; i++) {
        if (!fm_viewer_activity_is_empty(&timeline->activity[i]))
            return false;
    }
    return true;
}

/* "by the summary", "by the events", "as far as it has been read, up to 0.001 s". */
static char *source_text(const struct fm_trace_page_show *show,
                         const struct fm_viewer_activity *activity)
{
    if (activity->from_summary)
        return g_strdup("by the summary");
    if (activity->complete)
        return g_strdup("by the events");
    if (activity->known_until >= show->end)
        return g_strdup(
            "by the events of the window; what was going on before it is not known yet");
    g_autofree char *time = fm_trace_page_time_text(activity->known_until - show->set->origin, 6);
    return g_strdup_printf("as far as it has been read, up to %s", time);
}

static bool collects_most(const struct fm_viewer_activity *activity)
{
    double productivity = fm_viewer_activity_productivity(activity);
    return productivity >= 0 && productivity < 0.5;
}

/* ", 0.31 collecting, productivity 72 %"; nothing where nothing was collected. */
static char *collecting_text(const struct fm_viewer_activity *activity)
{
    char mean[G_ASCII_DTOSTR_BUF_SIZE];
    double productivity = fm_viewer_activity_productivity(activity);
    if (productivity < 0)
        return g_strdup("");
    g_ascii_formatd(mean, sizeof mean, "%.2f",
                    fm_viewer_activity_mean_of(activity, FM_STATE_COLLECTING));
    return g_strdup_printf(", %s collecting, productivity %.0f %%", mean, 100 * productivity);
}

static char *sentence(const struct fm_trace_page_show *show,
                      const struct fm_viewer_activity *activity, unsigned part)
{
    char mean[G_ASCII_DTOSTR_BUF_SIZE];
    double at_work = fm_viewer_activity_mean(activity);
    g_autofree char *name = fm_viewer_activity_name(activity);
    g_autofree char *source = source_text(show, activity);
    g_autofree char *trace =
        show->set->count > 1 ? g_strdup_printf("%s: ", show->set->parts[part].name) : g_strdup("");
    g_ascii_formatd(mean, sizeof mean, at_work < 9.995 ? "%.2f" : "%.1f", at_work);
    g_autofree char *collecting = collecting_text(activity);
    return g_strdup_printf("%sOn average %s of %s at work (%.0f %%)%s, %s.%s", trace, mean, name,
                           100 * at_work / MAX(activity->lanes, 1), collecting, source,
                           collects_most(activity) ? " It mostly collects garbage." : "");
}

static void draw_graph(struct fm_drawing *drawing, const struct fm_viewer_activity *activity)
{
    unsigned columns = activity->load.columns;
    double scale = fm_viewer_activity_scale(activity);
    g_autofree double *bottoms = g_new0(double, columns);
    g_autofree double *tops = g_new0(double, columns);
    for (unsigned i = 0; i < FM_STATE_CLASS_COUNT; i++) {
        enum fm_state_class state_class = (enum fm_state_class)i;
        double time = fm_load_time(&activity->load, state_class);
        if (!fm_state_class_is_busy(state_class) || time < 0.5)
            continue;
        for (unsigned k = 0; k < columns; k++)
            tops[k] = bottoms[k] + fm_viewer_activity_at(activity, state_class, k) / scale;
        g_autofree char *length = fm_trace_page_duration_text((uint64_t)(time + 0.5));
        g_autofree char *title =
            g_strdup_printf("%s, %s in all", fm_state_class_name(state_class), length);
        fm_drawing_layer(drawing, i, bottoms, tops, columns, title);
        for (unsigned k = 0; k < columns; k++)
            bottoms[k] = tops[k];
    }
}

static void draw_all(const struct fm_trace_page_show *show,
                     const struct fm_viewer_timeline *timeline)
{
    struct fm_drawing *drawing =
        fm_add_drawing(show->body, "activity", "How many are at work over time, by class of state",
                       TRACE_WIDTH_DEFAULT);
    fm_trace_page_show_ticks(show, drawing, show->start, show->end);
    for (unsigned i = 0; i < show->set->count; i++) {
        const struct fm_viewer_activity *activity = &timeline->activity[i];
        if (fm_viewer_activity_is_empty(activity))
            continue;
        g_autofree char *name = fm_viewer_activity_name(activity);
        g_autofree char *note = g_strdup_printf("0 to %u", fm_viewer_activity_scale(activity));
        g_autofree char *text = sentence(show, activity, i);
        fm_drawing_row(
            drawing,
            &(struct fm_drawing_row){
                .label = name, .note = note, .title = text, .height = GRAPH_HEIGHT, .levels = 1});
        draw_graph(drawing, activity);
        if (activity->known_until < show->end && show->set->count == 1)
            fm_drawing_window(
                drawing, 0,
                fm_trace_page_show_fraction(activity->known_until, show->start, show->end));
    }
    fm_trace_page_show_cursor(show, drawing, show->start, show->end);
}

static void list_all(const struct fm_trace_page_show *show,
                     const struct fm_viewer_timeline *timeline)
{
    struct fm_table *table = fm_add_table(show->body, FM_BOX_NEVER, "activity");
    fm_table_group(table, "Lanes", FM_COLUMN_FIELD_NAME, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "lanes", NULL);
    fm_table_group(table, "Class", FM_COLUMN_FIELD_NAME, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "class", NULL);
    fm_table_group(table, "Time", FM_COLUMN_TICKS_AND_TIMES, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "time_seconds", NULL);
    fm_table_group(table, "Of their time", FM_COLUMN_TICKS_AND_TIMES, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "share_percent", NULL);
    for (unsigned i = 0; i < show->set->count; i++) {
        const struct fm_viewer_activity *activity = &timeline->activity[i];
        if (fm_viewer_activity_is_empty(activity))
            continue;
        double all = (double)(activity->known_until - activity->load.start) * activity->lanes;
        g_autofree char *name = fm_viewer_activity_name(activity);
        for (unsigned k = 0; k < FM_STATE_CLASS_COUNT; k++) {
            double time = fm_load_time(&activity->load, (enum fm_state_class)k);
            if (time < 0.5)
                continue;
            fm_table_row(table, NULL, false);
            fm_cell_string(table, name, FM_STYLE_PLAIN);
            fm_cell_string(table, fm_state_class_name((enum fm_state_class)k), FM_STYLE_PLAIN);
            fm_cell_time(table, time / 1e9);
            fm_cell_percent(table, all == 0 ? 0 : time / all);
        }
    }
}

void fm_trace_page_show_activity(const struct fm_trace_page_show *show,
                                 const struct fm_viewer_timeline *timeline)
{
    g_assert(timeline->activity != NULL); /* resources have none */
    if (is_empty(show, timeline))
        return;
    if (show->format != FM_FORMAT_HTML) {
        list_all(show, timeline);
        return;
    }
    for (unsigned i = 0; i < show->set->count; i++) {
        if (fm_viewer_activity_is_empty(&timeline->activity[i]))
            continue;
        g_autofree char *text = sentence(show, &timeline->activity[i], i);
        fm_add_text(show->body, text);
    }
    draw_all(show, timeline);
}
