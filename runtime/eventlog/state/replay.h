/* SPDX-License-Identifier: Apache-2.0 */
/* A replay being written. */
#pragma once
#include "internal.h"

/* Events with their original times come first, those of now behind them; times are moved up to the
 * end of the block before, so that blocks never overlap however many there are. */
enum { FM_EL_REPLAY_LANE_MAX = 256 };
struct fm_el_replay {
    struct fm_el_bytes *b;
    size_t block; /* where the open block begins */
    uint64_t now, begin, latest, floor;
    uint32_t count;
    bool open, same_time;
};
void fm_el_replay_event(struct fm_el_replay *o, uint16_t type, uint64_t ns, const void *first,
                        size_t first_bytes, const void *second, size_t second_bytes);
/* Events of one lane, in any order; done writes them as a block of it, by time. */
void fm_el_replay_lane_event(struct fm_el_replay *o, uint16_t cap, uint16_t type, uint64_t ns,
                             const void *payload, size_t bytes);
void fm_el_replay_lane_done(struct fm_el_replay *o);
