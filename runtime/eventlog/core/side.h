/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers log while they interrupt the library, beside a lane. */
#pragma once
#include "core/block.h"

#include <stdatomic.h>

#define FM_EL_SIDE_BYTES 4096u

/* Room that is not reserved is all FF, and an event that is being written begins with FE FE and its
 * length: whoever finds the queue of a program that was killed tells them from whole events. */
struct fm_el_side {
    _Atomic uint64_t state; /* turns << 40 | reserved bytes << 20 | committed bytes */
    uint32_t done;          /* handed over in this turn; under the lane's lock */
    unsigned char data[FM_EL_MARKER_BYTES + FM_EL_SIDE_BYTES]; /* offsets count after the marker */
};
void fm_el_side_init(struct fm_el_side *s);
/* A handler reserves room, writes one event's payload behind its first 10 bytes, and commits it
 * with those. NULL = no room. */
unsigned char *fm_el_side_reserve(struct fm_el_side *s, size_t bytes);
void fm_el_side_commit(struct fm_el_side *s, unsigned char *event, size_t bytes, uint16_t type,
                       uint64_t stamp);
/* Where the queue stands when so many more bytes are handed over: turns << 40 | bytes. */
uint64_t fm_el_side_mark(const struct fm_el_side *s, size_t more);
bool fm_el_side_waits(const struct fm_el_side *s);
/* Under the lane's lock: the bytes that no handler is in the middle of, 0 = none; they have gone.
 */
size_t fm_el_side_ready(struct fm_el_side *s, unsigned char **data);
void fm_el_side_done(struct fm_el_side *s, size_t bytes);
/* Puts the queued events among events, by their raw stamps; behind events there is room for them.
 */
void fm_el_side_merge(unsigned char *events, size_t bytes, const unsigned char *side,
                      size_t side_bytes);
