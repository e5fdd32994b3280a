/* SPDX-License-Identifier: Apache-2.0 */
/* From a command to its page: one table. */
#include "base/error.h"
#include "pages/profile/bodies/bodies.h"
#include "pages/profile/calls/calls.h"
#include "pages/profile/dump/dump.h"
#include "pages/profile/modules/modules.h"
#include "pages/profile/overview/overview.h"
#include "pages/profile/overview/subject.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

struct page_entry {
    fm_page_function function;
    const char *unavailable;     /* instead: why this file has no such page */
    fm_page_function c_function; /* of C profiles, where that is another one */
    enum fm_known needs;         /* 0 = FM_KNOWN_COSTS */
    bool partial;                /* the function makes a page of less, too, from the header on */
};

static const struct page_entry pages[FM_CMD_COUNT] = {
    [FM_CMD_MENU] = {.function = fm_report_menu, .needs = FM_KNOWN_CHECKED, .partial = true},
    [FM_CMD_ROOT] = {.function = fm_report_root},
    [FM_CMD_CLIQUE] = {.function = fm_report_clique},
    [FM_CMD_CLIQUE_RC] = {.function = fm_report_clique_rc},
    [FM_CMD_RECURSION_TYPE_FREQ] = {.function = fm_report_recursion_type_freq,
                                    .needs = FM_KNOWN_ALL},
    [FM_CMD_PROC] = {.function = fm_report_proc},
    [FM_CMD_PROC_CALLERS] = {.function = fm_report_proc_callers},
    [FM_CMD_PROGRAM_MODULES] = {.function = fm_report_program_modules},
    [FM_CMD_MODULE] = {.function = fm_report_module},
    [FM_CMD_MODULE_GETTER_SETTERS] = {.function = fm_report_module_getter_setters},
    [FM_CMD_MODULE_REP] = {.function = fm_report_module_rep},
    [FM_CMD_TOP_PROCS] = {.function = fm_report_top_procs},
    [FM_CMD_PROC_STATIC_COVERAGE] = {.function = fm_report_body_coverage,
                                     .c_function = fm_report_source_coverage},
    [FM_CMD_PROC_DYNAMIC_COVERAGE] = {.function = fm_report_body_coverage,
                                      .c_function = fm_report_source_coverage},
    [FM_CMD_CALL_SITE_DYNAMIC_VAR_USE] = {.function = fm_report_var_use},
    [FM_CMD_DUMP_PROC_STATIC] = {.function = fm_report_dump_proc_static, .needs = FM_KNOWN_PROFILE},
    [FM_CMD_DUMP_PROC_DYNAMIC] = {.function = fm_report_dump_proc_dynamic},
    [FM_CMD_DUMP_CALL_SITE_STATIC] = {.function = fm_report_dump_call_site_static,
                                      .needs = FM_KNOWN_PROFILE},
    [FM_CMD_DUMP_CALL_SITE_DYNAMIC] = {.function = fm_report_dump_call_site_dynamic},
    [FM_CMD_DUMP_RAW_CLIQUE] = {.function = fm_report_dump_raw_clique},
    [FM_CMD_FIND] = {.function = fm_report_find},
    [FM_CMD_HELP] = {.function = fm_report_help, .needs = FM_KNOWN_PROFILE},
    [FM_CMD_ABOUT] = {.function = fm_report_about, .needs = FM_KNOWN_CHECKED},
    [FM_CMD_RECURSIONS] = {.function = fm_report_recursions},
    [FM_CMD_FLAME] = {.function = fm_report_flame},
    [FM_CMD_TREE] = {.function = fm_report_tree},
    [FM_CMD_CONTEXTS] = {.function = fm_report_contexts},
    [FM_CMD_GRAPH] = {.function = fm_report_graph},
    [FM_CMD_MEMORY] = {.function = fm_report_memory},
    [FM_CMD_WAITS] = {.function = fm_report_waits},
    [FM_CMD_SOURCE] = {.function = fm_report_source_file},
};

static enum fm_known needs_of(const struct page_entry *entry)
{
    return entry->needs == 0 ? FM_KNOWN_COSTS : entry->needs;
}

bool fm_report_is_complete(const struct fm_deep_recording *recording, const struct fm_query *query)
{
    unsigned id = query->command.id;
    if (id >= FM_CMD_COUNT || (pages[id].function == NULL && pages[id].c_function == NULL))
        return true; /* an error whatever else will be known */
    return recording->known >= needs_of(&pages[id]);
}

/* The page of what the command names; of several to choose from where it names them. */
static bool make_page(struct fm_page *page, const struct page_entry *entry, GError **error)
{
    const struct fm_deep_recording *recording = page->recording;
    struct fm_command *command = &page->query.command;
    bool complete = recording->known >= needs_of(entry);
    enum fm_known name_needs = fm_subject_needs(command);
    struct fm_subject subject = {0};
    if (name_needs != FM_KNOWN_NOTHING && recording->known >= name_needs &&
        !fm_subject_find(recording, command, &subject, error))
        return false;
    if (subject.count > 1 && recording->known >= FM_KNOWN_COSTS) {
        fm_report_which(page, &subject);
        fm_subject_clear(&subject);
        return true;
    }
    if (subject.count == 1)
        fm_subject_set(command, &subject, page->focus, sizeof page->focus);
    fm_subject_clear(&subject);
    fm_page_function function = complete || entry->partial ? entry->function : fm_report_unfinished;
    if (complete && entry->c_function && page->profile->flavour == FM_FLAVOUR_C)
        function = entry->c_function;
    return function(page, error);
}

bool fm_report(const struct fm_deep_recording *recording, const struct fm_query *query,
               struct fm_display **ret, GError **error)
{
    g_return_val_if_fail(recording->known >= FM_KNOWN_HEADER && query != NULL && ret != NULL,
                         false);
    const struct page_entry *entry =
        (unsigned)query->command.id < FM_CMD_COUNT ? &pages[query->command.id] : NULL;
    bool of_c = entry && entry->c_function && recording->profile->flavour == FM_FLAVOUR_C;
    if (entry && entry->unavailable && !of_c) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: not available for this file: %s",
                    recording->name, entry->unavailable);
        return false;
    }
    if (!entry || (!entry->function && !of_c)) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "%s: a command to the server, not a page",
                    recording->name);
        return false;
    }
    struct fm_page page = {
        .recording = recording,
        .profile = recording->profile,
        .analysis = recording->analysis,
        .terms = fm_terms_of(recording->profile->flavour),
        .query = *query,
        .links_carry_preferences = query->has_preferences,
    };
    page.query.has_preferences = true;
    fm_deep_recording_preferences(recording, query, &page.query.preferences);
    if (!make_page(&page, entry, error)) {
        fm_display_free(page.display);
        return false;
    }
    if (recording->known < needs_of(entry))
        fm_display_set_incomplete(page.display, "The profile is still being read.");
    *ret = page.display;
    return true;
}
