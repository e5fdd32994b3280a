/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes: each thread's buffer. */
#pragma once
#include "core/clock.h"
#include "core/shared.h"
#include "core/side.h"

#define FM_EL_LANES_MAX 0xFFFFu

/* Invariant: buffer + 24 <= taken <= head->pos <= buffer + size. [taken, pos) is not yet handed
 * over. The 24 bytes before `taken` are unused: the block's marker is written there. */
struct fm_el_lane {
    pthread_mutex_t mutex;
    struct fm_eventlog_head_ *head; /* belongs to the owner; NULL = no owner */
    unsigned char *buffer, *taken;
    size_t size;               /* size of buffer */
    struct fm_live_slot *live; /* the slot that holds the buffer; NULL = pool memory */
    uint64_t generation;       /* generation of the live file when the buffer was taken */
    struct fm_el_side *side;   /* in the slot, or allocated for the lane; changed by the owner */
    unsigned char *own_copy;   /* copy of pos, while there is no slot */
    struct fm_el_sample begin;
    uint64_t created_ns;               /* time at which its first owner created it */
    uint64_t attached_ns, detached_ns; /* time at which the present owner took it; time at which the
                                          last one left it */
    uint32_t thread;
    pid_t task;
    uint16_t number;
    bool in_use; /* guarded by the state lock, like next_free */
    struct fm_el_lane *next_free;
    struct fm_el_side own_side;
};
/* Replaces the buffer by one of the wanted size, or smaller in a live file; false = keeps the old
 * one. By the owner, or without owner; lane locked; everything handed over. */
bool fm_el_lane_take_buffer(struct fm_el_lane *l, size_t wanted);
void fm_el_lane_drop_buffer(struct fm_el_lane *l);
/* the buffer has the wanted size and place */
bool fm_el_lane_has_wanted(const struct fm_el_lane *l);
void fm_el_lane_set_pos(struct fm_el_lane *l, unsigned char *pos);
/* Stores in the live file how much is handed over; side: the queue's state at that time
 * (fm_el_side_mark). */
void fm_el_lane_note(struct fm_el_lane *l, uint64_t side);
unsigned fm_el_lane_count(void);
struct fm_el_lane *fm_el_lane_at(unsigned i);
struct fm_el_lane *fm_el_lane_mine(void); /* NULL = the thread has not logged yet */
/* attaches a lane if the log runs; call inside enter/leave */
struct fm_el_lane *fm_el_lane_need(void);
/* Hands over what is committed in this lane. The lane's lock is held, by its owner or another
 * thread. */
void fm_el_lane_hand_over(struct fm_el_lane *l);
/* Hands over what is committed in every lane, and waits until the stream has written it, unless
 * timeout_ms is 0; 0 or -ETIMEDOUT. The caller holds no locks. */
int fm_el_lanes_flush(int timeout_ms);
void fm_el_lanes_fork_lock(void);
void fm_el_lanes_fork_unlock(void);
void fm_el_lanes_after_fork(void);
void fm_el_lanes_own(void);
void fm_el_lanes_nudge(void);
/* Call once. fork_open: called at the first event of a child of fork, without locks. */
void fm_el_lanes_init(void (*fork_open)(void));
uint32_t fm_el_lanes_used(void);
/* Appends to the calling thread's lane; false = dropped, and counted. */
bool fm_el_append(uint16_t type, const void *first, size_t first_bytes, const void *second,
                  size_t second_bytes);
bool fm_el_append_pieces(uint16_t type, const struct fm_eventlog_piece_ *pieces, unsigned count);
