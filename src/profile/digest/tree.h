/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of contexts, opened one node at a time. Downwards, a node's children are its callees,
 * and own + the children's totals are its total, exactly. Upwards, the children are its callers,
 * whose totals are their parts of the node's.
 *
 * A node is a function or recursion with the same path: contexts of several threads, or of
 * several lines of one caller, are one node. A recursion is one node, so nothing is counted
 * twice. For a function in a recursion, one child without calls stands for the cost of others of
 * the recursion meanwhile. */
#pragma once

#include "profile/analysis/analysis.h"

enum fm_digest_kind {
    FM_NODE_WHOLE,     /* the program: all that is outside it */
    FM_NODE_FUNCTION,  /* the only one in its clique; it may call itself */
    FM_NODE_RECURSION, /* functions that call each other */
    FM_NODE_MEMBER,    /* one function of a recursion, or of a focus on a procedure */
};

struct fm_digest_node {
    enum fm_digest_kind kind;
    uint32_t ps;        /* function, or the one that names the recursion; 0: the whole program */
    uint32_t procs;     /* for a recursion: its number of functions; else 1 */
    bool recurses;      /* FM_NODE_FUNCTION: calls itself */
    uint32_t clique;    /* the most expensive of its contexts */
    uint32_t css;       /* the most expensive site that calls it from above; 0 = none */
    uint32_t sites;     /* number of different sites */
    uint32_t contexts;  /* cliques */
    int64_t own, total; /* by the tree's measure */
    int64_t active;     /* total, but of a member by parts its cost while it was active */
    bool at_most;       /* active is an upper bound: that of the recursion */
    int64_t calls;      /* how often it was entered from above; of a member and from a focus on a
                           procedure: all calls of the function there */
    bool inlined;       /* further calls were not recorded */
    uint32_t left; /* upwards from a procedure with very many contexts, only the most expensive are
                      followed; number of the others */
    int64_t left_total;  /* their cost, which is part of total */
    size_t first, count; /* proc dynamics: private to the tree */
};

struct fm_digest_tree {
    const struct fm_analysis *a; /* borrowed */
    enum fm_measure_id measure;  /* FM_FIRST_INHERITED or later */
    bool up;
    bool by_parts; /* members of a recursion have their parts of its total, not the cost while they
                      were active */
    GArray *pds;   /* uint32_t: pds of the nodes */
    GArray *weights; /* of upward trees: each pd's part of the root's amount */
};

/* The root of a tree. */
struct fm_digest_focus {
    uint32_t clique; /* the node that this context belongs to */
    uint32_t ps;     /* all contexts of a procedure */
    /* neither: the whole program */
};

void fm_digest_tree_init(struct fm_digest_tree *tree, const struct fm_analysis *a,
                         enum fm_measure_id measure, bool up);
void fm_digest_tree_done(struct fm_digest_tree *tree);

/* The node of the focus. Upwards from the whole program it has no cost; its children are the
 * functions by own cost. */
void fm_digest_root(struct fm_digest_tree *tree, const struct fm_digest_focus *focus,
                    struct fm_digest_node *ret);
/* Appends a node's children (struct fm_digest_node) to ret: most expensive first, equal ones by
 * name. For a recursion, the callees of its members outside of it. */
void fm_digest_children(struct fm_digest_tree *tree, const struct fm_digest_node *node,
                        GArray *ret);
/* The functions of a recursion (FM_NODE_MEMBER), most expensive first: own costs add up to the
 * recursion's, and so do totals by parts. */
void fm_digest_members(struct fm_digest_tree *tree, const struct fm_digest_node *node, GArray *ret);
