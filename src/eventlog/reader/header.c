/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "eventlog/reader/internal.h"

enum {
    TEXT_MAX = 64 << 10,
    HEADER_MAX = 64 << 20,
    ENTRIES_MAX = 131072,
};

struct fm_eventlog_header *fm_eventlog_header_new(void)
{
    struct fm_eventlog_header *header = g_new0(struct fm_eventlog_header, 1);
    header->bytes = g_byte_array_new();
    header->declared = g_array_new(FALSE, FALSE, sizeof(struct fm_eventlog_declared));
    header->refs = 1;
    return header;
}

struct fm_eventlog_header *fm_eventlog_header_ref(struct fm_eventlog_header *header)
{
    g_atomic_int_inc(&header->refs);
    return header;
}

void fm_eventlog_header_unref(struct fm_eventlog_header *header)
{
    if (header == NULL || !g_atomic_int_dec_and_test(&header->refs))
        return;
    g_byte_array_unref(header->bytes);
    g_array_unref(header->declared);
    g_clear_pointer(&header->types, g_ptr_array_unref);
    g_free(header->slots);
    g_free(header);
}

const struct fm_eventlog_declared *fm_eventlog_header_find(const struct fm_eventlog_header *header,
                                                           uint32_t number)
{
    if (number >= header->number_count || header->slots[number] < 0)
        return NULL;
    return &g_array_index(header->declared, struct fm_eventlog_declared,
                          (guint)header->slots[number]);
}

static void index_numbers(struct fm_eventlog_header *header)
{
    struct fm_eventlog_declared *declared = (struct fm_eventlog_declared *)header->declared->data;
    header->number_count = 0;
    for (guint i = 0; i < header->declared->len; i++)
        header->number_count = MAX(header->number_count, declared[i].number + 1u);
    header->slots = g_new(int32_t, header->number_count);
    for (uint32_t i = 0; i < header->number_count; i++)
        header->slots[i] = -1;
    for (guint i = 0; i < header->declared->len; i++) {
        g_assert(declared[i].number < header->number_count);
        int32_t *slot = &header->slots[declared[i].number];
        if (*slot >= 0)
            declared[*slot].replaced = true;
        *slot = (int32_t)i;
    }
}

void fm_eventlog_header_complete(struct fm_eventlog_header *header, const uint8_t *bytes,
                                 size_t length)
{
    g_byte_array_append(header->bytes, bytes, (guint)length);
    g_assert(header->slots == NULL); /* called once */
    index_numbers(header);
}

struct fm_eventlog_step *fm_eventlog_header_steps(const struct fm_eventlog_header *header)
{
    struct fm_eventlog_step *steps = g_new0(struct fm_eventlog_step, header->number_count);
    for (uint32_t number = 0; number < header->number_count; number++) {
        const struct fm_eventlog_declared *declared = fm_eventlog_header_find(header, number);
        if (declared == NULL)
            continue;
        steps[number].variable = declared->size < 0;
        steps[number].length = declared->size < 0 ? 12 : 10 + (uint32_t)declared->size;
        steps[number].type = declared->known;
        if (declared->size >= 0 && steps[number].length <= FM_EVENTLOG_QUICK_BYTES &&
            number != FM_EVENTLOG_BLOCK_MARKER && number != FM_EVENTLOG_INTERN_STRING)
            steps[number].quick = (uint8_t)steps[number].length;
    }
    return steps;
}

/* A log that was once written in Windows text mode: 0D stands before each 0A. */
static const char *hint(const uint8_t *bytes, size_t length)
{
    return length > 0 && memmem(bytes, MIN(length, 4096), "\r\n", 2) != NULL
               ? "; the bytes 0D 0A before it suggest that the file went through a conversion of "
                 "line ends"
               : "";
}

static int bad_header(const uint8_t *bytes, size_t length, const char *name, uint64_t offset,
                      GError **error, const char *found)
{
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: offset %" G_GUINT64_FORMAT ": %s%s", name,
                offset, found, hint(bytes, length));
    return -1;
}

static int cut_header(const uint8_t *bytes, size_t length, const char *name, uint64_t offset,
                      GError **error)
{
    g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED,
                "%s: offset %" G_GUINT64_FORMAT ": the header is truncated: not enough bytes%s",
                name, offset, hint(bytes, length));
    return -1;
}

/* Finds the layout of a number: from the table, or else from the header. */
static const struct fm_eventlog_type *find_layout(struct fm_eventlog_header *header,
                                                  const struct fm_eventlog_declared *declared,
                                                  const uint8_t *name, const uint8_t *extra)
{
    const struct fm_eventlog_type *known = fm_eventlog_type_find(declared->number, declared->size);
    if (known != NULL || fm_eventlog_type_find(declared->number, -1) != NULL)
        return known;
    struct fm_eventlog_type *told =
        fm_eventlog_schema_parse(declared->number, declared->size, name, declared->name_length,
                                 extra, declared->extra_length);
    if (told != NULL && header->types == NULL)
        header->types = g_ptr_array_new_with_free_func(fm_eventlog_schema_free);
    if (told != NULL)
        g_ptr_array_add(header->types, told);
    return told;
}

/* Reads one entry of the list of types. Returns 1, 0 (more bytes are needed) or -1. */
static int scan_entry(struct fm_eventlog_header *header, const uint8_t *bytes, size_t length,
                      size_t *at, uint64_t base, const char *name, GError **error)
{
    const uint8_t *entry = bytes + *at;
    size_t left = length - *at;
    if (left < 12)
        return 0;
    uint32_t name_length = fm_eventlog_get32(entry + 8);
    if (name_length > TEXT_MAX)
        return bad_header(bytes, length, name, base + *at + 8, error,
                          "the length of a type's description is over 65,536");
    if (left < 16u + name_length)
        return 0;
    uint32_t extra_length = fm_eventlog_get32(entry + 12 + name_length);
    if (extra_length > TEXT_MAX)
        return bad_header(bytes, length, name, base + *at + 12 + name_length, error,
                          "the length of a type's extra information is over 65,536");
    size_t whole = (size_t)20 + name_length + extra_length;
    if (left < whole)
        return 0;
    if (memcmp(entry + whole - 4, "ete", 4) != 0)
        return bad_header(bytes, length, name, base + *at + whole - 4, error,
                          "expected the end of an event type, \"ete\\0\"");
    if (header->declared->len >= ENTRIES_MAX)
        return bad_header(bytes, length, name, base + *at, error,
                          "more than 131,072 event types are declared");
    uint16_t size = fm_eventlog_get16(entry + 6);
    struct fm_eventlog_declared declared = {
        .number = fm_eventlog_get16(entry + 4),
        .size = size == 0xFFFF ? -1 : size,
        .name_at = (uint32_t)*at + 12,
        .name_length = name_length,
        .extra_at = (uint32_t)*at + 16 + name_length,
        .extra_length = extra_length,
    };
    declared.known = find_layout(header, &declared, entry + 12, entry + 16 + name_length);
    g_array_append_val(header->declared, declared);
    *at += whole;
    return 1;
}

static int scan_begin(const uint8_t *bytes, size_t length, size_t *at, uint64_t base, bool final,
                      const char *name, GError **error)
{
    if (length < 4 && !final)
        return 0;
    if (length == 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED, "%s: empty, expected an event log", name);
        return -1;
    }
    if (memcmp(bytes, "hdrb", MIN(length, 4)) != 0)
        return bad_header(bytes, length, name, base, error,
                          "not an event log: it does not begin with \"hdrb\"");
    if (length < 8)
        return final ? cut_header(bytes, length, name, base + length, error) : 0;
    if (memcmp(bytes + 4, "hetb", 4) != 0)
        return bad_header(bytes, length, name, base + 4, error,
                          "expected the list of event types, \"hetb\"");
    *at = 8;
    return 1;
}

int fm_eventlog_header_scan(struct fm_eventlog_header *header, const uint8_t *bytes, size_t length,
                            size_t *at, uint64_t base, bool final, const char *name, GError **error)
{
    int got = 1;
    if (*at == 0)
        got = scan_begin(bytes, length, at, base, final, name, error);
    while (got == 1) {
        if (*at > HEADER_MAX) {
            g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "%s: the header is over 64 MiB", name);
            return -1;
        }
        size_t left = length - *at;
        if (left >= 4 && memcmp(bytes + *at, "etb", 4) == 0) {
            got = scan_entry(header, bytes, length, at, base, name, error);
        } else if (left >= 4 && memcmp(bytes + *at, "hete", 4) == 0) {
            if (left >= 12 && memcmp(bytes + *at + 4, "hdredatb", 8) == 0) {
                *at += 12;
                return 1;
            }
            if (left >= 12)
                return bad_header(bytes, length, name, base + *at + 4, error,
                                  "expected the end of the header and the begin of data, "
                                  "\"hdre\" \"datb\"");
            got = 0;
        } else if (left >= 4) {
            return bad_header(bytes, length, name, base + *at, error,
                              "expected an event type \"etb\\0\" or the end of the list \"hete\"");
        } else {
            got = 0;
        }
    }
    if (got == 0 && final)
        return cut_header(bytes, length, name, base + length, error);
    return got;
}

struct fm_eventlog_header *fm_eventlog_header_parse(const uint8_t *bytes, size_t length,
                                                    const char *name, GError **error)
{
    struct fm_eventlog_header *header = fm_eventlog_header_new();
    size_t at = 0;
    if (fm_eventlog_header_scan(header, bytes, length, &at, 0, true, name, error) < 0) {
        fm_eventlog_header_unref(header);
        return NULL;
    }
    fm_eventlog_header_complete(header, bytes, at);
    return header;
}

static void append32(GByteArray *bytes, uint32_t value)
{
    value = GUINT32_TO_BE(value);
    g_byte_array_append(bytes, (const uint8_t *)&value, 4);
}

static void append16(GByteArray *bytes, uint16_t value)
{
    value = GUINT16_TO_BE(value);
    g_byte_array_append(bytes, (const uint8_t *)&value, 2);
}

struct fm_eventlog_header *fm_eventlog_header_begin(void)
{
    struct fm_eventlog_header *header = fm_eventlog_header_new();
    g_byte_array_append(header->bytes, (const uint8_t *)"hdrbhetb", 8);
    return header;
}

void fm_eventlog_header_add(struct fm_eventlog_header *header, uint16_t number, int32_t size,
                            const char *description)
{
    fm_eventlog_header_add_extra(header, number, size, description, "");
}

void fm_eventlog_header_add_extra(struct fm_eventlog_header *header, uint16_t number, int32_t size,
                                  const char *description, const char *extra)
{
    size_t length = strlen(description), extra_length = strlen(extra);
    g_return_if_fail(length <= TEXT_MAX && extra_length <= TEXT_MAX && size < 0xFFFF);
    struct fm_eventlog_declared declared = {
        .number = number,
        .size = size < 0 ? -1 : size,
        .name_at = header->bytes->len + 12,
        .name_length = (uint32_t)length,
        .extra_at = header->bytes->len + 16 + (uint32_t)length,
        .extra_length = (uint32_t)extra_length,
    };
    declared.known =
        find_layout(header, &declared, (const uint8_t *)description, (const uint8_t *)extra);
    g_array_append_val(header->declared, declared);
    g_byte_array_append(header->bytes, (const uint8_t *)"etb", 4);
    append16(header->bytes, number);
    append16(header->bytes, size < 0 ? 0xFFFF : (uint16_t)size);
    append32(header->bytes, (uint32_t)length);
    g_byte_array_append(header->bytes, (const uint8_t *)description, (guint)length);
    append32(header->bytes, (uint32_t)extra_length);
    g_byte_array_append(header->bytes, (const uint8_t *)extra, (guint)extra_length);
    g_byte_array_append(header->bytes, (const uint8_t *)"ete", 4);
}

void fm_eventlog_header_end(struct fm_eventlog_header *header)
{
    g_assert(header->slots == NULL && header->bytes->len >= 8);
    g_byte_array_append(header->bytes, (const uint8_t *)"hetehdredatb", 12);
    index_numbers(header);
}
