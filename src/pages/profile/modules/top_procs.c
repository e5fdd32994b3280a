/* SPDX-License-Identifier: Apache-2.0 */
/* top_procs/LIMIT/KIND/DESC/SCOPE: the most expensive procedures. */
#include "pages/profile/modules/modules.h"

#include <assert.h>

#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"
#include "pages/profile/parts/proc_table.h"

static_assert((int)FM_QUERY_LIMIT_RANK == (int)FM_LIMIT_RANK, "limits differ");
static_assert((int)FM_QUERY_LIMIT_PERCENT == (int)FM_LIMIT_PERCENT, "limits differ");
static_assert((int)FM_QUERY_LIMIT_VALUE == (int)FM_LIMIT_VALUE, "limits differ");

/* Calls and redos exist neither with descendants nor per call. */
static struct fm_cost_order sensible(struct fm_cost_order order)
{
    if (order.kind == FM_QUERY_CALLS || order.kind == FM_QUERY_REDOS)
        order.with_descendants = order.per_call = false;
    return order;
}

static bool orders_equal(struct fm_cost_order a, struct fm_cost_order b)
{
    return a.kind == b.kind && a.with_descendants == b.with_descendants && a.per_call == b.per_call;
}

static void offer_limit(struct fm_controls *controls, enum fm_query_limit limit, uint32_t last,
                        double threshold, const char *label, const char *id)
{
    struct fm_query query = fm_page_same(controls->page);
    query.command.limit = limit;
    query.command.first = limit == FM_QUERY_LIMIT_RANK ? 1 : 0;
    query.command.last = limit == FM_QUERY_LIMIT_RANK ? last : 0;
    query.command.threshold = limit == FM_QUERY_LIMIT_RANK ? 0 : threshold;
    fm_controls_offer(controls, &query, label, id);
}

/* Another criterion also becomes the order of the rows. */
static void offer_order(struct fm_controls *controls, struct fm_cost_order order, const char *label,
                        const char *id)
{
    struct fm_query query = fm_page_same(controls->page);
    query.command.top = sensible(order);
    fm_preferences_set_order(&query.preferences, FM_ORDER_COST, &query.command.top);
    if (orders_equal(query.command.top, sensible(controls->page->query.command.top)))
        return; /* whatever the rows are sorted by at present */
    fm_controls_offer(controls, &query, label, id);
}

static void add_criteria(struct fm_page *page)
{
    static const struct {
        enum fm_query_cost kind;
        const char *label, *id;
    } kinds[] = {
        {FM_QUERY_CALLS, "Sort by calls", "top-calls"},
        {FM_QUERY_REDOS, "Sort by redos", "top-redos"},
        {FM_QUERY_TIME, "Sort by time", "top-time"},
        {FM_QUERY_CALLSEQS, NULL, "top-callseqs"},
        {FM_QUERY_ALLOCS, "Sort by allocs", "top-allocs"},
        {FM_QUERY_WORDS, NULL, "top-words"},
    };
    struct fm_list *lines = fm_add_list(page->body, FM_LIST_PLAIN, "Toggle sorting criteria:");
    struct fm_controls controls = {.page = page, .in = lines};
    offer_limit(&controls, FM_QUERY_LIMIT_RANK, 10, 0, "Top 10", "top-10");
    offer_limit(&controls, FM_QUERY_LIMIT_RANK, 100, 0, "Top 100", "top-100");
    offer_limit(&controls, FM_QUERY_LIMIT_RANK, 1000, 0, "Top 1000", "top-1000");
    offer_limit(&controls, FM_QUERY_LIMIT_PERCENT, 0, 0.01, "Top 0.01%", "top-0.01-percent");
    offer_limit(&controls, FM_QUERY_LIMIT_PERCENT, 0, 0.1, "Top 0.1%", "top-0.1-percent");
    offer_limit(&controls, FM_QUERY_LIMIT_PERCENT, 0, 1, "Top 1%", "top-1-percent");

    controls = (struct fm_controls){.page = page, .in = lines};
    struct fm_cost_order order = page->query.command.top;
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (kinds[i].kind == FM_QUERY_REDOS && !page->terms->has_fails)
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

bool fm_report_top_procs(struct fm_page *page, GError **error)
{
    (void)error;
    const struct fm_command *command = &page->query.command;
    struct fm_cost_order order = sensible(command->top);
    bool counts = order.kind == FM_QUERY_CALLS || order.kind == FM_QUERY_REDOS;
    fm_page_begin(page, "top_procs",
                  g_strdup_printf("Top %s ordered by %s%s%s", page->terms->procs,
                                  counts                   ? ""
                                  : order.with_descendants ? "total "
                                                           : "self ",
                                  fm_terms_cost_kind(page->terms, order.kind),
                                  counts           ? ""
                                  : order.per_call ? " per call"
                                                   : " overall"));
    struct fm_top_query query = {
        .kind = (enum fm_cost_kind)order.kind,
        .with_descendants = order.with_descendants,
        .scope = order.per_call ? FM_PER_CALL : FM_OVERALL,
        .limit = (enum fm_limit_kind)command->limit,
        .first = command->first,
        .last = command->last,
        .threshold = command->threshold,
    };
    uint32_t *ps = NULL;
    uint32_t count = 0;
    fm_analysis_top(page->analysis, &query, &ps, &count);
    fm_display_fact_int(page->display, "procs_shown_count", count);
    /* The selection decides equal amounts by time and memory; keep that where the order is its. */
    bool sorted = page->query.preferences.order == FM_ORDER_COST &&
                  orders_equal(sensible(page->query.preferences.cost), order);
    fm_proc_table(page, "procs", ps, count, sorted);
    g_free(ps);
    add_criteria(page);
    fm_controls_qualify(page);
    fm_controls_sort(page);
    fm_controls_fields(page);
    fm_controls_format(page);
    fm_controls_general(page);
    return true;
}
