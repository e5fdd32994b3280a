/* SPDX-License-Identifier: Apache-2.0 */
/* top_procs/LIMIT/KIND/DESC/SCOPE: the most expensive procedures. */
#include "pages/profile/modules/modules.h"

#include "pages/profile/measured/cost_table.h"
#include "pages/profile/measured/proc_table.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/lacks.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

#define ROWS_A_PAGE 100
#define ROWS_AT_ONCE 1000u /* in a window: more are on further pages */

/* Calls and redos exist neither with descendants nor per call. */
static struct fm_cost_order sensible(struct fm_cost_order order)
{
    if (order.kind == FM_BY_CALLS || order.kind == FM_BY_REDOS)
        order.with_descendants = order.per_call = false;
    return order;
}

/* Every page links to this one: if no time is known, the order is by the most informative
 * measure. */
static void choose_known_order(struct fm_page *page)
{
    struct fm_cost_order *top = &page->query.command.top;
    if (top->kind != FM_BY_TIME || fm_profile_knows(page->profile, FM_QUANTA))
        return;
    top->kind = fm_profile_knows(page->profile, FM_CALLSEQS) ? FM_BY_CALLSEQS
                : fm_profile_knows(page->profile, FM_WORDS)  ? FM_BY_WORDS
                : fm_profile_knows(page->profile, FM_ALLOCS) ? FM_BY_ALLOCS
                                                             : FM_BY_CALLS;
    struct fm_preferences *preferences = &page->query.preferences;
    if (preferences->order == FM_ORDER_COST && preferences->cost.kind == FM_BY_TIME)
        fm_preferences_set_order(preferences, FM_ORDER_COST, top);
}

static bool is_known(const struct fm_page *page, enum fm_cost_kind kind)
{
    return fm_profile_knows(page->profile, kind == FM_BY_CALLS ? FM_EXITS : fm_cost_measure(kind));
}

static bool orders_equal(struct fm_cost_order a, struct fm_cost_order b)
{
    return a.kind == b.kind && a.with_descendants == b.with_descendants && a.per_call == b.per_call;
}

static void offer_limit(struct fm_controls *controls, enum fm_limit_kind limit, uint32_t last,
                        double threshold, const char *label, const char *id)
{
    struct fm_query query = fm_page_same(controls->page);
    query.command.limit = limit;
    query.command.first = limit == FM_LIMIT_RANK ? 1 : 0;
    query.command.last = limit == FM_LIMIT_RANK ? last : 0;
    query.command.threshold = limit == FM_LIMIT_RANK ? 0 : threshold;
    fm_controls_offer(controls, &query, label, id);
}

/* Another criterion also becomes the order of the rows. */
static void offer_order(struct fm_controls *controls, struct fm_cost_order order, const char *label,
                        const char *id)
{
    struct fm_query query = fm_page_same(controls->page);
    query.command.top = sensible(order);
    if (fm_order_lacks(controls->page->profile, &query.command.top) != NULL)
        return;
    fm_preferences_set_order(&query.preferences, FM_ORDER_COST, &query.command.top);
    if (orders_equal(query.command.top, sensible(controls->page->query.command.top)))
        return; /* the rows are sorted by it already */
    fm_controls_offer(controls, &query, label, id);
}

static void add_criteria(struct fm_page *page)
{
    static const struct {
        enum fm_cost_kind kind;
        const char *label, *id;
    } kinds[] = {
        {FM_BY_CALLS, "Sort by calls", "top-calls"},    {FM_BY_REDOS, "Sort by redos", "top-redos"},
        {FM_BY_TIME, "Sort by time", "top-time"},       {FM_BY_CALLSEQS, NULL, "top-callseqs"},
        {FM_BY_ALLOCS, "Sort by allocs", "top-allocs"}, {FM_BY_WORDS, NULL, "top-words"},
    };
    struct fm_list *lines = fm_add_list(page->body, FM_LIST_PLAIN, "Toggle sorting criteria:");
    struct fm_controls controls = {.page = page, .in = lines};
    offer_limit(&controls, FM_LIMIT_RANK, 10, 0, "Top 10", "top-10");
    offer_limit(&controls, FM_LIMIT_RANK, 100, 0, "Top 100", "top-100");
    offer_limit(&controls, FM_LIMIT_RANK, 1000, 0, "Top 1000", "top-1000");
    offer_limit(&controls, FM_LIMIT_PERCENT, 0, 0.01, "Top 0.01%", "top-0.01-percent");
    offer_limit(&controls, FM_LIMIT_PERCENT, 0, 0.1, "Top 0.1%", "top-0.1-percent");
    offer_limit(&controls, FM_LIMIT_PERCENT, 0, 1, "Top 1%", "top-1-percent");

    controls = (struct fm_controls){.page = page, .in = lines};
    struct fm_cost_order order = page->query.command.top;
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if ((kinds[i].kind == FM_BY_REDOS && !page->terms->has_fails) ||
            !is_known(page, kinds[i].kind))
            continue;
        g_autofree char *label =
            kinds[i].label
                ? g_strdup(kinds[i].label)
                : g_strconcat("Sort by ", fm_terms_cost_kind(page->terms, kinds[i].kind), NULL);
        order.kind = kinds[i].kind;
        offer_order(&controls, order, label, kinds[i].id);
    }
    controls = (struct fm_controls){.page = page, .in = lines};
    order = page->query.command.top;
    order.with_descendants = !order.with_descendants;
    offer_order(&controls, order,
                order.with_descendants ? "Include descendants" : "Exclude descendants",
                order.with_descendants ? "top-total" : "top-self");
    order = page->query.command.top;
    order.per_call = !order.per_call;
    offer_order(&controls, order, order.per_call ? "Per call" : "Overall",
                order.per_call ? "top-per-call" : "top-overall");
}

/* --- above the rows, in windows --- */

static void choose(struct fm_list *list, const struct fm_query *query, const char *label, bool now)
{
    if (now)
        fm_add_text(list, label);
    else
        fm_add_link(list, query, label);
}

static void choose_order(struct fm_page *page, struct fm_list *list, bool total, bool per_call,
                         const char *label)
{
    struct fm_query query = fm_page_like(page);
    struct fm_cost_order *top = &query.command.top;
    const struct fm_cost_order now = sensible(page->query.command.top);
    if (top->kind == FM_BY_CALLS || top->kind == FM_BY_REDOS)
        top->kind = FM_BY_CALLSEQS;
    if (!is_known(page, top->kind))
        return;
    top->with_descendants = total;
    top->per_call = per_call;
    query.has_preferences = false;
    choose(list, &query, label, now.with_descendants == total && now.per_call == per_call);
}

static void choose_share(struct fm_page *page, struct fm_list *list, double percent,
                         const char *label)
{
    struct fm_query query = fm_page_like(page);
    struct fm_command *command = &query.command;
    bool shares = page->query.command.limit == FM_LIMIT_PERCENT;
    command->limit = percent > 0 ? FM_LIMIT_PERCENT : FM_LIMIT_RANK;
    command->threshold = percent;
    command->first = percent > 0 ? 0 : 1;
    command->last = percent > 0 ? 0 : ROWS_A_PAGE;
    query.has_preferences = false;
    choose(list, &query, label,
           percent > 0 ? shares && page->query.command.threshold == percent : !shares);
}

static void add_choices(struct fm_page *page)
{
    static const struct {
        enum fm_query_measure measure;
        enum fm_cost_kind kind;
    } kinds[] = {{FM_QUERY_BY_TIME, FM_BY_TIME},
                 {FM_QUERY_BY_CALLS, FM_BY_CALLSEQS},
                 {FM_QUERY_BY_BYTES, FM_BY_WORDS},
                 {FM_QUERY_BY_ALLOCS, FM_BY_ALLOCS}};
    struct fm_list *measures = fm_add_list(page->body, FM_LIST_HORIZONTAL, "By:");
    fm_list_set_id(measures, "measures");
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
        struct fm_query query = fm_page_like(page);
        bool now = page->query.command.top.kind == kinds[i].kind;
        query.command.top.kind = kinds[i].kind;
        query.has_preferences = false;
        if (now || fm_measure_is_recorded(page->recording, kinds[i].measure))
            choose(measures, &query, fm_measure_label(page->recording, kinds[i].measure), now);
    }
    struct fm_list *orders =
        fm_add_list(page->body, FM_LIST_HORIZONTAL, "Most expensive first by:");
    choose_order(page, orders, false, false, "self");
    choose_order(page, orders, true, false, "total");
    choose_order(page, orders, false, true, "self per call");
    choose_order(page, orders, true, true, "total per call");
    struct fm_list *shares = fm_add_list(page->body, FM_LIST_HORIZONTAL, "Shown:");
    choose_share(page, shares, 0, "all, by hundreds");
    choose_share(page, shares, 1, "from 1 % on");
    choose_share(page, shares, 0.1, "from 0.1 % on");
}

/* Says which of all rows these are, and links to further ones. */
static void add_pages(struct fm_page *page, uint32_t shown)
{
    const struct fm_command *command = &page->query.command;
    if (command->limit != FM_LIMIT_RANK || shown == 0)
        return;
    uint32_t size = MAX(command->last, command->first) - command->first + 1;
    uint32_t last = command->first + shown - 1;
    g_autofree char *text =
        shown == size
            ? g_strdup_printf("%" PRIu32 " to %" PRIu32 " of %" PRIu32, command->first, last,
                              page->profile->ps_count)
            : g_strdup_printf("%" PRIu32 " to %" PRIu32 ": no others have anything of this measure",
                              command->first, last);
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    fm_add_text(list, text);
    struct fm_query query = fm_page_like(page);
    if (command->first > 1) {
        query.command.first = command->first > size ? command->first - size : 1;
        query.command.last = query.command.first + size - 1;
        fm_add_link(list, &query, "Previous");
    }
    if (last < page->profile->ps_count && shown == size) {
        query.command.first = command->first + size;
        query.command.last = query.command.first + size - 1;
        fm_add_link(list, &query, "Next");
    }
}

bool fm_page_top_procs(struct fm_page *page, GError **error)
{
    (void)error;
    choose_known_order(page);
    const struct fm_command *command = &page->query.command;
    struct fm_cost_order order = sensible(command->top);
    bool counts = order.kind == FM_BY_CALLS || order.kind == FM_BY_REDOS;
    fm_page_begin(page, "top_procs",
                  g_strdup_printf("Top %s ordered by %s%s%s", page->terms->procs,
                                  counts                   ? ""
                                  : order.with_descendants ? "total "
                                                           : "self ",
                                  fm_terms_cost_kind(page->terms, order.kind),
                                  counts           ? ""
                                  : order.per_call ? " per call"
                                                   : " overall"));
    struct fm_measured measured;
    bool ranked = fm_page_is_ranked(page, order.with_descendants, &measured);
    if (ranked && command->limit == FM_LIMIT_RANK)
        page->query.command.last = (uint32_t)MIN(
            (uint64_t)command->last, (uint64_t)MAX(command->first, 1u) + ROWS_AT_ONCE - 1);
    struct fm_top_query query = {
        .kind = order.kind,
        .with_descendants = order.with_descendants,
        .scope = order.per_call ? FM_PER_CALL : FM_OVERALL,
        .limit = command->limit,
        .first = command->first,
        .last = command->last,
        .threshold = command->threshold,
        /* Trees show only one measure of an imported profile; here are the functions of all
         * measures. */
        .further = page->profile->run_info.origin != NULL,
    };
    uint32_t *ps = NULL;
    uint32_t count = 0;
    fm_analysis_top(page->analysis, &query, &ps, &count);
    fm_display_fact_int(page->display, "procs_shown_count", count);
    /* The selection decides equal amounts by time and memory; keep that where the order is its. */
    bool sorted = page->query.preferences.order == FM_ORDER_COST &&
                  orders_equal(sensible(page->query.preferences.cost), order);
    if (ranked)
        add_choices(page);
    fm_proc_table(page, "procs", ps, count, sorted);
    g_free(ps);
    if (ranked) {
        add_pages(page, count);
        fm_link_all_columns(page);
    }
    add_criteria(page);
    fm_controls_qualify(page);
    fm_controls_sort(page);
    fm_controls_fields(page);
    fm_controls_format(page);
    fm_controls_general(page);
    return true;
}
