/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/proc_table.h"

#include "pages/profile/measured/cost_table.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/order.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"
#include "pages/profile/parts/preferences.h"

/* Adds a table with the columns of one measure, as for windows. */
static void add_ranked(struct fm_page *page, const char *name, const struct fm_measured *measured,
                       const struct fm_row *rows, uint32_t count)
{
    struct fm_cost_table costs;
    int64_t early = 0;
    fm_cost_table_begin(&costs, page, measured, FM_COSTS_TOTAL | FM_COSTS_PER_CALL | FM_COSTS_BYTES,
                        name);
    for (uint32_t i = 0; i < count; i++)
        early += rows[i].cost.own[FM_EXCPS];
    if (early > 0) {
        fm_cost_column(costs.table, "Left early", "excps_count", 4, FM_COLUMN_NUMBER);
        fm_column_help(costs.table, "Calls that longjmp, exit or an exception ended");
    }
    fm_cost_column(costs.table, page->terms->proc_title, "path", 1, FM_COLUMN_PROC);
    for (uint32_t i = 0; i < count; i++) {
        const struct fm_ps *proc = &page->profile->ps[rows[i].id];
        struct fm_query link = fm_page_link(page, FM_CMD_PROC, rows[i].id);
        g_autofree char *place = fm_name_place(page, proc->file, 0);
        const struct fm_path_part parts[] = {
            {fm_shown_name(page, rows[i].id), &link, 0, fm_full_name_ps(page, rows[i].id)},
            {place, NULL, FM_PART_NOTE}};
        fm_cost_table_row(&costs, "proc", &rows[i].cost, true);
        if (early > 0)
            fm_cell_int(costs.table, rows[i].cost.own[FM_EXCPS]);
        fm_cell_path(costs.table, parts, place[0] ? 2 : 1, 0);
    }
}

void fm_proc_table(struct fm_page *page, const char *name, const uint32_t *ps, uint32_t count,
                   bool sorted)
{
    g_return_if_fail(count == 0 || ps != NULL);
    g_autofree struct fm_row *rows = g_new(struct fm_row, count);
    struct fm_measured measured;
    bool ranked = fm_page_is_ranked(page, true, &measured);
    for (uint32_t i = 0; i < count; i++) {
        const struct fm_ps *proc = &page->profile->ps[ps[i]];
        rows[i] = (struct fm_row){
            .file = proc->file,
            .line = proc->line,
            .name = fm_name_ps(page, ps[i]),
            .full = fm_full_name_ps(page, ps[i]),
            .link = FM_CMD_PROC,
            .link_number = ps[i],
            .id = ps[i],
        };
        fm_analysis_ps_cost(page->analysis, ps[i], &rows[i].cost);
    }
    if (!sorted)
        fm_rows_sort(page, rows, count, NULL);
    if (ranked) {
        add_ranked(page, name, &measured, rows, count);
        return;
    }
    struct fm_perf perf;
    fm_perf_init(&perf, page, true);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, name);
    fm_table_group(table, "Rank", FM_COLUMN_ORDINAL_RANK, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "rank", NULL);
    struct fm_query by_name = fm_page_same(page);
    fm_preferences_set_order(&by_name.preferences, FM_ORDER_NAME, NULL);
    fm_table_group(table, page->terms->proc_title, FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "proc", &by_name);
    fm_perf_header(&perf, page, table);
    for (uint32_t i = 0; i < count; i++) {
        fm_table_row(table, "proc", false);
        fm_cell_int(table, (int64_t)i + 1);
        fm_row_name_cell(page, table, &rows[i], FM_STYLE_PLAIN);
        fm_perf_cells(&perf, page, table, &rows[i].cost);
    }
}
