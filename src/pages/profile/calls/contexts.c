/* SPDX-License-Identifier: Apache-2.0 */
/* contexts/PROC: the paths to a function, most expensive first. */
#include "pages/profile/calls/calls.h"

#include "pages/profile/measured/hot_tables.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"

#define ROWS_MAX 1000u
#define CALLERS_A_PAGE 100u

bool fm_page_contexts(struct fm_page *page, GError **error)
{
    uint32_t ps = page->query.command.number;
    if (!fm_page_check_id(page, "proc_static", ps, page->profile->ps_count, error))
        return false;
    const struct fm_ps *proc = &page->profile->ps[ps];
    struct fm_measured measured;
    page->module = proc->decl_module;
    fm_page_begin(page, "contexts", g_strdup_printf("Contexts of %s", proc->qualified_name));
    fm_display_fact_int(page->display, "ps", ps);
    fm_display_fact_string(page->display, "qualified_name", proc->qualified_name);
    fm_measured_of_function(&measured, page, fm_measure_preferred(page), ps);
    fm_display_fact_string(page->display, "measure", fm_tree_words[measured.asked]);
    fm_add_measure_orders(page, measured.asked);
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    struct fm_query all = fm_page_link(page, FM_CMD_PROC, ps);
    struct fm_query callers = fm_page_link(page, FM_CMD_PROC_CALLERS, ps);
    callers.command.group = FM_GROUP_CLIQUE;
    callers.command.bunch = 1;
    callers.command.bunch_size = CALLERS_A_PAGE;
    fm_add_link(list, &all, "All contexts together");
    fm_add_link(list, &callers, "Callers by context");
    if (fm_add_contexts(page, &measured, ps, 1, ROWS_MAX) == 0)
        fm_add_text(page->body, "It was never called in this run.");
    fm_controls_general(page);
    return true;
}
