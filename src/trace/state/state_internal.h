/* SPDX-License-Identifier: Apache-2.0 */
/* Seen by this folder only: what state.c, the values and the checkpoints share. */
#pragma once

#include "trace/state/state.h"

/* Names with a length, of any bytes. */
uint32_t fm_trace_value_bytes(struct fm_trace *trace, const char *name, size_t length,
                              enum fm_state_class state_class);
/* Data of a model for all states of one trace (texts by number, addresses of functions): made at
 * the first call. */
void *fm_trace_model_names(struct fm_trace *trace, void *(*make)(struct fm_trace *trace),
                           GDestroyNotify free_names);

enum { FM_LANE_SLAB = 256 };

struct fm_state {
    struct fm_trace *trace;
    const struct fm_state_model *model;
    void *model_data;
    GPtrArray *slabs; /* each FM_LANE_SLAB lanes */
    uint32_t lane_count;
    uint32_t *table; /* open addressing: number + 1 of the living lane of (kind, key); 0 = free */
    uint32_t table_mask, table_used;
    GPtrArray *observers; /* holds const struct fm_state_observer */
    uint32_t event_lane;
    uint32_t epoch;  /* lanes whose changed is this have changed since the last taking */
    GArray *changes; /* holds uint32_t: their numbers */
    uint64_t inconsistent, hidden, origin;
    bool complete;
};

static inline struct fm_lane *fm_state_lane_fast(const struct fm_state *state, uint32_t index)
{
    struct fm_lane *slab = state->slabs->pdata[index / FM_LANE_SLAB];
    return &slab[index % FM_LANE_SLAB];
}

/* From here on changes are listed anew. */
void fm_state_forget_changes(struct fm_state *state);
/* Begins to build a state: no lanes; model_data replaced (taken). */
void fm_state_begin_restore(struct fm_state *state, void *model_data, uint64_t time);
/* A lane with the next number; entered in the table unless ended. Fields are the caller's to fill:
 * kind, key and ended must stand in the given one. */
struct fm_lane *fm_state_add_restored(struct fm_state *state, const struct fm_lane *given);
void fm_state_reserve_stack(struct fm_lane *lane, uint32_t depth);
