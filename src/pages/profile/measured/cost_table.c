/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/cost_table.h"

#include "pages/profile/measured/switch.h"
#include "pages/profile/parts/preferences.h"
#include "pages/profile/parts/perf_columns.h"

bool fm_page_is_ranked(struct fm_page *page, bool with_descendants, struct fm_measured *ret)
{
    g_return_val_if_fail(ret != NULL, false);
    if (!fm_preferences_are_usual(page->recording, &page->query))
        return false;
    fm_measured_init(ret, page->recording, fm_measure_preferred(page));
    if (ret->asked == FM_QUERY_BY_WAITING) /* rows cannot be ordered by waiting */
        fm_measured_init(ret, page->recording, FM_QUERY_BY_CALLS);
    if (!page->links_carry_preferences && page->query.preferences.order != FM_ORDER_COST) {
        const struct fm_cost_order order = {.kind = fm_tree_measures[ret->asked].order,
                                            .with_descendants = with_descendants};
        fm_preferences_set_order(&page->query.preferences, FM_ORDER_COST, &order);
    }
    return true;
}

void fm_cost_column(struct fm_table *table, const char *title, const char *name, unsigned priority,
                    enum fm_column_class column_class)
{
    fm_table_group(table, title, column_class, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, name, NULL);
    fm_column_priority(table, priority);
}

void fm_cost_table_begin(struct fm_cost_table *ret, struct fm_page *page,
                         const struct fm_measured *measured, unsigned columns, const char *name)
{
    g_return_if_fail(measured != NULL);
    bool of_calls = measured->asked == FM_QUERY_BY_CALLS;
    *ret = (struct fm_cost_table){
        .page = page,
        .measured = *measured,
        .columns = columns,
        .has_calls = !of_calls,
        .table = fm_add_table(page->body, FM_BOX_NEVER, name),
    };
    struct fm_table *table = ret->table;
    fm_measured_init(&ret->bytes, page->recording, FM_QUERY_BY_BYTES);
    ret->has_bytes = (columns & FM_COSTS_BYTES) && measured->asked != FM_QUERY_BY_BYTES &&
                     fm_measure_is_recorded(page->recording, FM_QUERY_BY_BYTES);
    fm_table_ranked(table, NULL);
    if (columns & FM_COSTS_TOTAL) {
        fm_measured_column(table, measured, of_calls ? "Calls below" : "Total", "total", 1);
        fm_column_help(table, "Self and everything it calls, directly or not");
    }
    fm_measured_column(table, measured, of_calls ? "Calls" : "Self", "self", 1);
    fm_column_help(table, of_calls ? "Number of calls: counted, not sampled"
                                   : "In its own code, without callees");
    fm_cost_column(table, "%", columns & FM_COSTS_TOTAL ? "total_percent" : "self_percent", 3,
                   FM_COLUMN_NUMBER);
    fm_column_help(table, "Share of the whole program's");
    if (ret->has_calls)
        fm_cost_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER);
    if (ret->has_calls && (columns & FM_COSTS_PER_CALL)) {
        fm_cost_column(table, "Per call",
                       measured->is_time    ? "total_per_call_seconds"
                       : measured->is_bytes ? "total_per_call_bytes"
                                            : "total_per_call_count",
                       3, FM_COLUMN_NUMBER);
        fm_column_help(table, "The total, divided by the calls of this row");
    }
    if (ret->has_bytes)
        fm_measured_column(table, &ret->bytes, "Allocated", "self", 3);
}

void fm_cost_table_row(const struct fm_cost_table *costs, const char *role,
                       const struct fm_cost *cost, bool has_total)
{
    const struct fm_measured *measured = &costs->measured;
    struct fm_table *table = costs->table;
    int64_t own = cost->own[measured->measure], total = fm_cost_total(cost, measured->measure);
    bool totals = costs->columns & FM_COSTS_TOTAL;
    double share = fm_measured_share(measured, totals ? total : own);
    fm_table_row(table, role, false);
    if (fm_measured_is_soft(measured, totals && has_total ? total : own))
        fm_row_soft(table);
    if (totals && has_total)
        fm_measured_cell(table, measured, total);
    else if (totals)
        fm_cell_empty(table);
    if (totals && has_total)
        fm_total_at_most(costs->page, table, cost, measured->measure);
    if (totals && has_total)
        fm_cell_bar(table, fm_measured_share(measured, own), share);
    fm_measured_cell(table, measured, own);
    if (!totals)
        fm_cell_bar(table, share, share);
    if (totals && !has_total)
        fm_cell_empty(table);
    else
        fm_cell_share(table, share);
    if (costs->has_calls)
        fm_calls_cell(table, costs->page->profile, cost->calls, cost->inlined);
    if (costs->has_calls && (costs->columns & FM_COSTS_PER_CALL)) {
        if (has_total)
            fm_measured_per_call(table, measured, total, cost->inlined ? 0 : cost->calls);
        else
            fm_cell_empty(table);
    }
    if (costs->has_bytes)
        fm_measured_cell(table, &costs->bytes, cost->own[costs->bytes.measure]);
}

void fm_link_all_columns(struct fm_page *page)
{
    struct fm_query all = fm_page_same(page);
    struct fm_preferences whole;
    fm_preferences_default(&whole, fm_times_tell(page->profile), true);
    all.has_preferences = true;
    all.preferences.ports = whole.ports;
    all.preferences.time = whole.time;
    all.preferences.callseqs = FM_COUNT_OVERALL;
    all.preferences.allocs = FM_COUNT_OVERALL;
    all.preferences.memory = whole.memory;
    fm_add_link(page->body, &all, "All columns");
}
