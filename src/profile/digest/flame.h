/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a flame graph: boxes in rows, the focus at the top. Widths are exact shares of the
 * focus's total; the free part below a box, at its right, is its self cost. */
#pragma once

#include "profile/digest/tree.h"

#define FM_FLAME_BOXES_MAX 5000u
#define FM_FLAME_ROWS_MAX 200u

enum fm_digest_recursions { FM_RECURSIONS_AUTO, FM_RECURSIONS_OPEN, FM_RECURSIONS_SHUT };

struct fm_digest_flame_options {
    unsigned width; /* device pixels: boxes narrower than half a pixel are omitted */
    /* AUTO: recursions that are wide enough show their functions */
    enum fm_digest_recursions recursions;
    unsigned boxes_max, rows_max; /* 0 = maximum */
};

struct fm_digest_box {
    unsigned row;
    double x, width; /* 0 to 1 of the focus's total */
    uint32_t node;   /* index into nodes; for a joined box, the most expensive one */
    uint32_t joined; /* not 0: number of neighbours joined in this box, each too narrow to show */
    uint32_t chain;  /* number of nodes, from node on, shown as one row, because each leads only to
                        the next; else 1 */
    uint32_t parent; /* box; itself for the first */
    int64_t own, total;
    int64_t active; /* as of its node */
    bool at_most;
};

struct fm_digest_flame {
    GArray *boxes; /* struct fm_digest_box, each after its parent, siblings from left to right */
    GArray *nodes; /* struct fm_digest_node */
    unsigned rows;
    bool deeper; /* rows below rows_max were left out */
    /* minimum share of the focus's total: smaller boxes were joined or left out */
    double least_width;
};

/* The tree's direction is that of the graph. Same input, same layout. The tree is borrowed until
 * fm_digest_flame_done(). */
void fm_digest_flame_layout(struct fm_digest_tree *tree, const struct fm_digest_focus *focus,
                            const struct fm_digest_flame_options *options,
                            struct fm_digest_flame *ret);
void fm_digest_flame_done(struct fm_digest_flame *flame);

/* The six modules with the largest own cost, in that order; fewer if there are fewer. Returns their
 * number. */
#define FM_DIGEST_SLOTS 6u
unsigned fm_digest_module_slots(const struct fm_analysis *a, enum fm_measure_id measure,
                                const struct fm_module *ret[FM_DIGEST_SLOTS]);
