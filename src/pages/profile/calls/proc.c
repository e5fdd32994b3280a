/* SPDX-License-Identifier: Apache-2.0 */
/* proc/PS: one procedure, summed over all contexts, and its call sites with their callees. */
#include "pages/profile/calls/calls.h"

#include "profile/digest/calls/site_cache.h"
#include "pages/profile/bodies/source.h"
#include "pages/profile/calls/butterfly.h"
#include "pages/profile/measured/durations.h"
#include "pages/profile/measured/ranks.h"
#include "pages/profile/measured/hot_tables.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/parts/bodies.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/order.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"
#include "pages/profile/parts/preferences.h"
#include "pages/profile/parts/recursion.h"
#include "pages/profile/parts/sites.h"

#define CALLERS_A_PAGE 20
#define CONTEXTS_LINKED_MAX 20
#define CONTEXTS_SHOWN 8
#define CONTEXTS_COUNTED 100000 /* with more contexts, counting would take too long */

struct proc_view {
    struct fm_page *page;
    uint32_t ps;
    struct fm_perf perf;
    struct fm_table *table;
};

/* For developers: its callers without direct recursion; costs not compensated. */
static void add_callers_row(struct proc_view *view)
{
    struct fm_callers_other other;
    fm_analysis_callers_other(view->page->analysis, view->ps, &other);
    g_autofree char *label = g_strdup_printf("%" PRIu32 " static & %" PRIu32 " dynamic call sites",
                                             other.procs, other.csds);
    fm_table_section(view->table, "Callers excluding directly-recursive calls", true);
    fm_table_row(view->table, "callers", true);
    fm_cell_empty(view->table);
    fm_cell_string(view->table, label, FM_STYLE_PLAIN);
    fm_perf_cells(&view->perf, view->page, view->table, &other.cost);
    fm_table_separator(view->table);
}

/* Whether callers paid another amount than the procedure's total; with direct recursion only, both
 * are equal. */
static bool totals_differ(const struct fm_callers_sum *sum)
{
    for (unsigned m = FM_FIRST_INHERITED; m < FM_MEASURES_MAX; m++) {
        enum fm_measure_id measure = (enum fm_measure_id)m;
        if (fm_cost_total(&sum->within, measure) != 0 || fm_cost_total(&sum->others, measure) != 0)
            return true;
    }
    return false;
}

/* Adds what its callers paid, and the difference from its total. */
static void add_recursion(struct proc_view *view, const struct fm_callers_sum *sum)
{
    fm_recursion_row(view->page, view->table, &view->perf,
                     &(struct fm_recursion_row){"outside", 1, "calls from outside its recursions",
                                                FM_STYLE_PLAIN, &sum->outside});
    fm_recursion_row(view->page, view->table, &view->perf,
                     &(struct fm_recursion_row){"within", 1, "calls inside its recursions",
                                                FM_STYLE_PLAIN, &sum->within});
    fm_recursion_others_row(view->page, view->table, &view->perf, 1, sum);
    fm_table_separator(view->table);
}

static void fill_normal_site(struct proc_view *view, uint32_t css_id, struct fm_site *site)
{
    const struct fm_css *css = &view->page->profile->css[css_id];
    fm_analysis_css_cost(view->page->analysis, css_id, &site->row.cost);
    if (css->callee_ps == 0) { /* C only: the linker's business */
        site->label = fm_name_site(view->page, css_id, site->row.cost.calls != 0);
        return;
    }
    site->row.link = FM_CMD_PROC;
    site->row.link_number = css->callee_ps;
    const char *name = fm_name_ps(view->page, css->callee_ps);
    site->row.full = fm_full_name_ps(view->page, css->callee_ps);
    site->label =
        css->type_subst[0] ? g_strdup_printf("%s [%s]", name, css->type_subst) : g_strdup(name);
}

static struct fm_row callee_row(struct proc_view *view, uint32_t ps)
{
    const struct fm_ps *proc = &view->page->profile->ps[ps];
    return (struct fm_row){.file = proc->file,
                           .line = proc->line,
                           .name = fm_name_ps(view->page, ps),
                           .full = fm_full_name_ps(view->page, ps),
                           .link = FM_CMD_PROC,
                           .link_number = ps,
                           .id = ps};
}

/* site->callees[i] is the index of the first call of callee i; the last entry is the number of
 * calls at the site. */
static uint32_t callee_ps(void *data, const struct fm_site *site, uint32_t index)
{
    const struct proc_view *view = data;
    uint32_t from = site->callees[index], ps = 0;
    int64_t calls;
    fm_analysis_site_calls(view->page->analysis, site->row.id, &from, &ps, &calls);
    return ps;
}

static struct fm_row callee_at(void *data, const struct fm_site *site, uint32_t index)
{
    struct proc_view *view = data;
    uint32_t from = site->callees[index], ps = 0;
    struct fm_cost cost;
    fm_analysis_site_callee(view->page->analysis, site->row.id, &from, &ps, &cost);
    struct fm_row row = callee_row(view, ps);
    row.cost = cost;
    return row;
}

/* Fills in the calls at the site, summed by callee and compensated like the site itself. */
static void fill_multi_site(struct proc_view *view, uint32_t css_id, struct fm_site *site)
{
    const struct fm_page *page = view->page;
    struct fm_site_callees *callees =
        fm_site_cache_callees(page->recording->sites, page->analysis, css_id);
    fm_cost_add(&site->row.cost, &callees->cost);
    site->row.id = css_id;
    site->keeps_order = page->recording->sites != NULL && fm_site_cache_keeps(callees->count);
    site->label = fm_name_site(page, css_id, callees->count > 0);
    site->callee_count = page->query.preferences.summarize ? 0 : callees->count;
    site->callees = g_memdup2(callees->starts, callees->count * sizeof callees->starts[0]);
    g_atomic_rc_box_release(callees);
}

static GBytes *kept_order(void *data, const struct fm_site *site, uint32_t key)
{
    const struct proc_view *view = data;
    return fm_site_cache_order(view->page->recording->sites, site->row.id, key);
}

static void keep_order(void *data, const struct fm_site *site, uint32_t key, GBytes *order)
{
    const struct proc_view *view = data;
    fm_site_cache_keep_order(view->page->recording->sites, site->row.id, key, order);
}

static void add_sites(struct proc_view *view)
{
    struct fm_page *page = view->page;
    const struct fm_profile *profile = page->profile;
    const struct fm_ps *proc = &profile->ps[view->ps];
    struct fm_site *sites = g_new0(struct fm_site, proc->css_count);
    uint32_t shown = 0;
    for (uint32_t slot = 0; slot < proc->css_count; slot++) {
        uint32_t css_id = profile->css_of_ps[proc->css_first + slot];
        const struct fm_css *css = &profile->css[css_id];
        bool called =
            page->analysis->css_csd_first[css_id] != page->analysis->css_csd_first[css_id + 1];
        if (!called && !page->query.preferences.show_inactive_call_sites)
            continue;
        struct fm_site *site = &sites[shown++];
        site->row = (struct fm_row){
            .file = fm_css_file(profile, css_id), .line = css->line, .link = FM_CMD_COUNT};
        if (css->kind == FM_SITE_NORMAL)
            fill_normal_site(view, css_id, site);
        else
            fill_multi_site(view, css_id, site);
    }
    struct fm_callees callees = {.ps = callee_ps,
                                 .row = callee_at,
                                 .kept_order = kept_order,
                                 .keep_order = keep_order,
                                 .data = view};
    fm_callees_begin(page, &callees);
    fm_sites_print(page, view->table, &view->perf, sites, shown, &callees);
    fm_callees_end(page, &callees);
    fm_sites_free(sites, shown);
    fm_display_fact_int(page->display, "call_site_count", proc->css_count);
    fm_display_fact_int(page->display, "call_sites_shown_count", shown);
}

/* Adds the contexts of the procedure: cliques of its proc dynamics. If there are many, the callers
 * by clique say more. */
static void add_contexts(struct fm_page *page, uint32_t ps)
{
    g_assert(ps >= 1 && ps <= page->profile->ps_count);
    const struct fm_analysis *a = page->analysis;
    uint32_t first = a->ps_pd_first[ps], end = a->ps_pd_first[ps + 1];
    if (first == end || end - first > CONTEXTS_LINKED_MAX)
        return;
    g_autofree char *title = g_strdup_printf("The %s's contexts:", page->terms->proc);
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, title);
    uint32_t before = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t clique = a->pd_clique[a->ps_pds[i]];
        struct fm_query query = fm_page_link(page, FM_CMD_CLIQUE, clique);
        g_autofree char *label = g_strdup_printf("clique %" PRIu32, clique);
        if (clique != before) /* contexts of one clique are usually neighbours */
            fm_add_link(list, &query, label);
        before = clique;
    }
}

/* How often its lines ran, and that in each context. */
static void add_coverage(struct fm_page *page, uint32_t ps)
{
    const struct fm_analysis *a = page->analysis;
    uint32_t first = a->ps_pd_first[ps], end = a->ps_pd_first[ps + 1];
    if (page->profile->flavour != FM_FLAVOUR_C || page->profile->ps[ps].point_count == 0)
        return;
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, "Coverage:");
    struct fm_query all = fm_page_link(page, FM_CMD_PROC_STATIC_COVERAGE, ps);
    fm_add_link(list, &all, "all contexts");
    for (uint32_t i = first; i < end && end - first <= CONTEXTS_LINKED_MAX; i++) {
        struct fm_query one = fm_page_link(page, FM_CMD_PROC_DYNAMIC_COVERAGE, a->ps_pds[i]);
        g_autofree char *label = g_strdup_printf("in clique %" PRIu32, a->pd_clique[a->ps_pds[i]]);
        fm_add_link(list, &one, label);
    }
}

static void add_facts(struct fm_page *page, uint32_t ps, const struct fm_cost *cost)
{
    const struct fm_ps *proc = &page->profile->ps[ps];
    const struct fm_analysis *a = page->analysis;
    fm_display_fact_int(page->display, "ps", ps);
    fm_display_fact_string(page->display, "qualified_name", proc->qualified_name);
    if (fm_full_name_ps(page, ps))
        fm_display_fact_string(page->display, "full_name", fm_full_name_ps(page, ps));
    fm_display_fact_string(page->display, "raw_name", proc->raw_name);
    fm_display_fact_string(page->display, "module", proc->decl_module);
    fm_display_fact_string(page->display, "file", proc->file);
    fm_display_fact_int(page->display, "line", proc->line);
    fm_display_fact_int(page->display, "pd_count", a->ps_pd_first[ps + 1] - a->ps_pd_first[ps]);
    fm_display_fact_int(page->display, "caller_csd_count",
                        a->ps_caller_first[ps + 1] - a->ps_caller_first[ps]);
    if (fm_profile_knows(page->profile, FM_EXITS))
        fm_display_fact_int(page->display, "calls_count", cost->calls);
    else
        fm_display_fact_null(page->display, "calls_count");
    fm_display_fact_bool(page->display, "recursive", fm_analysis_is_recursive(a, ps));
    fm_display_fact_bool(page->display, "calls_of_inlined_bodies_recorded", !cost->inlined);
}

/* "ltable.c:551 · part of a recursion in 20 of 40 contexts" */
static void add_where(struct fm_page *page, uint32_t ps)
{
    const struct fm_ps *proc = &page->profile->ps[ps];
    const struct fm_analysis *a = page->analysis;
    uint32_t first = a->ps_pd_first[ps], end = a->ps_pd_first[ps + 1], inside = 0;
    g_autofree char *place = fm_name_place(page, proc->file, proc->line);
    g_autoptr(GString) text = g_string_new(place);
    for (uint32_t i = first; i < end && end - first <= CONTEXTS_COUNTED; i++) {
        uint32_t clique = a->pd_clique[a->ps_pds[i]];
        inside += a->clique_first[clique + 1] - a->clique_first[clique] > 1;
    }
    if (inside > 0)
        g_string_append_printf(
            text, "  \u00b7 part of a recursion in %" PRIu32 " of %" PRIu32 " context%s", inside,
            end - first, end - first == 1 ? "" : "s");
    if (text->len > 0)
        fm_add_text(page->body, text->str);
}

/* It between its callers and callees, its contexts, its source. */
static void add_neighbours(struct fm_page *page, uint32_t ps)
{
    struct fm_measured measured;
    fm_measured_of_function(&measured, page, fm_measure_preferred(page), ps);
    if (page->query.compact)
        add_where(page, ps);
    fm_add_butterfly_lead(page, &measured, ps, 0);
    fm_add_measure_orders(page, measured.asked);
    if (fm_page_has_contexts(page))
        fm_add_contexts(page, &measured, ps, 2, CONTEXTS_SHOWN);
    fm_add_durations(page, ps);
    g_autofree char *focus = g_strdup_printf("proc/%" PRIu32, ps);
    fm_add_ranks_link(page, focus, "How the ranks differ here");
    fm_add_butterfly(page, &measured, ps, 0);
    fm_source_add(page, ps, 0);
    fm_add_heading(page->body, "All measures, call by call");
}

bool fm_page_proc(struct fm_page *page, GError **error)
{
    uint32_t ps = page->query.command.number;
    if (!fm_page_check_id(page, "proc_static", ps, page->profile->ps_count, error))
        return false;
    const struct fm_ps *proc = &page->profile->ps[ps];
    page->module = proc->decl_module;
    fm_page_begin(
        page, "proc",
        page->query.compact && page->profile->flavour == FM_FLAVOUR_C
            ? g_strdup(fm_shown_name(page, ps))
            : g_strdup_printf("Summary of %s %s", page->terms->proc, proc->qualified_name));
    fm_function_crumbs(page, ps, NULL);
    struct fm_cost cost;
    fm_analysis_ps_cost(page->analysis, ps, &cost);
    add_facts(page, ps, &cost);

    struct proc_view view = {.page = page, .ps = ps};
    /* Further pages show callees only: the rest is on the first page. */
    bool first_page = page->query.command.bunch <= 1;
    if (page->profile->flavour == FM_FLAVOUR_C && first_page)
        add_neighbours(page, ps);
    else if (page->profile->flavour == FM_FLAVOUR_C)
        fm_add_heading(page->body, "All measures, call by call");
    struct fm_callers_sum sum;
    bool differ = fm_analysis_is_recursive(page->analysis, ps);
    if (differ) {
        fm_analysis_callers_sum(page->analysis, ps, &sum);
        differ = totals_differ(&sum);
    }
    if (differ)
        fm_recursion_text(page, "above its own");
    fm_perf_init(&view.perf, page, true);
    view.table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "proc");
    fm_perf_proc_header(&view.perf, view.page, view.table);
    if (page->query.preferences.developer)
        add_callers_row(&view);
    if (differ)
        add_recursion(&view, &sum);
    g_autofree char *place = fm_name_place(page, proc->file, proc->line);
    fm_table_row(view.table, "proc", false);
    fm_cell_string(view.table, place, FM_STYLE_BOLD);
    fm_cell_string(view.table, fm_name_ps(page, ps), FM_STYLE_BOLD);
    fm_cell_full(view.table, fm_full_name_ps(page, ps));
    fm_perf_cells(&view.perf, page, view.table, &cost);
    fm_table_separator(view.table);
    add_sites(&view);
    if (first_page) {
        fm_body_add(page, ps);
        if (page->profile->flavour == FM_FLAVOUR_MERCURY)
            add_contexts(page, ps);
        add_coverage(page, ps);
    }
    g_autofree char *callers = g_strdup_printf("The %s's callers:", page->terms->proc);
    fm_controls_grouping(page, callers, ps, CALLERS_A_PAGE, page->query.preferences.contour);
    fm_controls_summarize(page);
    fm_controls_inactive_call_sites(page);
    fm_controls_qualify(page);
    fm_controls_sort(page);
    fm_controls_fields(page);
    fm_controls_format(page);
    fm_controls_proc_reports(page, ps);
    fm_controls_general(page);
    return true;
}
