/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the heap of a C program beside the measures: which contexts freed blocks that others
 * had allocated, and what realloc did. All empty where what is held was not recorded, in
 * sums where not all profiles tell it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/file/facts/durations.h"

/* Blocks that the callee of one csd allocated and the callee of another, or the same, gave back. A
 * pair of contexts has one. */
struct fm_flow {
    uint32_t from; /* csd whose callee allocated; 0 = not known */
    uint32_t to;   /* csd whose callee gave back */
    uint64_t blocks, bytes;
    uint64_t held_ns;    /* how long, of all of them together; 0 = not recorded */
    uint64_t longest_ns; /* that one of them was held */
};

/* Blocks that realloc, called by the callee of a csd, put elsewhere, or left where they were. */
struct fm_realloc {
    uint32_t csd;
    uint64_t moved, kept;
};

/* Live bytes of the whole program over time, as ticks met them: what was allocated and freed
 * between two ticks is not in it. */
#define FM_HEAP_SLOTS_MAX 512u
#define FM_HEAP_SLOT_NS_MAX (UINT64_C(1) << 53)
struct fm_heap_slot {
    uint64_t least;
    uint64_t most; /* + 1; 0 = no tick fell into it: no thread ran for long */
};
struct fm_heap_curve {
    uint64_t slot_ns; /* length of a slot, of which the first begins with the run; 0 = not recorded,
                         as in sums, phases and earlier versions */
    uint32_t count;   /* at most FM_HEAP_SLOTS_MAX; the last one was met */
    struct fm_heap_slot *slots;
};

/* Heap figures of no context. */
struct fm_heap_whole {
    uint64_t peak_ns;                       /* from start to the peak; 0 = not known */
    uint64_t peak_error;                    /* bytes that the peak, and what it consisted of, may
                                               be off; 0 = exact */
    uint64_t unknown_blocks, unknown_bytes; /* given back, but allocated where nothing was
                                               recorded; usable bytes */
    uint64_t unseen_blocks, unseen_bytes;   /* given back where nothing is recorded */
    uint64_t inherited_blocks, inherited_bytes; /* given back; the parent had allocated them */
    uint64_t untold_blocks, untold_bytes;       /* allocated, but nobody could note where */
    uint64_t dropped;                           /* blocks given back that are in no flow */
};

struct fm_heap_info {
    bool recorded;
    uint32_t flow_count, realloc_count;
    struct fm_flow *flows;
    struct fm_realloc *reallocs;
    struct fm_heap_whole whole;
    struct fm_heap_curve curve;
    struct fm_duration_info lifetimes; /* how long the blocks that a csd's callee allocated were
                                          held, of those given back; none: not recorded */
};

/* At csds from 1. */
void fm_heap_info_add_flow(struct fm_heap_info *info, const struct fm_flow *flow);
void fm_heap_info_add_realloc(struct fm_heap_info *info, const struct fm_realloc *of);
/* Ascending by csd; takes the steps. */
void fm_heap_info_add_lifetimes(struct fm_heap_info *info, struct fm_durations *lifetimes);
void fm_heap_info_set(struct fm_heap_info *info, const struct fm_heap_whole *whole);
/* The slots are copied; those behind the last one that was met are left out. */
void fm_heap_info_set_curve(struct fm_heap_info *info, uint64_t slot_ns,
                            const struct fm_heap_slot *slots, uint32_t count);
void fm_heap_info_done(struct fm_heap_info *info);
