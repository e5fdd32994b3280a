/* SPDX-License-Identifier: Apache-2.0 */
/* Records the changes of a state in batches, while events are read, for computations that need not
 * see the state itself. Each takes every batch once, in order, so its result is the same as an
 * observer's. The thread that does this is not determined: a second one, if there is another CPU,
 * or the one that reads. Results may not be used before fm_tape_end(). */
#pragma once

#include "trace/state/state.h"

enum fm_tape_kind {
    FM_TAPE_LANE,    /* it is there, or has another name. value: the name; depth: its kind; since:
                      * its parent; end: its key; detail: fm_lane_number() */
    FM_TAPE_BEGUN,   /* an entry of that value at that depth, the innermost one now */
    FM_TAPE_ENDED,   /* a segment, as observers are told */
    FM_TAPE_NUMBER,  /* at `end`; since: the number's bits */
    FM_TAPE_MARK,    /* at `end` */
    FM_TAPE_ARROW,   /* from the lane at `since` to the lane that is the value at `end` */
    FM_TAPE_CLOSING, /* what ends from here on is open where reading ended */
};

struct fm_tape_change {
    uint32_t event; /* it came with this one of the batch; their number = after the last */
    uint16_t kind, depth;
    uint32_t lane, value;
    uint64_t since, end, detail;
};

struct fm_tape_event {
    uint64_t time;
    uint32_t id;
    uint32_t lane;      /* that it happened on; FM_LANE_NONE = none */
    unsigned tracefile; /* its index */
};

struct fm_tape_batch {
    const struct fm_tape_event *events;
    const struct fm_tape_change *changes;
    uint32_t event_count, change_count;
};

typedef void fm_tape_take(void *user, const struct fm_tape_batch *batch);

struct fm_tape;

/* The state is borrowed; it must live longer, and be at its begin. beside: take batches in a thread
 * beside, too. */
struct fm_tape *fm_tape_new(struct fm_state *state, bool beside);
/* Drops what has not been taken. NULL is allowed. */
void fm_tape_free(struct fm_tape *tape);
/* Before the first event. user must live until the tape has ended, or is freed. */
void fm_tape_add(struct fm_tape *tape, fm_tape_take *take, void *user);
/* Event hook, after that of the state: hook_data = the tape. True, to end the step, when those who
 * take are far behind. */
bool fm_tape_hook(void *tape, void *tracefile_context);
/* Returns when all that was written so far has been taken. More may follow. */
void fm_tape_drain(struct fm_tape *tape);
/* All that is open ends at time, for those who take; nothing follows. Returns when all has been
 * taken. */
void fm_tape_end(struct fm_tape *tape, uint64_t time);
