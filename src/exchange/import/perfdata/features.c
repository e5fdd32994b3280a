/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a perf.data file that say of which machine and run it is. */
#include <string.h>

#include "exchange/import/perfdata/file.h"

enum { BUILD_ID = 2, HOSTNAME = 3, RELEASE = 4, VERSION = 5, ARCH = 6, COMMAND = 11, EVENTS = 12 };

#define BUILD_ID_AT 12u /* in its record: behind the header and a process */
#define NAME_AT 36u

/* A text behind its length. */
static char *take_text(struct fm_perf_fields *fields)
{
    uint32_t size = fm_perf_take_u32(fields);
    const uint8_t *text = fm_perf_take(fields, size);
    return text == NULL ? NULL : g_strndup((const char *)text, size);
}

static void set_text(char **text, struct fm_perf_fields *fields)
{
    g_free(*text);
    *text = take_text(fields);
}

void fm_perf_read_build_id(struct fm_perf_file *file, const uint8_t *record, size_t size)
{
    uint8_t bytes = FM_PERF_ID_BYTES;
    if (size <= NAME_AT)
        return;
    if ((fm_perf_u16(file, record + 4) & FM_PERF_MISC_ID_SIZE) != 0 &&
        record[BUILD_ID_AT + FM_PERF_ID_BYTES] <= FM_PERF_ID_BYTES)
        bytes = record[BUILD_ID_AT + FM_PERF_ID_BYTES];
    char *name = g_strndup((const char *)record + NAME_AT, size - NAME_AT);
    g_hash_table_replace(file->build_ids, name, g_bytes_new(record + BUILD_ID_AT, bytes));
}

static void read_build_ids(struct fm_perf_file *file, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; size - at >= FM_PERF_HEADER;) {
        size_t record = fm_perf_u16(file, bytes + at + 6);
        if (record < FM_PERF_HEADER || record > size - at)
            return;
        fm_perf_read_build_id(file, bytes + at, record);
        at += record;
    }
}

static void read_command(struct fm_perf_file *file, struct fm_perf_fields *fields)
{
    g_autoptr(GString) line = g_string_new(NULL);
    uint32_t count = fm_perf_take_u32(fields);
    for (uint32_t i = 0; i < count && !fields->bad; i++) {
        g_autofree char *word = take_text(fields);
        g_string_append_printf(line, "%s%s", i > 0 ? " " : "", word == NULL ? "" : word);
    }
    g_free(file->command);
    file->command = g_strdup(line->str);
}

/* Names of events: found by their ids, or else by their order. */
static void read_events(struct fm_perf_file *file, struct fm_perf_fields *fields)
{
    uint32_t count = fm_perf_take_u32(fields), attr_size = fm_perf_take_u32(fields);
    for (uint32_t i = 0; i < count && !fields->bad; i++) {
        fm_perf_take(fields, attr_size);
        uint32_t ids = fm_perf_take_u32(fields);
        g_autofree char *name = take_text(fields);
        const uint8_t *id = fm_perf_take(fields, (uint64_t)ids * 8);
        uint32_t number = i;
        if (id == NULL || name == NULL)
            return;
        for (uint32_t k = 0; k < ids; k++) {
            uint64_t value = fm_perf_u64(file, id + (size_t)k * 8);
            gpointer known = g_hash_table_lookup(file->by_id, &value);
            number = known != NULL ? GPOINTER_TO_UINT(known) - 1 : number;
        }
        if (number >= file->events->len)
            continue;
        struct fm_perf_event *event = &g_array_index(file->events, struct fm_perf_event, number);
        g_free(event->name);
        event->name = g_steal_pointer(&name);
    }
}

void fm_perf_read_feature(struct fm_perf_file *file, uint64_t number, const uint8_t *bytes,
                          size_t size)
{
    struct fm_perf_fields fields = {file, bytes, bytes + size, false};
    switch (number) {
    case BUILD_ID:
        read_build_ids(file, bytes, size);
        break;
    case HOSTNAME:
        set_text(&file->hostname, &fields);
        break;
    case RELEASE:
        set_text(&file->release, &fields);
        break;
    case VERSION:
        set_text(&file->version, &fields);
        break;
    case ARCH:
        set_text(&file->arch, &fields);
        break;
    case COMMAND:
        read_command(file, &fields);
        break;
    case EVENTS:
        read_events(file, &fields);
        break;
    default:
        break;
    }
}
