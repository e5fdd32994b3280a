/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/number.h"
#include "pages/trace/json.h"

#include <math.h>

#include "pages/trace/show.h"
#include "trace/clock/synchronize.h"

/* --- viewers: the members that each adds --- */

static void write_overview(struct fm_json *json, struct fm_viewer_job *job)
{
    struct fm_viewer_overview *overview = (struct fm_viewer_overview *)job;
    fm_viewer_overview_add_up(overview);
    fm_json_uint(json, "events", overview->total);
    fm_json_uint(json, "greatest", overview->greatest);
    g_autofree char *nothing = fm_viewer_overview_nothing(overview);
    if (nothing != NULL)
        fm_json_text(json, "nothing", nothing);
    fm_json_array(json, "counts");
    json->spaced = false;
    for (unsigned i = 0; i < job->columns; i++)
        fm_json_uint(json, NULL, overview->counts[i]);
    json->spaced = true;
    fm_json_end(json);
}

static void write_events(struct fm_json *json, struct fm_viewer_job *job)
{
    const struct fm_viewer_events *events = (const struct fm_viewer_events *)job;
    uint64_t origin = job->set->origin;
    fm_json_uint(json, "searched_until_ns", events->searched - MIN(events->searched, origin));
    fm_json_text(json, "next", events->next);
    fm_json_bool(json, "at_start", events->at_start);
    fm_json_bool(json, "at_end", events->at_end);
    fm_json_line(json, 1);
    fm_json_array(json, "rows");
    for (unsigned i = 0; i < events->rows->len; i++)
        fm_trace_page_json_event(json, job, events->rows->pdata[i]);
    fm_json_end(json);
}

static void write_node(struct fm_json *json, const struct fm_viewer_job *job,
                       const struct fm_viewer_statistics_row *row, unsigned number)
{
    const struct fm_statistics_node *node = row->node;
    uint64_t origin = job->set->origin;
    fm_json_line(json, 2);
    fm_json_object(json, NULL);
    fm_json_uint(json, "id", number);
    fm_json_int(json, "parent", row->parent);
    fm_json_uint(json, "depth", row->depth);
    fm_json_uint(json, "trace", row->part);
    fm_json_text(json, "name", row->depth == 0 ? job->set->parts[row->part].name : node->name);
    fm_json_text(json, "class", fm_state_class_name(node->state_class));
    fm_json_uint(json, "count", node->count);
    fm_json_uint(json, "time_ns", node->time);
    fm_json_uint(json, "self_ns", node->self_time);
    fm_json_uint(json, "longest_ns", node->longest);
    fm_json_uint(json, "longest_at_ns", node->longest_at - MIN(node->longest_at, origin));
    fm_json_uint(json, "events", node->all_events);
    fm_json_uint(json, "left_out", row->left_out);
    fm_json_bool(json, "shared", isnan(row->share));
    fm_json_end(json);
}

static void write_statistics(struct fm_json *json, struct fm_viewer_job *job)
{
    struct fm_viewer_statistics *statistics = (struct fm_viewer_statistics *)job;
    fm_viewer_statistics_fill(statistics);
    fm_json_bool(json, "whole_trace", statistics->whole);
    fm_json_uint(json, "length_ns", statistics->length);
    fm_json_line(json, 1);
    fm_json_array(json, "nodes");
    for (unsigned i = 0; i < statistics->rows->len; i++)
        write_node(json, job, &g_array_index(statistics->rows, struct fm_viewer_statistics_row, i),
                   i);
    fm_json_end(json);
}

static void write_series(struct fm_json *json, const struct fm_viewer_job *job,
                         const struct fm_viewer_series *series)
{
    static const char *const names[] = {"least", "greatest", "last"};
    g_autofree char *id =
        g_strdup_printf("%u-%d-%" G_GUINT64_FORMAT, series->part, (int)series->kind, series->key);
    fm_json_line(json, 2);
    fm_json_object(json, NULL);
    fm_json_text(json, "id", id);
    fm_json_uint(json, "trace", series->part);
    fm_json_text(json, "kind", fm_lane_kind_name(series->kind));
    fm_json_text(json, "name", series->name);
    fm_json_bool(json, "band", series->band);
    for (unsigned which = 0; which < G_N_ELEMENTS(names); which++) {
        fm_json_array(json, names[which]);
        json->spaced = false;
        for (unsigned i = 0; i < job->columns; i++)
            fm_json_digits(json, NULL, series->numbers[3 * (size_t)i + which], 12);
        json->spaced = true;
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_counters(struct fm_json *json, struct fm_viewer_job *job)
{
    struct fm_viewer_counters *counters = (struct fm_viewer_counters *)job;
    fm_viewer_counters_choose(counters);
    fm_json_uint(json, "left_out", counters->left_out);
    fm_json_line(json, 1);
    fm_json_array(json, "series");
    for (unsigned i = 0; i < counters->series->len; i++)
        write_series(json, job, counters->series->pdata[i]);
    fm_json_end(json);
    if (counters->rest == NULL)
        return;
    fm_json_line(json, 1);
    fm_json_object(json, "rest");
    fm_json_uint(json, "count", counters->rest_count);
    fm_json_array(json, "last");
    json->spaced = false;
    for (unsigned i = 0; i < job->columns; i++)
        fm_json_digits(json, NULL, counters->rest[i], 12);
    json->spaced = true;
    fm_json_end(json);
    fm_json_end(json);
}

static void write_durations(struct fm_json *json, const struct fm_totals_group *group)
{
    static const struct {
        const char *name;
        double part;
    } percentiles[] = {{"p50_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}};
    for (unsigned i = 0; i < G_N_ELEMENTS(percentiles); i++)
        fm_json_uint(json, percentiles[i].name, fm_totals_percentile(group, percentiles[i].part));
    unsigned count;
    g_autofree struct fm_histogram_bar *bars = fm_histogram_bars(&group->durations, &count);
    fm_json_array(json, "bars");
    json->spaced = false;
    for (unsigned i = 0; i < count; i++) {
        if (bars[i].count == 0)
            continue;
        fm_json_array(json, NULL);
        fm_json_uint(json, NULL, bars[i].least);
        fm_json_uint(json, NULL, bars[i].end);
        fm_json_uint(json, NULL, bars[i].count);
        fm_json_end(json);
    }
    json->spaced = true;
    fm_json_end(json);
}

/* Numbers that are not recorded have no member. */
static void write_area_row(struct fm_json *json, const struct fm_viewer_area *area,
                           const struct fm_viewer_area_row *row)
{
    const struct fm_totals_group *group = row->group;
    const struct fm_totals *totals = area->totals[row->part];
    fm_json_line(json, 2);
    fm_json_object(json, NULL);
    fm_json_uint(json, "trace", row->part);
    fm_json_text(json, "kind", fm_lane_kind_name(group->kind));
    fm_json_text(json, "name", fm_totals_name(totals, group));
    fm_json_uint(json, "count", group->count);
    fm_json_uint(json, "total_ns", group->total);
    fm_json_uint(json, "self_ns", group->self);
    fm_json_uint(json, "whole", group->whole);
    if (group->whole > 0) {
        const struct fm_segments_lane *from =
            fm_segments_lane(fm_totals_segments(totals), group->longest_lane);
        const struct fm_viewer_lane lane = {
            .part = row->part, .kind = from->kind, .key = from->key};
        g_autofree char *id = fm_viewer_lane_id(&lane);
        fm_json_uint(json, "mean_ns", (uint64_t)(group->sum / (double)group->whole + 0.5));
        fm_json_uint(json, "longest_ns", group->longest);
        fm_json_uint(json, "longest_at_ns",
                     group->longest_at - MIN(group->longest_at, area->job.set->origin));
        fm_json_text(json, "longest_lane", id);
        if (group->has_durations)
            write_durations(json, group);
    }
    fm_json_end(json);
}

static void write_area(struct fm_json *json, struct fm_viewer_job *job)
{
    struct fm_viewer_area *area = (struct fm_viewer_area *)job;
    uint64_t origin = job->set->origin;
    fm_viewer_area_fill(area);
    fm_json_uint(json, "area_start_ns", area->start - origin);
    fm_json_uint(json, "area_end_ns", area->end - origin);
    fm_json_text(json, "by", fm_trace_by_name(job->query.by));
    fm_json_text(json, "problem", area->problem);
    fm_json_uint(json, "left_out", area->left_out);
    fm_json_line(json, 1);
    fm_json_array(json, "rows");
    for (unsigned i = 0; i < area->rows->len; i++)
        write_area_row(json, area, &g_array_index(area->rows, struct fm_viewer_area_row, i));
    fm_json_end(json);
    if (job->query.by == FM_TRACE_BY_STACK)
        fm_trace_page_json_trees(json, area);
}

enum { PIECES_MAX = 3000 };

static char *lane_id(const struct fm_viewer_path *path, uint32_t index)
{
    const struct fm_segments_lane *from = fm_segments_lane(path->segments, index);
    const struct fm_viewer_lane lane = {.part = path->part, .kind = from->kind, .key = from->key};
    return fm_viewer_lane_id(&lane);
}

static void write_path_part(struct fm_json *json, const struct fm_viewer_path *path,
                            const struct fm_path_part *part)
{
    g_autofree char *id = lane_id(path, part->lane);
    g_autofree char *name = fm_segments_lane_label(path->segments, part->lane);
    fm_json_line(json, 2);
    fm_json_object(json, NULL);
    fm_json_text(json, "kind", fm_path_kind_name(part->kind));
    fm_json_text(json, "lane", id);
    fm_json_text(json, "name", name);
    fm_json_text(json, "state",
                 part->value == 0
                     ? NULL
                     : fm_trace_value_name(fm_segments_trace(path->segments), part->value));
    fm_json_uint(json, "count", part->count);
    fm_json_uint(json, "time_ns", part->time);
    fm_json_uint(json, "longest_ns", part->longest);
    fm_json_uint(json, "longest_at_ns", part->longest_at - path->job.set->origin);
    fm_json_end(json);
}

static void write_path_pieces(struct fm_json *json, const struct fm_viewer_path *path,
                              const GArray *pieces)
{
    uint64_t origin = path->job.set->origin;
    fm_json_line(json, 1);
    fm_json_array(json, "pieces");
    json->spaced = false;
    for (guint i = 0; pieces != NULL && i < MIN(pieces->len, PIECES_MAX); i++) {
        const struct fm_path_piece *piece = &g_array_index(pieces, struct fm_path_piece, i);
        g_autofree char *lane = lane_id(path, piece->lane);
        fm_json_array(json, NULL);
        fm_json_text(json, NULL, lane);
        fm_json_uint(json, NULL, piece->start - origin);
        fm_json_uint(json, NULL, piece->end - origin);
        fm_json_text(json, NULL, fm_path_kind_name(piece->kind));
        fm_json_end(json);
    }
    json->spaced = true;
    fm_json_end(json);
}

static void write_path(struct fm_json *json, struct fm_viewer_job *job)
{
    struct fm_viewer_path *path = (struct fm_viewer_path *)job;
    uint64_t origin = job->set->origin;
    bool known = fm_viewer_path_is_known(path);
    g_autofree char *id = known ? lane_id(path, path->lane) : NULL;
    g_autofree char *name = known ? fm_segments_lane_label(path->segments, path->lane) : NULL;
    g_autoptr(GArray) parts = known ? fm_path_parts(path->path) : NULL;
    const GArray *pieces = known ? fm_path_pieces(path->path) : NULL;
    guint count = known ? pieces->len : 0;
    fm_json_uint(json, "area_start_ns", path->start - origin);
    fm_json_uint(json, "area_end_ns", path->end - origin);
    fm_json_text(json, "lane", id);
    fm_json_text(json, "name", name);
    fm_json_text(json, "problem", path->problem);
    fm_json_uint(json, "left_out", count - MIN(count, PIECES_MAX));
    fm_json_line(json, 1);
    fm_json_array(json, "parts");
    for (guint i = 0; known && i < parts->len; i++)
        write_path_part(json, path, &g_array_index(parts, struct fm_path_part, i));
    fm_json_end(json);
    write_path_pieces(json, path, pieces);
}

static void write_step(struct fm_json *json, struct fm_viewer_job *job)
{
    const struct fm_viewer_step *step = (const struct fm_viewer_step *)job;
    unsigned part = 0;
    const struct fm_segment *found = fm_viewer_step_found(step, &part);
    fm_json_text(json, "problem", step->problem);
    fm_json_bool(json, "found", found != NULL);
    if (found == NULL)
        return;
    struct fm_segments *segments = step->segments[part];
    const struct fm_segments_lane *from = fm_segments_lane(segments, found->lane);
    const struct fm_viewer_lane lane = {.part = part, .kind = from->kind, .key = from->key};
    g_autofree char *id = fm_viewer_lane_id(&lane);
    g_autofree char *label = fm_segments_lane_label(segments, found->lane);
    const struct fm_trace *trace = fm_segments_trace(segments);
    fm_json_text(json, "lane", id);
    fm_json_text(json, "lane_name", label);
    fm_json_text(json, "name", fm_trace_value_name(trace, found->value));
    fm_json_text(json, "state", fm_state_class_name(fm_trace_value_class(trace, found->value)));
    fm_json_uint(json, "depth", found->depth);
    fm_json_uint(json, "segment_start_ns", found->start - job->set->origin);
    fm_json_uint(json, "segment_end_ns", found->end - job->set->origin);
    fm_json_bool(json, "open", found->open);
}

/* --- answers --- */

static const struct {
    const struct fm_viewer *viewer;
    void (*write)(struct fm_json *json, struct fm_viewer_job *job);
} writers[] = {
    {&fm_viewer_of_timeline, fm_trace_page_json_timeline},
    {&fm_viewer_of_resources, fm_trace_page_json_timeline},
    {&fm_viewer_of_overview, write_overview},
    {&fm_viewer_of_events, write_events},
    {&fm_viewer_of_statistics, write_statistics},
    {&fm_viewer_of_counters, write_counters},
    {&fm_viewer_of_area, write_area},
    {&fm_viewer_of_path, write_path},
    {&fm_viewer_of_details, fm_trace_page_json_details},
    {&fm_viewer_of_query, fm_trace_page_json_query},
    {&fm_viewer_of_step, write_step},
};

void fm_trace_page_json_job(struct fm_json *json, const char *name, struct fm_viewer_job *job)
{
    uint64_t origin = job->set->origin;
    g_assert(job->start >= origin && job->start < job->end && job->known_until >= job->start);
    json->spaced = true;
    fm_json_object(json, name);
    fm_json_text(json, "viewer", job->viewer->name);
    fm_json_uint(json, "start_ns", job->start - origin);
    fm_json_uint(json, "end_ns", job->end - origin);
    fm_json_uint(json, "columns", job->columns);
    fm_json_bool(json, "incomplete", fm_viewer_job_is_incomplete(job));
    fm_json_bool(json, "done", fm_viewer_job_is_done(job));
    fm_json_uint(json, "known_until_ns", job->known_until - origin);
    for (size_t i = 0; i < G_N_ELEMENTS(writers); i++) {
        if (writers[i].viewer == job->viewer)
            writers[i].write(json, job);
    }
    fm_json_end(json);
}

/* --- the set --- */

static void write_damage(struct fm_json *json, const struct fm_trace *trace)
{
    g_autofree char *damage = fm_trace_damage(trace);
    g_auto(GStrv) lines = g_strsplit(damage == NULL ? "" : damage, "\n", 0);
    fm_json_array(json, "damage");
    for (char **line = lines; *line != NULL; line++) {
        if ((*line)[0] != '\0')
            fm_json_text(json, NULL, *line);
    }
    fm_json_end(json);
}

/* "behind": ready, but the trace has grown since. */
static void write_passes(struct fm_json *json, const struct fm_trace *trace, bool behind)
{
    fm_json_object(json, "passes");
    for (unsigned pass = 0; pass < TRACE_PASSES; pass++) {
        const char *name = fm_trace_pass_names[pass];
        fm_json_text(json, name,
                     fm_background_is_ready(trace, name)         ? (behind ? "behind" : "ready")
                     : fm_background_is_in_progress(trace, name) ? "in progress"
                     : fm_background_error(trace, name) != NULL  ? "failed"
                                                                 : "waiting");
    }
    fm_json_end(json);
}

/* The clock of the trace's times. */
static const char *clock_of(const struct fm_viewer_set *set, const struct fm_trace *trace)
{
    const struct fm_trace_entry *file = fm_open_files_trace_of(set->recordings, trace);
    struct fm_correction correction = fm_trace_correction(trace);
    bool corrected = correction.drift != 1 || correction.offset_ns != 0;
    return file != NULL && file->aligned ? "wall clock" : corrected ? "corrected" : "recorded";
}

static void write_file(struct fm_json *json, const struct fm_viewer_set *set,
                       const struct fm_viewer_part *part)
{
    const struct fm_trace *trace = part->trace;
    fm_json_line(json, 2);
    fm_json_object(json, NULL);
    fm_json_text(json, "name", part->name);
    fm_json_text(json, "format", fm_trace_format(trace));
    fm_json_text(json, "clock", clock_of(set, trace));
    int64_t wall;
    if (fm_viewer_part_wall_clock(set, part, &wall)) {
        g_autofree char *utc = fm_number_utc(wall);
        fm_json_text(json, "time_0_utc", utc);
    }
    fm_json_uint(json, "start_ns", trace->start_time - MIN(trace->start_time, set->origin));
    fm_json_uint(json, "end_ns", trace->end_time - MIN(trace->end_time, set->origin));
    fm_json_uint(json, "streams", trace->tracefiles->len);
    fm_json_bool(json, "grows", fm_trace_grows(trace));
    write_passes(json, trace, fm_viewer_part_is_behind(set, part));
    write_damage(json, trace);
    fm_json_end(json);
}

void fm_trace_page_json_set(struct fm_json *json, const char *name, const struct fm_viewer_set *set)
{
    g_autofree char *origin = g_strdup_printf("%" G_GUINT64_FORMAT, set->origin);
    g_assert(set->start < set->end);
    json->spaced = true;
    fm_json_object(json, name);
    fm_json_text(json, "viewer", "set");
    fm_json_text(json, "origin_ns", origin); /* too large for numbers in scripts */
    fm_json_uint(json, "start_ns", set->start);
    fm_json_uint(json, "end_ns", set->end);
    fm_json_bool(json, "grows", fm_viewer_set_grows(set));
    fm_json_digits(json, "progress", fm_viewer_set_progress(set), 4);
    fm_json_line(json, 1);
    fm_json_array(json, "files");
    for (unsigned i = 0; i < set->count; i++)
        write_file(json, set, &set->parts[i]);
    fm_json_line(json, 1);
    fm_json_end(json);
    fm_json_end(json);
}
