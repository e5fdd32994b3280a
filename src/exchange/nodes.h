/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that is written to formats of stacks and arcs: each proc dynamic once, below the call
 * that leads to it. Inside a recursion it is a spanning tree: breadth first from the procedure
 * that was entered, of several calls on one level the one made more often, then the smaller csd.
 * So one path stands for all depths of a recursion, and own costs add up to the program's total.
 *
 *   own    of all calls of the node, those from within its recursion too
 *   total  own + its children's totals: at the entry of a recursion exactly that recursion's */
#pragma once

#include "profile/analysis/analysis.h"

struct fm_exchange_column {
    const char *name;    /* "calls", "cpu", "alloc_objects", "alloc_space", ... */
    const char *unit;    /* "count", "nanoseconds", "bytes" */
    const char *measure; /* fathom's own name of it */
    enum fm_measure_id id;
    bool is_calls;             /* exits + fails + exceptions - redos, not the measure's column */
    uint64_t multiply, divide; /* to the unit, remainders dropped */
};
#define FM_EXCHANGE_COLUMNS_MAX (FM_MEASURES_MAX + 2u)

struct fm_exchange_node {
    uint32_t parent; /* index of a node before it; the root's is itself */
    uint32_t pd;     /* 0: contexts that were left out */
    uint32_t ps;     /* 0: likewise */
    uint32_t css;    /* the call site that leads here; 0 for the root and where none does */
    uint32_t thread; /* index of the thread that it lies below, a child of the root; 0: of none */
    uint32_t joined; /* how many contexts it stands for when pd is 0 */
};

struct fm_exchange_nodes {
    const struct fm_analysis *a; /* borrowed */
    unsigned column_count;
    struct fm_exchange_column columns[FM_EXCHANGE_COLUMNS_MAX];
    uint32_t count;
    struct fm_exchange_node *nodes; /* [count], 0 the root; depth first in the order of slots */
    int64_t *own, *total;           /* [column * count + node] */
    uint32_t *tree_csd;             /* [pd_count + 1] the call that leads to a pd; 0 = none */
    uint32_t recursions, largest;   /* cliques of more than one procedure; their greatest number */
};

/* Nodes of less than min_share (0 to 1) of every column are left out, their sums stand at one child
 * of the node above them. Errors: FM_ERROR_LIMIT when a sum does not fit 63 bits.
 * O(proc dynamics * columns); ends with fm_exchange_nodes_done(). */
FM_MUST_USE bool fm_exchange_nodes_init(struct fm_exchange_nodes *nodes,
                                        const struct fm_analysis *a, double min_share,
                                        GError **error);
void fm_exchange_nodes_done(struct fm_exchange_nodes *nodes);

static inline int64_t fm_exchange_own(const struct fm_exchange_nodes *nodes, unsigned column,
                                      uint32_t node)
{
    return nodes->own[(size_t)column * nodes->count + node];
}
static inline int64_t fm_exchange_total(const struct fm_exchange_nodes *nodes, unsigned column,
                                        uint32_t node)
{
    return nodes->total[(size_t)column * nodes->count + node];
}
/* For FM_NATURE_ARCS: the recorded total cost of a call; calls: their number. */
int64_t fm_exchange_given(const struct fm_exchange_nodes *nodes, unsigned column, uint32_t csd);
/* Whether some column of the node's own is not 0. */
bool fm_exchange_has_own(const struct fm_exchange_nodes *nodes, uint32_t node);
/* The number of the column of that name, fathom's or the other; column_count when there is none. */
unsigned fm_exchange_column(const struct fm_exchange_nodes *nodes, const char *name);
/* The column that readers see first: CPU time if there is enough of it, else calls. */
unsigned fm_exchange_main_column(const struct fm_exchange_nodes *nodes);
/* The columns with that one first: turn counts from 0. */
unsigned fm_exchange_column_in_turn(const struct fm_exchange_nodes *nodes, unsigned turn);
/* A thread's nodes stand together: the first node behind those that are of the same as first. */
/* The procedure that a thread is named by; 0: the profile does not say which thread it was. */
uint32_t fm_exchange_thread_ps(const struct fm_exchange_nodes *nodes, uint32_t node);
uint32_t fm_exchange_thread_end(const struct fm_exchange_nodes *nodes, uint32_t first);
