/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/calls/callers_ranked.h"

#include "pages/profile/measured/cost_table.h"
#include "pages/profile/measured/path_text.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/parts/names.h"

#define PATH_STEPS_MAX 8  /* longer paths have their middle left out */
#define INSIDERS_SHOWN 20 /* callers inside recursions */

void fm_callers_choices(struct fm_page *page, const struct fm_measured *measured)
{
    static const struct {
        enum fm_callers_group group;
        const char *label;
    } groups[] = {{FM_GROUP_CLIQUE, "Context"},
                  {FM_GROUP_CALL_SITE, "Call site"},
                  {FM_GROUP_PROC, "Function"},
                  {FM_GROUP_MODULE, "File"}};
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, "Callers:");
    fm_list_set_id(list, "grouping");
    for (unsigned i = 0; i < G_N_ELEMENTS(groups); i++) {
        struct fm_query query = fm_page_like(page);
        query.command.group = groups[i].group;
        query.command.bunch = 1;
        if (page->query.command.group == groups[i].group)
            fm_add_text(list, groups[i].label);
        else
            fm_add_link(list, &query, groups[i].label);
    }
    fm_add_measure_orders(page, measured->asked);
}

static void add_who(struct fm_page *page, struct fm_table *table, const struct fm_row *row,
                    const struct fm_callers_row *caller, unsigned depth)
{
    struct fm_query link;
    g_autofree char *name = NULL, *place = g_strdup("");
    bool leads = row->link != FM_CMD_COUNT;
    const char *full = NULL;
    if (leads)
        link = fm_page_link(page, row->link, row->link_number);
    switch (page->query.command.group) {
    case FM_GROUP_CALL_SITE:
    case FM_GROUP_PROC:
        full = caller->ps == 0 ? NULL : fm_full_name_ps(page, caller->ps);
        name = g_strdup(caller->ps == 0 ? row->name : fm_shown_name(page, caller->ps));
        if (row->file[0]) {
            g_free(place);
            place = fm_name_place(page, row->file, row->line);
        }
        break;
    case FM_GROUP_MODULE:
        name = g_strdup(caller->module[0] ? caller->module : page->terms->runtime);
        leads = caller->module[0] != '\0';
        link = fm_page_link(page, FM_CMD_MODULE, 0);
        link.command.module = (char *)(uintptr_t)caller->module;
        break;
    case FM_GROUP_CLIQUE:
        name = fm_caller_is_root(page, caller->clique)
                   ? g_strdup(page->terms->runtime)
                   : fm_clique_path(page, caller->clique, PATH_STEPS_MAX);
        break;
    }
    const struct fm_path_part parts[] = {{name, leads ? &link : NULL, 0, full},
                                         {place, NULL, FM_PART_NOTE}};
    fm_cell_path(table, parts, place[0] ? 2 : 1, depth);
}

static void add_note(const struct fm_cost_table *costs, const char *role, const char *label,
                     const struct fm_cost *cost)
{
    const struct fm_path_part part = {label, NULL, FM_PART_STRONG};
    fm_cost_table_row(costs, role, cost, true);
    fm_cell_path(costs->table, &part, 1, 0);
}

/* Calls inside recursions have no total, since what they lead to leads back to the caller. */
static void add_insiders(const struct fm_cost_table *costs, uint32_t ps)
{
    struct fm_caller_groups inside;
    fm_caller_groups_find(&inside, costs->page, ps, true);
    uint32_t shown = MIN(inside.count, INSIDERS_SHOWN);
    for (uint32_t i = 0; i < shown; i++) {
        struct fm_callers_row caller;
        struct fm_row row;
        fm_caller_groups_at(&inside, i, &caller, &row);
        fm_cost_table_row(costs, "inside", &row.cost, false);
        add_who(costs->page, costs->table, &row, &caller, 1);
    }
    if (shown < inside.count) {
        g_autofree char *more = g_strdup_printf("%" PRIu32 " more within", inside.count - shown);
        g_autofree char *what = g_strdup_printf("%s: their cost is in the row above", more);
        fm_add_text(costs->page->body, what);
    }
    fm_display_fact_int(costs->page->display, "inside_groups_count", inside.count);
    fm_caller_groups_done(&inside);
}

static bool is_any(const struct fm_cost *cost)
{
    bool any = false;
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++)
        any |= cost->desc[m] != 0;
    return any;
}

static void add_within(const struct fm_cost_table *costs, uint32_t ps,
                       const struct fm_callers_sum *sum)
{
    add_note(costs, "within", "within its recursions: its cost there, whoever called",
             &sum->within);
    add_insiders(costs, ps);
}

/* Than the first of the rows shown. */
static bool is_dearer(const struct fm_cost_table *costs, const struct fm_caller_groups *groups,
                      uint32_t first, uint32_t last, const struct fm_cost *within)
{
    struct fm_callers_row caller;
    struct fm_row row;
    if (first == last)
        return true;
    fm_caller_groups_at(groups, first, &caller, &row);
    return fm_cost_total(within, costs->measured.measure) >
           fm_cost_total(&row.cost, costs->measured.measure);
}

void fm_callers_ranked(struct fm_page *page, const struct fm_measured *measured,
                       const struct fm_caller_groups *groups, uint32_t first, uint32_t last,
                       bool recursive)
{
    struct fm_cost_table costs;
    struct fm_callers_sum sum;
    uint32_t ps = page->query.command.number;
    g_return_if_fail(first <= last && last <= groups->count);
    fm_cost_table_begin(&costs, page, measured, FM_COSTS_TOTAL | FM_COSTS_PER_CALL, "callers");
    fm_cost_column(costs.table, page->query.command.group == FM_GROUP_CLIQUE ? "Path" : "Caller",
                   "path", 1, FM_COLUMN_PROC);
    fm_analysis_callers_sum(page->analysis, ps, &sum);
    bool within_first = recursive && is_dearer(&costs, groups, first, last, &sum.within);
    if (within_first)
        add_within(&costs, ps, &sum);
    for (uint32_t i = first; i < last; i++) {
        struct fm_callers_row caller;
        struct fm_row row;
        fm_caller_groups_at(groups, i, &caller, &row);
        fm_cost_table_row(&costs, "caller", &row.cost, true);
        add_who(page, costs.table, &row, &caller, 0);
    }
    if (recursive && !within_first)
        add_within(&costs, ps, &sum);
    if (recursive && is_any(&sum.others))
        add_note(&costs, "others", "less what other functions of its recursions cost", &sum.others);
    add_note(&costs, "sum", "all callers", &sum.total);
}
