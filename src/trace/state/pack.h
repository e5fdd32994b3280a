/* SPDX-License-Identifier: Apache-2.0 */
/* Small numbers in few bytes, for checkpoints in memory and in files; seen by this folder only.
 * Base 128, least significant group first. Reading is bounded: from the first mistake on `bad` is
 * set and all that is read is 0. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline void fm_pack(GByteArray *to, uint64_t value)
{
    uint8_t bytes[10];
    unsigned count = 0;
    do {
        uint8_t low = value & 0x7f;
        value >>= 7;
        bytes[count++] = (uint8_t)(low | (value != 0 ? 0x80 : 0));
    } while (value != 0);
    g_byte_array_append(to, bytes, count);
}

static inline void fm_pack_real(GByteArray *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = GUINT64_TO_LE(bits);
    g_byte_array_append(to, (const uint8_t *)&bits, sizeof bits);
}

static inline void fm_pack_bytes(GByteArray *to, const void *bytes, size_t length)
{
    fm_pack(to, length);
    g_byte_array_append(to, bytes, (guint)length);
}

struct fm_unpack {
    const uint8_t *at, *end;
    bool bad;
};

/* An empty array has no data, to which nothing may be added. */
static inline struct fm_unpack fm_unpack_from(const GByteArray *bytes)
{
    struct fm_unpack from = {.at = bytes->data, .end = bytes->data};
    if (bytes->len > 0)
        from.end += bytes->len;
    return from;
}

static inline uint64_t fm_unpack(struct fm_unpack *from)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && from->at < from->end; shift += 7) {
        uint8_t byte = *from->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    from->bad = true;
    from->at = from->end;
    return 0;
}

/* At most max, else bad. */
static inline uint32_t fm_unpack_max(struct fm_unpack *from, uint32_t max)
{
    uint64_t value = fm_unpack(from);
    if (value <= max)
        return (uint32_t)value;
    from->bad = true;
    from->at = from->end;
    return 0;
}

/* A number of things that take at least one byte each. */
static inline uint32_t fm_unpack_count(struct fm_unpack *from)
{
    uint64_t value = fm_unpack(from);
    if (value <= (uint64_t)(from->end - from->at) && value <= INT32_MAX)
        return (uint32_t)value;
    from->bad = true;
    from->at = from->end;
    return 0;
}

static inline double fm_unpack_real(struct fm_unpack *from)
{
    double value = 0;
    if (from->end - from->at < 8) {
        from->bad = true;
        from->at = from->end;
        return 0;
    }
    uint64_t bits;
    memcpy(&bits, from->at, sizeof bits);
    bits = GUINT64_FROM_LE(bits);
    memcpy(&value, &bits, sizeof value);
    from->at += 8;
    return value;
}

static inline const uint8_t *fm_unpack_bytes(struct fm_unpack *from, uint32_t *ret_length)
{
    *ret_length = fm_unpack_count(from);
    const uint8_t *bytes = from->at;
    from->at += *ret_length;
    return bytes;
}
