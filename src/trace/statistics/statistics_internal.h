/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that statistics.c (counting) and statistics_tree.c (showing) share. */
#pragma once

#include "trace/state/state_internal.h"
#include "trace/statistics/statistics.h"

#define NONE UINT32_MAX

enum {
    FIRST_SLOTS = 1024,
    LANES_MAX = 65536,   /* limit for one kind; further lanes are counted together as "others" */
    NODES_MAX = 1000000, /* further outermost states of a lane are its "others"; nested ones are no
                          * entries: their time is that of the one around */
    AHEAD_NODES = 16384, /* fewer stay in the cache: nodes are looked for at once */
    TYPES_MAX = 65536,   /* event ids; further ones are counted together */
};

/* One cache line: there are many more than the cache holds, and events come to them in any order.
 */
struct node {
    uint32_t parent, value;
    uint32_t recent, recent_value; /* the child asked for last, and its value */
    uint64_t count, time, self_time, longest, longest_at, events;
};
enum { NODE_SLAB = 32768 }; /* nodes */
G_STATIC_ASSERT(sizeof(struct node) == 64);

/* Entry of the table of children: the whole key, so that no node need be looked at to find one. */
struct slot {
    uint32_t parent, value;
    uint32_t number; /* index of the node, + 1; 0 = free */
    uint32_t unused; /* none lies in two cache lines */
};

struct path_entry {
    uint64_t nested; /* ns counted in entries above it */
    uint32_t node;
    uint32_t value;
};

struct path_near {
    uint32_t value;
    uint32_t number; /* index of the node, + 1; 0 = none */
};

/* Open entries of a lane. The node of an entry that was just pushed is looked up only when the next
 * event occurs on its lane; meanwhile its table entry is prefetched. */
struct lane_path {
    uint32_t root;    /* its node, NONE = not yet seen */
    uint32_t numbers; /* NONE = it has none */
    uint32_t known;   /* so many of the entries have the nodes of the lane's stack */
    uint32_t capacity;
    /* value of the first entry that is not known, when events occurred in it */
    uint32_t ahead_value;
    uint32_t ahead_events;
    struct path_entry *entries; /* by depth */
    /* Facts about the lane itself. */
    uint32_t depth;
    uint32_t name;   /* a value */
    uint32_t parent; /* lane, or FM_LANE_NONE */
    uint64_t number; /* fm_lane_number() */
    enum fm_lane_kind kind;
    struct path_near near[8]; /* by value: outermost states met on it */
};

/* How a lane's number went. */
struct numbers {
    uint32_t node;                /* the lane's */
    uint64_t count, first, since; /* ns: of the first, of the last */
    double least, greatest, last;
    double area; /* number times ns, from first to since */
};

/* Events of one tracefile by id. */
struct types {
    uint64_t *counts;
    uint32_t count;
};

struct fm_statistics {
    struct fm_trace *trace;
    struct fm_state_observer observer;
    const struct fm_state *state;
    struct node **slabs; /* each NODE_SLAB nodes */
    uint32_t node_count;
    struct slot *table; /* open addressing by (parent, value) */
    uint32_t table_mask;
    struct lane_path *paths;
    uint32_t path_count;
    uint32_t kinds[FM_LANE_KIND_COUNT];      /* nodes */
    uint32_t kind_lanes[FM_LANE_KIND_COUNT]; /* how many lanes are told apart */
    uint32_t others[FM_LANE_KIND_COUNT];     /* node of all further ones */
    GArray *types;                           /* holds struct types, by the index of the tracefile */
    GArray *numbers;                         /* holds struct numbers */
    uint32_t marks, other_states;            /* the values "marks", "others" */
    uint32_t nodes_max, ahead_nodes;         /* NODES_MAX, AHEAD_NODES; less in tests */
    uint64_t elsewhere;                      /* events that happened on no lane */
    uint64_t events, latest, start, end;
    struct fm_statistics_node *root;  /* as asked for last; NULL = none yet */
    bool stale;                       /* counted since then */
    GStringChunk *names;              /* names of root */
    struct fm_statistics_node *added; /* nodes of other traces; NULL = none */
    GStringChunk *added_names;
};

static inline struct node *node_at(const struct fm_statistics *statistics, uint32_t index)
{
    return &statistics->slabs[index / NODE_SLAB][index % NODE_SLAB];
}

/* Nodes for what is counted without one yet: what is known so far is then in the nodes. */
void fm_statistics_settle(struct fm_statistics *statistics);
void fm_statistics_free_tree(struct fm_statistics_node *node);
