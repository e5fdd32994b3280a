/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/parts/sites.h"

#include "pages/profile/parts/names.h"
#include "pages/profile/parts/order.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"

void fm_sites_free(struct fm_site *sites, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        g_free(sites[i].label);
        g_free(sites[i].callees);
    }
    g_free(sites);
}

/* fm_rows_sort() knows rows only, so sites are sorted through a copy of their rows. */
static struct fm_row *sorted_rows(const struct fm_page *page, const struct fm_site *sites,
                                  uint32_t count)
{
    struct fm_row *rows = g_new(struct fm_row, count);
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = sites[i].row;
        rows[i].name = sites[i].label;
        rows[i].id = i;
    }
    fm_rows_sort(page, rows, count, NULL);
    return rows;
}

void fm_sites_print(const struct fm_page *page, struct fm_table *table, const struct fm_perf *perf,
                    struct fm_site *sites, uint32_t count)
{
    g_return_if_fail(count == 0 || sites != NULL);
    g_autofree struct fm_row *rows = sorted_rows(page, sites, count);
    for (uint32_t i = 0; i < count; i++) {
        struct fm_site *site = &sites[rows[i].id];
        g_autofree char *place = fm_name_place(page, rows[i].file, rows[i].line);
        fm_table_row(table, "call_site", false);
        fm_cell_string(table, place, FM_STYLE_PLAIN);
        fm_row_name_cell(page, table, &rows[i], FM_STYLE_PLAIN);
        fm_perf_cells(perf, page, table, &rows[i].cost);
        fm_rows_sort(page, site->callees, site->callee_count, NULL);
        for (uint32_t c = 0; c < site->callee_count; c++) {
            fm_table_row(table, "callee", false);
            fm_cell_empty(table);
            fm_row_name_cell(page, table, &site->callees[c], FM_STYLE_PLAIN);
            fm_perf_cells(perf, page, table, &site->callees[c].cost);
        }
    }
}
