/* SPDX-License-Identifier: Apache-2.0 */
/* A block on its way to the destinations: complete, with its marker. */
#pragma once
#include "core/types.h"

#define FM_EL_MARKER_BYTES 24u
#define FM_EL_NO_CAP 0xFFFFu

struct fm_live_slot;
struct fm_el_block {
    const unsigned char *data;
    size_t bytes;
    uint32_t events;
    uint16_t cap;
    struct fm_live_slot *live; /* the live slot that holds data, or NULL; delivering frees it */
};
void fm_el_marker(unsigned char out[FM_EL_MARKER_BYTES], size_t block_bytes, uint16_t cap,
                  uint64_t begin_ns, uint64_t end_ns);
/* Writes the first 10 bytes of an event, as they are in the log; returns the place of its
 * payload. */
static inline unsigned char *fm_el_put_event(unsigned char *p, uint16_t type, uint64_t ns)
{
    uint16_t number = fm_eventlog_be16_(type);
    ns = fm_eventlog_be64_(ns);
    memcpy(p, &number, 2);
    memcpy(p + 2, &ns, 8);
    return p + 10;
}
/* Writes the two events that report a gap into out, as a block of their own. */
#define FM_EL_MISSING_MAX 256u
struct fm_el_gap {
    uint64_t events, bytes, blocks;
};
void fm_el_gap_add(struct fm_el_gap *gap, const struct fm_el_block *dropped);
extern const unsigned char fm_el_end_mark[2];
/* Returns the block's length; 0 = nothing is missing. next: the block after the gap (its first 24
 * bytes are used). The gap takes its lane and time, so that each lane's blocks stay in order. NULL
 * = none follows. */
size_t fm_el_missing_block(unsigned char out[FM_EL_MISSING_MAX], const struct fm_el_gap *gap,
                           const unsigned char *next);
