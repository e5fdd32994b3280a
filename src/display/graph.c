/* SPDX-License-Identifier: Apache-2.0 */
#include "display/graph.h"

#include <string.h>

#include "display/graph_internal.h"

static const char *copy(struct fm_graph *graph, const char *text)
{
    return text ? fm_arena_copy(&graph->display->arena, text, strlen(text)) : NULL;
}

struct fm_graph *fm_add_graph(struct fm_list *to, const char *id, const char *label)
{
    g_return_val_if_fail(to != NULL && label != NULL, NULL);
    struct fm_graph *graph = fm_arena_alloc(&to->display->arena, sizeof *graph);
    graph->display = to->display;
    graph->label = copy(graph, label);
    struct item *item = fm_list_add_item(to, ITEM_GRAPH);
    item->id = copy(graph, id);
    item->graph = graph;
    return graph;
}

void fm_graph_add_node(struct fm_graph *graph, const struct fm_graph_node *node)
{
    g_return_if_fail(graph != NULL && node->id != 0);
    struct graph_node *added = fm_arena_alloc(&graph->display->arena, sizeof *added);
    added->node = *node;
    added->node.label = copy(graph, node->label ? node->label : "");
    added->node.place = copy(graph, node->place);
    added->node.amount = copy(graph, node->amount);
    if (node->query)
        fm_display_link(graph->display, node->query, NULL, &added->link);
    added->node.query = NULL;
    if (graph->last)
        graph->last->next = added;
    else
        graph->first = added;
    graph->last = added;
}

void fm_graph_add_edge(struct fm_graph *graph, const struct fm_graph_edge *edge)
{
    g_return_if_fail(graph != NULL && edge->from != 0 && edge->to != 0);
    struct graph_edge *added = fm_arena_alloc(&graph->display->arena, sizeof *added);
    added->edge = *edge;
    added->edge.label = copy(graph, edge->label ? edge->label : "");
    if (graph->last_edge)
        graph->last_edge->next = added;
    else
        graph->first_edge = added;
    graph->last_edge = added;
}

/* --- Graphviz --- */

/* A quoted string: only quotes and backslashes mean something in it. */
static void append_quoted(GString *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    for (const char *c = valid; *c; c++) {
        if (*c == '"' || *c == '\\')
            g_string_append_c(out, '\\');
        g_string_append_c(out, g_ascii_iscntrl(*c) ? ' ' : *c);
    }
}

static void append_line(GString *out, const char *text)
{
    if (text == NULL)
        return;
    g_string_append(out, "\\n");
    append_quoted(out, text);
}

static void append_node(GString *out, const struct fm_graph_node *node)
{
    /* Own share as heat: hue and value fixed, as the pages' ramp. */
    char heat[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(heat, sizeof heat, "%.3f", CLAMP(node->own, 0, 1));
    g_string_append_printf(out, "  n%u [label=\"", node->id);
    append_quoted(out, node->label);
    append_line(out, node->place);
    append_line(out, node->amount);
    g_string_append_printf(out, "\", fillcolor=\"0.083 %s 1.000\"%s];\n", heat,
                           node->focus ? ", penwidth=2.5" : "");
}

static void append_edge(GString *out, const struct fm_graph_edge *edge)
{
    char width[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(width, sizeof width, "%.2f", 0.6 + 4 * CLAMP(edge->weight, 0, 1));
    g_string_append_printf(out, "  n%u -> n%u [label=\"", edge->from, edge->to);
    append_quoted(out, edge->label);
    g_string_append_printf(out, "\", penwidth=%s];\n", width);
}

static const struct fm_graph *find_graph(const struct fm_list *list)
{
    for (const struct item *item = list->first; item; item = item->next) {
        const struct fm_graph *found = item->kind == ITEM_GRAPH  ? item->graph
                                       : item->kind == ITEM_LIST ? find_graph(item->list)
                                                                 : NULL;
        if (found)
            return found;
    }
    return NULL;
}

bool fm_graph_write_dot(const struct fm_display *display, GString *out)
{
    const struct fm_graph *graph = find_graph(&display->body);
    if (graph == NULL)
        return false;
    g_string_append(out, "digraph calls {\n  label=\"");
    append_quoted(out, graph->label);
    g_string_append(out, "\";\n  node [shape=box, style=filled, fontname=\"monospace\"];\n"
                         "  edge [fontname=\"monospace\", fontsize=10];\n");
    for (const struct graph_node *at = graph->first; at; at = at->next)
        append_node(out, &at->node);
    for (const struct graph_edge *at = graph->first_edge; at; at = at->next)
        append_edge(out, &at->edge);
    g_string_append(out, "}\n");
    return true;
}
