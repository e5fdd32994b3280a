/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/function_table.h"

#include "pages/profile/measured/cost_table.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/perf_columns.h"

static void add_row(struct fm_page *page, struct fm_table *table,
                    const struct fm_measured *measured, uint32_t ps, bool spread)
{
    const struct fm_ps *proc = &page->profile->ps[ps];
    struct fm_query link = fm_page_link(page, FM_CMD_PROC, ps);
    g_autofree char *file = fm_name_place(page, proc->file, 0);
    const struct fm_path_part parts[] = {
        {fm_shown_name(page, ps), &link, 0, fm_full_name_ps(page, ps)}, {file, NULL, FM_PART_NOTE}};
    struct fm_cost cost;
    fm_analysis_ps_cost(page->analysis, ps, &cost);
    int64_t own = cost.own[measured->measure], total = fm_cost_total(&cost, measured->measure);
    fm_table_row(table, "function", false);
    if (fm_measured_is_soft(measured, total))
        fm_row_soft(table);
    fm_measured_cell(table, measured, own);
    fm_cell_bar(table, fm_measured_share(measured, own), fm_measured_share(measured, total));
    if (spread)
        fm_measured_spread_cell(table, measured, own);
    fm_measured_cell(table, measured, total);
    fm_total_at_most(page, table, &cost, measured->measure);
    fm_calls_cell(table, page->profile, cost.calls, cost.inlined);
    fm_cell_path(table, parts, file[0] ? 2 : 1, 0);
}

void fm_function_table(struct fm_page *page, const struct fm_measured *measured, const char *name,
                       const uint32_t *ps, uint32_t count, bool spread)
{
    g_return_if_fail(measured != NULL && (count == 0 || ps != NULL));
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, name);
    fm_table_ranked(table, NULL);
    fm_measured_column(table, measured, "Self", "self", 1);
    if (spread)
        fm_measured_spread_column(table, measured, "self", 2);
    fm_measured_column(table, measured, "Total", "total", 1);
    fm_cost_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER);
    fm_cost_column(table, page->terms->proc_title, "path", 1, FM_COLUMN_PROC);
    for (uint32_t i = 0; i < count; i++)
        add_row(page, table, measured, ps[i], spread);
}
