/* SPDX-License-Identifier: Apache-2.0 */
/* A part of the call graph small enough to look at: functions and how often which calls which. */
#pragma once

#include "profile/digest/tree.h"

#define FM_CALL_GRAPH_MAX 60u

struct fm_call_node {
    uint32_t ps;
    bool focus;
    bool inlined;              /* there are calls that were not recorded */
    uint32_t recursion;        /* not 0: total is an upper bound, that of this clique */
    int64_t own, total, calls; /* for the graph's subject: in one context, or everywhere */
};
struct fm_call_edge {
    uint32_t from, to; /* procedures */
    int64_t calls;
    bool inlined; /* there are more, which were not recorded */
};
struct fm_call_graph {
    GArray *nodes;  /* struct fm_call_node, most expensive first */
    GArray *edges;  /* struct fm_call_edge, most calls first */
    uint32_t left;  /* functions that there was no room for */
    bool one_place; /* for a recursion: costs are those of one context */
};

/* For a recursion (focus.clique): its functions in that context. For a function, or a context's
 * function: its callers and callees, everywhere. For the whole program: the most expensive
 * functions. At most FM_CALL_GRAPH_MAX functions, those with the largest totals. O(calls of the
 * function, and at sites with several callees). */
void fm_call_graph_init(struct fm_call_graph *ret, const struct fm_analysis *a,
                        const struct fm_digest_focus *focus, enum fm_measure_id measure);
void fm_call_graph_done(struct fm_call_graph *graph);
