/* SPDX-License-Identifier: Apache-2.0 */
/* proc_callers/PS/GROUP/PAGE/SIZE/CONTOUR: callers of a procedure, grouped, in pages. */
#include "pages/profile/calls/calls.h"

#include "base/error.h"
#include "pages/profile/calls/callers_groups.h"
#include "pages/profile/calls/callers_ranked.h"
#include "pages/profile/measured/cost_table.h"
#include "pages/profile/measured/path_text.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/order.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"
#include "pages/profile/parts/preferences.h"
#include "pages/profile/parts/recursion.h"

/* At most this number of a clique's members is named: thousands are useless in one row. */
#define MEMBERS_SHOWN_MAX 20
#define PATH_STEPS_MAX 8 /* longer paths have their middle left out */

struct callers_view {
    struct fm_page *page;
    uint32_t ps;
    struct fm_caller_groups groups;
    bool recursive; /* there are calls inside recursions, which have rows of their own */
    uint32_t bunch, bunch_size, bunches; /* bunch from 1, after correction */
    struct fm_perf perf;
    struct fm_table *table;
};

static void add_header(struct callers_view *view)
{
    struct fm_page *page = view->page;
    struct fm_query by_context = fm_page_same(page), by_name = fm_page_same(page);
    fm_preferences_set_order(&by_context.preferences, FM_ORDER_CONTEXT, NULL);
    fm_preferences_set_order(&by_name.preferences, FM_ORDER_NAME, NULL);
    fm_table_group(view->table, "Rank", FM_COLUMN_ORDINAL_RANK, FM_COLOUR_NEVER);
    fm_table_column(view->table, NULL, "rank", NULL);
    g_autofree char *in_proc = g_strdup_printf("In %s", page->terms->proc);
    bool c = page->profile->flavour == FM_FLAVOUR_C;
    switch (page->query.command.group) {
    case FM_GROUP_CALL_SITE:
    case FM_GROUP_PROC:
        fm_table_group(view->table, "Source", FM_COLUMN_SOURCE_CONTEXT, FM_COLOUR_NEVER);
        fm_table_column(view->table, NULL, "source", &by_context);
        fm_table_group(view->table,
                       page->query.command.group == FM_GROUP_PROC ? page->terms->proc_title
                                                                  : in_proc,
                       FM_COLUMN_PROC, FM_COLOUR_NEVER);
        fm_table_column(view->table, NULL, "proc", &by_name);
        break;
    case FM_GROUP_MODULE:
        fm_table_group(view->table, page->terms->module_title, FM_COLUMN_MODULE_NAME,
                       FM_COLOUR_NEVER);
        fm_table_column(view->table, NULL, "module", &by_name);
        break;
    case FM_GROUP_CLIQUE:
        fm_table_group(view->table, c ? "Context" : "Clique", FM_COLUMN_CLIQUE, FM_COLOUR_NEVER);
        fm_table_column(view->table, NULL, "clique", &by_context);
        fm_table_group(view->table, c ? "Path" : "Members", FM_COLUMN_PROC, FM_COLOUR_NEVER);
        fm_table_column(view->table, NULL, "members", &by_name);
        break;
    }
    fm_perf_header(&view->perf, page, view->table);
}

/* Adds rows for the members other than the entry, below the clique's own row. */
static void add_members(struct callers_view *view, uint32_t clique)
{
    struct fm_page *page = view->page;
    const struct fm_analysis *a = page->analysis;
    uint32_t entry, shown = 0, left = 0;
    fm_caller_clique_name(page, clique, &entry);
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        uint32_t ps = page->profile->pd_ps[a->clique_pds[i]];
        if (a->clique_pds[i] == entry)
            continue;
        if (shown == MEMBERS_SHOWN_MAX) {
            left = a->clique_first[clique + 1] - i;
            break;
        }
        struct fm_query query = fm_page_link(page, FM_CMD_PROC, ps);
        fm_table_row(view->table, "member", false);
        fm_cell_empty(view->table);
        fm_cell_empty(view->table);
        fm_cell_link(view->table, &query, fm_name_ps(page, ps), FM_STYLE_PLAIN);
        fm_cell_full(view->table, fm_full_name_ps(page, ps));
        fm_perf_empty_cells(&view->perf, view->table);
        shown++;
    }
    if (left == 0)
        return;
    g_autofree char *more = g_strdup_printf("and %" PRIu32 " more", left);
    fm_table_row(view->table, "members_left", false);
    fm_cell_empty(view->table);
    fm_cell_empty(view->table);
    fm_cell_string(view->table, more, FM_STYLE_PLAIN);
    fm_perf_empty_cells(&view->perf, view->table);
}

static void add_module_cell(struct callers_view *view, const char *name)
{
    /* The runtime's own module has no page that is worth a link. */
    if (g_strcmp0(name, view->page->terms->runtime_module) == 0 || !name[0]) {
        fm_cell_string(view->table, name[0] ? name : view->page->terms->runtime, FM_STYLE_PLAIN);
        return;
    }
    struct fm_query query = fm_page_link(view->page, FM_CMD_MODULE, 0);
    query.command.module = g_strdup(name);
    fm_cell_link(view->table, &query, name, FM_STYLE_PLAIN);
    g_free(query.command.module);
}

/* Adds the cells that name the caller. */
static void add_names(struct callers_view *view, const struct fm_row *row,
                      const struct fm_callers_row *caller)
{
    struct fm_page *page = view->page;
    switch (page->query.command.group) {
    case FM_GROUP_CALL_SITE:
    case FM_GROUP_PROC: {
        g_autofree char *place = fm_name_place(page, row->file, row->line);
        fm_cell_string(view->table, place, FM_STYLE_PLAIN);
        fm_row_name_cell(page, view->table, row, FM_STYLE_PLAIN);
        break;
    }
    case FM_GROUP_MODULE:
        add_module_cell(view, caller->module);
        break;
    case FM_GROUP_CLIQUE: {
        g_autofree char *number = g_strdup_printf("%" PRIu32, caller->clique);
        struct fm_query clique = fm_page_link(page, FM_CMD_CLIQUE, caller->clique);
        uint32_t entry;
        fm_caller_clique_name(page, caller->clique, &entry);
        fm_cell_link(view->table, &clique, number, FM_STYLE_PLAIN);
        if (page->profile->flavour == FM_FLAVOUR_C && !fm_caller_is_root(page, caller->clique)) {
            g_autofree char *path = fm_clique_path(page, caller->clique, PATH_STEPS_MAX);
            fm_cell_link(view->table, &clique, path, FM_STYLE_PLAIN);
            break;
        }
        struct fm_row proc = *row;
        proc.link = FM_CMD_PROC;
        proc.link_number = page->profile->pd_ps[entry];
        fm_row_name_cell(page, view->table, &proc, FM_STYLE_PLAIN);
        break;
    }
    }
}

static void add_row(struct callers_view *view, uint32_t index)
{
    struct fm_page *page = view->page;
    struct fm_callers_row caller;
    struct fm_row row;
    fm_caller_groups_at(&view->groups, index, &caller, &row);
    fm_table_row(view->table, "caller", false);
    fm_cell_int(view->table, (int64_t)index + 1);
    add_names(view, &row, &caller);
    fm_perf_cells(&view->perf, page, view->table, &row.cost);
    if (page->query.command.group == FM_GROUP_CLIQUE &&
        page->profile->flavour != FM_FLAVOUR_C) /* a path names its recursion */
        add_members(view, caller.clique);
}

/* --- calls inside recursions --- */

static void add_insiders(struct callers_view *view, unsigned before)
{
    struct fm_page *page = view->page;
    struct fm_caller_groups groups;
    fm_caller_groups_find(&groups, page, view->ps, true);
    uint32_t count = groups.count, shown = MIN(count, view->bunch_size);
    for (uint32_t i = 0; i < shown; i++) {
        struct fm_callers_row caller;
        struct fm_row row;
        fm_caller_groups_at(&groups, i, &caller, &row);
        fm_table_row(view->table, "inside", false);
        fm_cell_empty(view->table); /* no rank */
        add_names(view, &row, &caller);
        fm_perf_self_cells(&view->perf, page, view->table, &row.cost);
    }
    fm_caller_groups_done(&groups);
    if (shown < count) {
        g_autofree char *more = g_strdup_printf("and %" PRIu32 " more", count - shown);
        fm_table_row(view->table, "inside_left", false);
        for (unsigned i = 0; i < before; i++)
            fm_cell_empty(view->table);
        fm_cell_string(view->table, more, FM_STYLE_PLAIN);
        fm_perf_empty_cells(&view->perf, view->table);
    }
    fm_display_fact_int(page->display, "inside_groups_count", count);
}

/* With these rows, the rows of all pages add up to the procedure's total. */
static void add_recursion(struct callers_view *view)
{
    struct fm_page *page = view->page;
    unsigned before = page->query.command.group == FM_GROUP_MODULE ? 1 : 2;
    struct fm_callers_sum sum;
    fm_analysis_callers_sum(page->analysis, view->ps, &sum);
    g_autofree char *label = g_strdup_printf("what the %s cost", page->terms->proc);
    fm_table_separator(view->table);
    fm_recursion_row(page, view->table, &view->perf,
                     &(struct fm_recursion_row){"within", before, "all calls inside recursions:",
                                                FM_STYLE_ITALIC, &sum.within});
    add_insiders(view, before);
    fm_recursion_others_row(page, view->table, &view->perf, before, &sum);
    fm_table_separator(view->table);
    fm_recursion_row(page, view->table, &view->perf,
                     &(struct fm_recursion_row){"sum", before, label, FM_STYLE_BOLD, &sum.total});
}

/* --- paging --- */

static void offer_bunch(struct fm_controls *controls, uint32_t bunch, uint32_t size,
                        const char *label, const char *id)
{
    struct fm_page *page = controls->page;
    struct fm_query query = fm_page_link(page, FM_CMD_PROC_CALLERS, page->query.command.number);
    query.command.group = page->query.command.group;
    query.command.contour = page->query.command.contour;
    query.command.bunch = bunch;
    query.command.bunch_size = size;
    fm_controls_offer(controls, &query, label, id);
}

static void offer_size(struct callers_view *view, struct fm_controls *controls, uint32_t size,
                       const char *label, const char *id)
{
    g_assert(size > 0);
    uint64_t first_row = (uint64_t)(view->bunch - 1) * view->bunch_size; /* stays on the page */
    offer_bunch(controls, (uint32_t)(first_row / size) + 1, size, label, id);
}

static void add_paging(struct callers_view *view)
{
    static const struct {
        uint32_t size;
        const char *label, *id;
    } sizes[] = {
        {10, "Set group size to 10", "size-10"},
        {20, "Set group size to 20", "size-20"},
        {50, "Set group size to 50", "size-50"},
        {100, "Set group size to 100", "size-100"},
    };
    struct fm_controls other = {.page = view->page, .title = "Show other groups:"};
    uint32_t bunch = view->bunch, size = view->bunch_size;
    if (bunch > 1) {
        offer_bunch(&other, 1, size, "First group", "page-first");
        offer_bunch(&other, bunch - 1, size, "Previous group", "page-previous");
    }
    if (bunch < view->bunches) {
        offer_bunch(&other, bunch + 1, size, "Next group", "page-next");
        offer_bunch(&other, view->bunches, size, "Last group", "page-last");
    }
    struct fm_controls resize = {.page = view->page, .title = "Change group size:"};
    if (size > 1)
        offer_size(view, &resize, size / 2, "Halve group size", "size-halve");
    if (size < view->groups.count) /* there is more to see */
        offer_size(view, &resize, MIN(size, FM_QUERY_BUNCH_SIZE_MAX / 2) * 2, "Double group size",
                   "size-double");
    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++)
        offer_size(view, &resize, sizes[i].size, sizes[i].label, sizes[i].id);
}

/* --- contour exclusion --- */

static void offer_contour(struct fm_page *page, bool apply)
{
    struct fm_controls controls = {.page = page, .title = "Contour exclusion:"};
    struct fm_query query = fm_page_same(page);
    query.command.contour = query.preferences.contour = apply;
    query.command.bunch = 1;
    fm_controls_offer(&controls, &query,
                      apply ? "Apply contour exclusion" : "Do not apply contour exclusion",
                      apply ? "contour-apply" : "contour-none");
}

/* --- the page --- */

static void add_page_controls(struct fm_page *page, uint32_t bunch_size)
{
    const struct fm_command *command = &page->query.command;
    const struct fm_open_profile *recording = page->recording;
    fm_controls_grouping(page, "Toggle grouping:", command->number, bunch_size, command->contour);
    if (command->contour)
        offer_contour(page, false);
    else if (recording->contour)
        offer_contour(page, true);
    else if (recording->contour_state == FM_CONTOUR_BAD) {
        g_autofree char *text =
            g_strdup_printf("Cannot apply contour exclusion: %s",
                            recording->contour_message ? recording->contour_message
                                                       : "the contour file cannot be used");
        fm_add_text(page->body, text);
    }
    fm_controls_sort(page);
    fm_controls_qualify(page);
    fm_controls_fields(page);
    fm_controls_format(page);
    fm_controls_proc_reports(page, command->number);
    fm_controls_general(page);
}

static void add_counts(struct callers_view *view)
{
    struct fm_page *page = view->page;
    uint32_t first = (view->bunch - 1) * view->bunch_size;
    uint32_t last = (uint32_t)MIN((uint64_t)view->groups.count, (uint64_t)first + view->bunch_size);
    g_autofree char *text =
        view->groups.count == 0 ? g_strdup(view->recursive ? "There are none outside of recursions."
                                                           : "There are none.")
        : view->groups.count == 1 ? g_strdup("There is one:")
        : view->bunches == 1
            ? g_strdup_printf("There are %" PRIu32 ":", view->groups.count)
            : g_strdup_printf("There are %" PRIu32 ", showing %" PRIu32 " to %" PRIu32 ":",
                              view->groups.count, first + 1, last);
    if (view->recursive)
        fm_recursion_text(page, "below the callers");
    fm_add_text(page->body, text);
    fm_display_fact_bool(page->display, "recursive", view->recursive);
    fm_display_fact_int(page->display, "groups_count", view->groups.count);
    fm_display_fact_int(page->display, "page", view->bunch);
    fm_display_fact_int(page->display, "page_count", view->bunches);
    fm_display_fact_int(page->display, "page_size", view->bunch_size);
}

static void add_table(struct callers_view *view)
{
    struct fm_page *page = view->page;
    fm_perf_init(&view->perf, page, true);
    view->table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "callers");
    add_header(view);
    uint64_t first = (uint64_t)(view->bunch - 1) * view->bunch_size;
    uint64_t last = MIN((uint64_t)view->groups.count, first + view->bunch_size);
    for (uint64_t i = first; i < last; i++)
        add_row(view, (uint32_t)i);
    if (view->recursive)
        add_recursion(view);
}

static void add_ranked(struct callers_view *view, const struct fm_measured *measured)
{
    uint64_t first = (uint64_t)(view->bunch - 1) * view->bunch_size;
    uint64_t last = MIN((uint64_t)view->groups.count, first + view->bunch_size);
    if (view->groups.cliques != NULL && view->groups.order == NULL && view->groups.count > 1)
        fm_add_text(view->page->body,
                    "There are too many to order them by cost here; the links below do.");
    fm_callers_ranked(view->page, measured, &view->groups, (uint32_t)first, (uint32_t)last,
                      view->recursive);
    fm_link_all_columns(view->page);
}

static void add_groups(struct fm_page *page)
{
    const struct fm_command *command = &page->query.command;
    struct callers_view view = {.page = page,
                                .ps = command->number,
                                .bunch = command->bunch,
                                .bunch_size = MAX(command->bunch_size, 1)};
    struct fm_measured measured;
    bool ranked = fm_page_is_ranked(page, true, &measured);
    if (ranked)
        fm_callers_choices(page, &measured);
    fm_caller_groups_find(&view.groups, page, view.ps, false);
    view.recursive = fm_analysis_is_recursive(page->analysis, view.ps);
    view.bunches = view.groups.count == 0 ? 1 : (view.groups.count - 1) / view.bunch_size + 1;
    if (view.bunch < 1 || view.bunch > view.bunches)
        view.bunch = 1;
    add_counts(&view);
    if (command->contour && page->recording->contour_message)
        fm_add_text(page->body, page->recording->contour_message); /* a warning */
    if (ranked && (view.groups.count > 0 || view.recursive))
        add_ranked(&view, &measured);
    else if (view.groups.count > 0 || view.recursive)
        add_table(&view);
    if (view.groups.count > 0)
        add_paging(&view);
    fm_caller_groups_done(&view.groups);
}

static void missing_contour(const struct fm_open_profile *recording, GError **error)
{
    if (recording->contour_state == FM_CONTOUR_BAD)
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "The contour exclusion file of %s has an error: %s", recording->name,
                    recording->contour_message ? recording->contour_message : "it cannot be used");
    else
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "Could not read contour exclusion file of %s: expected NAME.contour beside "
                    "NAME.data, each line \"all MODULE\" or \"internal MODULE\"",
                    recording->name);
}

bool fm_page_proc_callers(struct fm_page *page, GError **error)
{
    const struct fm_command *command = &page->query.command;
    if (!fm_page_check_id(page, "proc_static", command->number, page->profile->ps_count, error))
        return false;
    if (command->contour && !page->recording->contour) {
        missing_contour(page->recording, error);
        return false;
    }
    const struct fm_ps *proc = &page->profile->ps[command->number];
    const char *const groups[] = {"call sites", page->terms->procs, page->terms->modules,
                                  page->profile->flavour == FM_FLAVOUR_C ? "contexts" : "cliques"};
    const char *const names[] = {"call_site", "proc", "module", "clique"};
    page->module = proc->decl_module;
    bool window = page->query.compact && page->profile->flavour == FM_FLAVOUR_C;
    fm_page_begin(page, "proc_callers",
                  window ? g_strdup_printf("Callers of %s", fm_shown_name(page, command->number))
                         : g_strdup_printf("The %s calling %s", groups[command->group],
                                           proc->qualified_name));
    if (window)
        fm_function_crumbs(page, command->number, "callers");
    fm_display_fact_int(page->display, "ps", command->number);
    fm_display_fact_string(page->display, "qualified_name", proc->qualified_name);
    fm_display_fact_string(page->display, "group_by", names[command->group]);
    fm_display_fact_bool(page->display, "contour_applied", command->contour);
    add_groups(page);
    add_page_controls(page, MAX(command->bunch_size, 1));
    return true;
}
