/* SPDX-License-Identifier: Apache-2.0 */
/* dump_call_site_dynamic/CSD: the edge as in the file; own costs only. */
#include "pages/profile/dump/dump.h"

#include <string.h>

#include "pages/profile/dump/fields.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"

static void add_costs(struct fm_page *page, uint32_t csd)
{
    g_assert(csd <= page->profile->csd_count);
    const struct fm_profile *profile = page->profile;
    uint32_t css_id = profile->csd_css[csd];
    const struct fm_css *css = &profile->css[css_id];
    struct fm_cost cost;
    fm_analysis_csd_cost(page->analysis, csd, &cost);
    memset(cost.desc, 0, sizeof cost.desc);

    struct fm_perf perf;
    fm_perf_init(&perf, page, true);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_ALWAYS, "costs");
    fm_table_group(table, "Call site", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "call_site", NULL);
    fm_perf_header(&perf, page, table);
    g_autofree char *label = g_strdup_printf(
        "%s @ %s #%" PRIu32, profile->ps[css->ps].qualified_name, css->goal_path, css->slot);
    struct fm_query query = fm_page_link(page, FM_CMD_DUMP_CALL_SITE_STATIC, css_id);
    fm_table_row(table, "csd", false);
    fm_cell_link(table, &query, label, FM_STYLE_PLAIN);
    fm_perf_cells(&perf, page, table, &cost);
    for (unsigned m = 0; m < profile->measure_count; m++)
        fm_display_fact_int(page->display, profile->measures[m].name, cost.own[m]);
}

bool fm_page_dump_call_site_dynamic(struct fm_page *page, GError **error)
{
    const struct fm_profile *profile = page->profile;
    uint32_t csd = page->query.command.number;
    if (!fm_page_check_id(page, "call_site_dynamic", csd, profile->csd_count, error))
        return false;
    fm_page_begin(page, "dump_call_site_dynamic",
                  g_strdup_printf("Dump of call_site_dynamic %" PRIu32, csd));
    struct fm_table *table = fm_dump_table(page, "call_site_dynamic");
    fm_dump_int(page, table, "csd", NULL, csd);
    fm_dump_link(page, table, "caller_pd", "Caller proc dynamic:", FM_CMD_DUMP_PROC_DYNAMIC,
                 profile->csd_caller[csd]);
    fm_dump_link(page, table, "callee_pd", "Callee proc dynamic:", FM_CMD_DUMP_PROC_DYNAMIC,
                 profile->csd_callee[csd]);
    fm_dump_link(page, table, "css", "Call site static:", FM_CMD_DUMP_CALL_SITE_STATIC,
                 profile->csd_css[csd]);
    add_costs(page, csd);
    struct fm_query use = fm_page_link(page, FM_CMD_CALL_SITE_DYNAMIC_VAR_USE, csd);
    uint32_t callee = profile->pd_ps[profile->csd_callee[csd]];
    if (page->recording->procrep != NULL &&
        fm_procrep_find_ps(page->recording->procrep, &profile->ps[callee]) >= 0)
        fm_add_link(page->body, &use, "When its arguments are produced and used");
    fm_controls_fields(page);
    fm_controls_format(page);
    fm_controls_general(page);
    return true;
}
