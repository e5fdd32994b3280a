/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a flame graph: boxes in rows, the focus on top. Widths are exact shares of the
 * focus's total; what a box leaves free below it, at the right, is its own cost. */
#pragma once

#include "digest/tree.h"

#define FM_FLAME_BOXES_MAX 5000u
#define FM_FLAME_ROWS_MAX 200u

enum fm_view_recursions { FM_RECURSIONS_AUTO, FM_RECURSIONS_OPEN, FM_RECURSIONS_SHUT };

struct fm_view_flame_options {
    unsigned width; /* device pixels: what is narrower than half of one is not laid out */
    enum fm_view_recursions recursions; /* AUTO: those wide enough show their functions */
    unsigned boxes_max, rows_max;       /* 0 = the greatest */
};

struct fm_view_box {
    unsigned row;
    double x, width; /* 0 to 1 of the focus's total */
    uint32_t node;   /* index into nodes; of a joined box the dearest one */
    uint32_t joined; /* not 0: stands for so many neighbours, each too narrow to show */
    uint32_t chain;  /* so many nodes below one another, from node on, are one row: each but the
                        last leads to the next alone; else 1 */
    uint32_t parent; /* box; itself for the first */
    int64_t own, total;
};

struct fm_view_flame {
    GArray *boxes; /* struct fm_view_box, each after its parent, siblings from left to right */
    GArray *nodes; /* struct fm_view_node */
    unsigned rows;
    bool deeper; /* rows below rows_max were left out */
    /* minimum share of the focus's total: smaller boxes were joined or left out */
    double least_width;
};

/* The tree's direction is that of the graph. Same input, same layout. The tree is borrowed until
 * fm_view_flame_clear(). */
void fm_view_flame_layout(struct fm_view_tree *tree, const struct fm_view_focus *focus,
                          const struct fm_view_flame_options *options, struct fm_view_flame *ret);
void fm_view_flame_clear(struct fm_view_flame *flame);

/* The six modules with the greatest own cost of the measure, in that order; fewer when there are
 * fewer. Returns how many. */
#define FM_VIEW_SLOTS 6u
unsigned fm_view_module_slots(const struct fm_analysis *a, enum fm_measure_id measure,
                              const struct fm_module *ret[FM_VIEW_SLOTS]);
