/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <inttypes.h>
#include <string.h>

struct fm_eventlog_header *sample_header(void)
{
    struct fm_eventlog_header *header = fm_eventlog_header_begin();
    fm_eventlog_header_add(header, 0, 4, "Create thread");
    fm_eventlog_header_add(header, 1, 4, "Run thread");
    fm_eventlog_header_add(header, 2, 10, "Stop thread");
    fm_eventlog_header_add(header, 18, 14, "Block marker");
    fm_eventlog_header_add(header, 19, -1, "User message");
    fm_eventlog_header_add(header, 30, -1, "Program arguments");
    fm_eventlog_header_add(header, 35, 0, "Spark create");
    fm_eventlog_header_add(header, 42, -1, "Intern string");
    fm_eventlog_header_add(header, 163, -1, "Cost-centre sample");
    fm_eventlog_header_add(header, 700, 5, "Somebody's own");
    fm_eventlog_header_end(header);
    return header;
}

void put_event(struct fm_eventlog_writer *writer, int32_t capability, uint16_t number,
               uint64_t time_ns, const void *payload, size_t length)
{
    struct fm_eventlog_event event = {
        .number = number,
        .time_ns = time_ns,
        .capability = capability,
        .payload = payload,
        .payload_length = (uint32_t)length,
    };
    GError *error = NULL;
    fm_eventlog_writer_event(writer, &event, &error);
    g_assert_no_error(error);
}

GByteArray *sample_log(bool end_mark)
{
    GByteArray *log = g_byte_array_new();
    struct fm_eventlog_writer *writer = fm_eventlog_writer_new(fm_eventlog_write_bytes, log);
    struct fm_eventlog_header *header = sample_header();
    g_assert_true(fm_eventlog_writer_header(writer, header, NULL));
    for (int32_t lane = 0; lane < 6; lane++) {
        int32_t capability = lane % 3 - 1;
        uint64_t time = 1000 * ((uint64_t)lane + 1);
        put_event(writer, capability, 0, time, "\0\0\0\7", 4);
        put_event(writer, capability, 1, time + 1, "\0\0\0\7", 4);
        put_event(writer, capability, 19, time + 2, "hello, world", 12);
        put_event(writer, capability, 19, time + 3, "", 0);
        put_event(writer, capability, 35, time + 4, "", 0);
        put_event(writer, capability, 700, time + 5, "abcde", 5);
        put_event(writer, capability, 42, time + 6, "name\0\0\0\3", 8);
        put_event(writer, capability, 2, time + 5, "\0\0\0\7\0\5\0\0\0\0", 10);
        g_assert_true(fm_eventlog_writer_end_block(writer, NULL));
    }
    g_assert_true(end_mark ? fm_eventlog_writer_end(writer, NULL)
                           : fm_eventlog_writer_flush(writer, NULL));
    fm_eventlog_header_unref(header);
    fm_eventlog_writer_free(writer);
    return log;
}

/* Takes what the reader has. Returns false when it is done. */
static bool drain(struct fm_eventlog_reader *reader, GString *out)
{
    for (;;) {
        struct fm_eventlog_event event;
        GError *error = NULL;
        const struct fm_eventlog_gap *gap = fm_eventlog_reader_gap(reader);
        const struct fm_eventlog_tail *tail = fm_eventlog_reader_tail(reader);
        switch (fm_eventlog_reader_next(reader, &event, &error)) {
        case FM_EVENTLOG_MORE:
            return true;
        case FM_EVENTLOG_HAS_HEADER:
            g_string_append_printf(out, "header %u\n",
                                   fm_eventlog_reader_header(reader)->declared->len);
            break;
        case FM_EVENTLOG_HAS_EVENT:
            g_string_append_printf(out, "event %" PRIu64 " %u %" PRIu64 " %d %" PRIx64 " ",
                                   event.offset, event.number, event.time_ns, event.capability,
                                   event.block);
            for (uint32_t i = 0; i < event.payload_length; i++)
                g_string_append_printf(out, "%02x", event.payload[i]);
            g_string_append_c(out, '\n');
            break;
        case FM_EVENTLOG_HAS_GAP:
            g_string_append_printf(out, "gap %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %s\n",
                                   gap->offset, gap->length, gap->capability, gap->time_ns,
                                   gap->reason);
            break;
        case FM_EVENTLOG_HAS_END:
            g_string_append(out, "end\n");
            break;
        case FM_EVENTLOG_FINISHED:
            g_string_append_printf(out, "finished %d %" PRIu64 " %" PRIu64 " %d\n", tail->end_mark,
                                   tail->offset, tail->length, tail->block_cut);
            return false;
        case FM_EVENTLOG_FAILED:
            g_string_append_printf(out, "failed %s\n", error->message);
            g_error_free(error);
            return false;
        }
    }
}

static char *items(const uint8_t *bytes, size_t length, size_t piece, GRand *random)
{
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("log");
    GString *out = g_string_new(NULL);
    bool more = true;
    for (size_t at = 0; at < length && more;) {
        size_t size = random != NULL ? (size_t)g_rand_int_range(random, 1, 5000) : piece;
        size = MIN(size == 0 ? length : size, length - at);
        fm_eventlog_reader_push(reader, bytes + at, size);
        at += size;
        more = drain(reader, out);
    }
    if (more) {
        fm_eventlog_reader_finish(reader);
        g_assert_false(drain(reader, out));
    }
    fm_eventlog_reader_free(reader);
    return g_string_free(out, FALSE);
}

char *items_of(const uint8_t *bytes, size_t length, size_t piece)
{
    return items(bytes, length, piece, NULL);
}

char *items_of_random(const uint8_t *bytes, size_t length, uint32_t seed)
{
    GRand *random = g_rand_new_with_seed(seed);
    char *result = items(bytes, length, 0, random);
    g_rand_free(random);
    return result;
}

unsigned count_lines(const char *items, const char *prefix)
{
    unsigned count = 0;
    for (const char *line = items; line != NULL && *line != '\0';) {
        count += g_str_has_prefix(line, prefix);
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return count;
}

char *sample_path(const char *name)
{
    const char *folder = g_getenv("FATHOM_SAMPLE_DATA");
    char *path = g_build_filename(folder == NULL ? "" : folder, "eventlog", name, NULL);
    if (folder != NULL && g_file_test(path, G_FILE_TEST_EXISTS))
        return path;
    g_free(path);
    g_test_skip("FATHOM_SAMPLE_DATA does not hold the real recordings");
    return NULL;
}

GByteArray *read_file(const char *path)
{
    char *bytes;
    gsize length;
    GError *error = NULL;
    g_file_get_contents(path, &bytes, &length, &error);
    g_assert_no_error(error);
    return g_byte_array_new_take((guint8 *)bytes, length);
}
