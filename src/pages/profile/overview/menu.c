/* SPDX-License-Identifier: Apache-2.0 */
/* menu: starting points, contents of the file, and whether it is sound. Everything here was
 * computed when the recording was opened; until then the page shows the file's header. */
#include "pages/profile/overview/overview.h"

#include "profile/digest/run/held.h"
#include "profile/digest/run/unhooked.h"
#include "profile/digest/waiting.h"
#include "pages/profile/bodies/hot_lines.h"
#include "pages/profile/measured/flame_view.h"
#include "pages/profile/measured/hot_tables.h"
#include "pages/profile/measured/ranks.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/overview/summary_text.h"
#include "pages/profile/parts/bodies.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

#define RECURSION_LEADS 0.5 /* then the table of recursions is the first */
/* Rows and levels of the first page, so that it is no longer than 2,500 pixels of a wide window. */
#define LEVELS_SHOWN 10
#define FUNCTIONS_SHOWN 8
#define PATHS_SHOWN 5
#define LINES_SHOWN 5u
#define RECURSIONS_LEADING 3
#define WAITS_SHOWN 4
#define MEMORY_SHOWN 4
#define UNHOOKED_SHOWN 5

#define RECURSIONS_SHOWN 20
#define FUNCTIONS_A_PAGE 100

#define ACTION_PERCENT 90
#define WAITED_SHOWN_NS 1000000u /* shorter waiting does not explain where time goes */

static void explore(struct fm_page *page, struct fm_list *list, bool action, const char *label)
{
    bool times = fm_times_tell(page->profile);
    struct fm_query query = fm_page_same(page);
    query.command = (struct fm_command){
        .id = FM_CMD_ROOT, .has_percent = action, .percent = action ? ACTION_PERCENT : 0};
    query.preferences.show_inactive_call_sites = false;
    query.preferences.show_inactive_procs = false;
    query.preferences.show_inactive_modules = false;
    struct fm_cost_order order = {.kind = times ? FM_BY_TIME : FM_BY_CALLSEQS,
                                  .with_descendants = true};
    fm_preferences_set_order(&query.preferences, FM_ORDER_COST, &order);
    fm_add_link(list, &query, label);
}

/* Links to a page of top procedures, whose rows are ordered by the criterion. */
static void top(struct fm_page *page, struct fm_list *list, enum fm_limit_kind limit,
                double threshold, enum fm_cost_kind kind, bool total, const char *label)
{
    struct fm_query query = fm_page_link(page, FM_CMD_TOP_PROCS, 0);
    query.command.limit = limit;
    query.command.first = limit == FM_LIMIT_RANK ? 1 : 0;
    query.command.last = limit == FM_LIMIT_RANK ? (uint32_t)threshold : 0;
    query.command.threshold = limit == FM_LIMIT_RANK ? 0 : threshold;
    query.command.top = (struct fm_cost_order){.kind = kind, .with_descendants = total};
    if (query.has_preferences)
        fm_preferences_set_order(&query.preferences, FM_ORDER_COST, &query.command.top);
    fm_add_link(list, &query, label);
}

static void add_rank_links(struct fm_page *page, struct fm_list *list)
{
    static const enum fm_cost_kind kinds[] = {FM_BY_TIME, FM_BY_CALLSEQS, FM_BY_WORDS};
    static const enum fm_measure_id measures[] = {FM_QUANTA, FM_CALLSEQS, FM_WORDS};
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if ((kinds[i] == FM_BY_TIME && !fm_times_tell(page->profile)) ||
            !fm_profile_knows(page->profile, measures[i]))
            continue;
        for (int total = 0; total <= 1; total++) {
            g_autofree char *label = g_strdup_printf(
                "Top 100 most expensive %s: %s, %s.", page->terms->procs,
                fm_terms_cost_kind(page->terms, kinds[i]), total ? "self+descendants" : "self");
            top(page, list, FM_LIMIT_RANK, 100, kinds[i], total, label);
        }
    }
}

static void add_threshold(struct fm_page *page, struct fm_list *list, enum fm_cost_kind kind,
                          double value, const char *amount)
{
    const char *what = fm_terms_cost_kind(page->terms, kind);
    g_autofree char *tenth =
        g_strdup_printf("%s above 0.1%% of the total: %s, self.", page->terms->procs, what);
    g_autofree char *one = g_strdup_printf("%s above 1%% of the total: %s, self+descendants.",
                                           page->terms->procs, what);
    g_autofree char *absolute =
        g_strdup_printf("%s above %s: %s, self+descendants.", page->terms->procs, amount, what);
    char *const labels[] = {tenth, one, absolute};
    for (unsigned i = 0; i < G_N_ELEMENTS(labels); i++)
        labels[i][0] = g_ascii_toupper(labels[i][0]);
    top(page, list, FM_LIMIT_PERCENT, 0.1, kind, false, tenth);
    top(page, list, FM_LIMIT_PERCENT, 1, kind, true, one);
    top(page, list, FM_LIMIT_VALUE, value, kind, true, absolute);
}

static void add_links(struct fm_page *page)
{
    const struct fm_profile *profile = page->profile;
    struct fm_list *list =
        fm_add_list(page->body, FM_LIST_BULLETS,
                    page->profile->flavour == FM_FLAVOUR_C
                        ? "More points to start from"
                        : "You can start exploring the deep profile at the following points.");
    if (page->profile->flavour == FM_FLAVOUR_C)
        fm_list_fold(list);
    if (fm_page_has_contexts(page)) {
        explore(page, list, false, page->terms->explore_root);
        explore(page, list, true, "Exploring the call graph, starting at the action.");
    }
    struct fm_query modules = fm_page_link(page, FM_CMD_PROGRAM_MODULES, 0);
    fm_add_link(list, &modules, page->terms->explore_modules);
    struct fm_query recursion = fm_page_link(page, FM_CMD_RECURSION_TYPE_FREQ, 0);
    if (fm_page_check_bodies(page, NULL))
        fm_add_link(fm_add_developer(list), &recursion, "How the program's cliques recurse.");
    add_rank_links(page, list);
    if (fm_times_tell(profile) && profile->ticks_per_second > 0)
        add_threshold(page, list, FM_BY_TIME, (double)profile->ticks_per_second, "1 second");
    if (fm_profile_knows(profile, FM_CALLSEQS))
        add_threshold(page, list, FM_BY_CALLSEQS, 1e6,
                      profile->flavour == FM_FLAVOUR_C ? "1,000,000 calls"
                                                       : "1,000,000 call sequence numbers");
    if (!fm_profile_knows(profile, FM_WORDS))
        return;
    if (profile->flavour == FM_FLAVOUR_C)
        add_threshold(page, list, FM_BY_WORDS, 16 * 1024 * 1024, "16 MiB");
    else
        add_threshold(page, list, FM_BY_WORDS, 2 * 1024 * 1024, "2M words");
}

static void begin_row(struct fm_table *table, const char *role, const char *label)
{
    fm_table_row(table, role, false);
    fm_cell_string(table, label, FM_STYLE_PLAIN);
}

static void add_number(struct fm_page *page, struct fm_table *table, const char *name,
                       const char *label, uint64_t value)
{
    int64_t number = (int64_t)MIN(value, (uint64_t)INT64_MAX);
    begin_row(table, name, label);
    fm_cell_int(table, number);
    fm_display_fact_int(page->display, name, number);
}

static void add_text(struct fm_page *page, struct fm_table *table, const char *name,
                     const char *label, const char *text)
{
    begin_row(table, name, label);
    fm_cell_string(table, text, FM_STYLE_PLAIN);
    fm_display_fact_string(page->display, name, text);
}

/* Says which of a program's processes this is. */
/* A number that names something has no separators. */
static void add_id(struct fm_page *page, struct fm_table *table, const char *role,
                   const char *label, uint64_t id)
{
    g_autofree char *text = g_strdup_printf("%" PRIu64, id);
    begin_row(table, role, label);
    fm_cell_string(table, text, FM_STYLE_PLAIN);
    fm_display_fact_int(page->display, role, (int64_t)id);
}

static void add_process(struct fm_page *page, struct fm_table *table)
{
    const struct fm_process_fact *process = &page->profile->run_info.process;
    if (process->command == NULL)
        return;
    add_text(page, table, "command", "Command:", process->command);
    add_text(page, table, "folder", "Working folder:", process->folder);
    add_id(page, table, "process", "Process:", process->pid);
    add_id(page, table, "parent_process", "Parent process:", process->parent_pid);
    g_autoptr(GDateTime) start =
        g_date_time_new_from_unix_utc((gint64)(process->start_ns / 1000000000u));
    g_autofree char *text =
        start == NULL ? NULL : g_date_time_format(start, "%Y-%m-%d %H:%M:%S UTC");
    if (text != NULL)
        add_text(page, table, "started", "Started:", text);
    if (process->rank == 0)
        return;
    g_autofree char *rank =
        process->rank_count == 0
            ? g_strdup_printf("%u", process->rank - 1)
            : g_strdup_printf("%u of %u", process->rank - 1, process->rank_count);
    begin_row(table, "rank", "MPI rank:");
    fm_cell_string(table, rank, FM_STYLE_PLAIN);
    fm_display_fact_int(page->display, "rank", process->rank - 1);
    if (process->rank_count != 0)
        fm_display_fact_int(page->display, "rank_count", process->rank_count);
    if (process->host != NULL)
        add_text(page, table, "host", "Host:", process->host);
}

/* Ticks that are not time have their own name, and no part of them is instrumentation. Unknown
 * values are omitted. */
static void add_quanta(struct fm_page *page, struct fm_table *table)
{
    const struct fm_profile *profile = page->profile;
    uint64_t user = profile->user_quanta, own = profile->instrumentation_quanta;
    if (!fm_profile_knows(profile, FM_QUANTA))
        return;
    if (profile->ticks_per_second == 0 &&
        strcmp(profile->measures[FM_QUANTA].name, "quanta") != 0) {
        g_autofree char *label = g_strdup_printf("Total %s:", fm_profile_tick_words(profile));
        add_number(page, table, "quanta", label, user + own);
        return;
    }
    add_number(page, table, "ticks_per_second", page->terms->ticks[0], profile->ticks_per_second);
    add_number(page, table, "user_quanta", page->terms->ticks[1], user);
    add_number(page, table, "instrumentation_quanta", page->terms->ticks[2], own);
    add_number(page, table, "quanta", page->terms->ticks[3], user + own);
}

/* How much of the time is in code without hooks. */
static void add_unhooked_share(struct fm_page *page, struct fm_table *table)
{
    const struct fm_profile *profile = page->profile;
    g_autoptr(FmUnhookedDigest) digest = fm_unhooked_digest_new(profile);
    if (profile->flavour != FM_FLAVOUR_C || profile->user_quanta == 0)
        return;
    begin_row(table, "unhooked_percent", "In code without hooks:");
    if (!digest->recorded) {
        fm_cell_string(table, "not recorded", FM_STYLE_PLAIN);
        fm_display_fact_null(page->display, "unhooked_percent");
        return;
    }
    double unknown = (double)digest->unknown / (double)profile->user_quanta;
    g_autofree char *share = fm_format_float(100 * digest->share, 1);
    g_autofree char *rest = fm_format_float(100 * unknown, 1);
    g_autofree char *text = digest->unknown == 0
                                ? g_strdup_printf("%s %%", share)
                                : g_strdup_printf("%s %%; not known of %s %%", share, rest);
    fm_cell_string(table, text, FM_STYLE_PLAIN);
    fm_display_fact_double(page->display, "unhooked_percent", 100 * digest->share);
    fm_display_fact_double(page->display, "unhooked_unknown_percent", 100 * unknown);
}

void fm_add_summary(struct fm_page *page)
{
    const struct fm_profile *profile = page->profile;
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "summary");
    uint64_t user = profile->user_quanta, all = user + profile->instrumentation_quanta;
    double rate = (double)profile->ticks_per_second;
    fm_table_column(table, NULL, "what", NULL);
    fm_table_column(table, NULL, "value", NULL);

    begin_row(table, "program_name", "Profile generated for:");
    fm_cell_string(table, profile->program_name, FM_STYLE_PLAIN);
    fm_display_fact_string(page->display, "program_name", profile->program_name);
    fm_display_fact_string(page->display, "flavour",
                           profile->flavour == FM_FLAVOUR_C ? "c" : "mercury");
    fm_display_fact_int(page->display, "format_version", profile->version);
    fm_display_fact_int(page->display, "word_size_bytes", profile->word_size);
    add_quanta(page, table);
    begin_row(table, "total_time_seconds", "Total time:");
    if (rate > 0) {
        fm_cell_time(table, (double)all * (1.0 / rate));
        fm_display_fact_double(page->display, "total_time_seconds", (double)all * (1.0 / rate));
    } else {
        fm_cell_string(table, "unknown", FM_STYLE_PLAIN);
    }
    add_unhooked_share(page, table);
    add_process(page, table);
    if (profile->run_info.duration_ns > 0) {
        double seconds = (double)profile->run_info.duration_ns / 1e9;
        begin_row(table, "run_time_seconds", "Time from start to end:");
        fm_cell_time(table, seconds);
        fm_display_fact_double(page->display, "run_time_seconds", seconds);
    }
    if (profile->run_info.peak_bytes > 0)
        add_number(page, table, "peak_heap_bytes",
                   "Peak heap memory, bytes:", profile->run_info.peak_bytes);
    g_autofree char *callseqs = g_strconcat(page->terms->callseqs_title, ":", NULL);
    if (fm_profile_knows(profile, FM_CALLSEQS))
        add_number(page, table, "callseqs", callseqs, profile->callseqs);
    add_number(page, table, "csd_count", page->terms->csd_count, profile->csd_count);
    add_number(page, table, "pd_count", page->terms->pd_count, profile->pd_count);
    add_number(page, table, "css_count", page->terms->css_count, profile->css_count);
    add_number(page, table, "ps_count", page->terms->ps_count, profile->ps_count);
    if (page->recording->known < FM_KNOWN_COSTS)
        return;
    add_number(page, table, "cliques", page->terms->clique_count, page->analysis->clique_count);
    g_autofree char *modules = g_strconcat(page->terms->modules_title, ":", NULL);
    add_number(page, table, "module_count", modules, page->analysis->module_count);
}

/* Adds the flame graph of the most informative measure. */
static void add_picture(struct fm_page *page, const struct fm_measured *measured)
{
    const struct fm_flame_wish wish = {
        .measured = measured, .boxes_max = 300, .rows_max = LEVELS_SHOWN, .id = "flame"};
    struct fm_query flame = fm_page_link(page, FM_CMD_FLAME, 0);
    struct fm_query tree = fm_page_link(page, FM_CMD_TREE, 0);
    bool deeper;
    flame.command.measure = tree.command.measure = measured->asked;
    flame.command.name = tree.command.name = (char *)(uintptr_t) "all";
    tree.command.depth = 3;
    bool not_time = page->profile->flavour == FM_FLAVOUR_C &&
                    measured->asked == FM_QUERY_BY_CALLS &&
                    fm_profile_knows(page->profile, FM_QUANTA);
    g_autofree char *heading =
        g_strdup_printf("Where the %s go%s%s", measured->name, measured->is_time ? "es" : "",
                        not_time ? " (not time)" : "");
    fm_add_heading(page->body, heading);
    fm_flame_add(page, &wish, &deeper);
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    fm_add_link(list, &flame, "Flame graph");
    fm_add_link(list, &tree, "Tree");
}

static void link_tree(struct fm_page *page, const struct fm_measured *measured)
{
    struct fm_query tree = fm_page_link(page, FM_CMD_TREE, 0);
    g_autofree char *count = fm_format_int(page->profile->pd_count);
    g_autofree char *text = g_strdup_printf("All %s contexts, as a tree", count);
    tree.command.measure = measured->asked;
    tree.command.name = (char *)(uintptr_t) "all";
    tree.command.depth = 3;
    fm_add_link(page->body, &tree, text);
}

static void link_functions(struct fm_page *page, const struct fm_measured *measured)
{
    struct fm_query query = fm_page_link(page, FM_CMD_TOP_PROCS, 0);
    query.command.limit = FM_LIMIT_RANK;
    query.command.first = 1;
    query.command.last = FUNCTIONS_A_PAGE;
    /* Also for samples, which are not time. */
    query.command.top.kind = measured->is_time || measured->asked == FM_QUERY_BY_TIME ? FM_BY_TIME
                             : measured->is_bytes                                     ? FM_BY_WORDS
                                                  : FM_BY_CALLSEQS;
    fm_add_link(page->body, &query, "All functions");
}

/* For arc profiles: call paths are not known. */
static void add_functions(struct fm_page *page, const struct fm_measured *measured)
{
    struct fm_query graph = fm_page_link(page, FM_CMD_GRAPH, 0);
    graph.command.measure = measured->asked;
    graph.command.name = (char *)(uintptr_t) "all";
    fm_add_text(page->body,
                fm_profile_is(page->profile, FM_NATURE_AVERAGED)
                    ? "Calls by function and caller, not by context; total costs of calls are "
                      "estimates, as if each call of a function cost the same."
                    : "Calls by function and caller, not by context.");
    fm_add_hot_functions(page, measured, FUNCTIONS_SHOWN);
    link_functions(page, measured);
    fm_add_link(page->body, &graph, "Call graph");
    fm_add_heading(page->body, "Explore");
}

/* Says for which rank the others wait, and where. */
static void add_ranks(struct fm_page *page)
{
    struct fm_measured measured;
    fm_add_missing_ranks(page);
    if (!fm_has_ranks(page))
        return;
    fm_ranks_measured(&measured, page, FM_QUERY_BY_AUTO);
    g_autofree char *lead = fm_ranks_lead(page, &measured);
    if (lead != NULL)
        fm_add_text(page->body, lead);
    fm_add_ranks_link(page, "all", "How the ranks differ");
}

/* The recording has ticks: if calls lead, there were too few. */
static bool has_ticks(const struct fm_profile *profile)
{
    return fm_profile_knows(profile, FM_QUANTA) && profile->ticks_per_second > 0 &&
           profile->run_info.origin == NULL;
}

static void add_recursions(struct fm_page *page, const struct fm_measured *measured)
{
    if (fm_add_hot_recursions(page, measured, RECURSIONS_LEADING) == 0)
        return;
    struct fm_query all = fm_page_link(page, FM_CMD_RECURSIONS, 0);
    all.command.measure = measured->asked;
    fm_add_link(page->body, &all, "More recursions");
}

static void add_links_of_run(struct fm_page *page, const struct fm_wait_digest *digest)
{
    if (digest->waits > 0) {
        struct fm_query waits = fm_page_link(page, FM_CMD_WAITS, 0);
        fm_add_link(page->body, &waits, "Waits and locks");
    }
    unsigned held = fm_profile_measure(page->profile, FM_LIVE_BLOCKS);
    if (held != 0 && fm_cost_total(&page->analysis->root_total, (enum fm_measure_id)held) > 0) {
        struct fm_query leaks = fm_page_link(page, FM_CMD_LEAKS, 0);
        fm_add_link(page->body, &leaks, fm_held_words(page->profile)->link);
    }
    if (page->profile->run_info.durations.count > 0) {
        struct fm_query durations = fm_page_link(page, FM_CMD_DURATIONS, 0);
        fm_add_link(page->body, &durations, "Durations of single calls");
    }
}

/* Calls lead where time would by chance. */
static void add_too_few_samples(struct fm_page *page)
{
    uint64_t samples = page->profile->run_info.sample_count;
    g_autofree char *few = samples == 0
                               ? g_strdup("Too short for samples, so nothing here says")
                               : g_strdup_printf("%u sample%s too few to say", (unsigned)samples,
                                                 samples == 1 ? " is" : "s are");
    g_autofree char *text = g_strdup_printf(
        "%s where time goes: calls and bytes are exact. Give it more to do, or sample more often: "
        "`fathom record --tick=cycles`.",
        few);
    fm_add_text(page->body, text);
}

static void add_answers(struct fm_page *page)
{
    struct fm_measured measured;
    fm_measured_init(&measured, page->recording, FM_QUERY_BY_AUTO);
    g_autofree char *lead = fm_summary_lead(page);
    g_autofree char *details = fm_summary_details(page);
    g_autofree char *waiting = fm_summary_waiting(page);
    g_autoptr(FmWaitDigest) digest = fm_wait_digest_new(page->profile);
    fm_add_quality(page);
    fm_add_text(page->body, lead);
    fm_add_text(page->body, details);
    fm_add_roles(page);
    g_autofree char *unhooked = fm_unhooked_sentence(page->profile);
    if (unhooked)
        fm_add_text(page->body, unhooked);
    if (waiting)
        fm_add_text(page->body, waiting);
    if (measured.asked == FM_QUERY_BY_CALLS && has_ticks(page->profile))
        add_too_few_samples(page);
    add_links_of_run(page, digest);
    add_ranks(page);
    if (!fm_page_has_contexts(page)) {
        add_functions(page, &measured);
        return;
    }
    add_picture(page, &measured);
    bool held_second = fm_held_dominates(page->recording);
    if (held_second)
        fm_add_leading_memory(page, MEMORY_SHOWN);
    bool waits_first = fm_waiting_dominates(page->recording);
    if (waits_first)
        fm_add_waiting_contexts(page, digest, WAITS_SHOWN);
    bool recursions_first = fm_recursions_share(page, &measured) >= RECURSION_LEADS;
    if (recursions_first)
        add_recursions(page, &measured);
    struct fm_list *body = page->body;
    struct fm_list *columns = fm_add_list(body, FM_LIST_COLUMNS, NULL);
    page->body = fm_add_list(columns, FM_LIST_COLUMN, NULL);
    if (fm_hot_paths_differ(page, &measured, PATHS_SHOWN, FUNCTIONS_SHOWN) &&
        fm_add_hot_paths(page, &measured, PATHS_SHOWN) > 0) {
        link_tree(page, &measured);
        page->body = fm_add_list(columns, FM_LIST_COLUMN, NULL);
    }
    fm_add_hot_functions(page, &measured, FUNCTIONS_SHOWN);
    if (measured.asked == FM_QUERY_BY_WAITING)
        fm_add_busy_functions(page, FUNCTIONS_SHOWN);
    link_functions(page, &measured);
    fm_add_unhooked(page, UNHOOKED_SHOWN);
    page->body = body;
    if (measured.is_time)
        fm_add_leading_lines(page, LINES_SHOWN);
    columns = fm_add_list(body, FM_LIST_COLUMNS, NULL);
    page->body = fm_add_list(columns, FM_LIST_COLUMN, NULL);
    if (!recursions_first)
        add_recursions(page, &measured);
    page->body = fm_add_list(columns, FM_LIST_COLUMN, NULL);
    if (!held_second)
        fm_add_leading_memory(page, MEMORY_SHOWN);
    page->body = body;
    if (!waits_first && digest->ns >= WAITED_SHOWN_NS)
        fm_add_waiting_contexts(page, digest, WAITS_SHOWN);
    fm_add_heading(page->body, "Explore");
}

/* The rest of the page is the original's. */
static void add_mercury_picture(struct fm_page *page)
{
    struct fm_measured measured;
    fm_measured_init(&measured, page->recording, FM_QUERY_BY_AUTO);
    add_picture(page, &measured);
}

bool fm_page_about(struct fm_page *page, GError **error)
{
    (void)error;
    fm_page_begin(page, "about", g_strdup_printf("About %s", page->recording->name));
    fm_add_summary(page);
    fm_add_roles(page);
    fm_add_run_info(page);
    if (page->recording->known >= FM_KNOWN_CHECKED)
        fm_add_invariants(page);
    fm_controls_general(page);
    return true;
}

bool fm_page_recursions(struct fm_page *page, GError **error)
{
    struct fm_measured measured;
    (void)error;
    fm_measured_init(&measured, page->recording, page->query.command.measure);
    page->query.command.measure = measured.asked;
    fm_page_begin(page, "recursions", g_strdup_printf("Recursions by %s", measured.name));
    fm_add_measures(page, measured.asked);
    if (fm_add_hot_recursions(page, &measured, RECURSIONS_SHOWN) == 0)
        fm_add_text(page->body, "No recursion has anything of this measure.");
    fm_controls_general(page);
    return true;
}

/* A window has a separate page for details that other formats show here. */
static void add_about_link(struct fm_page *page)
{
    struct fm_query about = fm_page_link(page, FM_CMD_ABOUT, 0);
    struct fm_query help = fm_page_link(page, FM_CMD_HELP, 0);
    struct fm_query files = fm_page_link(page, FM_CMD_PROGRAM_MODULES, 0);
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    help.command.name = (char *)(uintptr_t) "all";
    fm_add_link(list, &about, "About this profile: the run, notes, checks");
    fm_add_link(list, &files, "Files");
    fm_add_link(list, &help, "Glossary");
}

bool fm_page_menu(struct fm_page *page, GError **error)
{
    (void)error;
    bool c = page->profile->flavour == FM_FLAVOUR_C;
    g_autofree char *program = g_path_get_basename(page->profile->program_name);
    fm_page_begin(page, "menu",
                  c && program[0] ? g_steal_pointer(&program) : g_strdup("Deep profiler menu"));
    fm_display_fact_string(page->display, "recording", page->recording->name);
    if (c && page->recording->known >= FM_KNOWN_COSTS)
        add_answers(page);
    else if (page->recording->known >= FM_KNOWN_COSTS)
        add_mercury_picture(page);
    add_links(page);
    if (c && page->query.compact && page->recording->known >= FM_KNOWN_COSTS) {
        add_about_link(page);
    } else {
        if (c)
            fm_add_heading(page->body, "About this profile");
        fm_add_summary(page);
        fm_add_run_info(page);
        if (page->recording->known >= FM_KNOWN_CHECKED)
            fm_add_invariants(page);
    }
    fm_controls_general(page);
    fm_controls_general_options(page);
    return true;
}
