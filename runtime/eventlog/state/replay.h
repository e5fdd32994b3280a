/* SPDX-License-Identifier: Apache-2.0 */
/* The events that make a stream understandable from its beginning, whenever that is. */
#pragma once
#include "core/block.h"

/* Each event has the time at which what it tells began, moved into [floor, until]; floor is the end
 * of the block before, so that blocks never overlap however many there are. */
enum { FM_EL_REPLAY_LANE_MAX = 256 };
struct fm_el_replay {
    struct fm_el_bytes *b;
    size_t block; /* where the open block begins */
    uint64_t until, begin, latest, floor;
    uint32_t count;
    bool open, whole; /* whole: the open block must not be split */
};
void fm_el_replay_event(struct fm_el_replay *o, uint16_t type, uint64_t ns, const void *first,
                        size_t first_bytes, const void *second, size_t second_bytes);
/* Ends the open block at that time, if there is one. */
void fm_el_replay_close(struct fm_el_replay *o, uint64_t end);
/* Events of one lane, in any order; done writes them as a block of it, by time. */
void fm_el_replay_lane_event(struct fm_el_replay *o, uint16_t cap, uint16_t type, uint64_t ns,
                             const void *payload, size_t bytes);
void fm_el_replay_lane_done(struct fm_el_replay *o);

/* ---- last values; replayed while no block passes. */
void fm_el_values_replay(struct fm_el_replay *o);
void fm_el_values_take(const struct fm_el_block *b);
void fm_el_values_lane_ends(uint16_t cap);
void fm_el_values_reset(void);
bool fm_el_values_any(void); /* there was something before */

/* Replay of now, as blocks. State and sink locks held. again: between two messages, as always for a
 * destination that is not the log's first. values: with the last values too; no block may pass
 * then. Times lie in [from_ns, until_ns]: the stream's blocks without lane end before and go on
 * behind. Facts keep their original times within that, because a lane's next block may hold events
 * that are older than the replay. */
void fm_el_replay(struct fm_el_bytes *b, bool again, uint64_t from_ns, uint64_t until_ns,
                  bool values);
