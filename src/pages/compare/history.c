/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/compare/history.h"

#include <string.h>

#include "profile/analysis/analysis.h"
#include "profile/file/machine/machine_code.h"
#include "display/chart.h"
#include "display/drawing.h"

#define CHART_ID "history"
#define CHART_WIDTH 900u
#define CHART_HEIGHT 44u
#define BUILD_ID_SHOWN 12

void fm_history_entry_done(void *entry)
{
    struct fm_history_entry *e = entry;
    g_free(e->label);
    g_free(e->program);
    g_free(e->build_id);
    g_free(e->ticks_name);
}

/* --- reading --- */

static int64_t amount_of(const struct fm_analysis *a, enum fm_measure_id measure, int64_t unit)
{
    const struct fm_profile *profile = a->profile;
    if ((unsigned)measure >= profile->measure_count || !fm_profile_knows(profile, measure))
        return -1;
    return fm_cost_total(&a->root_total, measure) * unit;
}

/* Build ID of the program's file, if finishing recorded it. */
static char *build_id_beside(const char *path, const struct fm_profile *profile)
{
    g_autoptr(FmMachineCode) code = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *program = g_path_get_basename(profile->program_name);
    if (!fm_machine_code_find(NULL, path, profile, &code, &error))
        return NULL;
    for (guint i = 0; i < code->images->len; i++) {
        const struct fm_code_image *image = &g_array_index(code->images, struct fm_code_image, i);
        g_autofree char *name = g_path_get_basename(image->path);
        if (strcmp(name, program) == 0 && image->build_id[0] != '\0')
            return g_strdup(image->build_id);
    }
    return NULL;
}

bool fm_history_read(const char *path, struct fm_history_entry *ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = NULL;
    if (!fm_profile_read(path, NULL, &profile, error) ||
        !fm_analysis_new(profile, NULL, &analysis, error))
        return false;
    int64_t quanta = amount_of(analysis, FM_QUANTA, 1);
    bool timed = profile->ticks_per_second > 0 && quanta >= 0;
    bool ticks = profile->ticks_per_second == 0 && quanta > 0;
    *ret = (struct fm_history_entry){
        .label = g_path_get_basename(path),
        .program = g_path_get_basename(profile->program_name),
        .build_id = build_id_beside(path, profile),
        .start_ns = profile->run_info.process.start_ns,
        .seconds = timed ? (double)quanta / (double)profile->ticks_per_second : -1,
        .clock = fm_profile_is(profile, FM_NATURE_CLOCK),
        .ticks_name = ticks ? g_strdup(fm_profile_tick_words(profile)) : NULL,
        .ticks = ticks ? quanta : -1,
        .samples = (timed || ticks) && profile->run_info.sample_count > 0
                       ? (int64_t)MIN(profile->run_info.sample_count, (uint64_t)INT64_MAX)
                       : -1,
        .contexts = profile->pd_count,
        .calls = fm_profile_knows(profile, FM_EXITS) ? fm_profile_calls_of_all(profile) : -1,
        .allocs = amount_of(analysis, FM_ALLOCS, 1),
        .bytes = amount_of(analysis, FM_WORDS, (int64_t)profile->word_size),
        .peak_bytes = profile->run_info.peak_bytes > 0
                          ? (int64_t)MIN(profile->run_info.peak_bytes, (uint64_t)INT64_MAX)
                          : -1,
    };
    if (g_str_has_suffix(ret->label, ".data"))
        ret->label[strlen(ret->label) - strlen(".data")] = '\0';
    return true;
}

/* --- the page --- */

static int compare_entries(const void *a, const void *b)
{
    const struct fm_history_entry *ea = a, *eb = b;
    if (ea->start_ns != eb->start_ns)
        return ea->start_ns < eb->start_ns ? -1 : 1;
    return strcmp(ea->label, eb->label);
}

static const struct fm_history_entry *at(const GArray *entries, guint index)
{
    g_assert(index < entries->len);
    return &g_array_index(entries, struct fm_history_entry, index);
}

static double calls_of(const struct fm_history_entry *e)
{
    return (double)e->calls;
}

static double seconds_of(const struct fm_history_entry *e)
{
    return e->seconds;
}

static double bytes_of(const struct fm_history_entry *e)
{
    return (double)e->bytes;
}

static double peak_of(const struct fm_history_entry *e)
{
    return (double)e->peak_bytes;
}

static double ticks_of(const struct fm_history_entry *e)
{
    return (double)e->ticks;
}

/* The entries' common name of ticks; "events" if they differ; NULL: they have none. */
static const char *ticks_name(const GArray *entries)
{
    const char *name = NULL;
    for (guint i = 0; i < entries->len; i++) {
        const char *own = at(entries, i)->ticks_name;
        if (own != NULL && name != NULL && strcmp(own, name) != 0)
            return "events";
        name = own != NULL ? own : name;
    }
    return name;
}

static bool has_clock(const GArray *entries)
{
    bool clock = false;
    for (guint i = 0; i < entries->len; i++)
        clock = clock || (at(entries, i)->clock && at(entries, i)->seconds >= 0);
    return clock;
}

/* Adds a row of bars, one for each profile; the largest has the height of the row. */
static void add_chart_row(struct fm_drawing *drawing, const GArray *entries, const char *label,
                          double (*value)(const struct fm_history_entry *))
{
    g_autofree double *heights = g_new0(double, entries->len);
    double most = 0;
    for (guint i = 0; i < entries->len; i++)
        most = MAX(most, value(at(entries, i)));
    if (!(most > 0))
        return;
    for (guint i = 0; i < entries->len; i++)
        heights[i] = MAX(value(at(entries, i)), 0) / most;
    const struct fm_drawing_row row = {.label = label, .height = CHART_HEIGHT, .levels = 1};
    fm_drawing_row(drawing, &row);
    fm_drawing_bars(drawing, heights, entries->len);
}

static double allocs_of(const struct fm_history_entry *e)
{
    return (double)e->allocs;
}

static double contexts_of(const struct fm_history_entry *e)
{
    return (double)e->contexts;
}

/* Adds a choice of the measure, for scripts. */
static void add_choice(struct fm_list *body, const GArray *entries)
{
    const struct {
        const char *label;
        enum fm_chart_unit unit;
        double (*value)(const struct fm_history_entry *);
    } measures[] = {
        {"calls", FM_CHART_COUNT, calls_of},
        {has_clock(entries) ? "time" : "CPU time", FM_CHART_SECONDS, seconds_of},
        {ticks_name(entries), FM_CHART_COUNT, ticks_of},
        {"allocations", FM_CHART_COUNT, allocs_of},
        {"bytes allocated", FM_CHART_BYTES, bytes_of},
        {"most at once", FM_CHART_BYTES, peak_of},
        {"contexts", FM_CHART_COUNT, contexts_of},
    };
    struct fm_chart *chart =
        fm_add_chart(body, "history-chart", "Each profile, oldest first", CHART_ID);
    for (guint i = 0; i < entries->len; i++)
        fm_chart_add_point(chart, at(entries, i)->label, at(entries, i)->build_id,
                           (double)at(entries, i)->start_ns / 1e9);
    g_autofree double *values = g_new(double, entries->len);
    for (guint m = 0; m < G_N_ELEMENTS(measures); m++) {
        bool known = false;
        for (guint i = 0; i < entries->len; i++) {
            values[i] = measures[m].value(at(entries, i));
            known = known || values[i] >= 0;
        }
        if (known && measures[m].label != NULL)
            fm_chart_add_series(chart, measures[m].label, measures[m].unit, values);
    }
}

static void add_chart(struct fm_list *body, const GArray *entries)
{
    if (entries->len < 2)
        return;
    add_choice(body, entries);
    struct fm_drawing *drawing =
        fm_add_drawing(body, CHART_ID, "Measures of each profile, oldest first", CHART_WIDTH);
    add_chart_row(drawing, entries, "calls", calls_of);
    add_chart_row(drawing, entries, has_clock(entries) ? "time" : "CPU time", seconds_of);
    if (ticks_name(entries) != NULL)
        add_chart_row(drawing, entries, ticks_name(entries), ticks_of);
    add_chart_row(drawing, entries, "bytes allocated", bytes_of);
    add_chart_row(drawing, entries, "most at once", peak_of);
}

static void count_cell(struct fm_table *table, int64_t count)
{
    if (count < 0)
        fm_cell_empty(table);
    else
        fm_cell_int(table, count);
}

/* Change from the previous profile; empty if one of the two is not known. */
static void change_cell(struct fm_table *table, double before, double now)
{
    if (before > 0 && now >= 0)
        fm_cell_percent(table, now / before - 1);
    else
        fm_cell_empty(table);
}

static void add_header(struct fm_table *table, bool clock, const char *ticks)
{
    g_autofree char *title = ticks == NULL ? NULL : g_strdup(ticks);
    if (title != NULL)
        title[0] = g_ascii_toupper(title[0]);
    const struct fm_column_head columns[] = {
        {"Profile", "profile", FM_COLUMN_PROC},
        {"Recorded", "recorded", FM_COLUMN_FIELD_NAME},
        {"Build", "build_id", FM_COLUMN_SOURCE_CONTEXT},
        {"Calls", "calls_count", FM_COLUMN_NUMBER},
        {"Change", "calls_change_percent", FM_COLUMN_NUMBER},
        {clock ? "Time" : "CPU time", "time_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Change", "time_change_percent", FM_COLUMN_NUMBER},
        {"Samples", "samples_count", FM_COLUMN_NUMBER},
    };
    const struct fm_column_head of_ticks[] = {
        {title, "ticks_count", FM_COLUMN_NUMBER},
        {"Change", "ticks_change_percent", FM_COLUMN_NUMBER},
    };
    const struct fm_column_head more[] = {
        {"Allocations", "allocs_count", FM_COLUMN_ALLOCATIONS},
        {"Bytes", "bytes", FM_COLUMN_MEMORY},
        {"Change", "bytes_change_percent", FM_COLUMN_NUMBER},
        {"Most at once", "peak_bytes", FM_COLUMN_MEMORY},
        {"Contexts", "contexts_count", FM_COLUMN_NUMBER},
    };
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    if (ticks != NULL)
        fm_table_columns(table, of_ticks, G_N_ELEMENTS(of_ticks), FM_COLOUR_NEVER);
    fm_table_columns(table, more, G_N_ELEMENTS(more), FM_COLOUR_NEVER);
}

static void add_row(struct fm_table *table, const struct fm_history_entry *before,
                    const struct fm_history_entry *now, bool ticks)
{
    g_autoptr(GDateTime) start =
        now->start_ns > 0 ? g_date_time_new_from_unix_utc((gint64)(now->start_ns / 1000000000))
                          : NULL;
    g_autofree char *recorded = start != NULL ? g_date_time_format(start, "%F %T") : NULL;
    fm_table_row(table, "profile", false);
    fm_cell_string(table, now->label, FM_STYLE_PLAIN);
    if (recorded != NULL)
        fm_cell_string(table, recorded, FM_STYLE_PLAIN);
    else
        fm_cell_empty(table);
    if (now->build_id != NULL) {
        g_autofree char *brief = g_strndup(now->build_id, BUILD_ID_SHOWN);
        fm_cell_string(table, brief, FM_STYLE_PLAIN);
        fm_cell_full(table, now->build_id);
    } else {
        fm_cell_empty(table);
    }
    count_cell(table, now->calls);
    change_cell(table, before ? (double)before->calls : -1, (double)now->calls);
    if (now->seconds < 0)
        fm_cell_empty(table);
    else
        fm_cell_time(table, now->seconds);
    change_cell(table, before && before->clock == now->clock ? before->seconds : -1, now->seconds);
    count_cell(table, now->samples);
    if (ticks) {
        bool same = before != NULL && g_strcmp0(before->ticks_name, now->ticks_name) == 0;
        count_cell(table, now->ticks);
        change_cell(table, same ? (double)before->ticks : -1, (double)now->ticks);
    }
    count_cell(table, now->allocs);
    count_cell(table, now->bytes);
    change_cell(table, before ? (double)before->bytes : -1, (double)now->bytes);
    count_cell(table, now->peak_bytes);
    count_cell(table, now->contexts);
}

/* "Runs of lua, of 3 builds" */
static char *title_of(const GArray *entries)
{
    g_autoptr(GHashTable) builds = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) programs = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < entries->len; i++) {
        if (at(entries, i)->build_id != NULL)
            g_hash_table_add(builds, at(entries, i)->build_id);
        g_hash_table_add(programs, at(entries, i)->program);
    }
    g_autofree char *program =
        g_hash_table_size(programs) == 1 ? g_strdup(at(entries, 0)->program) : NULL;
    guint known = g_hash_table_size(builds);
    g_autofree char *of = known > 1 ? g_strdup_printf(", of %u builds", known) : g_strdup("");
    return g_strdup_printf("%u runs of %s%s", entries->len, program ? program : "several programs",
                           of);
}

struct fm_display *fm_history_page(GArray *entries)
{
    g_return_val_if_fail(entries != NULL && entries->len > 0, NULL);
    g_array_sort(entries, compare_entries);
    g_autofree char *title = title_of(entries);
    struct fm_display *display = fm_display_new(title);
    struct fm_list *body = fm_display_body(display);
    fm_display_set_name(display, "history");
    fm_display_fact_int(display, "profile_count", entries->len);
    add_chart(body, entries);
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "profiles");
    add_header(table, has_clock(entries), ticks_name(entries));
    for (guint i = 0; i < entries->len; i++)
        add_row(table, i > 0 ? at(entries, i - 1) : NULL, at(entries, i),
                ticks_name(entries) != NULL);
    fm_add_text(body, "Changes are against the profile above. Calls and memory are exact; time is "
                      "sampled: fathom diff tells whether a change of it is more than chance.");
    return display;
}
