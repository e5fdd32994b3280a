/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds-checked reading from memory, with offsets for messages.
 *
 *   num     unsigned, base 128, most significant group first, bit 7 = more follows, shortest form
 *   fixed   8 bytes, little endian
 *   string  num length, then that many bytes
 *
 * Every function returns false with FM_ERROR_TRUNCATED or FM_ERROR_FORMAT, naming the file, the
 * offset, and `what` was being read. The position is then the start of the bad item. */
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

/* Sets "NAME: offset N: " + the text; keeps an error that is already set. */
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

/* Inline for speed: nearly all of a profile is nums. Nums near the end of the input, longer than
 * nine bytes, or not in the shortest form are left to the function that checks each byte. */
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

/* Reads a num that must not be above max: FM_ERROR_FORMAT. */
FM_MUST_USE bool fm_reader_num_max(struct fm_reader *reader, const char *what, uint64_t max,
                                   uint64_t *ret, GError **error);
/* Reads the next of ascending numbers from 1 to max, or the 0 that ends them. *last: the number
 * before, initially 0; is updated. FM_ERROR_FORMAT. */
FM_MUST_USE bool fm_reader_ascending(struct fm_reader *reader, const char *what, uint32_t max,
                                     uint32_t *last, GError **error);
FM_MUST_USE bool fm_reader_u32(struct fm_reader *reader, const char *what, uint32_t *ret,
                               GError **error);
FM_MUST_USE bool fm_reader_fixed(struct fm_reader *reader, const char *what, uint64_t *ret,
                                 GError **error);
/* *ret points into the input and is not terminated. FM_ERROR_FORMAT when it contains a NUL;
 * FM_ERROR_LIMIT when it is longer than FM_STRING_BYTES_MAX. */
FM_MUST_USE bool fm_reader_string(struct fm_reader *reader, const char *what, const char **ret,
                                  size_t *ret_length, GError **error);
/* Reads a count of items of at least item_bytes each. More than the input can hold is
 * FM_ERROR_TRUNCATED, so that no memory is allocated for them. */
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
