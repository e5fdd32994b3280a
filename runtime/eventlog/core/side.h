/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers log while they interrupt the library, beside a lane. */
#pragma once
#include "core/block.h"

#include <stdatomic.h>

#define FM_EL_SIDE_BYTES 4096u

struct fm_el_side {
    _Atomic uint64_t state; /* reserved bytes << 32 | committed bytes */
    uint32_t done;          /* handed over; under the lane's lock */
    unsigned char data[FM_EL_MARKER_BYTES + FM_EL_SIDE_BYTES]; /* offsets count after the marker */
};
/* A handler reserves room, writes one event and commits it. NULL = no room. */
unsigned char *fm_el_side_reserve(struct fm_el_side *s, size_t bytes);
void fm_el_side_commit(struct fm_el_side *s, size_t bytes);
bool fm_el_side_waits(const struct fm_el_side *s);
/* Under the lane's lock: the bytes that no handler is in the middle of, 0 = none; they have gone.
 */
size_t fm_el_side_ready(struct fm_el_side *s, unsigned char **data);
void fm_el_side_done(struct fm_el_side *s, size_t bytes);
/* Puts the queued events among events, by their raw stamps; behind events there is room for them.
 */
void fm_el_side_merge(unsigned char *events, size_t bytes, const unsigned char *side,
                      size_t side_bytes);
