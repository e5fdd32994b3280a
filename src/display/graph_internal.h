/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs, as the writers see them. */
#pragma once

#include "display/display_internal.h"
#include "display/graph.h"

struct graph_node {
    struct graph_node *next;
    struct fm_graph_node node; /* query NULL: link has it */
    struct link link;          /* command NULL: none */
};

struct graph_edge {
    struct graph_edge *next;
    struct fm_graph_edge edge;
};

struct fm_graph {
    struct fm_display *display;
    const char *label;
    struct graph_node *first, *last;
    struct graph_edge *first_edge, *last_edge;
};
