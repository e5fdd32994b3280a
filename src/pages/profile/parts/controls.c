/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of controls at the bottom of pages. Each control links to the same page with other
 * preferences; controls without effect are left out. */
#include "pages/profile/parts/controls.h"

#include "pages/profile/parts/bodies.h"
#include "pages/profile/parts/lacks.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

void fm_controls_offer(struct fm_controls *controls, const struct fm_query *query,
                       const char *label, const char *id)
{
    g_return_if_fail(query != NULL && label != NULL);
    struct fm_page *page = controls->page;
    struct fm_query target = *query;
    target.has_preferences = true; /* so that the comparison includes the link's preferences */
    fm_page_preferences_of(page->recording, query, &target.preferences);
    if (fm_query_equal(&target, &page->query))
        return;
    if (!controls->list)
        controls->list =
            fm_add_list(controls->in ? controls->in : page->body,
                        controls->title ? FM_LIST_HORIZONTAL_EXCEPT_TITLE : FM_LIST_HORIZONTAL,
                        controls->title);
    fm_add_control(controls->list, query, label, id);
}

/* Offers the page's own preferences with one change: DO is applied to `with`. */
#define OFFER(controls, change, label, id)                        \
    do {                                                          \
        struct fm_query changed = fm_page_same((controls)->page); \
        struct fm_preferences *with = &changed.preferences;       \
        change;                                                   \
        fm_controls_offer(controls, &changed, label, id);         \
    } while (0)

static void offer_ancestors(struct fm_controls *controls, bool limited, uint32_t ancestors,
                            const char *label, const char *id)
{
    OFFER(controls, (with->ancestors_limited = limited, with->ancestors = ancestors), label, id);
}

void fm_controls_ancestors(struct fm_page *page)
{
    struct fm_controls controls = {.page = page, .title = "Toggle display of ancestors:"};
    uint32_t now = page->query.preferences.ancestors;
    if (page->query.preferences.ancestors_limited) {
        offer_ancestors(&controls, true, now / 2, "Halve ancestors", "ancestors-halve");
        if (now > 0)
            offer_ancestors(&controls, true, now - 1, "Remove an ancestor", "ancestors-remove");
        if (now < FM_QUERY_ANCESTORS_MAX)
            offer_ancestors(&controls, true, now + 1, "Add an ancestor", "ancestors-add");
        if (now <= FM_QUERY_ANCESTORS_MAX / 2)
            offer_ancestors(&controls, true, now * 2, "Double ancestors", "ancestors-double");
        offer_ancestors(&controls, false, now, "Unlimited ancestors", "ancestors-unlimited");
    } else {
        offer_ancestors(&controls, true, 1, "One ancestor", "ancestors-1");
        offer_ancestors(&controls, true, 2, "Two ancestors", "ancestors-2");
        offer_ancestors(&controls, true, 3, "Three ancestors", "ancestors-3");
        offer_ancestors(&controls, true, 5, "Five ancestors", "ancestors-5");
        offer_ancestors(&controls, true, 10, "Ten ancestors", "ancestors-10");
    }
}

void fm_controls_inactive_call_sites(struct fm_page *page)
{
    struct fm_controls controls = {.page = page, .title = "Toggle display of inactive call sites:"};
    OFFER(&controls, with->show_inactive_call_sites = false, "Do not display inactive call sites",
          "inactive-call-sites-hide");
    OFFER(&controls, with->show_inactive_call_sites = true, "Display inactive call sites",
          "inactive-call-sites-show");
}

static char *phrase(const char *before, const char *word)
{
    return g_strconcat(before, word, NULL);
}

void fm_controls_inactive_procs(struct fm_page *page)
{
    g_autofree char *what = phrase("inactive ", page->terms->procs);
    g_autofree char *title = g_strdup_printf("Toggle display of %s:", what);
    g_autofree char *hide = phrase("Do not display ", what);
    g_autofree char *show = phrase("Display ", what);
    struct fm_controls controls = {.page = page, .title = title};
    OFFER(&controls, with->show_inactive_procs = false, hide, "inactive-procs-hide");
    OFFER(&controls, with->show_inactive_procs = true, show, "inactive-procs-show");
}

void fm_controls_inactive_modules(struct fm_page *page)
{
    g_autofree char *what = phrase("inactive ", page->terms->modules);
    g_autofree char *title = g_strdup_printf("Toggle display of %s:", what);
    g_autofree char *hide = phrase("Do not display ", what);
    g_autofree char *show = phrase("Display ", what);
    struct fm_controls controls = {.page = page, .title = title};
    OFFER(&controls, with->show_inactive_modules = false, hide, "inactive-modules-hide");
    OFFER(&controls, with->show_inactive_modules = true, show, "inactive-modules-show");
}

void fm_controls_qualify(struct fm_page *page)
{
    const char *what = page->terms->qualify;
    g_autofree char *never = phrase("Never ", what);
    g_autofree char *needed = phrase("Only when needed ", what);
    g_autofree char *always = phrase("Always ", what);
    struct fm_controls controls = {.page = page, .title = "Toggle qualification of names:"};
    OFFER(&controls, with->qualify = FM_QUALIFY_NEVER, never, "qualify-never");
    OFFER(&controls, with->qualify = FM_QUALIFY_WHEN_DIFFERENT, needed, "qualify-when-needed");
    OFFER(&controls, with->qualify = FM_QUALIFY_ALWAYS, always, "qualify-always");
}

static void fields_time(struct fm_controls *controls)
{
    static const char *const labels[] = {
        [FM_TIME_NONE] = "No time info",
        [FM_TIME_TICKS] = "Ticks",
        [FM_TIME_TIME] = "Times",
        [FM_TIME_BOTH] = "Ticks and times",
        [FM_TIME_TIME_PER_CALL] = "Times and per-call times",
        [FM_TIME_BOTH_PER_CALL] = "Ticks and times and per-call times",
    };
    static const char *const ids[] = {
        [FM_TIME_NONE] = "time-none",
        [FM_TIME_TICKS] = "time-ticks",
        [FM_TIME_TIME] = "time-times",
        [FM_TIME_BOTH] = "time-both",
        [FM_TIME_TIME_PER_CALL] = "time-times-per-call",
        [FM_TIME_BOTH_PER_CALL] = "time-both-per-call",
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(labels); i++)
        OFFER(controls, with->time = (enum fm_time_columns)i, labels[i], ids[i]);
}

static void fields_memory(struct fm_controls *controls)
{
    static const struct {
        enum fm_memory_columns columns;
        bool words;
        const char *label, *id;
    } choices[] = {
        {FM_MEMORY_NONE, false, "No memory info", "memory-none"},
        {FM_MEMORY_WORDS, true, "Words", "memory-words"},
        {FM_MEMORY_BYTES, false, "Bytes", "memory-bytes"},
        {FM_MEMORY_WORDS_PER_CALL, true, "Words and per-call words", "memory-words-per-call"},
        {FM_MEMORY_BYTES_PER_CALL, false, "Bytes and per-call bytes", "memory-bytes-per-call"},
    };
    bool have_words = controls->page->profile->flavour == FM_FLAVOUR_MERCURY;
    for (unsigned i = 0; i < G_N_ELEMENTS(choices); i++)
        if (have_words || !choices[i].words)
            OFFER(controls, with->memory = choices[i].columns, choices[i].label, choices[i].id);
}

void fm_controls_fields(struct fm_page *page)
{
    /* One line for each group of columns. */
    struct fm_list *lines = fm_add_list(page->body, FM_LIST_PLAIN, "Toggle displayed fields:");
    struct fm_controls controls = {.page = page, .in = lines};
    g_autofree char *ports = g_strdup(page->terms->ports_title);
    ports[0] = g_ascii_tolower(ports[0]);
    g_autofree char *no_ports = phrase("No ", ports);
    OFFER(&controls, with->ports = false, no_ports, "ports-none");
    OFFER(&controls, with->ports = true, page->terms->ports_title, "ports");
    controls = (struct fm_controls){.page = page, .in = lines};
    fields_time(&controls);

    const char *callseqs = page->terms->callseqs_title;
    g_autofree char *lower = g_strdup(callseqs);
    lower[0] = g_ascii_tolower(lower[0]);
    g_autofree char *none = phrase("No ", lower);
    g_autofree char *per_call = g_strconcat(callseqs, " including per-call ", lower, NULL);
    controls = (struct fm_controls){.page = page, .in = lines};
    OFFER(&controls, with->callseqs = FM_COUNT_NONE, none, "callseqs-none");
    OFFER(&controls, with->callseqs = FM_COUNT_OVERALL, callseqs, "callseqs");
    OFFER(&controls, with->callseqs = FM_COUNT_PER_CALL, per_call, "callseqs-per-call");

    controls = (struct fm_controls){.page = page, .in = lines};
    OFFER(&controls, with->allocs = FM_COUNT_NONE, "No allocation info", "allocs-none");
    OFFER(&controls, with->allocs = FM_COUNT_OVERALL, "Allocations", "allocs");
    OFFER(&controls, with->allocs = FM_COUNT_PER_CALL, "Allocations and per-call allocations",
          "allocs-per-call");

    controls = (struct fm_controls){.page = page, .in = lines};
    fields_memory(&controls);
}

void fm_controls_format(struct fm_page *page)
{
    struct fm_controls controls = {.page = page, .title = "Toggle format options:"};
    OFFER(&controls, with->colour = false, "Fade column groups", "colour-none");
    OFFER(&controls, with->colour = true, "Colour column groups", "colour");
    OFFER(&controls, with->box = false, "Unbox", "box-none");
    OFFER(&controls, with->box = true, "Box", "box");
}

static void offer_cost_order(struct fm_controls *controls, enum fm_cost_kind kind, bool total,
                             bool per_call, const char *label, const char *id)
{
    struct fm_cost_order order = {.kind = kind, .with_descendants = total, .per_call = per_call};
    if (fm_order_lacks(controls->page->profile, &order) != NULL)
        return;
    OFFER(controls, fm_preferences_set_order(with, FM_ORDER_COST, &order), label, id);
}

void fm_controls_sort(struct fm_page *page)
{
    const struct {
        enum fm_cost_kind kind;
        const char *word, *id;
    } kinds[] = {
        {FM_BY_TIME, "time", "time"},
        {FM_BY_CALLSEQS, page->terms->callseqs_order, "callseqs"},
        {FM_BY_ALLOCS, "allocs", "allocs"},
        {FM_BY_WORDS, "memory", "memory"},
    };
    struct fm_list *lines = fm_add_list(page->body, FM_LIST_PLAIN, "Toggle sort options:");
    struct fm_controls controls = {.page = page, .in = lines};
    OFFER(&controls, fm_preferences_set_order(with, FM_ORDER_CONTEXT, NULL), "By context",
          "sort-context");
    OFFER(&controls, fm_preferences_set_order(with, FM_ORDER_NAME, NULL), "By name", "sort-name");
    offer_cost_order(&controls, FM_BY_CALLS, false, false, "By calls", "sort-calls");
    if (page->terms->has_fails)
        offer_cost_order(&controls, FM_BY_REDOS, false, false, "By redos", "sort-redos");
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
        controls = (struct fm_controls){.page = page, .in = lines};
        for (unsigned choice = 0; choice < 4; choice++) {
            bool total = choice >= 2, per_call = choice % 2;
            g_autofree char *label = g_strdup_printf("By %s %s%s", total ? "total" : "self",
                                                     kinds[i].word, per_call ? " per call" : "");
            g_autofree char *id = g_strdup_printf(
                "sort-%s-%s%s", kinds[i].id, total ? "total" : "self", per_call ? "-per-call" : "");
            offer_cost_order(&controls, kinds[i].kind, total, per_call, label, id);
        }
    }
}

void fm_controls_summarize(struct fm_page *page)
{
    g_autofree char *summarize = phrase("Summarize ", page->terms->higher_order_calls);
    struct fm_controls controls = {.page = page, .title = "Toggle summarize options:"};
    OFFER(&controls, with->summarize = false, "Do not summarize", "summarize-none");
    OFFER(&controls, with->summarize = true, summarize, "summarize");
}

static void offer_page(struct fm_controls *controls, enum fm_command_id command, uint32_t number,
                       const char *label, const char *id)
{
    struct fm_query query = fm_page_link(controls->page, command, number);
    fm_controls_offer(controls, &query, label, id);
}

/* A list of reports with a part that only developers of compilers want. */
static struct fm_list *reports(struct fm_page *page, const char *title, enum fm_command_id command,
                               enum fm_command_id dump, uint32_t number, const char *label,
                               const char *id, const char *dump_label)
{
    struct fm_query query = fm_page_link(page, command, number);
    struct fm_query raw = fm_page_link(page, dump, number);
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL_EXCEPT_TITLE, title);
    /* root/... shows a clique's page. */
    bool here = page->query.command.id == command ||
                (command == FM_CMD_CLIQUE && page->query.command.id == FM_CMD_ROOT);
    if (!here)
        fm_add_control(list, &query, label, id);
    g_autofree char *dump_id = g_strconcat(id, "-dump", NULL);
    fm_add_control(fm_add_developer(list), &raw, dump_label, dump_id);
    return list;
}

void fm_controls_proc_reports(struct fm_page *page, uint32_t ps)
{
    g_autofree char *title = g_strdup_printf("Related %s reports:", page->terms->proc);
    struct fm_list *list = reports(page, title, FM_CMD_PROC, FM_CMD_DUMP_PROC_STATIC, ps,
                                   page->terms->proc_title, "proc", "Unprocessed proc static data");
    struct fm_query coverage = fm_page_link(page, FM_CMD_PROC_STATIC_COVERAGE, ps);
    if (fm_body_has_coverage(page, ps) && page->query.command.id != FM_CMD_PROC_STATIC_COVERAGE)
        fm_add_control(list, &coverage, "Coverage annotated procedure representation",
                       "proc-coverage");
}

void fm_controls_clique_reports(struct fm_page *page, uint32_t clique)
{
    g_return_if_fail(clique >= 1 && clique <= page->analysis->clique_count);
    g_autofree char *title = g_strdup_printf("Related %s reports:", page->terms->clique);
    g_autofree char *data = g_strdup_printf("Unprocessed %s data", page->terms->clique);
    g_autofree char *recurses =
        g_strdup_printf("%s's recursion information", page->terms->clique_title);
    struct fm_list *list = reports(page, title, FM_CMD_CLIQUE, FM_CMD_DUMP_RAW_CLIQUE, clique,
                                   page->terms->clique_title, "clique", data);
    struct fm_query recursion = fm_page_link(page, FM_CMD_CLIQUE_RC, clique);
    if (page->query.command.id != FM_CMD_CLIQUE_RC)
        fm_add_control(list, &recursion, recurses, "clique-recursion");
}

void fm_controls_general(struct fm_page *page)
{
    struct fm_controls controls = {.page = page, .title = "General commands:"};
    bool window = page->query.compact && page->profile->flavour == FM_FLAVOUR_C;
    if (window && page->query.command.id != FM_CMD_ABOUT)
        return; /* the first page is at the top, the others are in About */
    offer_page(&controls, FM_CMD_MENU, 0, window ? "Summary" : "Menu", "menu");
    offer_page(&controls, FM_CMD_RESTART, 0, "Restart", "restart");
    offer_page(&controls, FM_CMD_QUIT, 0, "Quit", "quit");
}

void fm_controls_general_options(struct fm_page *page)
{
    struct fm_controls controls = {.page = page, .title = "General options:"};
    OFFER(&controls, with->developer = true, "Enable developer options", "developer");
    OFFER(&controls, with->developer = false, "Disable developer options", "developer-none");
}

void fm_controls_grouping(struct fm_page *page, const char *title, uint32_t ps, uint32_t bunch_size,
                          bool contour)
{
    static const struct {
        enum fm_callers_group group;
        const char *id;
    } groups[] = {
        {FM_GROUP_CALL_SITE, "group-call-site"},
        {FM_GROUP_PROC, "group-proc"},
        {FM_GROUP_MODULE, "group-module"},
        {FM_GROUP_CLIQUE, "group-clique"},
    };
    const char *const words[] = {"call site", page->terms->proc, page->terms->module,
                                 page->terms->clique};
    struct fm_controls controls = {.page = page, .title = title};
    for (unsigned i = 0; i < G_N_ELEMENTS(groups); i++) {
        struct fm_query query = fm_page_link(page, FM_CMD_PROC_CALLERS, ps);
        query.command.group = groups[i].group;
        query.command.bunch = 1;
        query.command.bunch_size = bunch_size;
        query.command.contour = contour;
        if (page->query.command.id == FM_CMD_PROC_CALLERS &&
            page->query.command.group == groups[i].group)
            continue; /* this may be any page of it */
        g_autofree char *label = phrase("Group by ", words[i]);
        fm_controls_offer(&controls, &query, label, groups[i].id);
    }
}
