/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/reader.h"

#include <string.h>

#include "base/error.h"

void fm_reader_set_error(const struct fm_reader *reader, const uint8_t *at, int code,
                         GError **error, const char *format, ...)
{
    if (!error || *error)
        return;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, FM_ERROR, code, "%s: offset %zu: %s", reader->name,
                (size_t)(at - reader->start), text);
}

static bool fail_at_end(const struct fm_reader *reader, const char *what, GError **error)
{
    return fm_reader_fail(reader, reader->end, FM_ERROR_TRUNCATED, error,
                          "unexpected end of file, expected %s", what);
}

void fm_reader_byte_failed(struct fm_reader *reader, const char *what, GError **error)
{
    fail_at_end(reader, what, error);
}

bool fm_reader_num_checked(struct fm_reader *reader, const char *what, uint64_t *ret,
                           GError **error)
{
    uint64_t value = 0;
    const uint8_t *at = reader->at;
    for (;;) {
        if (at == reader->end)
            return fail_at_end(reader, what, error);
        uint8_t byte = *at;
        if (at == reader->at && byte == 0x80)
            return fm_reader_fail(reader, at, FM_ERROR_FORMAT, error,
                                  "number begins with 0x80, expected %s in the shortest form",
                                  what);
        if (value >> 57 != 0)
            return fm_reader_fail(reader, reader->at, FM_ERROR_FORMAT, error,
                                  "number of more than 64 bits, expected %s", what);
        value = value << 7 | (byte & 0x7f);
        at++;
        if (byte < 0x80)
            break;
    }
    reader->at = at;
    *ret = value;
    return true;
}

bool fm_reader_num_max(struct fm_reader *reader, const char *what, uint64_t max, uint64_t *ret,
                       GError **error)
{
    const uint8_t *before = reader->at;
    uint64_t value;
    if (!fm_reader_num(reader, what, &value, error))
        return false;
    if (value > max) {
        reader->at = before;
        return fm_reader_fail(reader, before, FM_ERROR_FORMAT, error,
                              "%s is %" G_GUINT64_FORMAT ", expected at most %" G_GUINT64_FORMAT,
                              what, value, max);
    }
    *ret = value;
    return true;
}

bool fm_reader_ascending(struct fm_reader *reader, const char *what, uint32_t max, uint32_t *last,
                         GError **error)
{
    const uint8_t *before = reader->at;
    uint64_t value;
    if (!fm_reader_num_max(reader, what, max, &value, error))
        return false;
    if (value != 0 && value <= *last)
        return fm_reader_fail(reader, before, FM_ERROR_FORMAT, error,
                              "%s %u, expected more than %u", what, (unsigned)value,
                              (unsigned)*last);
    *last = (uint32_t)value;
    return true;
}

bool fm_reader_u32(struct fm_reader *reader, const char *what, uint32_t *ret, GError **error)
{
    uint64_t value;
    if (!fm_reader_num_max(reader, what, UINT32_MAX, &value, error))
        return false;
    *ret = (uint32_t)value;
    return true;
}

bool fm_reader_fixed(struct fm_reader *reader, const char *what, uint64_t *ret, GError **error)
{
    if (fm_reader_left(reader) < 8)
        return fail_at_end(reader, what, error);
    uint64_t value;
    memcpy(&value, reader->at, sizeof(value));
    reader->at += sizeof(value);
    *ret = GUINT64_FROM_LE(value);
    return true;
}

bool fm_reader_string(struct fm_reader *reader, const char *what, const char **ret,
                      size_t *ret_length, GError **error)
{
    const uint8_t *before = reader->at;
    uint64_t length;
    if (!fm_reader_num(reader, what, &length, error))
        return false;
    if (length > fm_reader_left(reader)) {
        size_t left = fm_reader_left(reader);
        reader->at = before;
        return fm_reader_fail(reader, before, FM_ERROR_TRUNCATED, error,
                              "%s of %" G_GUINT64_FORMAT " bytes, but unexpected end of file after "
                              "%zu bytes",
                              what, length, left);
    }
    if (length > FM_STRING_BYTES_MAX) {
        reader->at = before;
        return fm_reader_fail(reader, before, FM_ERROR_LIMIT, error,
                              "%s of %" G_GUINT64_FORMAT " bytes, expected at most %zu", what,
                              length, FM_STRING_BYTES_MAX);
    }
    const uint8_t *nul = memchr(reader->at, 0, (size_t)length);
    if (nul) {
        reader->at = before;
        return fm_reader_fail(reader, nul, FM_ERROR_FORMAT, error, "NUL byte in %s", what);
    }
    *ret = (const char *)reader->at;
    *ret_length = (size_t)length;
    reader->at += length;
    return true;
}

bool fm_reader_count_checked(struct fm_reader *reader, const char *what, size_t item_bytes,
                             uint32_t *ret, GError **error)
{
    const uint8_t *before = reader->at;
    uint64_t count;
    if (!fm_reader_num(reader, what, &count, error))
        return false;
    if (count > fm_reader_left(reader) / item_bytes || count > INT32_MAX) {
        size_t left = fm_reader_left(reader);
        reader->at = before;
        return fm_reader_fail(reader, before, FM_ERROR_TRUNCATED, error,
                              "%s is %" G_GUINT64_FORMAT ", expected at most the %zu for which %zu "
                              "bytes are left",
                              what, count, left / item_bytes, left);
    }
    *ret = (uint32_t)count;
    return true;
}
