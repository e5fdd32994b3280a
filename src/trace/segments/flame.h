/* SPDX-License-Identifier: Apache-2.0 */
/* The segments of an area as a tree by what they lie in: those of one value below one node are
 * added up, over all lanes. */
#pragma once

#include "trace/segments/totals.h"

enum { FM_FLAME_NODES_MAX = 1 << 20 };

struct fm_flame_node {
    uint32_t value;
    uint32_t parent;             /* a node before this one; the root, node 0, is its own */
    uint32_t depth;              /* the root has 0 */
    uint64_t count, total, self; /* ns within the area */
};

struct fm_flame;

/* area: start, end and lanes count. */
struct fm_flame *fm_flame_new(struct fm_segments *segments, const struct fm_totals_area *area);
void fm_flame_free(struct fm_flame *flame); /* NULL is allowed */
struct fm_segments *fm_flame_segments(const struct fm_flame *flame);
/* Counts some blocks; false when all have been counted. */
bool fm_flame_step(struct fm_flame *flame, unsigned blocks);
/* Holds struct fm_flame_node, parents first, and siblings by time, the most first. Once all has
 * been counted. The caller unrefs it. */
GArray *fm_flame_nodes(const struct fm_flame *flame);
/* Segments that found no room below FM_FLAME_NODES_MAX nodes. */
uint64_t fm_flame_lost(const struct fm_flame *flame);
