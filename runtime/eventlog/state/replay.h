/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the events that a stream needs to be understood, whenever it begins. */
#pragma once
#include "core/block.h"

/* Each event is dated from the begin of what it describes, moved into [floor, until]. floor is the
 * end of the block before, so blocks never overlap, however many there are. */
enum { FM_EL_REPLAY_LANE_MAX = 256 };
struct fm_el_replay {
    struct fm_el_bytes *b;
    size_t block; /* offset of the open block */
    uint64_t until, begin, latest, floor;
    uint32_t count;
    bool open, whole; /* whole: the open block must not be split */
};
void fm_el_replay_event(struct fm_el_replay *o, uint16_t type, uint64_t ns, const void *first,
                        size_t first_bytes, const void *second, size_t second_bytes);
/* Ends the open block, if any, at that time. */
void fm_el_replay_close(struct fm_el_replay *o, uint64_t end);
/* Adds events of one lane, in any order; `done` writes them as a block of the lane, sorted by
 * time. */
void fm_el_replay_lane_event(struct fm_el_replay *o, uint16_t cap, uint16_t type, uint64_t ns,
                             const void *payload, size_t bytes);
void fm_el_replay_lane_done(struct fm_el_replay *o);

/* ---- last values; no block may be delivered while they are replayed. */
void fm_el_values_replay(struct fm_el_replay *o);
void fm_el_values_take(const struct fm_el_block *b);
void fm_el_values_lane_ends(uint16_t cap);
void fm_el_values_reset(void);
bool fm_el_values_any(void); /* whether there are any */

/* Replays the present state, as blocks. State and sink locks held. again: for a destination that is
 * not the log's first, it stands between two messages. values: with last values; then no block may
 * be delivered meanwhile. Times lie in [from_ns, until_ns]: the stream's earlier blocks without
 * lane end before, later ones follow. Within that, events keep their original times, because a
 * lane's next block may hold events that are older than the replay. */
void fm_el_replay(struct fm_el_bytes *b, bool again, uint64_t from_ns, uint64_t until_ns,
                  bool values);
