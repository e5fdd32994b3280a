/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/trace/totals.h"

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void add_durations(struct fm_table *table, const struct fm_totals_group *group)
{
    static const double parts[] = {0.5, 0.9, 0.99};
    if (group->whole == 0)
        fm_cell_empty(table);
    else
        fm_cell_time(table, group->sum / (double)group->whole / 1e9);
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (group->whole == 0 || !group->has_durations)
            fm_cell_empty(table);
        else
            fm_cell_time(table, seconds(fm_totals_percentile(group, parts[i])));
    }
}

/* How long, and when it began. */
static void add_place(struct fm_table *table, uint64_t begin, uint64_t length, uint64_t origin,
                      fm_trace_page_link *link, void *user)
{
    uint64_t end = begin + MAX(length, 1);
    g_autofree char *url = link == NULL ? NULL : link(begin, end, user);
    g_autofree char *at = g_strdup_printf("%" G_GUINT64_FORMAT, begin - MIN(begin, origin));
    fm_cell_time(table, seconds(length));
    if (url == NULL)
        fm_cell_int(table, (int64_t)(begin - MIN(begin, origin)));
    else
        fm_cell_href(table, url, at, FM_STYLE_PLAIN);
}

static void add_longest(struct fm_table *table, const struct fm_totals_group *group,
                        uint64_t origin, fm_trace_page_link *link, void *user)
{
    if (group->whole > 0) {
        add_place(table, group->longest_at, group->longest, origin, link, user);
        return;
    }
    fm_cell_empty(table);
    fm_cell_empty(table);
}

unsigned fm_trace_page_add_totals(struct fm_list *body, struct fm_totals *totals, unsigned rows,
                                  uint64_t origin, fm_trace_page_link *link, void *user)
{
    static const struct fm_column_head columns[] = {
        {"Lanes", "lanes", FM_COLUMN_FIELD_NAME},
        {"Name", "name", FM_COLUMN_PROC},
        {"Count", "count", FM_COLUMN_NUMBER},
        {"Total", "total_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Self", "self_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Mean", "mean_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"50 %", "p50_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"90 %", "p90_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"99 %", "p99_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Longest", "longest_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"At (ns)", "longest_at_ns", FM_COLUMN_NUMBER},
    };
    const GPtrArray *groups = fm_totals_groups(totals);
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "totals");
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    for (guint i = 0; i < MIN(groups->len, rows); i++) {
        const struct fm_totals_group *group = g_ptr_array_index(groups, i);
        fm_table_row(table, "group", false);
        fm_cell_string(table, fm_lane_kind_name(group->kind), FM_STYLE_PLAIN);
        fm_cell_string(table, fm_totals_name(totals, group), FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)group->count);
        fm_cell_time(table, seconds(group->total));
        fm_cell_time(table, seconds(group->self));
        add_durations(table, group);
        add_longest(table, group, origin, link, user);
    }
    return groups->len - MIN(groups->len, rows);
}

/* --- critical paths --- */

static void add_what(struct fm_table *table, struct fm_segments *segments, enum fm_path_kind kind,
                     uint32_t lane, uint32_t value)
{
    g_autofree char *label = fm_segments_lane_label(segments, lane);
    fm_cell_string(table, fm_path_kind_name(kind), FM_STYLE_PLAIN);
    fm_cell_string(table, label, FM_STYLE_PLAIN);
    if (value == 0)
        fm_cell_empty(table);
    else
        fm_cell_string(table, fm_trace_value_name(fm_segments_trace(segments), value),
                       FM_STYLE_PLAIN);
}

static void add_parts(struct fm_list *body, struct fm_segments *segments, struct fm_path *path,
                      uint64_t origin, fm_trace_page_link *link, void *user)
{
    static const struct fm_column_head columns[] = {
        {"What", "kind", FM_COLUMN_FIELD_NAME},
        {"Lane", "lane", FM_COLUMN_PROC},
        {"In", "state", FM_COLUMN_FIELD_NAME},
        {"Count", "count", FM_COLUMN_NUMBER},
        {"Time", "time_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Share", "share_percent", FM_COLUMN_NUMBER},
        {"Longest", "longest_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"At (ns)", "longest_at_ns", FM_COLUMN_NUMBER},
    };
    g_autoptr(GArray) parts = fm_path_parts(path);
    uint64_t sum = 0;
    for (guint i = 0; i < parts->len; i++)
        sum += g_array_index(parts, struct fm_path_part, i).time;
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "parts");
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    for (guint i = 0; i < parts->len; i++) {
        const struct fm_path_part *part = &g_array_index(parts, struct fm_path_part, i);
        fm_table_row(table, "part", false);
        add_what(table, segments, part->kind, part->lane, part->value);
        fm_cell_int(table, (int64_t)part->count);
        fm_cell_time(table, seconds(part->time));
        fm_cell_percent(table, (double)part->time / (double)sum);
        add_place(table, part->longest_at, part->longest, origin, link, user);
    }
}

void fm_trace_page_add_path(struct fm_list *body, struct fm_segments *segments,
                            struct fm_path *path, unsigned pieces, uint64_t origin,
                            fm_trace_page_link *link, void *user)
{
    static const struct fm_column_head columns[] = {
        {"What", "kind", FM_COLUMN_FIELD_NAME},
        {"Lane", "lane", FM_COLUMN_PROC},
        {"In", "state", FM_COLUMN_FIELD_NAME},
        {"Time", "time_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"At (ns)", "start_ns", FM_COLUMN_NUMBER},
    };
    add_parts(body, segments, path, origin, link, user);
    const GArray *all = fm_path_pieces(path);
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "path");
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    for (guint i = 0; i < MIN(all->len, pieces); i++) {
        const struct fm_path_piece *piece = &g_array_index(all, struct fm_path_piece, i);
        fm_table_row(table, "piece", false);
        add_what(table, segments, piece->kind, piece->lane, piece->value);
        add_place(table, piece->start, piece->end - piece->start, origin, link, user);
    }
    g_autofree char *more = g_strdup_printf("and %u more pieces", all->len - MIN(all->len, pieces));
    if (all->len > pieces)
        fm_add_text(body, more);
}
