/* SPDX-License-Identifier: Apache-2.0 */
/* module_rep/NAME: the bodies of a module's procedures. */
#include "pages/profile/bodies/bodies.h"

#include "base/error.h"
#include "pages/profile/parts/bodies.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"

static void add_procs(struct fm_page *page, const struct fm_procrep_module *module,
                      const uint32_t *procs)
{
    const struct fm_procrep *procrep = page->recording->procrep;
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "procs");
    fm_table_group(table, page->terms->proc_title, FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "label", NULL);
    fm_table_group(table, "Determinism", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "determinism", NULL);
    fm_table_group(table, "Arguments", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "argument_count", NULL);
    fm_table_group(table, "Goals", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "goal_count", NULL);
    for (uint32_t i = 0; i < module->proc_count; i++) {
        g_autoptr(FmBody) body = NULL;
        g_autoptr(GString) label = g_string_new(NULL);
        if (!fm_procrep_body(procrep, procs[i], &body, NULL))
            continue;
        fm_proc_label_append(label, &procrep->procs[procs[i]].label);
        fm_table_row(table, "proc", false);
        fm_cell_string(table, label->str, FM_STYLE_PLAIN);
        fm_cell_string(table, fm_detism_name(body->detism), FM_STYLE_PLAIN);
        fm_cell_int(table, body->head_count);
        fm_cell_int(table, body->goal_count);
    }
}

bool fm_page_module_rep(struct fm_page *page, GError **error)
{
    const struct fm_open_profile *recording = page->recording;
    const struct fm_procrep *procrep = recording->procrep;
    const char *name = page->query.command.module;
    const struct fm_procrep_module *module =
        procrep == NULL ? NULL : fm_procrep_module(procrep, name);
    g_autoptr(GString) text = g_string_new(NULL);
    if (page->profile->flavour == FM_FLAVOUR_C) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "a C program's bodies are its source, which "
                    "the pages of its procedures show");
        return fm_page_fail(page, error);
    }
    if (!fm_page_check_bodies(page, error))
        return false;
    if (module == NULL) {
        bool known = fm_analysis_module(page->analysis, name) != NULL;
        g_set_error(error, FM_ERROR, known ? FM_ERROR_UNAVAILABLE : FM_ERROR_NOT_FOUND,
                    known ? "%s: not available for this file: there are no bodies of module %s"
                          : "%s: There is no module named %s.",
                    recording->name, name);
        return false;
    }
    if (!fm_procrep_print_module(text, procrep, module, error))
        return false;
    page->module = module->name;
    fm_page_begin(page, "module_rep", g_strdup_printf("The representation of module %s", name));
    fm_display_fact_string(page->display, "module", name);
    fm_display_fact_int(page->display, "proc_count", module->proc_count);
    g_autofree uint32_t *procs = fm_procrep_sorted_procs(procrep, module);
    add_procs(page, module, procs);
    fm_add_verbatim(page->body, text->str);
    struct fm_query back = fm_page_link(page, FM_CMD_MODULE, 0);
    back.command.module = page->query.command.module;
    fm_add_link(page->body, &back, "Show all the procedures of the module");
    fm_controls_general(page);
    return true;
}
