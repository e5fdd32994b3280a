/* SPDX-License-Identifier: Apache-2.0 */
/* A bounds-checked reader of unwind tables: beyond the end it returns 0 and sets `bad`. */
#pragma once

#include "table.h"

#include <string.h>

struct fm_bytes {
    const uint8_t *at, *end;
    bool bad;
};

static inline struct fm_bytes fm_bytes_of(struct fm_unwind_bounds bounds)
{
    return (struct fm_bytes){.at = bounds.low, .end = bounds.high};
}

static inline uint64_t fm_bytes_left(const struct fm_bytes *bytes)
{
    return (uint64_t)(bytes->end - bytes->at);
}

/* A little-endian number of 1, 2, 4 or 8 bytes. */
static inline uint64_t fm_bytes_number(struct fm_bytes *bytes, unsigned size)
{
    uint64_t number = 0;
    if (fm_bytes_left(bytes) < size) {
        bytes->at = bytes->end;
        bytes->bad = true;
        return 0;
    }
    memcpy(&number, bytes->at, size);
    bytes->at += size;
    return number;
}

static inline int64_t fm_bytes_signed(struct fm_bytes *bytes, unsigned size)
{
    uint64_t number = fm_bytes_number(bytes, size);
    unsigned shift = 64 - 8 * size;
    return (int64_t)(number << shift) >> shift;
}

static inline void fm_bytes_skip(struct fm_bytes *bytes, uint64_t count)
{
    if (fm_bytes_left(bytes) < count) {
        bytes->at = bytes->end;
        bytes->bad = true;
        return;
    }
    bytes->at += count;
}

/* LEB128. Bits beyond the 64th are lost. */
static inline uint64_t fm_bytes_uleb(struct fm_bytes *bytes)
{
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = fm_bytes_number(bytes, 1);
        number |= shift < 64 ? (byte & 0x7f) << shift : 0;
        if ((byte & 0x80) == 0)
            return number;
    }
}

static inline int64_t fm_bytes_sleb(struct fm_bytes *bytes)
{
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = fm_bytes_number(bytes, 1);
        number |= shift < 64 ? (byte & 0x7f) << shift : 0;
        if ((byte & 0x80) == 0) {
            if (shift + 7 < 64 && (byte & 0x40) != 0)
                number |= ~0ull << (shift + 7);
            return (int64_t)number;
        }
    }
}
