/* SPDX-License-Identifier: Apache-2.0 */
/* Shown instead of a page whose figures are still being computed: the request, and what is known
 * about it and the recording. */
#include "pages/profile/overview/overview.h"

#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"

static bool is_about_procedure(enum fm_command_id id)
{
    return id == FM_CMD_PROC || id == FM_CMD_PROC_CALLERS;
}

static bool is_about_context(enum fm_command_id id)
{
    return id == FM_CMD_DUMP_PROC_DYNAMIC;
}

/* The procedure that the page is about, 0 when that is not known. */
static uint32_t procedure_of(const struct fm_page *page)
{
    const struct fm_command *command = &page->query.command;
    const struct fm_profile *profile = page->profile;
    if (page->recording->known < FM_KNOWN_PROFILE)
        return 0;
    if (is_about_procedure(command->id) && command->number <= profile->ps_count)
        return command->number;
    if (is_about_context(command->id) && command->number <= profile->pd_count)
        return profile->pd_ps[command->number];
    return 0;
}

static char *title_of(const struct fm_page *page)
{
    const struct fm_command *command = &page->query.command;
    const struct fm_terms *terms = page->terms;
    uint32_t ps = procedure_of(page);
    switch (command->id) {
    case FM_CMD_ROOT:
        return g_strdup("The root of the call graph");
    case FM_CMD_FIND:
        return g_strdup_printf("Search for \"%s\"", command->name);
    case FM_CMD_CLIQUE:
        if (command->name != NULL)
            return g_strdup_printf("The context %s", command->name);
        return g_strdup_printf("Clique %" PRIu32, command->number);
    case FM_CMD_PROGRAM_MODULES:
        return g_strdup(terms->modules_title);
    case FM_CMD_MODULE:
    case FM_CMD_MODULE_GETTER_SETTERS:
        return g_strdup_printf("%s %s", terms->module_title, command->module);
    case FM_CMD_TOP_PROCS:
        return g_strdup_printf("The most expensive %s", terms->procs);
    default:
        break;
    }
    if (ps != 0)
        return g_strdup_printf("%s %s", terms->proc_title, page->profile->ps[ps].qualified_name);
    if (command->name != NULL && is_about_procedure(command->id))
        return g_strdup_printf("%s %s", terms->proc_title, command->name);
    if (is_about_procedure(command->id))
        return g_strdup_printf("%s %" PRIu32, terms->proc_title, command->number);
    return g_strdup("This page");
}

/* An id beyond the number in the header will never exist. */
static bool check_id(const struct fm_page *page, GError **error)
{
    const struct fm_command *command = &page->query.command;
    const struct fm_profile *profile = page->profile;
    if (command->name != NULL) /* ambiguous, or not looked up yet */
        return true;
    switch (command->id) {
    case FM_CMD_PROC:
    case FM_CMD_PROC_CALLERS:
    case FM_CMD_DUMP_PROC_STATIC:
        return fm_page_check_id(page, "proc_static", command->number, profile->ps_count, error);
    case FM_CMD_DUMP_PROC_DYNAMIC:
        return fm_page_check_id(page, "proc_dynamic", command->number, profile->pd_count, error);
    case FM_CMD_DUMP_CALL_SITE_STATIC:
        return fm_page_check_id(page, "call_site_static", command->number, profile->css_count,
                                error);
    case FM_CMD_DUMP_CALL_SITE_DYNAMIC:
        return fm_page_check_id(page, "call_site_dynamic", command->number, profile->csd_count,
                                error);
    default:
        return true;
    }
}

bool fm_page_unfinished(struct fm_page *page, GError **error)
{
    if (!check_id(page, error))
        return false;
    fm_page_begin(page, "unfinished", title_of(page));
    fm_display_fact_string(page->display, "recording", page->recording->name);
    uint32_t ps = procedure_of(page);
    if (ps != 0) {
        const struct fm_ps *proc = &page->profile->ps[ps];
        fm_display_fact_string(page->display, "procedure", proc->qualified_name);
        if (proc->file[0] != '\0') {
            g_autofree char *place = g_strdup_printf("%s:%" PRIu32, proc->file, proc->line);
            fm_add_text(page->body, place);
        }
    }
    fm_add_text(page->body, "Contents of the profile:");
    fm_add_summary(page);
    fm_controls_general(page);
    return true;
}
