/* SPDX-License-Identifier: Apache-2.0 */
/* call_site_dynamic_var_use/CSD: how far into a call its arguments are made or first used. */
#include "pages/profile/bodies/bodies.h"

#include "base/error.h"
#include "pages/profile/parts/bodies.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"

struct uses {
    struct fm_page *page;
    struct fm_bodies *bodies;
    struct fm_var_use_search *search;
    const struct fm_recursion *recursion; /* recursion of the caller's clique */
    uint32_t csd;
    double cost; /* cost of one call */
};

/* A recursive call has at least one level above it. */
static double levels_here(const struct uses *u)
{
    return u->recursion->kind == FM_RECURSION_SINGLE ? MAX(fm_recursion_levels(u->recursion), 1)
                                                     : u->recursion->depth;
}

/* Average cost of one call, also inside a recursion. */
static double call_cost(const struct uses *u)
{
    const struct fm_analysis *a = u->page->analysis;
    struct fm_cost cost;
    bool inside = fm_analysis_csd_child_clique(a, u->csd) == 0;
    if (inside && u->recursion->kind == FM_RECURSION_SINGLE)
        return fm_recursion_cost_at(u->recursion, fm_round_half_up(levels_here(u)) - 1);
    fm_analysis_csd_cost(a, u->csd, &cost);
    return cost.calls == 0 ? 0 : (double)fm_cost_total(&cost, FM_CALLSEQS) / (double)cost.calls;
}

static void add_argument(const struct uses *u, struct fm_table *table, const struct fm_body *body,
                         uint32_t argument)
{
    static const char *const types[] = {"consumption", "production", "other/unknown"};
    enum fm_var_use_type type = fm_var_use_type_of(&body->heads[argument]);
    struct fm_var_use use = fm_var_use_pessimistic(type, u->cost);
    g_autofree char *why = NULL, *name = g_strdup_printf("Argument: %" PRIu32, argument + 1);
    g_autoptr(GString) variable = g_string_new(NULL);
    bool known = fm_var_use_of_call(u->search, u->csd, argument, type, u->cost, u->recursion,
                                    levels_here(u), &use, &why);
    fm_body_append_var(variable, body, body->heads[argument].var);
    fm_table_row(table, "argument", false);
    fm_cell_string(table, name, FM_STYLE_PLAIN);
    fm_cell_string(table, variable->str, FM_STYLE_PLAIN);
    fm_cell_string(table, types[type], FM_STYLE_PLAIN);
    if (u->cost > 0)
        fm_cell_percent(table, use.time / u->cost);
    else
        fm_cell_empty(table);
    fm_cell_float(table, use.time);
    fm_cell_string(table, known ? "" : why, FM_STYLE_PLAIN);
}

static void add_table(const struct uses *u, const struct fm_body *body)
{
    struct fm_table *table = fm_add_table(u->page->body, FM_BOX_IF_PREFERRED, "arguments");
    fm_table_group(table, "Argument", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "argument", NULL);
    fm_table_group(table, "Name", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "name", NULL);
    fm_table_group(table, "Type", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "type", NULL);
    fm_table_group(table, "Percent into proc", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "time_percent", NULL);
    fm_table_group(table, "Time into proc (Callseqs)", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "time_callseqs_count", NULL);
    fm_table_group(table, "Not followed, because", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "unknown_because", NULL);
    for (uint32_t i = 0; i < body->head_count; i++)
        add_argument(u, table, body, i);
}

bool fm_page_var_use(struct fm_page *page, GError **error)
{
    const struct fm_profile *profile = page->profile;
    uint32_t csd = page->query.command.number;
    g_autoptr(FmBody) body = NULL;
    if (profile->flavour == FM_FLAVOUR_C) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "variables of C programs are not known: only Mercury's compiler writes the "
                    "bodies of procedures");
        return fm_page_fail(page, error);
    }
    if (!fm_page_check_id(page, "call_site_dynamic", csd, profile->csd_count, error))
        return false;
    g_autoptr(FmBodies) bodies = fm_page_bodies(page);
    uint32_t caller = profile->csd_caller[csd], callee = profile->csd_callee[csd];
    if (!fm_bodies_body(bodies, profile->pd_ps[callee], &body, error)) {
        g_prefix_error(error, "%s: ", profile->ps[profile->pd_ps[callee]].qualified_name);
        return fm_page_fail(page, error);
    }
    struct uses u = {
        .page = page,
        .bodies = bodies,
        .search = fm_var_use_search_new(bodies, NULL, false),
        .recursion = fm_bodies_recursion(bodies, page->analysis->pd_clique[caller]),
        .csd = csd,
    };
    u.cost = call_cost(&u);
    fm_page_begin(page, "call_site_dynamic_var_use",
                  g_strdup_printf("Variable use in call site dynamic %" PRIu32, csd));
    fm_display_fact_int(page->display, "csd", csd);
    fm_display_fact_double(page->display, "callseqs_per_call_count", u.cost);
    g_autofree char *text =
        g_strdup_printf("Average cost of a call: %.2f call sequence numbers", u.cost);
    fm_add_text(page->body, text);
    fm_add_text(page->body, "Times are averages for one call, counted in calls; percentages are of "
                            "the average cost of a call. Where the callee is not followed, "
                            "arguments count as used at once and produced at the end.");
    add_table(&u, body);
    fm_var_use_search_free(u.search);
    struct fm_query dump = fm_page_link(page, FM_CMD_DUMP_CALL_SITE_DYNAMIC, csd);
    fm_add_link(page->body, &dump, "Unprocessed call site dynamic data");
    fm_controls_proc_reports(page, profile->pd_ps[callee]);
    fm_controls_general(page);
    return true;
}
