/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the monitor's messages for the tests: CBOR values, each checked to its last byte. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct collect {
    uint64_t types_announced, types, states, heads, announced_parts, parts, singles;
    uint64_t numbers;  /* events 522, in order */
    uint64_t messages; /* events 19 */
    uint64_t incomplete;
    size_t largest_payload;
    GByteArray *pieces;
    uint64_t piece_id, pieces_left, piece_next;
};
struct collect *collect_new(void);
void collect_message(struct collect *c, const uint8_t *data, size_t bytes);
/* Frames with their lengths; whole: no frame may be cut at the end. */
struct collect *collect_frames(const uint8_t *data, size_t bytes, bool whole);
void collect_free(struct collect *c);
