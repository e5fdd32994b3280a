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

static void add_longest(struct fm_table *table, const struct fm_totals_group *group,
                        uint64_t origin, fm_trace_page_link *link, void *user)
{
    if (group->whole == 0) {
        fm_cell_empty(table);
        fm_cell_empty(table);
        return;
    }
    uint64_t begin = group->longest_at, end = begin + group->longest;
    g_autofree char *url = link == NULL ? NULL : link(begin, MAX(end, begin + 1), user);
    g_autofree char *at = g_strdup_printf("%" G_GUINT64_FORMAT, begin - MIN(begin, origin));
    fm_cell_time(table, seconds(group->longest));
    if (url == NULL)
        fm_cell_int(table, (int64_t)(begin - MIN(begin, origin)));
    else
        fm_cell_href(table, url, at, FM_STYLE_PLAIN);
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
