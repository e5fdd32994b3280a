/* SPDX-License-Identifier: Apache-2.0 */
/* What statistics.c (counting) and statistics_tree.c (showing) share. */
#pragma once

#include "trace/state/state_internal.h"
#include "trace/statistics/statistics.h"

#define NONE UINT32_MAX

enum {
    FIRST_SLOTS = 1024,
    LANES_MAX = 65536,   /* of one kind; further ones are counted together, as "others" */
    NODES_MAX = 1000000, /* further outermost states of a lane are its "others"; nested ones are no
                          * entries: their time is that of the one around */
    TYPES_MAX = 65536,   /* event ids; further ones are counted together */
};

struct node {
    uint32_t parent, value;
    uint32_t next;    /* sibling, in the chain of the parent's children */
    uint32_t child;   /* its first */
    uint32_t recent;  /* the child asked for last */
    uint32_t numbers; /* NONE = none */
    uint64_t count, time, self_time, longest, longest_at, events;
};

/* What is open on a lane now. */
struct lane_path {
    uint32_t root;    /* its node, NONE = not yet seen */
    uint32_t numbers; /* NONE = it has none */
    uint32_t known;   /* so many of nodes are those of the lane's stack */
    uint32_t capacity;
    uint32_t *nodes;  /* of the entry at each depth */
    uint64_t *nested; /* ns counted in entries above it */
};

/* How a lane's number went. */
struct numbers {
    uint64_t count, first, since; /* ns: of the first, of the last */
    double least, greatest, last;
    double area; /* number times ns, from first to since */
};

/* Events of one tracefile by id. */
struct types {
    struct fm_tracefile *tracefile;
    uint64_t *counts;
    uint32_t count;
};

struct fm_statistics {
    struct fm_trace *trace;
    struct fm_state_observer observer;
    const struct fm_state *state;
    GArray *nodes;   /* of struct node */
    uint32_t *table; /* node number + 1 by (parent, value) */
    uint32_t table_mask;
    struct lane_path *paths;
    uint32_t path_count;
    uint32_t kinds[FM_LANE_KIND_COUNT];      /* nodes */
    uint32_t kind_lanes[FM_LANE_KIND_COUNT]; /* how many lanes are told apart */
    uint32_t others[FM_LANE_KIND_COUNT];     /* node of all further ones */
    GArray *types;                           /* of struct types, by the tracefile's index */
    GArray *numbers;                         /* of struct numbers */
    uint32_t marks, other_states;            /* the values "marks", "others" */
    uint32_t nodes_max;                      /* NODES_MAX; less in tests */
    uint64_t elsewhere;                      /* events that happened on no lane */
    uint64_t events, latest, start, end;
    struct fm_statistics_node *root;  /* as asked for last; NULL = none yet */
    bool stale;                       /* counted since then */
    GStringChunk *names;              /* of root */
    struct fm_statistics_node *added; /* of other traces; NULL = none */
    GStringChunk *added_names;
};

static inline struct node *node_at(const struct fm_statistics *statistics, uint32_t index)
{
    return &g_array_index(statistics->nodes, struct node, index);
}

void fm_statistics_free_tree(struct fm_statistics_node *node);
