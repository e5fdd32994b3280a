/* SPDX-License-Identifier: Apache-2.0 */
/* Queue for events that signal handlers log while they interrupt the library; one for each lane. */
#pragma once
#include "core/block.h"

#include <stdatomic.h>

#define FM_EL_SIDE_BYTES 4096u

/* Room that is not reserved is all FF, and an event that is being written begins with FE FE and its
 * length. So they can be told from whole events in the queue of a killed program. */
struct fm_el_side {
    _Atomic uint64_t state; /* turns << 40 | reserved bytes << 20 | committed bytes */
    uint32_t done;          /* bytes handed over in this turn; under the lane's lock */
    /* offsets count from after the marker */
    unsigned char data[FM_EL_MARKER_BYTES + FM_EL_SIDE_BYTES];
};
void fm_el_side_init(struct fm_el_side *s);
/* Reserves room for one event. The handler writes the payload after its first 10 bytes, then
 * commits it with those. NULL = no room. */
unsigned char *fm_el_side_reserve(struct fm_el_side *s, size_t bytes);
void fm_el_side_commit(struct fm_el_side *s, unsigned char *event, size_t bytes, uint16_t type,
                       uint64_t stamp);
/* State of the queue when `more` further bytes have been handed over: turns << 40 | bytes. */
uint64_t fm_el_side_mark(const struct fm_el_side *s, size_t more);
bool fm_el_side_waits(const struct fm_el_side *s);
/* Under the lane's lock: bytes of events that are complete, 0 = none; they count as handed over. */
size_t fm_el_side_ready(struct fm_el_side *s, unsigned char **data);
void fm_el_side_done(struct fm_el_side *s, size_t bytes);
/* Merges the queued events into `events` by their raw stamps; there must be room for them after the
 * events. */
void fm_el_side_merge(unsigned char *events, size_t bytes, const unsigned char *side,
                      size_t side_bytes);
