/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/calls/butterfly.h"

#include <string.h>

#include "profile/digest/calls/butterfly.h"
#include "profile/digest/paths.h"
#include "pages/profile/measured/flame_view.h"
#include "pages/profile/measured/path_text.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/perf_columns.h"

#define ROWS_SHOWN 200u
#define CALLERS_A_PAGE 100u
#define PICTURE_ROWS 8u
#define PICTURE_CONTEXTS 20000u /* with more contexts, it would take too long */
#define PICTURE_BOXES 500u
#define PICTURE_WIDTH 400u /* coarse: boxes wider than half a percent are separate */

struct side {
    struct fm_page *page;
    const struct fm_measured *measured;
    const struct fm_butterfly *both;
    struct fm_table *table;
    uint32_t ps;
    bool callers;
};

/* --- one line of figures --- */

static void add_amount(struct fm_list *list, const struct fm_measured *measured, const char *what,
                       int64_t amount, bool at_most)
{
    g_autofree char *plain = fm_measured_text(measured, amount);
    g_autofree char *text = fm_format_at_most(plain, at_most);
    g_autofree char *share = fm_format_share(fm_measured_share(measured, amount));
    g_autoptr(GString) out = g_string_new(NULL);
    g_string_append_printf(out, "%s %s (%s %%", what, text, share);
    if (measured->is_time && measured->sample > 0 && amount > 0)
        g_string_append_printf(out, ", \u00b1%.0f ms",
                               fm_measured_spread(measured, amount) * measured->tick * 1e3);
    g_string_append_c(out, ')');
    fm_add_text(list, out->str);
}

static void add_others(struct fm_page *page, struct fm_list *list, uint32_t ps,
                       const struct fm_measured *now)
{
    static const enum fm_query_measure further[] = {FM_QUERY_BY_TIME, FM_QUERY_BY_BYTES,
                                                    FM_QUERY_BY_WAITING};
    for (unsigned i = 0; i < G_N_ELEMENTS(further); i++) {
        struct fm_measured measured;
        struct fm_cost cost;
        fm_measured_init(&measured, page->recording, further[i]);
        if (measured.measure == now->measure ||
            !fm_measure_is_recorded(page->recording, further[i]))
            continue;
        fm_analysis_ps_cost(page->analysis, ps, &cost);
        g_autofree char *plain =
            fm_measured_text(&measured, fm_cost_total(&cost, measured.measure));
        g_autofree char *text =
            fm_format_at_most(plain, (cost.of_recursion >> measured.measure & 1u) != 0);
        g_autofree char *said =
            g_strdup_printf(further[i] == FM_QUERY_BY_WAITING ? "waited here and below: %s"
                            : measured.is_bytes               ? "allocated here and below: %s"
                            : measured.is_time                ? "time here and below: %s"
                                                              : "total %s",
                            text);
        fm_add_text(list, said);
    }
}

void fm_add_butterfly_lead(struct fm_page *page, const struct fm_measured *measured, uint32_t ps,
                           uint32_t clique)
{
    struct fm_butterfly both;
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    fm_list_set_id(list, "figures");
    fm_butterfly_figures(&both, page->analysis, ps, clique, measured->measure);
    bool waiting = measured->asked == FM_QUERY_BY_WAITING;
    add_amount(list, measured, waiting ? "Waited itself" : "Self", both.own, false);
    add_amount(list, measured, waiting ? "here and below" : "Total", both.total, both.at_most);
    g_autofree char *calls = fm_format_int(both.calls);
    bool inlined = page->profile->ps[ps].inlined;
    g_autofree char *called = g_strdup_printf(
        "%s call%s%s", calls, both.calls == 1 ? "" : "s",
        !inlined                     ? ""
        : fm_page_has_contexts(page) ? ", and those of inlined bodies, which are not recorded"
                                     : ", and those of unknown callers");
    if (fm_profile_knows(page->profile, FM_EXITS))
        fm_add_text(list, called);
    if (clique == 0)
        add_others(page, list, ps, measured);
}

/* --- the picture --- */

static void link_graph(struct fm_page *page, const struct fm_measured *measured, uint32_t ps)
{
    struct fm_query graph = fm_page_link(page, FM_CMD_GRAPH, 0);
    char focus[32];
    g_snprintf(focus, sizeof focus, "proc/%" PRIu32, ps);
    graph.command.measure = measured->asked;
    graph.command.name = focus;
    fm_add_link(page->body, &graph, "Call graph");
}

static void add_picture(struct fm_page *page, const struct fm_measured *measured, uint32_t ps,
                        uint32_t clique, uint32_t contexts)
{
    struct fm_flame_wish wish = {
        .measured = measured,
        .focus = {.clique = clique, .ps = clique ? 0 : ps},
        .up = true,
        .upwards = true,
        .width = PICTURE_WIDTH,
        .boxes_max = PICTURE_BOXES,
        .rows_max = PICTURE_ROWS,
        .id = "callers-picture",
    };
    bool deeper;
    if (!fm_page_has_contexts(page)) {
        link_graph(page, measured, ps);
        return;
    }
    fm_add_heading(page->body, "Callers above, callees below");
    unsigned boxes = contexts > PICTURE_CONTEXTS ? 0 : fm_flame_add(page, &wish, &deeper);
    wish.up = wish.upwards = false;
    wish.id = "flame";
    if (contexts <= PICTURE_CONTEXTS)
        boxes += fm_flame_add(page, &wish, &deeper);
    if (contexts > PICTURE_CONTEXTS)
        fm_add_text(page->body, "There are too many contexts for a picture on this page:");
    else if (boxes == 0)
        fm_add_text(page->body, "Nothing of this measure is here.");
    struct fm_query flame = fm_page_link(page, FM_CMD_FLAME, 0);
    struct fm_query tree = fm_page_link(page, FM_CMD_TREE, 0);
    struct fm_query graph = fm_page_link(page, FM_CMD_GRAPH, 0);
    char focus[32];
    g_snprintf(focus, sizeof focus, clique ? "clique/%" PRIu32 : "proc/%" PRIu32,
               clique ? clique : ps);
    flame.command.measure = tree.command.measure = graph.command.measure = measured->asked;
    flame.command.name = tree.command.name = graph.command.name = focus;
    tree.command.depth = 3;
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    fm_add_link(list, &flame, "Flame graph from here");
    flame.command.up = tree.command.up = true;
    fm_add_link(list, &flame, "Flame graph of callers");
    fm_add_link(list, &tree, "Tree of callers");
    fm_add_link(list, &graph, "Call graph");
    if (clique == 0) {
        struct fm_query callers = fm_page_link(page, FM_CMD_PROC_CALLERS, ps);
        callers.command.group = FM_GROUP_CLIQUE;
        callers.command.bunch = 1;
        callers.command.bunch_size = CALLERS_A_PAGE;
        fm_add_link(list, &callers, "Callers by context");
    }
}

/* --- the tables --- */

static void add_column(struct side *side, const char *title, const char *name, unsigned priority,
                       enum fm_column_class column_class, const char *help)
{
    fm_table_group(side->table, title, column_class, FM_COLOUR_NEVER);
    fm_table_column(side->table, NULL, name, NULL);
    fm_column_priority(side->table, priority);
    if (help)
        fm_column_help(side->table, help);
}

static void add_columns(struct side *side)
{
    fm_measured_column(side->table, side->measured, "Total", "total", 1);
    fm_column_help(side->table, side->callers ? "The function and all its callees, called from here"
                                              : "The callee and all its callees, called from here");
    fm_measured_column(side->table, side->measured, "Self", "self", 3);
    fm_column_help(side->table, side->callers ? "In the function's own code, called from here"
                                              : "In its own code, called from here");
    add_column(side, "Calls", "calls_count", 2, FM_COLUMN_NUMBER, NULL);
    if (!side->callers)
        add_column(side, "Each", "calls_per_call_count", 3, FM_COLUMN_NUMBER,
                   "Calls for one call of this function");
    add_column(side, side->callers ? "Caller" : "Callee", "path", 1, FM_COLUMN_PROC, NULL);
}

static void add_calls(struct side *side, int64_t calls, bool inlined)
{
    fm_calls_cell(side->table, side->page->profile, calls, inlined);
    if (side->callers)
        return;
    if (side->both->calls > 0 && !(inlined && calls == 0))
        fm_cell_ratio(side->table, (double)calls / (double)side->both->calls);
    else
        fm_cell_empty(side->table);
}

static void add_numbers(struct side *side, const struct fm_neighbour *row)
{
    double whole = (double)MAX(side->both->total, 1);
    if (row->total_is_here) {
        fm_measured_cell(side->table, side->measured, row->total);
        if (row->at_most)
            fm_cell_of_recursion(side->page, side->table, row->clique);
        fm_cell_bar(side->table, (double)row->own / whole, (double)row->total / whole);
    } else {
        fm_cell_empty(side->table);
    }
    if (fm_page_has_contexts(side->page))
        fm_measured_cell(side->table, side->measured, row->own);
    else
        fm_cell_unknown(side->table);
    add_calls(side, row->calls, row->inlined);
}

static void add_group_row(struct side *side, const struct fm_neighbour *row)
{
    struct fm_query link = fm_page_link(side->page, FM_CMD_CLIQUE, row->clique);
    g_autofree char *label = fm_clique_label(side->page, row->clique);
    g_autofree char *named =
        row->ps ? g_strdup_printf("%s %s", side->callers ? "within" : "stays within", label)
                : g_strdup(side->callers ? "within recursions" : "stays within recursions");
    const struct fm_path_part parts[] = {
        {named, row->ps && fm_page_has_contexts(side->page) ? &link : NULL, FM_PART_STRONG},
        {side->callers        ? "its cost there, whoever called"
         : row->total_is_here ? "what its other functions cost meanwhile"
                              : "no cost of its own",
         NULL, FM_PART_NOTE}};
    fm_table_row(side->table, "within", false);
    add_numbers(side, row);
    fm_cell_path(side->table, parts, 2, 0);
}

/* There is a listing of the call's file: the function that makes the call is defined there. */
static bool is_listed(const struct fm_profile *profile, uint32_t css)
{
    const struct fm_ps *caller = &profile->ps[profile->css[css].ps];
    return strcmp(fm_css_file(profile, css), caller->file) == 0;
}

/* "luaV_execute  lvm.c:1310": the function, and the line of the call. */
static void add_call_row(struct side *side, const struct fm_neighbour *row)
{
    struct fm_page *page = side->page;
    const struct fm_profile *profile = page->profile;
    struct fm_query link = fm_page_link(page, FM_CMD_PROC, row->ps);
    bool itself = row->kind == FM_NEIGHBOUR_ITSELF;
    const char *name = row->ps == 0 ? "the program's start"
                       : itself     ? "itself"
                                    : fm_shown_name(page, row->ps);
    uint32_t line = row->css ? profile->css[row->css].line : 0;
    g_autofree char *place =
        line > 0 ? fm_name_place(page, fm_css_file(profile, row->css), line) : g_strdup("");
    struct fm_query at = fm_page_link(page, FM_CMD_SOURCE, 0);
    bool listed = place[0] != '\0' && is_listed(profile, row->css);
    at.command.name = place[0] ? (char *)(uintptr_t)fm_css_file(profile, row->css) : NULL;
    at.line = line;
    const struct fm_path_part parts[] = {{name, row->ps && !itself ? &link : NULL, 0},
                                         {place, listed ? &at : NULL, FM_PART_NOTE}};
    fm_table_row(side->table,
                 itself                             ? "itself"
                 : row->kind == FM_NEIGHBOUR_MEMBER ? "member"
                 : side->callers                    ? "caller"
                                                    : "callee",
                 false);
    if (row->total_is_here && fm_measured_is_soft(side->measured, row->total))
        fm_row_soft(side->table);
    add_numbers(side, row);
    fm_cell_path(side->table, parts, place[0] ? 2 : 1, row->kind == FM_NEIGHBOUR_MEMBER ? 1 : 0);
}

/* Adds one row for all rows that are not shown: the sum below contains them. */
static void add_left(struct side *side, const GArray *rows, guint first)
{
    struct fm_neighbour left = {.total_is_here = true};
    for (guint i = first; i < rows->len; i++) {
        const struct fm_neighbour *row = &g_array_index(rows, struct fm_neighbour, i);
        left.total += row->total;
        left.at_most |= row->at_most;
        left.clique = row->at_most ? row->clique : left.clique;
        if (row->kind == FM_NEIGHBOUR_WITHIN) /* it contains its members */
            continue;
        left.own += row->own;
        left.calls += row->calls;
        left.inlined |= row->inlined;
    }
    g_autofree char *label = g_strdup_printf("%u more", rows->len - first);
    const struct fm_path_part part = {label, NULL, 0};
    fm_table_row(side->table, "rest", false);
    add_numbers(side, &left);
    fm_cell_path(side->table, &part, 1, 0);
}

/* The dearest recursion whose cost is taken for the function's. */
static uint32_t recursion_of(const struct side *side)
{
    const GArray *rows = side->callers ? side->both->callers : side->both->callees;
    for (guint i = 0; i < rows->len; i++) {
        const struct fm_neighbour *row = &g_array_index(rows, struct fm_neighbour, i);
        if (row->at_most)
            return row->clique;
    }
    return 0;
}

static void add_total_row(struct side *side, const char *role, const char *label, int64_t total,
                          int64_t own, int64_t calls)
{
    const struct fm_path_part part = {label, NULL, FM_PART_STRONG};
    fm_table_row(side->table, role, false);
    fm_measured_cell(side->table, side->measured, total);
    if (side->both->at_most && total != own)
        fm_cell_of_recursion(side->page, side->table, recursion_of(side));
    if (own < 0)
        fm_cell_empty(side->table);
    else
        fm_measured_cell(side->table, side->measured, own);
    if (calls < 0 || !fm_profile_knows(side->page->profile, FM_EXITS))
        fm_cell_empty(side->table);
    else
        fm_cell_int(side->table, calls);
    if (!side->callers)
        fm_cell_empty(side->table);
    fm_cell_path(side->table, &part, 1, 0);
}

static void add_rows(struct side *side, const GArray *rows)
{
    for (guint i = 0; i < rows->len; i++) {
        const struct fm_neighbour *row = &g_array_index(rows, struct fm_neighbour, i);
        if (i >= ROWS_SHOWN && row->kind != FM_NEIGHBOUR_MEMBER) {
            add_left(side, rows, i);
            return;
        }
        if (i >= ROWS_SHOWN)
            continue; /* its group's row has it */
        if (row->kind == FM_NEIGHBOUR_WITHIN)
            add_group_row(side, row);
        else
            add_call_row(side, row);
    }
}

static void add_sum(struct side *side, int64_t sum)
{
    if (sum != side->both->total)
        fm_add_text(side->page->body,
                    "These rows do not add up to the function's total: the file is damaged.");
    fm_display_fact_int(side->page->display, side->callers ? "callers_total" : "callees_total",
                        sum);
}

static void add_callers(struct side *side)
{
    const GArray *rows = side->both->callers;
    int64_t sum = fm_butterfly_callers_total(side->both), own = 0, calls = 0;
    fm_add_heading(side->page->body, "Callers");
    if (rows->len == 0) {
        fm_add_text(side->page->body, "It was never called in this run.");
        add_sum(side, sum);
        return;
    }
    for (guint i = 0; i < rows->len; i++) {
        const struct fm_neighbour *row = &g_array_index(rows, struct fm_neighbour, i);
        own += row->kind == FM_NEIGHBOUR_WITHIN ? 0 : row->own;
        calls += row->kind == FM_NEIGHBOUR_WITHIN ? 0 : row->calls;
    }
    side->table = fm_add_table(side->page->body, FM_BOX_NEVER, "who_calls");
    fm_table_ranked(side->table, NULL);
    add_columns(side);
    add_rows(side, rows);
    add_total_row(side, "sum", "all callers", sum, own, calls);
    add_sum(side, sum);
}

static void add_callees(struct side *side)
{
    const GArray *rows = side->both->callees;
    int64_t sum = fm_butterfly_callees_total(side->both);
    const char *name = fm_shown_name(side->page, side->ps);
    g_autofree char *itself = g_strdup_printf("%s itself", name);
    fm_add_heading(side->page->body, "Callees");
    if (rows->len == 0) {
        fm_add_text(side->page->body, "It calls nothing that was recorded.");
        add_sum(side, sum);
        return;
    }
    side->table = fm_add_table(side->page->body, FM_BOX_NEVER, "what_it_calls");
    fm_table_ranked(side->table, NULL);
    add_columns(side);
    add_total_row(side, "self", itself, side->both->own, side->both->own, side->both->calls);
    add_rows(side, rows);
    add_total_row(side, "sum", "itself and all that it calls", sum, -1, -1);
    add_sum(side, sum);
}

void fm_add_butterfly(struct fm_page *page, const struct fm_measured *measured, uint32_t ps,
                      uint32_t clique)
{
    g_return_if_fail(ps >= 1 && ps <= page->profile->ps_count);
    g_return_if_fail(clique <= page->analysis->clique_count);
    struct fm_butterfly both;
    struct side side = {
        .page = page, .measured = measured, .both = &both, .ps = ps, .callers = true};
    fm_butterfly_init(&both, page->analysis, ps, clique, measured->measure);
    if (both.contexts > 0)
        add_picture(page, measured, ps, clique, both.contexts);
    fm_display_fact_int(page->display, "total", both.total);
    add_callers(&side);
    side.callers = false;
    if (both.contexts > 0)
        add_callees(&side);
    fm_butterfly_done(&both);
}
