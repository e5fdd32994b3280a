/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded reading of bytes from memory, with offsets for messages.
 *
 *   num     unsigned, base 128, most significant group first, bit 7 = more follows, shortest form
 *   fixed   8 bytes, little endian
 *   string  num length, then that many bytes
 *
 * Every function returns false with FM_ERROR_TRUNCATED or FM_ERROR_FORMAT naming file, offset and
 * `what` was being read; the position is then where the bad item began. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct fm_reader {
    const uint8_t *start, *at, *end;
    const char *name; /* name of the file */
};

#define FM_NUM_BYTES_MAX 10
#define FM_STRING_BYTES_MAX ((size_t)1 << 24)

static inline size_t fm_reader_offset(const struct fm_reader *reader)
{
    return (size_t)(reader->at - reader->start);
}

static inline size_t fm_reader_left(const struct fm_reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

/* "NAME: offset N: " + the text; keeps an error that is set already. */
void fm_reader_set_error(const struct fm_reader *reader, const uint8_t *at, int code,
                         GError **error, const char *format, ...) FM_PRINTF(5, 6);
/* For `return fm_reader_fail(...)`; a macro so that the compiler sees that it is false. */
#define fm_reader_fail(...) (fm_reader_set_error(__VA_ARGS__), false)
FM_MUST_USE bool fm_reader_num_checked(struct fm_reader *reader, const char *what, uint64_t *ret,
                                       GError **error);
void fm_reader_byte_failed(struct fm_reader *reader, const char *what, GError **error);

FM_MUST_USE static inline bool fm_reader_byte(struct fm_reader *reader, const char *what,
                                              uint8_t *ret, GError **error)
{
    if (FM_UNLIKELY(reader->at == reader->end)) {
        fm_reader_byte_failed(reader, what, error);
        return false;
    }
    *ret = *reader->at++;
    return true;
}

/* Inline for speed: nearly all of a profile is nums. What is near the end of the input, longer
 * than nine bytes or not in the shortest form goes to the function that checks each byte. */
FM_MUST_USE static inline bool fm_reader_num(struct fm_reader *reader, const char *what,
                                             uint64_t *ret, GError **error)
{
    const uint8_t *at = reader->at;
    if (FM_LIKELY(reader->end - at >= FM_NUM_BYTES_MAX) && FM_LIKELY(*at != 0x80)) {
        uint64_t value = 0;
        for (int i = 0; i < FM_NUM_BYTES_MAX - 1; i++) {
            uint8_t byte = *at++;
            value = value << 7 | (byte & 0x7f);
            if (byte < 0x80) {
                reader->at = at;
                *ret = value;
                return true;
            }
        }
    }
    return fm_reader_num_checked(reader, what, ret, error);
}

/* A num that must not be above max: FM_ERROR_FORMAT. */
FM_MUST_USE bool fm_reader_num_max(struct fm_reader *reader, const char *what, uint64_t max,
                                   uint64_t *ret, GError **error);
/* The next of numbers that ascend, from 1 to max, or the 0 behind the last. *last: the one before,
 * 0 at first; becomes this one. FM_ERROR_FORMAT. */
FM_MUST_USE bool fm_reader_ascending(struct fm_reader *reader, const char *what, uint32_t max,
                                     uint32_t *last, GError **error);
FM_MUST_USE bool fm_reader_u32(struct fm_reader *reader, const char *what, uint32_t *ret,
                               GError **error);
FM_MUST_USE bool fm_reader_fixed(struct fm_reader *reader, const char *what, uint64_t *ret,
                                 GError **error);
/* *ret points into the input, not terminated. A NUL byte inside is FM_ERROR_FORMAT,
 * more than FM_STRING_BYTES_MAX FM_ERROR_LIMIT. */
FM_MUST_USE bool fm_reader_string(struct fm_reader *reader, const char *what, const char **ret,
                                  size_t *ret_length, GError **error);
/* A count of items that take at least item_bytes each: more than the input can hold is
 * FM_ERROR_TRUNCATED, so that nobody takes memory for it. */
FM_MUST_USE bool fm_reader_count_checked(struct fm_reader *reader, const char *what,
                                         size_t item_bytes, uint32_t *ret, GError **error);
FM_MUST_USE static inline bool fm_reader_count(struct fm_reader *reader, const char *what,
                                               size_t item_bytes, uint32_t *ret, GError **error)
{
    /* Most counts are small and far from the end. */
    if (FM_LIKELY(reader->end - reader->at > 1024) && *reader->at < 0x80 && item_bytes <= 8) {
        *ret = *reader->at++;
        return true;
    }
    return fm_reader_count_checked(reader, what, item_bytes, ret, error);
}
