/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of a query as JSON. */
#include "pages/trace/json.h"

static void write_columns(struct fm_json *json, const struct fm_grouping *grouping)
{
    fm_json_line(json, 1);
    fm_json_array(json, "columns_shown");
    for (unsigned i = 0; i < fm_grouping_columns(grouping); i++) {
        fm_json_object(json, NULL);
        fm_json_text(json, "title", fm_grouping_title(grouping, i));
        fm_json_bool(json, "key", i < grouping->keys->len);
        fm_json_bool(json, "time", fm_grouping_type(grouping, i) == FM_FILTER_TIME);
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_cell(struct fm_json *json, const struct fm_groups *groups, unsigned row,
                       unsigned column)
{
    struct fm_groups_cell cell;
    fm_groups_cell(groups, row, column, &cell);
    switch (cell.kind) {
    case FM_GROUPS_NOTHING:
        fm_json_null(json, NULL);
        break;
    case FM_GROUPS_TEXT:
        fm_json_text(json, NULL, cell.text);
        break;
    case FM_GROUPS_NUMBER:
        if (cell.negative)
            fm_json_int(json, NULL, (int64_t)cell.number);
        else
            fm_json_uint(json, NULL, cell.number);
        break;
    case FM_GROUPS_REAL:
    case FM_GROUPS_TIME:
        fm_json_digits(json, NULL, cell.real, 17);
        break;
    }
}

/* "0-1-12:1000:2", as an address selects it; null when nothing was measured. */
static void write_greatest(struct fm_json *json, const struct fm_viewer_query *query, unsigned part,
                           unsigned row)
{
    struct fm_segment greatest;
    if (!fm_groups_greatest(query->groups[part], row, &greatest)) {
        fm_json_null(json, NULL);
        return;
    }
    const struct fm_segments_lane *from =
        fm_segments_lane(fm_groups_segments(query->groups[part]), greatest.lane);
    const struct fm_viewer_lane lane = {.part = part, .kind = from->kind, .key = from->key};
    g_autofree char *id = fm_viewer_lane_id(&lane);
    uint64_t origin = query->job.set->origin;
    fm_json_object(json, NULL);
    fm_json_text(json, "lane", id);
    fm_json_uint(json, "level", greatest.depth);
    fm_json_uint(json, "start_ns", greatest.start - MIN(greatest.start, origin));
    fm_json_uint(json, "end_ns", greatest.end - MIN(greatest.end, origin));
    fm_json_end(json);
}

static void write_table(struct fm_json *json, const struct fm_viewer_query *query, unsigned part)
{
    struct fm_groups *groups = query->groups[part];
    unsigned rows = fm_groups_rows(groups), columns = fm_grouping_columns(query->groupings[part]);
    fm_json_line(json, 2);
    fm_json_object(json, NULL);
    fm_json_uint(json, "trace", part);
    fm_json_uint(json, "counted", fm_groups_counted(groups));
    fm_json_uint(json, "groups", fm_groups_all(groups));
    fm_json_uint(json, "lost", fm_groups_lost(groups));
    fm_json_array(json, "rows");
    for (unsigned i = 0; i < MIN(rows, TRACE_GROUPS_MAX); i++) {
        fm_json_line(json, 3);
        fm_json_array(json, NULL);
        for (unsigned j = 0; j < columns; j++)
            write_cell(json, groups, i, j);
        fm_json_end(json);
    }
    fm_json_end(json);
    fm_json_array(json, "greatest");
    for (unsigned i = 0; i < MIN(rows, TRACE_GROUPS_MAX); i++)
        write_greatest(json, query, part, i);
    fm_json_end(json);
    fm_json_end(json);
}

void fm_trace_page_json_query(struct fm_json *json, struct fm_viewer_job *job)
{
    const struct fm_viewer_query *query = (const struct fm_viewer_query *)job;
    uint64_t origin = job->set->origin;
    const struct fm_grouping *first = query->groupings[0];
    fm_json_uint(json, "area_start_ns", query->start - origin);
    fm_json_uint(json, "area_end_ns", query->end - origin);
    fm_json_text(json, "problem", query->problem);
    fm_json_text(json, "of",
                 first == NULL                      ? NULL
                 : first->of == FM_FILTER_OF_EVENTS ? "events"
                                                    : "segments");
    if (first != NULL)
        write_columns(json, first);
    fm_json_line(json, 1);
    fm_json_array(json, "tables");
    for (unsigned i = 0; i < job->set->count; i++) {
        if (query->groups[i] != NULL)
            write_table(json, query, i);
    }
    fm_json_end(json);
}
