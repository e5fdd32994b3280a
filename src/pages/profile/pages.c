/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands and their pages. */
#include "base/error.h"
#include "pages/profile/bodies/bodies.h"
#include "pages/profile/calls/calls.h"
#include "pages/profile/dump/dump.h"
#include "pages/profile/modules/modules.h"
#include "pages/profile/overview/identity.h"
#include "pages/profile/overview/overview.h"
#include "pages/profile/overview/subject.h"
#include "pages/profile/parts/lacks.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

struct page_entry {
    fm_page_function function;
    const char *unavailable;     /* instead: why this file has no such page */
    fm_page_function c_function; /* for C profiles, if it is another one */
    enum fm_known needs;         /* 0 = FM_KNOWN_COSTS */
    bool partial;                /* the function makes a page of less, too, from the header on */
    bool contexts;               /* it is about contexts, which not all profiles have */
    bool measured;               /* its measure must have been recorded */
    bool ordered;                /* its rows are in the order of preferences */
};

static const struct page_entry pages[FM_CMD_COUNT] = {
    [FM_CMD_MENU] = {.function = fm_page_menu, .needs = FM_KNOWN_CHECKED, .partial = true},
    [FM_CMD_ROOT] = {.function = fm_page_root, .contexts = true},
    [FM_CMD_CLIQUE] = {.function = fm_page_clique, .contexts = true, .ordered = true},
    [FM_CMD_CLIQUE_RC] = {.function = fm_page_clique_rc, .contexts = true},
    [FM_CMD_RECURSION_TYPE_FREQ] = {.function = fm_page_recursion_type_freq,
                                    .needs = FM_KNOWN_ALL,
                                    .contexts = true},
    [FM_CMD_PROC] = {.function = fm_page_proc, .ordered = true},
    [FM_CMD_PROC_CALLERS] = {.function = fm_page_proc_callers, .ordered = true},
    [FM_CMD_PROGRAM_MODULES] = {.function = fm_page_program_modules, .ordered = true},
    [FM_CMD_MODULE] = {.function = fm_page_module, .ordered = true},
    [FM_CMD_MODULE_GETTER_SETTERS] = {.function = fm_page_module_getter_setters, .ordered = true},
    [FM_CMD_MODULE_REP] = {.function = fm_page_module_rep},
    [FM_CMD_TOP_PROCS] = {.function = fm_page_top_procs},
    [FM_CMD_PROC_STATIC_COVERAGE] = {.function = fm_page_body_coverage,
                                     .c_function = fm_page_source_coverage},
    [FM_CMD_PROC_DYNAMIC_COVERAGE] = {.function = fm_page_body_coverage,
                                      .c_function = fm_page_source_coverage},
    [FM_CMD_CALL_SITE_DYNAMIC_VAR_USE] = {.function = fm_page_var_use, .contexts = true},
    [FM_CMD_DUMP_PROC_STATIC] = {.function = fm_page_dump_proc_static, .needs = FM_KNOWN_PROFILE},
    [FM_CMD_DUMP_PROC_DYNAMIC] = {.function = fm_page_dump_proc_dynamic},
    [FM_CMD_DUMP_CALL_SITE_STATIC] = {.function = fm_page_dump_call_site_static,
                                      .needs = FM_KNOWN_PROFILE},
    [FM_CMD_DUMP_CALL_SITE_DYNAMIC] = {.function = fm_page_dump_call_site_dynamic},
    [FM_CMD_DUMP_RAW_CLIQUE] = {.function = fm_page_dump_raw_clique, .contexts = true},
    [FM_CMD_FIND] = {.function = fm_page_find},
    [FM_CMD_HELP] = {.function = fm_page_help, .needs = FM_KNOWN_PROFILE},
    [FM_CMD_ABOUT] = {.function = fm_page_about, .needs = FM_KNOWN_CHECKED},
    [FM_CMD_RECURSIONS] = {.function = fm_page_recursions, .contexts = true, .measured = true},
    [FM_CMD_FLAME] = {.function = fm_page_flame, .contexts = true, .measured = true},
    [FM_CMD_TREE] = {.function = fm_page_tree, .contexts = true, .measured = true},
    [FM_CMD_CONTEXTS] = {.function = fm_page_contexts, .contexts = true},
    [FM_CMD_GRAPH] = {.function = fm_page_graph, .measured = true},
    [FM_CMD_MEMORY] = {.function = fm_page_memory, .contexts = true},
    [FM_CMD_WAITS] = {.function = fm_page_waits},
    [FM_CMD_LEAKS] = {.function = fm_page_leaks, .contexts = true},
    [FM_CMD_DURATIONS] = {.function = fm_page_durations},
    [FM_CMD_RANKS] = {.function = fm_page_ranks},
    [FM_CMD_SOURCE] = {.function = fm_page_source_file},
    [FM_CMD_ASM] = {.function = fm_page_asm},
    [FM_CMD_FUNCTIONS] = {.function = fm_page_functions, .measured = true},
    [FM_CMD_LINES] = {.function = fm_page_lines},
};

static enum fm_known needs_of(const struct page_entry *entry)
{
    return entry->needs == 0 ? FM_KNOWN_COSTS : entry->needs;
}

bool fm_pages_is_complete(const struct fm_open_profile *recording, const struct fm_query *query)
{
    unsigned id = query->command.id;
    if (id >= FM_CMD_COUNT || (pages[id].function == NULL && pages[id].c_function == NULL))
        return true; /* an error regardless of what is still unknown */
    return recording->known >= needs_of(&pages[id]);
}

/* A table in the order of zeros that say nothing would say something. */
static bool check_measure(const struct fm_open_profile *recording, const struct fm_query *query,
                          GError **error)
{
    const struct fm_profile *p = recording->profile;
    const struct fm_command *command = &query->command;
    const char *text = NULL;
    if (command->id == FM_CMD_TOP_PROCS)
        text = fm_order_lacks(p, &command->top);
    else if (pages[command->id].measured)
        text = fm_measure_lacks(p, command->measure);
    else if (pages[command->id].ordered && query->has_preferences &&
             query->preferences.order == FM_ORDER_COST)
        text = fm_order_lacks(p, &query->preferences.cost);
    if (text == NULL)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: not available for this file: %s",
                recording->name, text);
    return false;
}

/* Makes the page for the command; for an ambiguous name, the page of candidates. */
static bool make_page(struct fm_page *page, const struct page_entry *entry, GError **error)
{
    const struct fm_open_profile *recording = page->recording;
    struct fm_command *command = &page->query.command;
    bool by_context = entry->contexts ||
                      (command->id == FM_CMD_PROC_CALLERS && command->group == FM_GROUP_CLIQUE) ||
                      (command->id == FM_CMD_GRAPH && command->name != NULL &&
                       g_str_has_prefix(command->name, "clique/"));
    if (by_context && recording->known >= FM_KNOWN_PROFILE && !fm_page_has_contexts(page)) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: not available for this file: %s",
                    recording->name, FM_NO_CONTEXTS);
        return false;
    }
    if (recording->known >= FM_KNOWN_PROFILE && !check_measure(recording, &page->query, error))
        return false;
    bool complete = recording->known >= needs_of(entry);
    enum fm_known name_needs = fm_subject_needs(command);
    struct fm_subject subject = {0};
    if (name_needs != FM_KNOWN_NOTHING && recording->known >= name_needs &&
        !fm_subject_find(recording, command, &subject, error))
        return false;
    if (subject.count > 1 && recording->known >= FM_KNOWN_COSTS) {
        fm_page_which(page, &subject);
        fm_subject_done(&subject);
        return true;
    }
    if (subject.count == 1)
        fm_subject_set(command, &subject, page->focus, sizeof page->focus);
    fm_subject_done(&subject);
    fm_page_function function = complete || entry->partial ? entry->function : fm_page_unfinished;
    if (complete && entry->c_function && page->profile->flavour == FM_FLAVOUR_C)
        function = entry->c_function;
    return function(page, error);
}

static bool name_link(const void *recording, struct fm_command *command,
                      char buffer[FM_DISPLAY_NAME_BYTES])
{
    G_STATIC_ASSERT(FM_IDENTITY_BYTES == FM_DISPLAY_NAME_BYTES);
    return fm_identity_name(recording, command, buffer);
}

char *fm_pages_lasting(const struct fm_open_profile *recording, const struct fm_query *query)
{
    char buffer[FM_IDENTITY_BYTES];
    struct fm_query named = *query;
    if (recording->known < FM_KNOWN_COSTS || !fm_identity_name(recording, &named.command, buffer))
        return NULL;
    return fm_query_to_url(&named);
}

/* Functions of the page have equal names: it is dropped, to be made with names told apart. */
static bool has_equal_names(struct fm_page *page, struct fm_shown_names *names)
{
    if (!fm_shown_names_tell_apart(names))
        return false;
    fm_display_free(page->display);
    return true;
}

bool fm_pages_make(const struct fm_open_profile *recording, const struct fm_query *query,
                   struct fm_preferences *ret_preferences, struct fm_display **ret, GError **error)
{
    g_return_val_if_fail(recording->known >= FM_KNOWN_HEADER && query != NULL, false);
    g_return_val_if_fail(ret_preferences != NULL && ret != NULL, false);
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
    g_autoptr(FmShownNames) names = fm_shown_names_new(recording->profile, query->full_names);
    struct fm_page page;
    do {
        page = (struct fm_page){
            .recording = recording,
            .profile = recording->profile,
            .analysis = recording->analysis,
            .terms = fm_terms_of(recording->profile->flavour),
            .query = *query,
            .links_carry_preferences = query->has_preferences,
            .namer = query->lasting && recording->known >= FM_KNOWN_COSTS ? name_link : NULL,
            .names = names,
        };
        page.query.has_preferences = true;
        fm_page_preferences_of(recording, query, &page.query.preferences);
        if (!make_page(&page, entry, error)) {
            fm_display_free(page.display);
            return false;
        }
    } while (has_equal_names(&page, names));
    fm_display_set_namer(page.display, NULL, NULL);
    if (recording->known < needs_of(entry))
        fm_display_set_incomplete(page.display, "The profile is still being read.");
    *ret_preferences = page.query.preferences;
    *ret = page.display;
    return true;
}
