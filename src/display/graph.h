/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of boxes and arrows as an item of a page. HTML contains it for a script that lays it out;
 * Graphviz has its own format; other formats omit it, since tables have the same data. */
#pragma once

#include "display/display.h"

struct fm_graph;

struct fm_graph_node {
    uint32_t id; /* not 0; once */
    const char *label;
    const char *place;            /* a second line; NULL = none */
    const char *amount;           /* a third line; NULL = none */
    const struct fm_query *query; /* NULL = none */
    double own, total;            /* shares of the whole: 0 to 1 */
    bool focus;
};
struct fm_graph_edge {
    uint32_t from, to; /* ids of nodes */
    const char *label;
    double weight; /* share of the maximum: 0 to 1 */
};

/* id: in HTML; label: what it shows. Texts are copied. */
struct fm_graph *fm_add_graph(struct fm_list *to, const char *id, const char *label);
void fm_graph_add_node(struct fm_graph *graph, const struct fm_graph_node *node);
void fm_graph_add_edge(struct fm_graph *graph, const struct fm_graph_edge *edge);

/* The display's first graph in Graphviz's language; false when it has none. */
bool fm_graph_write_dot(const struct fm_display *display, GString *out);
