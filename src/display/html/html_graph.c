/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as what a script lays out: hidden until it has. Without scripts the page's tables tell the
 * same. */
#include "display/graph_internal.h"
#include "display/html/html_internal.h"

static void append_attribute(GString *out, const char *name, const char *value)
{
    if (value == NULL)
        return;
    g_string_append_printf(out, " data-%s=\"", name);
    fm_html_escape(out, value, HTML_TEXT);
    g_string_append_c(out, '"');
}

static void append_fraction(GString *out, const char *name, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    append_attribute(out, name, g_ascii_formatd(text, sizeof text, "%.4g", CLAMP(value, 0, 1)));
}

void fm_html_graph(struct html *html, const struct item *item)
{
    GString *out = html->out;
    const struct fm_graph *graph = item->graph;
    g_string_append(out, "<figure class=\"callgraph\" hidden");
    fm_html_id(html, item->id);
    append_attribute(out, "label", graph->label);
    g_string_append(out, ">\n");
    for (const struct graph_node *at = graph->first; at; at = at->next) {
        g_string_append(out, "<a class=\"node\"");
        if (at->link.command)
            fm_html_href(html, &at->link);
        g_string_append_printf(out, " data-node=\"%u\"%s", at->node.id,
                               at->node.focus ? " data-focus=\"\"" : "");
        append_attribute(out, "place", at->node.place);
        append_attribute(out, "amount", at->node.amount);
        append_fraction(out, "own", at->node.own);
        append_fraction(out, "total", at->node.total);
        g_string_append_c(out, '>');
        fm_html_escape(out, at->node.label, HTML_TEXT);
        g_string_append(out, "</a>\n");
    }
    for (const struct graph_edge *at = graph->first_edge; at; at = at->next) {
        g_string_append_printf(out, "<i data-from=\"%u\" data-to=\"%u\"", at->edge.from,
                               at->edge.to);
        append_fraction(out, "weight", at->edge.weight);
        g_string_append_c(out, '>');
        fm_html_escape(out, at->edge.label, HTML_TEXT);
        g_string_append(out, "</i>\n");
    }
    g_string_append(out, "</figure>\n");
}
