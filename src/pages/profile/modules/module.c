/* SPDX-License-Identifier: Apache-2.0 */
/* module/NAME: the procedures declared in a module. */
#include "pages/profile/modules/modules.h"

#include "pages/profile/measured/cost_table.h"
#include "pages/profile/measured/proc_table.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/order.h"
#include "pages/profile/parts/page.h"

bool fm_page_module(struct fm_page *page, GError **error)
{
    const struct fm_module *module;
    if (!fm_page_check_module(page, &module, error))
        return false;
    page->module = module->name;
    fm_page_begin(
        page, "module",
        g_strdup_printf("The %s of %s %s", page->terms->procs, page->terms->module, module->name));
    struct fm_query files = fm_page_link(page, FM_CMD_PROGRAM_MODULES, 0);
    fm_add_link(fm_display_crumbs(page->display), &files, page->terms->modules_title);
    fm_add_text(fm_display_crumbs(page->display), module->name);
    g_autofree uint32_t *shown = g_new(uint32_t, module->ps_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->ps_count; i++) {
        struct fm_cost cost;
        fm_analysis_ps_cost(page->analysis, module->ps[i], &cost);
        if (page->query.preferences.show_inactive_procs || !fm_cost_is_hidden(&cost))
            shown[count++] = module->ps[i];
    }
    fm_display_fact_string(page->display, "module", module->name);
    fm_display_fact_int(page->display, "ps_count", module->ps_count);
    fm_display_fact_int(page->display, "procs_shown_count", count);
    struct fm_measured measured;
    bool ranked = fm_page_is_ranked(page, true, &measured);
    if (ranked)
        fm_add_measure_orders(page, measured.asked);
    fm_proc_table(page, "procs", shown, count, false);
    if (ranked)
        fm_link_all_columns(page);

    struct fm_query accessors = fm_page_link(page, FM_CMD_MODULE_GETTER_SETTERS, 0);
    accessors.command.module = page->query.command.module;
    fm_add_link(page->body, &accessors, "Show field getters and setters");
    struct fm_query bodies = fm_page_link(page, FM_CMD_MODULE_REP, 0);
    bodies.command.module = page->query.command.module;
    if (page->recording->procrep != NULL &&
        fm_procrep_module(page->recording->procrep, module->name) != NULL)
        fm_add_link(page->body, &bodies, "Show module representation");
    fm_controls_inactive_procs(page);
    fm_controls_qualify(page);
    fm_controls_sort(page);
    fm_controls_fields(page);
    fm_controls_format(page);
    fm_controls_general(page);
    return true;
}
