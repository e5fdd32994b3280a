/* SPDX-License-Identifier: Apache-2.0 */
/* clique/N: callers of the clique, and its procedures with their call sites. Costs are those of one
 * context, not compensated. */
#include "pages/profile/calls/calls.h"

#include <string.h>

#include "profile/digest/paths.h"
#include "pages/profile/bodies/source.h"
#include "pages/profile/calls/butterfly.h"
#include "pages/profile/measured/path_text.h"
#include "pages/profile/measured/ranks.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/order.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"
#include "pages/profile/parts/preferences.h"
#include "pages/profile/parts/recursion.h"
#include "pages/profile/parts/sites.h"

/* The page of a larger clique shows only the first proc dynamics of the chosen order. */
#define PDS_SHOWN_MAX 1000
#define CRUMBS_MAX 12u

struct clique_view {
    struct fm_page *page;
    uint32_t clique;
    struct fm_perf perf;
    struct fm_table *table;
    uint32_t pds_shown;
    struct fm_callees callees;
};

/* The proc dynamics of one procedure in the clique. */
struct group {
    uint32_t first, count; /* range in the array of members */
};

struct member {
    uint32_t ps, pd;
    double value, tie; /* to sort by cost */
};

static const char *common_module(const struct fm_page *page, const uint32_t *pds, uint32_t count)
{
    const char *module = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const char *other = page->profile->ps[page->profile->pd_ps[pds[i]]].decl_module;
        if (module && strcmp(module, other) != 0)
            return NULL;
        module = other;
    }
    return module;
}

/* --- ancestors --- */

/* The entry csds on the way up, closest first, at most limit; *ret_more: there are others. The
 * calls that the runtime itself makes are no ancestors. */
static GArray *ancestors(const struct fm_page *page, uint32_t clique, uint32_t limit,
                         bool *ret_more)
{
    uint32_t all = fm_analysis_clique_ancestors(page->analysis, clique, NULL, 0);
    GArray *csds = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), MIN(all, limit));
    g_array_set_size(csds, MIN(all, limit));
    fm_analysis_clique_ancestors(page->analysis, clique, &g_array_index(csds, uint32_t, 0),
                                 csds->len);
    *ret_more = all > limit;
    return csds;
}

static void add_ancestors(struct clique_view *view)
{
    struct fm_page *page = view->page;
    const struct fm_preferences *preferences = &page->query.preferences;
    bool more;
    g_autoptr(GArray) csds =
        ancestors(page, view->clique,
                  preferences->ancestors_limited ? preferences->ancestors : UINT32_MAX, &more);
    if (csds->len == 0 && !more)
        return;
    g_autofree char *title =
        !more            ? g_strdup("Ancestor call sites:")
        : csds->len == 1 ? g_strdup("The closest ancestor call site:")
                         : g_strdup_printf("The %u closest ancestor call sites:", csds->len);
    fm_table_section(view->table, title, true);
    fm_table_separator(view->table);
    for (guint i = csds->len; i-- > 0;) { /* outermost first */
        uint32_t csd = g_array_index(csds, uint32_t, i);
        uint32_t css = page->profile->csd_css[csd];
        g_autofree char *place =
            fm_name_place(page, fm_css_file(page->profile, css), page->profile->css[css].line);
        struct fm_query caller = fm_page_link(
            page, FM_CMD_CLIQUE, fm_analysis_clique_of_csd_caller(page->analysis, csd));
        struct fm_cost cost;
        fm_analysis_csd_cost(page->analysis, csd, &cost);
        fm_table_row(view->table, "ancestor", false);
        fm_cell_string(view->table, place, FM_STYLE_PLAIN);
        fm_cell_link(view->table, &caller, fm_name_ps(page, page->profile->css[css].ps),
                     FM_STYLE_PLAIN);
        fm_cell_full(view->table, fm_full_name_ps(page, page->profile->css[css].ps));
        fm_perf_cells(&view->perf, page, view->table, &cost);
    }
    fm_table_separator(view->table);
}

/* --- call sites of one proc dynamic --- */

/* The callee of a csd: linked to its clique, unless it is this one. */
static struct fm_row callee_row(struct clique_view *view, uint32_t csd)
{
    const struct fm_profile *profile = view->page->profile;
    uint32_t pd = profile->csd_callee[csd], ps = profile->pd_ps[pd];
    uint32_t child = fm_analysis_csd_child_clique(view->page->analysis, csd);
    struct fm_row row = {
        .file = profile->ps[ps].file,
        .line = profile->ps[ps].line,
        .name = fm_name_ps(view->page, ps),
        .full = fm_full_name_ps(view->page, ps),
        .link = child ? FM_CMD_CLIQUE : FM_CMD_COUNT,
        .link_number = child,
        .id = csd,
    };
    fm_analysis_csd_cost(view->page->analysis, csd, &row.cost);
    return row;
}

static void fill_normal_site(struct clique_view *view, uint32_t css_id, const uint32_t *csds,
                             uint32_t count, struct fm_site *site)
{
    if (count == 0) {
        uint32_t callee = view->page->profile->css[css_id].callee_ps;
        g_autofree char *unknown = callee ? NULL : fm_name_site(view->page, css_id, false);
        site->row.cost.inlined = fm_profile_css_uncounted(view->page->profile, css_id);
        site->row.full = callee ? fm_full_name_ps(view->page, callee) : NULL;
        site->label = g_strdup_printf(site->row.cost.inlined ? "%s" : "no calls made to %s",
                                      callee ? fm_name_ps(view->page, callee) : unknown);
        return;
    }
    struct fm_row callee = callee_row(view, csds[0]);
    site->row.cost = callee.cost;
    site->row.link = callee.link;
    site->row.link_number = callee.link_number;
    site->row.full = callee.full;
    site->label = g_strdup(callee.name);
}

static uint32_t callee_ps(void *data, const struct fm_site *site, uint32_t index)
{
    const struct fm_profile *profile = ((const struct clique_view *)data)->page->profile;
    return profile->pd_ps[profile->csd_callee[site->callees[index]]];
}

static struct fm_row callee_at(void *data, const struct fm_site *site, uint32_t index)
{
    return callee_row(data, site->callees[index]);
}

static void fill_multi_site(struct clique_view *view, uint32_t css_id, const uint32_t *csds,
                            uint32_t count, struct fm_site *site)
{
    g_autofree char *name = fm_name_site(view->page, css_id, count > 0);
    site->label = g_strconcat(name, count ? " (summary)" : " (no calls made)", NULL);
    site->callees = g_memdup2(csds, count * sizeof *csds);
    for (uint32_t i = 0; i < count; i++) {
        struct fm_cost cost;
        fm_analysis_csd_cost(view->page->analysis, csds[i], &cost);
        fm_cost_add(&site->row.cost, &cost);
    }
    site->callee_count = view->page->query.preferences.summarize ? 0 : count;
}

static void add_sites(struct clique_view *view, uint32_t pd)
{
    const struct fm_profile *profile = view->page->profile;
    const struct fm_ps *proc = &profile->ps[profile->pd_ps[pd]];
    struct fm_site *sites = g_new0(struct fm_site, proc->css_count);
    uint32_t shown = 0;
    for (uint32_t slot = 0; slot < proc->css_count; slot++) {
        uint32_t count, css_id = profile->css_of_ps[proc->css_first + slot];
        const struct fm_css *css = &profile->css[css_id];
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        if (count == 0 && !view->page->query.preferences.show_inactive_call_sites)
            continue;
        struct fm_site *site = &sites[shown++];
        site->row = (struct fm_row){
            .file = fm_css_file(profile, css_id), .line = css->line, .link = FM_CMD_COUNT};
        if (css->kind == FM_SITE_NORMAL)
            fill_normal_site(view, css_id, csds, count, site);
        else
            fill_multi_site(view, css_id, csds, count, site);
    }
    fm_sites_print(view->page, view->table, &view->perf, sites, shown, &view->callees);
    fm_sites_free(sites, shown);
}

/* --- procedures --- */

static int compare_members(const void *a, const void *b)
{
    const struct member *ma = a, *mb = b;
    if (ma->ps != mb->ps)
        return ma->ps < mb->ps ? -1 : 1;
    return ma->pd > mb->pd ? -1 : ma->pd < mb->pd;
}

static int compare_values(const void *a, const void *b)
{
    const struct member *ma = a, *mb = b;
    if (ma->value != mb->value)
        return ma->value > mb->value ? -1 : 1;
    if (ma->tie != mb->tie)
        return ma->tie > mb->tie ? -1 : 1;
    return ma->pd < mb->pd ? -1 : ma->pd > mb->pd; /* the input was descending */
}

/* By procedure; inside each, proc dynamics by cost, most expensive first. */
static struct member *sorted_members(struct clique_view *view, uint32_t *ret_count)
{
    const struct fm_page *page = view->page;
    const struct fm_analysis *a = page->analysis;
    uint32_t first = a->clique_first[view->clique];
    uint32_t count = a->clique_first[view->clique + 1] - first;
    struct member *members = g_new0(struct member, count);
    for (uint32_t i = 0; i < count; i++) {
        members[i].pd = a->clique_pds[first + i];
        members[i].ps = page->profile->pd_ps[members[i].pd];
    }
    qsort(members, count, sizeof *members, compare_members);
    *ret_count = count;
    return members;
}

static void sort_group(struct clique_view *view, struct member *members, uint32_t count)
{
    const struct fm_preferences *preferences = &view->page->query.preferences;
    struct fm_cost_order order =
        preferences->order == FM_ORDER_COST ? preferences->cost : fm_default_cost_order;
    for (uint32_t i = 0; i < count; i++) {
        struct fm_cost cost;
        fm_analysis_pd_cost(view->page->analysis, members[i].pd, &cost);
        fm_cost_key(&cost, &order, &members[i].value, &members[i].tie);
    }
    qsort(members, count, sizeof *members, compare_values);
}

static void add_pd(struct clique_view *view, uint32_t pd)
{
    g_assert(pd >= 1 && pd <= view->page->profile->pd_count);
    struct fm_page *page = view->page;
    uint32_t ps = page->profile->pd_ps[pd];
    const struct fm_ps *proc = &page->profile->ps[ps];
    g_autofree char *place = fm_name_place(page, proc->file, proc->line);
    struct fm_query query = fm_page_link(page, FM_CMD_PROC, ps);
    struct fm_cost cost;
    fm_analysis_pd_cost(page->analysis, pd, &cost);
    fm_table_row(view->table, "proc", false);
    fm_cell_string(view->table, place, FM_STYLE_BOLD);
    fm_cell_link(view->table, &query, fm_name_ps(page, ps), FM_STYLE_BOLD);
    fm_cell_full(view->table, fm_full_name_ps(page, ps));
    fm_perf_cells(&view->perf, page, view->table, &cost);
    fm_table_separator(view->table);
    add_sites(view, pd);
    view->pds_shown++;
}

static void add_group(struct clique_view *view, const struct fm_row *row, struct member *members,
                      uint32_t count)
{
    struct fm_page *page = view->page;
    fm_table_separator(view->table);
    if (count > 1) {
        g_autofree char *place = fm_name_place(page, row->file, row->line);
        g_autofree char *label = g_strconcat("summary ", row->name, NULL);
        fm_table_row(view->table, "summary", false);
        fm_cell_string(view->table, place, FM_STYLE_BOLD);
        fm_cell_string(view->table, label, FM_STYLE_BOLD);
        fm_perf_cells(&view->perf, page, view->table, &row->cost);
        fm_table_separator(view->table);
        sort_group(view, members, count);
    }
    for (uint32_t i = 0; i < count && view->pds_shown < PDS_SHOWN_MAX; i++) {
        if (i > 0)
            fm_table_separator(view->table);
        add_pd(view, members[i].pd);
    }
}

/* Adds the row with the cost of the call that entered the recursion. The own costs of the rows add
 * up to its own cost. */
static void add_whole(struct clique_view *view, const struct fm_row *rows, guint count)
{
    struct fm_cost whole = {0};
    for (guint i = 0; i < count; i++)
        fm_cost_add(&whole, &rows[i].cost);
    for (unsigned m = FM_FIRST_INHERITED; m < view->page->profile->measure_count; m++)
        whole.desc[m] =
            fm_analysis_clique_total(view->page->analysis, view->clique, (enum fm_measure_id)m) -
            whole.own[m];
    whole.of_recursion = 0;
    fm_table_separator(view->table);
    fm_recursion_row(
        view->page, view->table, &view->perf,
        &(struct fm_recursion_row){"whole", 1, "the recursion as a whole", FM_STYLE_BOLD, &whole});
}

/* Makes one row for each procedure, the entry procedure first; rows[i].id = index of its group. */
static struct fm_row *group_rows(struct clique_view *view, const struct member *members,
                                 uint32_t count, GArray *groups)
{
    const struct fm_profile *profile = view->page->profile;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || members[i].ps != members[i - 1].ps)
            g_array_append_val(groups, ((struct group){.first = i}));
        g_array_index(groups, struct group, groups->len - 1).count++;
    }
    struct fm_row *rows = g_new(struct fm_row, groups->len);
    uint32_t entry_pd = fm_analysis_clique_entry(view->page->analysis, view->clique);
    uint32_t entry_index = 0;
    for (guint i = 0; i < groups->len; i++) {
        const struct group *group = &g_array_index(groups, struct group, i);
        uint32_t ps = members[group->first].ps;
        rows[i] = (struct fm_row){.file = profile->ps[ps].file,
                                  .line = profile->ps[ps].line,
                                  .name = fm_name_ps(view->page, ps),
                                  .full = fm_full_name_ps(view->page, ps),
                                  .id = i};
        if (entry_pd && profile->pd_ps[entry_pd] == ps)
            entry_index = i;
        for (uint32_t m = 0; m < group->count; m++) {
            struct fm_cost cost;
            fm_analysis_pd_cost(view->page->analysis, members[group->first + m].pd, &cost);
            fm_cost_add(&rows[i].cost, &cost);
        }
    }
    struct fm_row entry = rows[entry_index];
    memmove(rows + 1, rows, entry_index * sizeof *rows);
    rows[0] = entry;
    return rows;
}

static void add_procs(struct clique_view *view)
{
    struct fm_page *page = view->page;
    uint32_t count;
    g_autofree struct member *members = sorted_members(view, &count);
    g_autoptr(GArray) groups = g_array_new(FALSE, FALSE, sizeof(struct group));
    g_autofree struct fm_row *rows = group_rows(view, members, count, groups);
    const struct fm_terms *terms = page->terms;
    g_autofree char *title =
        groups->len == 1 ? g_strdup_printf("The %s has one %s:", terms->clique, terms->proc)
                         : g_strdup_printf("%ss of the %s:", terms->proc_title, terms->recursion);
    fm_table_section(view->table, title, true);
    if (count > 1)
        add_whole(view, rows, groups->len);
    /* In order of context the entry stays first, because it was called from outside. */
    bool entry_stays = page->query.preferences.order == FM_ORDER_CONTEXT;
    fm_rows_sort(page, rows + entry_stays, groups->len - entry_stays, NULL);
    for (guint i = 0; i < groups->len && view->pds_shown < PDS_SHOWN_MAX; i++) {
        const struct group *group = &g_array_index(groups, struct group, rows[i].id);
        add_group(view, &rows[i], members + group->first, group->count);
    }
    if (view->pds_shown < count) {
        g_autofree char *left =
            g_strdup_printf("%" PRIu32 " further contexts are not shown.", count - view->pds_shown);
        fm_table_separator(view->table);
        fm_table_section(view->table, left, false);
    }
}

/* The contexts around it, from the program's entry on; of a long path, the last ones. */
static void add_crumbs(struct fm_page *page, uint32_t clique)
{
    uint32_t cliques[CRUMBS_MAX];
    uint32_t count = fm_clique_way(page->analysis, clique, cliques, CRUMBS_MAX);
    struct fm_list *crumbs = fm_display_crumbs(page->display);
    uint32_t stored = MIN(count, CRUMBS_MAX);
    if (count > stored)
        fm_add_text(crumbs, "\u2026");
    for (uint32_t i = 0; i < stored; i++) {
        g_autofree char *label = fm_clique_label(page, cliques[i]);
        struct fm_query query = fm_page_link(page, FM_CMD_CLIQUE, cliques[i]);
        if (i + 1 == stored)
            fm_add_text(crumbs, label);
        else
            fm_add_link(crumbs, &query, label);
    }
}

/* For C programs: adds a function with its callers and callees in this context; for a recursion,
 * its graph. */
static void add_in_context(struct fm_page *page, uint32_t clique)
{
    const struct fm_analysis *a = page->analysis;
    struct fm_measured measured;
    char focus[32];
    fm_measured_init(&measured, page->recording, fm_measure_preferred(page));
    g_snprintf(focus, sizeof focus, "clique/%" PRIu32, clique);
    fm_add_ranks_link(page, focus, "Values of each rank");
    if (fm_digest_clique_procs(a, clique) == 1) {
        uint32_t ps = page->profile->pd_ps[a->clique_pds[a->clique_first[clique]]];
        struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
        struct fm_query all = fm_page_link(page, FM_CMD_PROC, ps);
        struct fm_query contexts = fm_page_link(page, FM_CMD_CONTEXTS, ps);
        fm_measured_of_function(&measured, page, fm_measure_preferred(page), ps);
        fm_add_butterfly_lead(page, &measured, ps, clique);
        fm_add_link(list, &all, "In all contexts");
        fm_add_link(list, &contexts, "Other contexts");
        fm_add_measure_orders(page, measured.asked);
        fm_add_butterfly(page, &measured, ps, clique);
        fm_add_heading(page->body, "All measures, call by call");
        return;
    }
    struct fm_query graph = fm_page_link(page, FM_CMD_GRAPH, 0);
    graph.command.measure = measured.asked;
    graph.command.name = focus;
    fm_add_link(page->body, &graph, "Call graph of the recursion");
}

/* In C programs a context is named after its function. */
static char *title_of(const struct fm_page *page, uint32_t clique)
{
    if (page->profile->flavour != FM_FLAVOUR_C || fm_digest_is_outside(page->analysis, clique))
        return g_strdup_printf("Clique %" PRIu32, clique);
    g_autofree char *label = fm_clique_label(page, clique);
    return g_strdup_printf("%s in one context", label);
}

void fm_clique_page(struct fm_page *page, uint32_t clique)
{
    g_return_if_fail(clique >= 1 && clique <= page->analysis->clique_count);
    const struct fm_analysis *a = page->analysis;
    uint32_t first = a->clique_first[clique];
    uint32_t count = a->clique_first[clique + 1] - first;
    page->module = common_module(page, a->clique_pds + first, count);
    fm_page_begin(page, "clique", title_of(page, clique));
    add_crumbs(page, clique);
    fm_display_fact_int(page->display, "clique", clique);
    fm_display_fact_int(page->display, "pd_count", count);
    fm_display_fact_int(page->display, "parent_csd", a->clique_parent[clique]);
    if (count > 1 && page->profile->flavour == FM_FLAVOUR_C) {
        fm_add_text(page->body,
                    "The total of a function is what ran while it was active, each moment once: "
                    "functions of a recursion are active together, so their totals overlap.");
    } else if (count > 1) {
        g_autofree char *text = g_strdup_printf(
            "In a recursion, each %s has its self cost and its calls that leave the recursion; "
            "together they are the total cost of the call that entered the recursion.",
            page->terms->proc);
        fm_add_text(page->body, text);
    }
    if (page->profile->flavour == FM_FLAVOUR_C)
        add_in_context(page, clique);
    struct clique_view view = {.page = page, .clique = clique};
    view.callees = (struct fm_callees){.ps = callee_ps, .row = callee_at, .data = &view};
    fm_callees_begin(page, &view.callees);
    fm_perf_init(&view.perf, page, true);
    view.table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "clique");
    fm_perf_proc_header(&view.perf, view.page, view.table);
    add_ancestors(&view);
    add_procs(&view);
    fm_callees_end(page, &view.callees);

    fm_controls_ancestors(page);
    fm_controls_inactive_call_sites(page);
    fm_controls_summarize(page);
    fm_controls_qualify(page);
    fm_controls_sort(page);
    fm_controls_fields(page);
    fm_controls_format(page);
    fm_controls_clique_reports(page, clique);
    fm_controls_general(page);
}

bool fm_page_clique(struct fm_page *page, GError **error)
{
    uint32_t clique = page->query.command.number;
    if (!fm_page_check_id(page, "clique", clique, page->analysis->clique_count, error))
        return false;
    fm_clique_page(page, clique);
    return true;
}
