/* SPDX-License-Identifier: Apache-2.0 */
/* graph/MEASURE/FOCUS: which functions call which, as a picture that a script lays out, and as
 * tables. */
#include "pages/profile/calls/calls.h"

#include <string.h>

#include "profile/digest/calls/call_graph.h"
#include "display/graph.h"
#include "pages/profile/measured/focus.h"
#include "pages/profile/measured/measure.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/perf_columns.h"

#define EDGES_SHOWN 300u

struct graph_view {
    struct fm_page *page;
    struct fm_measured measured;
    struct fm_call_graph graph;
    int64_t whole;
};

static double part_of(int64_t amount, int64_t whole)
{
    return whole > 0 ? CLAMP((double)amount / (double)whole, 0, 1) : 0;
}

static void add_node(struct graph_view *view, struct fm_graph *to, const struct fm_call_node *node)
{
    struct fm_page *page = view->page;
    const struct fm_ps *proc = &page->profile->ps[node->ps];
    struct fm_query link = fm_page_link(page, FM_CMD_PROC, node->ps);
    g_autofree char *place = fm_name_place(page, proc->file, proc->line);
    g_autofree char *total = fm_measured_text(&view->measured, node->total);
    g_autofree char *amount = fm_format_at_most(total, node->recursion != 0);
    fm_graph_add_node(to, &(struct fm_graph_node){
                              .id = node->ps,
                              .label = fm_shown_name(page, node->ps),
                              .place = proc->file[0] ? place : NULL,
                              .amount = amount,
                              .query = &link,
                              .own = part_of(node->own, view->whole),
                              .total = part_of(node->total, view->whole),
                              .focus = node->focus,
                          });
}

/* On the line between two boxes; NULL: not known. */
static char *calls_text(const struct fm_profile *profile, const struct fm_call_edge *edge)
{
    if (!fm_profile_knows(profile, FM_EXITS))
        return NULL;
    g_autofree char *calls = fm_format_int(edge->calls);
    if (!edge->inlined)
        return g_steal_pointer(&calls);
    return edge->calls > 0 ? g_strconcat(calls, " + inlined", NULL) : g_strdup("inlined");
}

static void add_picture(struct graph_view *view, const char *label)
{
    const GArray *nodes = view->graph.nodes, *edges = view->graph.edges;
    struct fm_graph *graph = fm_add_graph(view->page->body, "graph", label);
    int64_t most = 1;
    for (guint i = 0; i < nodes->len; i++)
        add_node(view, graph, &g_array_index(nodes, struct fm_call_node, i));
    for (guint i = 0; i < edges->len; i++)
        most = MAX(most, g_array_index(edges, struct fm_call_edge, i).calls);
    for (guint i = 0; i < MIN(edges->len, EDGES_SHOWN); i++) {
        const struct fm_call_edge *edge = &g_array_index(edges, struct fm_call_edge, i);
        g_autofree char *calls = calls_text(view->page->profile, edge);
        fm_graph_add_edge(graph, &(struct fm_graph_edge){.from = edge->from,
                                                         .to = edge->to,
                                                         .label = calls,
                                                         .weight = part_of(edge->calls, most)});
    }
}

static void add_column(struct fm_table *table, const char *title, const char *name,
                       unsigned priority, enum fm_column_class column_class)
{
    fm_table_group(table, title, column_class, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, name, NULL);
    fm_column_priority(table, priority);
}

static void add_functions(struct graph_view *view)
{
    struct fm_page *page = view->page;
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "functions");
    fm_table_ranked(table, NULL);
    fm_measured_column(table, &view->measured, "Total", "total", 1);
    fm_measured_column(table, &view->measured, "Self", "self", 2);
    add_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER);
    add_column(table, page->terms->proc_title, "path", 1, FM_COLUMN_PROC);
    for (guint i = 0; i < view->graph.nodes->len; i++) {
        const struct fm_call_node *node = &g_array_index(view->graph.nodes, struct fm_call_node, i);
        const struct fm_ps *proc = &page->profile->ps[node->ps];
        struct fm_query link = fm_page_link(page, FM_CMD_PROC, node->ps);
        g_autofree char *place = fm_name_place(page, proc->file, proc->line);
        fm_table_row(table, node->focus ? "focus" : "function", false);
        fm_measured_cell(table, &view->measured, node->total);
        if (node->recursion != 0)
            fm_cell_of_recursion(page, table, node->recursion);
        fm_cell_bar(table, part_of(node->own, view->whole), part_of(node->total, view->whole));
        fm_measured_cell(table, &view->measured, node->own);
        fm_calls_cell(table, view->page->profile, node->calls, node->inlined);
        const struct fm_path_part parts[] = {{fm_shown_name(page, node->ps), &link,
                                              node->focus ? FM_PART_STRONG : 0,
                                              fm_full_name_ps(page, node->ps)},
                                             {place, NULL, FM_PART_NOTE}};
        fm_cell_path(table, parts, proc->file[0] ? 2 : 1, 0);
    }
}

static int64_t calls_of(const struct graph_view *view, uint32_t ps)
{
    for (guint i = 0; i < view->graph.nodes->len; i++) {
        const struct fm_call_node *node = &g_array_index(view->graph.nodes, struct fm_call_node, i);
        if (node->ps == ps)
            return node->calls;
    }
    return 0;
}

static void add_calls(struct graph_view *view)
{
    struct fm_page *page = view->page;
    const GArray *edges = view->graph.edges;
    fm_add_heading(page->body, "Calls");
    if (edges->len == 0) {
        fm_add_text(page->body, "None of them calls another.");
        return;
    }
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "calls");
    fm_table_ranked(table, NULL);
    add_column(table, "Calls", "calls_count", 1, FM_COLUMN_NUMBER);
    add_column(table, "Each", "calls_per_call_count", 2, FM_COLUMN_NUMBER);
    fm_column_help(table, "Calls for one call of the caller");
    add_column(table, "Caller \u203a callee", "path", 1, FM_COLUMN_PROC);
    for (guint i = 0; i < MIN(edges->len, EDGES_SHOWN); i++) {
        const struct fm_call_edge *edge = &g_array_index(edges, struct fm_call_edge, i);
        struct fm_query from = fm_page_link(page, FM_CMD_PROC, edge->from);
        struct fm_query to = fm_page_link(page, FM_CMD_PROC, edge->to);
        int64_t calls = calls_of(view, edge->from);
        fm_table_row(table, "call", false);
        fm_calls_cell(table, view->page->profile, edge->calls, edge->inlined);
        if (calls > 0 && !edge->inlined)
            fm_cell_ratio(table, (double)edge->calls / (double)calls);
        else
            fm_cell_empty(table);
        const struct fm_path_part parts[] = {
            {fm_shown_name(page, edge->from), &from, 0, fm_full_name_ps(page, edge->from)},
            {fm_shown_name(page, edge->to), &to, 0, fm_full_name_ps(page, edge->to)}};
        fm_cell_path(table, parts, 2, 0);
    }
    if (edges->len > EDGES_SHOWN) {
        g_autofree char *text =
            g_strdup_printf("%u more pairs have fewer calls.", edges->len - EDGES_SHOWN);
        fm_add_text(page->body, text);
    }
}

bool fm_page_graph(struct fm_page *page, GError **error)
{
    struct fm_digest_focus focus = fm_focus_of(&page->query.command);
    struct graph_view view = {.page = page};
    (void)error;
    fm_measured_init(&view.measured, page->recording, page->query.command.measure);
    page->query.command.measure = view.measured.asked;
    view.whole = view.measured.whole;
    g_autofree char *where = fm_focus_text(page, &focus);
    g_autofree char *title = g_strdup_printf("Call graph of %s", where);
    fm_page_begin(page, "graph", g_strdup(title));
    fm_display_fact_string(page->display, "measure", fm_tree_words[view.measured.asked]);
    fm_add_measures(page, view.measured.asked);
    fm_call_graph_init(&view.graph, page->analysis, &focus, view.measured.measure);
    fm_display_fact_int(page->display, "function_count", view.graph.nodes->len);
    fm_display_fact_int(page->display, "functions_left_count", view.graph.left);
    fm_display_fact_bool(page->display, "in_one_context", view.graph.one_place);
    if (view.graph.left > 0) {
        g_autofree char *text =
            g_strdup_printf("The %u most expensive of %u functions.", view.graph.nodes->len,
                            view.graph.nodes->len + view.graph.left);
        fm_add_text(page->body, text);
    }
    if (view.graph.nodes->len == 0) {
        fm_add_text(page->body, "Nothing of this measure was recorded.");
    } else {
        add_picture(&view, title);
        add_functions(&view);
        add_calls(&view);
    }
    fm_call_graph_done(&view.graph);
    fm_controls_general(page);
    return true;
}
