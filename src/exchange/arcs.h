/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts merged into functions that call each other, for formats that know no more than that. */
#pragma once

#include "exchange/nodes.h"

#define FM_EXCHANGE_NO_FUNCTION UINT32_MAX

/* A function, told apart by so many of its callers as was asked for. */
struct fm_exchange_function {
    uint32_t ps;
    uint32_t caller; /* the next caller in its name, with one caller less; or NO_FUNCTION */
};

struct fm_exchange_arc {
    uint32_t caller, css, callee; /* functions; 0 = not a known call site */
    int64_t calls;
};

struct fm_exchange_arcs {
    uint32_t function_count;
    struct fm_exchange_function *functions; /* also those that only stand in names */
    int64_t *own;                           /* [function * column_count + column] */
    size_t arc_count;
    struct fm_exchange_arc *arcs; /* ascending by caller, css, callee */
    int64_t *costs;               /* [arc * column_count + column]: totals of the callee's nodes;
                                     0 of calls that stay in a recursion and lead no further;
                                     of FM_NATURE_ARCS as they were given */
};

/* callers: how many callers a function is told apart by, 0 = none. The root is no function. Nodes
 * must not be pruned. O((nodes + csds) * (columns + callers)). */
void fm_exchange_arcs_init(struct fm_exchange_arcs *arcs, const struct fm_exchange_nodes *nodes,
                           unsigned callers);
void fm_exchange_arcs_done(struct fm_exchange_arcs *arcs);
/* How many groups of functions that reach each other by arcs hold no two procedures of one
 * recursion: they are there only because contexts were merged. */
uint32_t fm_exchange_merged_cycles(const struct fm_exchange_arcs *arcs,
                                   const struct fm_exchange_nodes *nodes);
