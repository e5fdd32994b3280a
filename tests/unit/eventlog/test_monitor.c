/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "eventlog/monitor/monitor.h"
#include "eventlog/transport/transport.h"
#include "support.h"

static GByteArray *from_hex(const char *hex)
{
    GByteArray *bytes = g_byte_array_new();
    for (; *hex != '\0'; hex += hex[2] == ' ' ? 3 : 2) {
        uint8_t byte = (uint8_t)(g_ascii_xdigit_value(hex[0]) * 16 + g_ascii_xdigit_value(hex[1]));
        g_byte_array_append(bytes, &byte, 1);
    }
    return bytes;
}

#define TYPE_ENTRY \
    "65 74 62 00 00 01 00 04 00 00 00 0A 52 75 6E 20 74 68 72 65 61 64 00 00 00 00 65 74 65 00"
#define RUN_THREAD "00 01 00 00 00 00 00 0F 42 40 00 00 00 07"

/* The examples of the protocol's description, with the frame's length. */
static void messages_have_the_documented_bytes(void)
{
    g_autoptr(GByteArray) entry = from_hex(TYPE_ENTRY);
    g_autoptr(GByteArray) event = from_hex(RUN_THREAD);
    const struct {
        struct fm_monitor_message message;
        const char *frame;
    } cases[] = {
        {{.kind = FM_MONITOR_SERVICE, .pause = true}, "00 00 00 05 82 00 82 00 F5"},
        {{.kind = FM_MONITOR_HEADER_LENGTH, .number = 69}, "00 00 00 06 82 01 82 00 18 45"},
        {{.kind = FM_MONITOR_HEADER_TYPE, .bytes = entry->data, .length = entry->len},
         "00 00 00 24 82 01 82 01 58 1E " TYPE_ENTRY},
        {{.kind = FM_MONITOR_EVENT, .bytes = event->data, .length = event->len},
         "00 00 00 15 82 02 82 01 82 00 4E " RUN_THREAD},
        {{.kind = FM_MONITOR_BLOCK_HEAD,
          .block = {.id = 5,
                    .begin_ns = 0xFFAA,
                    .end_ns = 0x02FE4E1A & 0xFFFFFFFF,
                    .capability = 1,
                    .count = 0x00035AAE}},
         "00 00 00 17 82 02 82 00 82 00 86 00 05 19 FF AA 1A 02 FE 4E 1A 01 1A 00 03 5A AE"},
        {{.kind = FM_MONITOR_EVENT, .form = FM_MONITOR_FIRST, .message_id = 3, .number = 2},
         "00 00 00 0A 82 02 82 01 82 01 83 00 03 02"},
        {{.kind = FM_MONITOR_EVENT,
          .form = FM_MONITOR_PIECE,
          .message_id = 3,
          .number = 0,
          .bytes = event->data,
          .length = 8},
         "00 00 00 11 82 02 82 01 84 02 03 00 48 00 01 00 00 00 00 00 0F"},
        {{.kind = FM_MONITOR_EVENT,
          .form = FM_MONITOR_PIECE,
          .message_id = 3,
          .number = 1,
          .bytes = event->data + 8,
          .length = 6},
         "00 00 00 0F 82 02 82 01 84 02 03 01 46 42 40 00 00 00 07"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GByteArray) wanted = from_hex(cases[i].frame);
        g_autoptr(GByteArray) message = g_byte_array_new(), frame = g_byte_array_new();
        fm_monitor_encode(message, &cases[i].message);
        fm_frame_append(frame, message->data, message->len);
        g_assert_cmpmem(frame->data, frame->len, wanted->data, wanted->len);
        struct fm_monitor_message back;
        g_assert_true(fm_monitor_decode(message->data, message->len, &back, NULL));
        g_assert_cmpint(back.kind, ==, cases[i].message.kind);
        g_assert_cmpint(back.form, ==, cases[i].message.form);
        g_assert_cmpuint(back.message_id, ==, cases[i].message.message_id);
        g_assert_cmpuint(back.number, ==, cases[i].message.number);
        g_assert_cmpuint(back.block.count, ==, cases[i].message.block.count);
        g_assert_cmpuint(back.block.end_ns, ==, cases[i].message.block.end_ns);
        g_assert_cmpint(back.pause, ==, cases[i].message.pause);
        g_assert_cmpmem(back.bytes, (int)back.length, cases[i].message.bytes,
                        (int)cases[i].message.length);
        /* Every shorter and every longer input is refused. */
        for (size_t length = 0; length < message->len; length++) {
            GError *error = NULL;
            g_assert_false(fm_monitor_decode(message->data, length, &back, &error));
            g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
            g_error_free(error);
        }
        g_byte_array_append(message, (const uint8_t *)"", 1);
        g_assert_false(fm_monitor_decode(message->data, message->len, &back, NULL));
    }
}

static void lists_of_unknown_length_are_read_too(void)
{
    g_autoptr(GByteArray) open = from_hex("9F 01 9F 00 18 45 FF FF");
    struct fm_monitor_message back;
    g_assert_true(fm_monitor_decode(open->data, open->len, &back, NULL));
    g_assert_cmpint(back.kind, ==, FM_MONITOR_HEADER_LENGTH);
    g_assert_cmpuint(back.number, ==, 69);
    g_assert_false(fm_monitor_decode(open->data, open->len - 1, &back, NULL));
}

static bool keep_message(void *user, const struct fm_monitor_message *message, GError **error)
{
    (void)error;
    GByteArray *bytes = g_byte_array_new();
    fm_monitor_encode(bytes, message);
    g_ptr_array_add(user, bytes);
    return true;
}

/* All messages that a log becomes. */
static GPtrArray *split(const GByteArray *log, size_t payload_max, bool single_events)
{
    GPtrArray *messages = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    struct fm_monitor_splitter splitter;
    fm_monitor_splitter_init(&splitter, payload_max, keep_message, messages);
    splitter.single_events = single_events;
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("log");
    fm_eventlog_reader_push(reader, log->data, log->len);
    fm_eventlog_reader_finish(reader);
    enum fm_eventlog_status status;
    struct fm_eventlog_event event;
    while ((status = fm_eventlog_reader_next(reader, &event, NULL)) != FM_EVENTLOG_FINISHED) {
        if (status == FM_EVENTLOG_HAS_HEADER)
            fm_monitor_split_header(&splitter, fm_eventlog_reader_header(reader), NULL);
        else if (status == FM_EVENTLOG_HAS_EVENT)
            fm_monitor_split_event(&splitter, &event, NULL);
    }
    fm_monitor_split_flush(&splitter, NULL);
    fm_monitor_splitter_done(&splitter);
    fm_eventlog_reader_free(reader);
    return messages;
}

static void collect_one(struct fm_monitor_collector *collector, const GByteArray *bytes,
                        uint64_t now_ms, GByteArray *log)
{
    struct fm_monitor_message message;
    GError *error = NULL;
    fm_monitor_decode(bytes->data, bytes->len, &message, &error);
    g_assert_no_error(error);
    fm_monitor_collect(collector, &message, now_ms, log);
}

static const size_t payload_sizes[] = {16, 64, 1500, 0};

static void a_log_comes_through_whole(void)
{
    GByteArray *log = sample_log(true);
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(payload_sizes); i++) {
        GPtrArray *messages = split(log, payload_sizes[i / 2], i % 2 == 1);
        g_autoptr(GByteArray) got = g_byte_array_new();
        struct fm_monitor_collector *collector = fm_monitor_collector_new(NULL);
        for (guint m = 0; m < messages->len; m++)
            collect_one(collector, messages->pdata[m], 0, got);
        fm_monitor_collector_finish(collector, true, got);
        g_assert_cmpmem(got->data, got->len, log->data, log->len);
        struct fm_monitor_collected counts;
        fm_monitor_collector_counts(collector, &counts);
        g_assert_cmpuint(counts.events, ==, 48);
        g_assert_cmpuint(counts.blocks, ==, 6);
        g_assert_cmpuint(counts.lost_messages + counts.lost_blocks + counts.duplicates +
                             counts.ignored + counts.pending_bytes,
                         ==, 0);
        fm_monitor_collector_free(collector);
        g_ptr_array_unref(messages);
    }
    g_byte_array_unref(log);
}

static gint compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The events of a log, sorted as text, whatever blocks they stand in. */
static char *sorted_events(const GByteArray *log)
{
    g_autofree char *items = items_of(log->data, log->len, 0);
    g_auto(GStrv) lines = g_strsplit(items, "\n", 0);
    g_autoptr(GPtrArray) events = g_ptr_array_new_with_free_func(g_free);
    for (char **line = lines; *line != NULL; line++) {
        g_auto(GStrv) words = g_strsplit(*line, " ", 0);
        if (g_str_has_prefix(*line, "event ") && strcmp(words[2], "18") != 0)
            g_ptr_array_add(events, g_strjoin(" ", words[2], words[3], words[4], words[6], NULL));
    }
    g_ptr_array_sort(events, compare_texts);
    g_ptr_array_add(events, NULL);
    return g_strjoinv("\n", (char **)events->pdata);
}

static void pieces_in_any_order_give_the_same_events(void)
{
    GByteArray *log = sample_log(true);
    g_autofree char *wanted = sorted_events(log);
    for (uint32_t seed = 0; seed < 20; seed++) {
        GPtrArray *messages = split(log, 16, false);
        GRand *random = g_rand_new_with_seed(seed);
        /* The header stays in front, as over a channel of its own; its types keep their order. */
        guint head = 11;
        for (guint i = messages->len - 1; i > head; i--) {
            guint other = (guint)g_rand_int_range(random, (gint32)head, (gint32)i + 1);
            gpointer moved = messages->pdata[i];
            messages->pdata[i] = messages->pdata[other];
            messages->pdata[other] = moved;
        }
        g_autoptr(GByteArray) got = g_byte_array_new();
        struct fm_monitor_collector *collector = fm_monitor_collector_new(NULL);
        for (guint m = 0; m < messages->len; m++) {
            const GByteArray *bytes = messages->pdata[m];
            struct fm_monitor_message message;
            g_assert_true(fm_monitor_decode(bytes->data, bytes->len, &message, NULL));
            collect_one(collector, bytes, 0, got);
            if (m % 7 == 3 && message.form == FM_MONITOR_PIECE) /* some come twice */
                collect_one(collector, bytes, 0, got);
        }
        fm_monitor_collector_finish(collector, true, got);
        g_autofree char *events = sorted_events(got);
        struct fm_monitor_collected counts;
        fm_monitor_collector_counts(collector, &counts);
        g_assert_cmpuint(counts.events, ==, 48);
        g_assert_cmpstr(events, ==, wanted);
        g_rand_free(random);
        fm_monitor_collector_free(collector);
        g_ptr_array_unref(messages);
    }
    g_byte_array_unref(log);
}

static void a_lost_piece_is_given_up_after_the_time_out(void)
{
    GByteArray *log = sample_log(true);
    GPtrArray *messages = split(log, 16, false);
    const struct fm_monitor_limits limits = {.timeout_ms = 1000};
    struct fm_monitor_collector *collector = fm_monitor_collector_new(&limits);
    g_autoptr(GByteArray) got = g_byte_array_new();
    struct fm_monitor_collected counts;
    guint lost = 0;
    for (guint m = 0; m < messages->len; m++) {
        struct fm_monitor_message message;
        const GByteArray *bytes = messages->pdata[m];
        g_assert_true(fm_monitor_decode(bytes->data, bytes->len, &message, NULL));
        if (lost == 0 && message.form == FM_MONITOR_PIECE && message.number == 1)
            lost = m;
        else
            fm_monitor_collect(collector, &message, 0, got);
    }
    g_assert_cmpuint(lost, >, 0);
    fm_monitor_collector_counts(collector, &counts);
    g_assert_cmpuint(counts.events, ==, 47);
    g_assert_cmpuint(counts.lost_messages, ==, 0);
    g_assert_cmpuint(counts.pending_bytes, >, 0);
    fm_monitor_collector_expire(collector, 999, got);
    fm_monitor_collector_counts(collector, &counts);
    g_assert_cmpuint(counts.lost_messages, ==, 0);
    fm_monitor_collector_expire(collector, 1000, got);
    fm_monitor_collector_counts(collector, &counts);
    g_assert_cmpuint(counts.lost_messages, ==, 1);
    g_assert_cmpuint(counts.lost_blocks, ==, 1);
    g_assert_cmpuint(counts.pending_bytes, ==, 0);
    fm_monitor_collector_finish(collector, true, got);
    /* What came is a whole log without that event. */
    g_autofree char *items = items_of(got->data, got->len, 0);
    g_assert_cmpuint(count_lines(items, "event "), ==, 47 + 6);
    g_assert_cmpuint(count_lines(items, "gap"), ==, 0);
    fm_monitor_collector_free(collector);
    g_ptr_array_unref(messages);
    g_byte_array_unref(log);
}

static void unknown_messages_cannot_exhaust_memory(void)
{
    const struct fm_monitor_limits limits = {.bytes_max = 100000, .pending_max = 500};
    struct fm_monitor_collector *collector = fm_monitor_collector_new(&limits);
    g_autoptr(GByteArray) got = g_byte_array_new();
    struct fm_monitor_collected counts;
    uint8_t payload[1000] = {0};
    for (uint64_t i = 0; i < 10000; i++) {
        struct fm_monitor_message first = {.kind = FM_MONITOR_EVENT,
                                           .form = FM_MONITOR_FIRST,
                                           .message_id = i,
                                           .number = UINT64_MAX};
        fm_monitor_collect(collector, &first, 0, got);
        struct fm_monitor_message piece = {.kind = FM_MONITOR_STATE,
                                           .form = FM_MONITOR_PIECE,
                                           .message_id = 20000 + i,
                                           .number = UINT64_MAX - i,
                                           .bytes = payload,
                                           .length = sizeof payload};
        fm_monitor_collect(collector, &piece, 0, got);
        fm_monitor_collector_counts(collector, &counts);
        g_assert_cmpuint(counts.pending_bytes, <=, 100000);
    }
    g_assert_cmpuint(counts.lost_messages, >, 19000);
    g_assert_cmpuint(got->len, ==, 0);
    fm_monitor_collector_free(collector);
}

static void what_has_no_place_is_ignored(void)
{
    GByteArray *log = sample_log(true);
    GPtrArray *messages = split(log, 0, false);
    struct fm_monitor_collector *collector = fm_monitor_collector_new(NULL);
    g_autoptr(GByteArray) got = g_byte_array_new();
    struct fm_monitor_collected counts;
    collect_one(collector, messages->pdata[messages->len - 1], 0, got); /* before the header */
    fm_monitor_collector_counts(collector, &counts);
    g_assert_cmpuint(counts.ignored, ==, 1);
    for (guint m = 0; m < messages->len; m++)
        collect_one(collector, messages->pdata[m], 0, got);
    collect_one(collector, messages->pdata[0], 0, got); /* a second length, a type too many */
    collect_one(collector, messages->pdata[1], 0, got);
    struct fm_monitor_message odd = {
        .kind = FM_MONITOR_EVENT, .bytes = (const uint8_t *)"\3\11too long", .length = 10};
    fm_monitor_collect(collector, &odd, 0, got);
    fm_monitor_collector_counts(collector, &counts);
    g_assert_cmpuint(counts.ignored, ==, 4);
    fm_monitor_collector_finish(collector, true, got);
    g_assert_cmpmem(got->data, got->len, log->data, log->len);
    fm_monitor_collector_free(collector);
    g_ptr_array_unref(messages);
    g_byte_array_unref(log);
}

static void frames_come_in_any_pieces(void)
{
    g_autoptr(GByteArray) stream = g_byte_array_new();
    fm_frame_append(stream, (const uint8_t *)"first", 5);
    fm_frame_append(stream, (const uint8_t *)"", 0);
    fm_frame_append(stream, (const uint8_t *)"third", 5);
    for (size_t piece = 1; piece <= stream->len; piece++) {
        struct fm_frame_parser parser;
        const uint8_t *message;
        size_t length;
        g_autoptr(GString) got = g_string_new(NULL);
        fm_frame_parser_init(&parser);
        for (size_t at = 0; at < stream->len; at += piece) {
            fm_frame_parser_push(&parser, stream->data + at, MIN(piece, stream->len - at));
            while (fm_frame_parser_next(&parser, &message, &length, NULL) == 1)
                g_string_append_printf(got, "[%.*s]", (int)length, (const char *)message);
        }
        g_assert_cmpstr(got->str, ==, "[first][][third]");
        g_assert_false(fm_frame_parser_inside(&parser));
        fm_frame_parser_done(&parser);
    }
}

static void a_frame_too_long_closes_the_connection(void)
{
    struct fm_frame_parser parser;
    const uint8_t *message;
    size_t length;
    GError *error = NULL;
    fm_frame_parser_init(&parser);
    fm_frame_parser_push(&parser, (const uint8_t *)"\xff\xff\xff\xff", 4);
    g_assert_cmpint(fm_frame_parser_next(&parser, &message, &length, &error), ==, -1);
    g_assert_error(error, FM_ERROR, FM_ERROR_LIMIT);
    g_clear_error(&error);
    fm_frame_parser_push(&parser, (const uint8_t *)"\0\0\0\0", 4);
    g_assert_cmpint(fm_frame_parser_next(&parser, &message, &length, &error), ==, -1);
    g_clear_error(&error);
    fm_frame_parser_done(&parser);
    fm_frame_parser_init(&parser);
    fm_frame_parser_push(&parser, (const uint8_t *)"\0\0\0\5abc", 7);
    g_assert_cmpint(fm_frame_parser_next(&parser, &message, &length, &error), ==, 0);
    g_assert_true(fm_frame_parser_inside(&parser));
    fm_frame_parser_done(&parser);
}

static void the_documented_state_is_written_and_read(void)
{
    struct fm_monitor_state *state = fm_monitor_state_new();
    static const struct {
        uint16_t number;
        uint64_t time;
        const char *payload;
        uint32_t length;
    } events[] = {
        {FM_EVENTLOG_CAP_CREATE, 10, "\0\0", 2},
        {FM_EVENTLOG_CREATE_THREAD, 1000, "\0\0\0\7", 4},
        {FM_EVENTLOG_THREAD_LABEL, 1500, "\0\0\0\7w", 5},
        {FM_EVENTLOG_RUN_THREAD, 2000, "\0\0\0\7", 4},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(events); i++) {
        struct fm_eventlog_event event = {
            .number = events[i].number,
            .time_ns = events[i].time,
            .capability = -1,
            .payload = (const uint8_t *)events[i].payload,
            .payload_length = events[i].length,
            .type = fm_eventlog_type_find(events[i].number, -1),
        };
        fm_monitor_state_event(state, &event);
    }
    g_autoptr(GByteArray) encoded = g_byte_array_new();
    fm_monitor_state_encode(state, encoded);
    g_autoptr(GByteArray) wanted =
        from_hex("87 00 A1 07 88 00 07 81 61 77 20 81 02 80 19 03 E8 19 07 D0 A0 A1 00 85 00 00 F4 "
                 "0A 0A A0 80 19 07 D0");
    g_assert_cmpmem(encoded->data, encoded->len, wanted->data, wanted->len);
    /* The whole message of the example, with its frame. */
    g_autoptr(GPtrArray) sent = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    struct fm_monitor_splitter splitter;
    fm_monitor_splitter_init(&splitter, 0, keep_message, sent);
    fm_monitor_split_state(&splitter, encoded->data, encoded->len, NULL);
    fm_monitor_splitter_done(&splitter);
    g_autoptr(GByteArray) frame = g_byte_array_new();
    const GByteArray *message = sent->pdata[0];
    fm_frame_append(frame, message->data, message->len);
    g_autoptr(GByteArray) head = from_hex("00 00 00 28 82 03 82 00 58 22 87 00 A1");
    g_assert_cmpmem(frame->data, head->len, head->data, head->len);
    g_assert_cmpuint(frame->len, ==, 4 + 0x28);
    fm_monitor_state_free(state);
}

static void states_of_real_logs_read_back(void)
{
    g_autofree char *path = sample_path("conc.eventlog");
    if (path == NULL)
        return;
    GByteArray *log = read_file(path);
    struct fm_monitor_state *state = fm_monitor_state_new();
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("log");
    fm_eventlog_reader_push(reader, log->data, log->len);
    fm_eventlog_reader_finish(reader);
    struct fm_eventlog_event event;
    enum fm_eventlog_status status;
    unsigned events = 0, most = 0;
    while ((status = fm_eventlog_reader_next(reader, &event, NULL)) != FM_EVENTLOG_FINISHED) {
        struct fm_monitor_state_counts counts;
        if (status != FM_EVENTLOG_HAS_EVENT)
            continue;
        fm_monitor_state_event(state, &event);
        fm_monitor_state_counts(state, &counts);
        most = MAX(most, counts.threads);
        if (++events % 5000 != 0)
            continue;
        g_autoptr(GByteArray) first = g_byte_array_new(), second = g_byte_array_new();
        fm_monitor_state_encode(state, first);
        GError *error = NULL;
        struct fm_monitor_state *back = fm_monitor_state_decode(first->data, first->len, &error);
        g_assert_no_error(error);
        fm_monitor_state_encode(back, second);
        g_assert_cmpmem(first->data, first->len, second->data, second->len);
        fm_monitor_state_free(back);
        for (guint length = 0; length < first->len; length += first->len / 50 + 1) {
            g_assert_null(fm_monitor_state_decode(first->data, length, &error));
            g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
            g_clear_error(&error);
        }
    }
    g_assert_cmpuint(most, >, 500);
    fm_monitor_state_free(state);
    fm_eventlog_reader_free(reader);
    g_byte_array_unref(log);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/monitor/documented-bytes", messages_have_the_documented_bytes);
    g_test_add_func("/monitor/lists-of-unknown-length", lists_of_unknown_length_are_read_too);
    g_test_add_func("/monitor/log-comes-through-whole", a_log_comes_through_whole);
    g_test_add_func("/monitor/pieces-in-any-order", pieces_in_any_order_give_the_same_events);
    g_test_add_func("/monitor/lost-piece", a_lost_piece_is_given_up_after_the_time_out);
    g_test_add_func("/monitor/memory-limit", unknown_messages_cannot_exhaust_memory);
    g_test_add_func("/monitor/no-place", what_has_no_place_is_ignored);
    g_test_add_func("/monitor/frames-in-any-pieces", frames_come_in_any_pieces);
    g_test_add_func("/monitor/frame-too-long", a_frame_too_long_closes_the_connection);
    g_test_add_func("/monitor/documented-state", the_documented_state_is_written_and_read);
    g_test_add_func("/monitor/states-read-back", states_of_real_logs_read_back);
    return g_test_run();
}
