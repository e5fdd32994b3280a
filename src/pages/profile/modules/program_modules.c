/* SPDX-License-Identifier: Apache-2.0 */
/* program_modules: the self cost of each module. Costs with descendants would overlap. */
#include "pages/profile/modules/modules.h"

#include <string.h>

#include "base/names/names.h"
#include "pages/profile/measured/cost_table.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/order.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"
#include "pages/profile/parts/preferences.h"

#define CHARACTERS 72 /* longer paths are cut in the middle */

/* Orders by self + descendants mean self here. */
static void order_by_self(struct fm_page *page)
{
    page->query.preferences.cost.with_descendants = false;
}

static bool is_shown(const struct fm_page *page, const struct fm_module *module)
{
    if (strcmp(module->name, page->terms->runtime_module) == 0)
        return false;
    return module->active || !fm_cost_is_hidden(&module->cost) ||
           page->query.preferences.show_inactive_modules;
}

static struct fm_row *sorted_rows(const struct fm_page *page, uint32_t *ret_count)
{
    const struct fm_analysis *a = page->analysis;
    struct fm_row *rows = g_new(struct fm_row, a->module_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->module_count; i++) {
        const struct fm_module *module = &a->modules[i];
        if (!is_shown(page, module))
            continue;
        rows[count++] = (struct fm_row){
            .cost = module->cost, .file = module->name, .name = module->name, .id = i};
    }
    fm_rows_sort(page, rows, count, NULL);
    *ret_count = count;
    return rows;
}

static void add_all_columns(struct fm_page *page, const struct fm_row *rows, uint32_t count)
{
    struct fm_perf perf;
    fm_perf_init(&perf, page, false);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "modules");
    struct fm_query by_name = fm_page_same(page);
    fm_preferences_set_order(&by_name.preferences, FM_ORDER_NAME, NULL);
    fm_table_group(table, "Rank", FM_COLUMN_ORDINAL_RANK, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "rank", NULL);
    fm_table_group(table, page->terms->module_title, FM_COLUMN_MODULE_NAME, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "module", &by_name);
    fm_perf_header(&perf, page, table);
    for (uint32_t i = 0; i < count; i++) {
        struct fm_query query = fm_page_link(page, FM_CMD_MODULE, 0);
        query.command.module = g_strdup(rows[i].name);
        fm_table_row(table, "module", false);
        fm_cell_int(table, (int64_t)i + 1);
        fm_cell_link(table, &query, rows[i].name, FM_STYLE_PLAIN);
        fm_perf_cells(&perf, page, table, &rows[i].cost);
        g_free(query.command.module);
    }
}

static int64_t functions_run(const struct fm_analysis *a, const struct fm_module *module)
{
    int64_t run = 0;
    for (uint32_t i = 0; i < module->ps_count; i++)
        run += a->ps_pd_first[module->ps[i]] != a->ps_pd_first[module->ps[i] + 1];
    return run;
}

/* Adds a table with one measure, as for windows, and how much of each file ran. */
static void add_ranked(struct fm_page *page, const struct fm_measured *measured,
                       const struct fm_row *rows, uint32_t count)
{
    struct fm_cost_table costs;
    fm_add_measure_orders(page, measured->asked);
    fm_cost_table_begin(&costs, page, measured, FM_COSTS_BYTES, "modules");
    fm_cost_column(costs.table, "Ran", "procs_run_count", 3, FM_COLUMN_NUMBER);
    fm_column_help(costs.table, "Functions of the file that were called");
    fm_cost_column(costs.table, "of", "procs_count", 3, FM_COLUMN_NUMBER);
    fm_column_help(costs.table, "Functions of the file that the compiler kept");
    fm_cost_column(costs.table, page->terms->module_title, "path", 1, FM_COLUMN_PROC);
    g_autofree char **paths = g_new(char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        paths[i] = (char *)(uintptr_t)rows[i].name;
    g_auto(GStrv) shown = fm_paths_elide(paths, count, CHARACTERS);
    for (uint32_t i = 0; i < count; i++) {
        const struct fm_module *module = &page->analysis->modules[rows[i].id];
        struct fm_query query = fm_page_link(page, FM_CMD_MODULE, 0);
        query.command.module = (char *)(uintptr_t)rows[i].name;
        bool cut = strcmp(shown[i], rows[i].name) != 0;
        const struct fm_path_part part = {shown[i], &query, 0, cut ? rows[i].name : NULL};
        fm_cost_table_row(&costs, "module", &rows[i].cost, true);
        fm_cell_int(costs.table, functions_run(page->analysis, module));
        fm_cell_int(costs.table, module->ps_count);
        fm_cell_path(costs.table, &part, 1, 0);
    }
    fm_link_all_columns(page);
}

bool fm_page_program_modules(struct fm_page *page, GError **error)
{
    (void)error;
    order_by_self(page);
    struct fm_measured measured;
    bool ranked = fm_page_is_ranked(page, false, &measured);
    fm_page_begin(page, "program_modules",
                  g_strdup_printf("The %s of the program", page->terms->modules));
    uint32_t count;
    g_autofree struct fm_row *rows = sorted_rows(page, &count);
    fm_display_fact_int(page->display, "module_count", page->analysis->module_count);
    fm_display_fact_int(page->display, "modules_shown_count", count);

    if (ranked)
        add_ranked(page, &measured, rows, count);
    else
        add_all_columns(page, rows, count);
    fm_controls_inactive_modules(page);
    fm_controls_fields(page);
    fm_controls_format(page);
    fm_controls_general(page);
    return true;
}
