/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes: each thread's buffer, from an event to a block. */
#pragma once
#include "core/clock.h"
#include "core/shared.h"
#include "core/side.h"

#define FM_EL_LANES_MAX 0xFFFFu

/* Always: buffer + 24 <= taken <= head->pos <= buffer + size; [taken, pos) is not handed over yet,
 * and the 24 bytes before taken are dead: the block's marker is written there. */
struct fm_el_lane {
    pthread_mutex_t mutex;
    struct fm_eventlog_head_ *head; /* the owner's; NULL = no owner */
    unsigned char *buffer, *taken;
    size_t size;               /* of buffer */
    struct fm_live_slot *live; /* that the buffer is in; NULL = the pool */
    uint64_t generation;       /* of live files, when the buffer was taken */
    struct fm_el_side *side;   /* in the slot, or the lane's own; changed by the owner */
    unsigned char *own_copy;   /* of pos, while there is no slot */
    struct fm_el_sample begin;
    uint64_t created_ns;               /* by its first owner */
    uint64_t attached_ns, detached_ns; /* by the present owner, by the last one */
    uint32_t thread;
    pid_t task;
    uint16_t number;
    bool in_use; /* under the state lock, as is next_free */
    struct fm_el_lane *next_free;
    struct fm_el_side own_side;
};
/* A buffer of the wanted size, or less in a live file, in place of the one that it has; false = it
 * keeps that. Owner (or nobody), lane locked, all handed over. */
bool fm_el_lane_take_buffer(struct fm_el_lane *l, size_t wanted);
void fm_el_lane_drop_buffer(struct fm_el_lane *l);
bool fm_el_lane_has_wanted(const struct fm_el_lane *l); /* the buffer is as it should be */
void fm_el_lane_set_pos(struct fm_el_lane *l, unsigned char *pos);
/* Tells the live file what is handed over; side as it is about to be (fm_el_side_mark). */
void fm_el_lane_note(struct fm_el_lane *l, uint64_t side);
unsigned fm_el_lane_count(void);
struct fm_el_lane *fm_el_lane_at(unsigned i);
struct fm_el_lane *fm_el_lane_mine(void); /* NULL = the thread has not logged yet */
struct fm_el_lane *fm_el_lane_need(void); /* attaches it if the log runs; inside enter/leave */
/* Hands over what this lane has committed; its lock held, by its owner or anybody. */
void fm_el_lane_hand_over(struct fm_el_lane *l);
/* Hands over what every lane has committed, and waits until the stream has it, unless timeout_ms is
 * 0; 0 or -ETIMEDOUT. No locks held by the caller. */
int fm_el_lanes_flush(int timeout_ms);
void fm_el_lanes_fork_lock(void);
void fm_el_lanes_fork_unlock(void);
void fm_el_lanes_after_fork(void);
void fm_el_lanes_own(void);
void fm_el_lanes_nudge(void);
/* Once. fork_open: at the first event of a child of fork, outside of all locks. */
void fm_el_lanes_init(void (*fork_open)(void));
uint32_t fm_el_lanes_used(void);
/* Appends to the calling thread's lane; false = dropped (and counted). */
bool fm_el_append(uint16_t type, const void *first, size_t first_bytes, const void *second,
                  size_t second_bytes);
bool fm_el_append_pieces(uint16_t type, const struct fm_eventlog_piece_ *pieces, unsigned count);
