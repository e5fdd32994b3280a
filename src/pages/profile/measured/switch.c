/* SPDX-License-Identifier: Apache-2.0 */
/* The switch of the measure. */
#include "pages/profile/measured/switch.h"

#include "pages/profile/parts/preferences.h"

static void add_switch(struct fm_page *page, enum fm_query_measure now, bool by_order)
{
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, "By:");
    fm_list_set_id(list, "measures");
    for (enum fm_query_measure measure = 0; measure < FM_QUERY_BY_AUTO; measure++) {
        const struct fm_tree_measure *of = &fm_tree_measures[measure];
        if (!fm_measure_is_offered(page->recording, measure) ||
            (by_order && !of->has_order && measure != now))
            continue;
        struct fm_query query = by_order ? fm_page_same(page) : fm_page_like(page);
        const struct fm_cost_order order = {.kind = of->order, .with_descendants = true};
        if (by_order)
            fm_preferences_set_order(&query.preferences, FM_ORDER_COST, &order);
        query.command.measure = measure;
        if (measure == now)
            fm_add_text(list, fm_measure_label(page->recording, now));
        else if (fm_measure_is_recorded(page->recording, measure))
            fm_add_link(list, &query, fm_measure_label(page->recording, measure));
    }
}

enum fm_query_measure fm_measure_preferred(const struct fm_page *page)
{
    static const enum fm_query_measure measures[] = {
        [FM_BY_CALLS] = FM_QUERY_BY_CALLS,   [FM_BY_REDOS] = FM_QUERY_BY_CALLS,
        [FM_BY_TIME] = FM_QUERY_BY_TIME,     [FM_BY_CALLSEQS] = FM_QUERY_BY_CALLSEQS,
        [FM_BY_ALLOCS] = FM_QUERY_BY_ALLOCS, [FM_BY_WORDS] = FM_QUERY_BY_WORDS};
    const struct fm_preferences *preferences = &page->query.preferences;
    if (preferences->order != FM_ORDER_COST)
        return FM_QUERY_BY_AUTO;
    return measures[preferences->cost.kind];
}

static double seconds_of(const struct fm_measured *measured, const struct fm_cost *cost)
{
    return (double)fm_cost_total(cost, measured->measure) * measured->tick;
}

void fm_measured_of_function(struct fm_measured *ret, const struct fm_page *page,
                             enum fm_query_measure asked, uint32_t ps)
{
    const struct fm_open_profile *recording = page->recording;
    struct fm_measured time, waiting;
    struct fm_cost cost;
    fm_measured_init(ret, recording, asked);
    if (asked != FM_QUERY_BY_AUTO || ps == 0 || recording->known < FM_KNOWN_COSTS || !ret->is_time)
        return;
    fm_measured_init(&time, recording, FM_QUERY_BY_TIME);
    fm_measured_init(&waiting, recording, FM_QUERY_BY_WAITING);
    fm_analysis_ps_cost(page->analysis, ps, &cost);
    double ran = seconds_of(&time, &cost);
    double waited = waiting.asked == FM_QUERY_BY_WAITING ? seconds_of(&waiting, &cost) : 0;
    if (ret->asked == FM_QUERY_BY_WAITING && ran > waited)
        *ret = time;
    else if (ret->asked == FM_QUERY_BY_TIME && ran <= 0 && waited > 0)
        *ret = waiting;
    else if (ran <= 0 && waited <= 0 && fm_measure_is_recorded(recording, FM_QUERY_BY_CALLS))
        fm_measured_init(ret, recording, FM_QUERY_BY_CALLS);
}

void fm_add_measure_orders(struct fm_page *page, enum fm_query_measure now)
{
    add_switch(page, now, true);
}

void fm_add_measures(struct fm_page *page, enum fm_query_measure now)
{
    add_switch(page, now, false);
}
