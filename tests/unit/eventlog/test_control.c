/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "eventlog/transport/transport.h"
#include "support.h"

#define MAGIC "\xF0\x9E\x97\x8C"
#define CENSUS     \
    MAGIC "\0\x0F" \
          "eventlog-socket\5"

/* "space/number/version/status " for each message found, in pieces of that size. */
static char *found(const char *bytes, size_t length, size_t piece, bool answers)
{
    struct fm_control_parser parser = {.answers = answers};
    GString *out = g_string_new(NULL);
    for (size_t at = 0; at < length;) {
        struct fm_control_message message;
        bool is;
        at += fm_control_parse(&parser, (const uint8_t *)bytes + at, MIN(piece, length - at),
                               &message, &is);
        if (is)
            g_string_append_printf(out, "%s/%u/%u/%u ", message.space, message.number,
                                   message.version, message.status);
    }
    /* What was held back may still be one. */
    for (bool is = true; is;) {
        struct fm_control_message message;
        fm_control_parse(&parser, NULL, 0, &message, &is);
        if (is)
            g_string_append_printf(out, "%s/%u/%u/%u ", message.space, message.number,
                                   message.version, message.status);
    }
    return g_string_free(out, FALSE);
}

static void messages_are_found_in_any_pieces(void)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *wanted;
    } cases[] = {
#define CASE(text, wanted) {text, sizeof text - 1, wanted}
        CASE(CENSUS, "eventlog-socket/5/0/0 "),
        CASE(CENSUS CENSUS, "eventlog-socket/5/0/0 eventlog-socket/5/0/0 "),
        CASE("random bytes" CENSUS, "eventlog-socket/5/0/0 "),
        CASE(MAGIC "\7" CENSUS, "eventlog-socket/5/0/0 "),   /* a wrong version */
        CASE(MAGIC "\0\0" CENSUS, "eventlog-socket/5/0/0 "), /* no name */
        CASE(MAGIC MAGIC "\0\1a\2", "a/2/0/0 "),             /* the magic twice */
        CASE("\xF0\x9E" CENSUS, "eventlog-socket/5/0/0 "),   /* half a magic */
        CASE(MAGIC "\0\2ab\1" MAGIC "\1\3abc\2", "ab/1/0/0 abc/2/1/0 "),
        CASE(MAGIC "\0\x7f"
                   "short",
             ""),
#undef CASE
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        for (size_t piece = 1; piece <= cases[i].length; piece++) {
            g_autofree char *messages = found(cases[i].bytes, cases[i].length, piece, false);
            g_assert_cmpstr(messages, ==, cases[i].wanted);
        }
    }
}

static void a_read_of_256_bytes_may_begin_inside_a_name(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    struct fm_control_message message = {.space_length = 255, .number = 9};
    memset(message.space, 'n', 255);
    fm_control_append(bytes, &message, false);
    fm_control_append(bytes, &message, false);
    struct fm_control_parser parser = {0};
    bool is;
    size_t taken = fm_control_parse(&parser, bytes->data, 10, &message, &is);
    g_assert_false(is);
    taken += fm_control_parse(&parser, bytes->data + taken, 256, &message, &is);
    g_assert_true(is);
    g_assert_cmpuint(message.number, ==, 9);
    g_assert_cmpuint(strlen(message.space), ==, 255);
    g_assert_cmpuint(taken, ==, bytes->len / 2);
}

static void answers_carry_a_status(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    struct fm_control_message message = {.version = 1, .number = 7, .status = 250};
    GError *error = NULL;
    g_assert_true(fm_control_named("fathom/7", &message, &error));
    message.version = 1;
    message.status = 250;
    fm_control_append(bytes, &message, true);
    g_autofree char *messages = found((const char *)bytes->data, bytes->len, 1, true);
    g_assert_cmpstr(messages, ==, "fathom/7/1/250 ");
}

static void commands_have_names(void)
{
    struct fm_control_message message;
    GError *error = NULL;
    g_assert_true(fm_control_named("request-heap-census", &message, &error));
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    fm_control_append(bytes, &message, false);
    g_assert_cmpmem(bytes->data, bytes->len, CENSUS, sizeof CENSUS - 1);
    static const char *const wrong[] = {"", "census", "/1", "space/256", "space/", "space/x"};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_assert_false(fm_control_named(wrong[i], &message, &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_USAGE);
        g_clear_error(&error);
    }
}

static void keep_answer(void *user, const struct fm_control_message *answer)
{
    struct fm_control_message *kept = user;
    unsigned count = kept->number;
    *kept = *answer;
    kept->number = (uint8_t)(count + 1); /* the sent ones have number 0 */
}

/* Between two blocks of a live log an answer may stand; inside a block it is damage. */
static void answers_stand_between_blocks(void)
{
    GByteArray *log = sample_log(true);
    struct fm_eventlog_header *header = sample_header();
    size_t second = header->bytes->len + fm_eventlog_get32(log->data + header->bytes->len + 10);
    g_autoptr(GByteArray) answer = g_byte_array_new(), mixed = g_byte_array_new();
    struct fm_control_message sent = {.version = 1, .space_length = 1, .space = "a", .status = 3};
    fm_control_append(answer, &sent, true);
    g_byte_array_append(mixed, answer->data, answer->len); /* before the header, too */
    g_byte_array_append(mixed, log->data, (guint)second);
    g_byte_array_append(mixed, answer->data, answer->len);
    g_byte_array_append(mixed, log->data + second, log->len - (guint)second);
    for (size_t piece = 1; piece < 50; piece += 7) {
        struct fm_control_message got = {0};
        struct fm_eventlog_reader *reader = fm_eventlog_reader_new("log");
        struct fm_eventlog_event event;
        unsigned events = 0;
        fm_eventlog_reader_expect_answers(reader, keep_answer, &got);
        for (size_t at = 0; at < mixed->len; at += piece) {
            enum fm_eventlog_status status;
            fm_eventlog_reader_push(reader, mixed->data + at, MIN(piece, mixed->len - at));
            while ((status = fm_eventlog_reader_next(reader, &event, NULL)) != FM_EVENTLOG_MORE) {
                g_assert_cmpint(status, !=, FM_EVENTLOG_HAS_GAP);
                events += status == FM_EVENTLOG_HAS_EVENT;
            }
        }
        g_assert_cmpuint(events, ==, 54);
        g_assert_cmpstr(got.space, ==, "a");
        g_assert_cmpuint(got.status, ==, 3);
        g_assert_cmpuint(got.number, ==, 2);
        fm_eventlog_reader_free(reader);
    }
    g_byte_array_remove_range(mixed, 0, answer->len);
    g_autofree char *items = items_of(mixed->data, mixed->len, 0);
    g_assert_cmpuint(count_lines(items, "gap"), ==, 1);
    fm_eventlog_header_unref(header);
    g_byte_array_unref(log);
}

static void addresses_are_understood_or_refused(void)
{
    struct fm_transport_address address;
    GError *error = NULL;
    g_assert_true(fm_transport_parse("unix:/tmp/a", &address, &error));
    g_assert_cmpstr(address.path, ==, "/tmp/a");
    fm_transport_done(&address);
    g_assert_true(fm_transport_parse("tcp:localhost:80", &address, &error));
    g_assert_cmpstr(address.host, ==, "localhost");
    g_assert_cmpuint(address.port, ==, 80);
    fm_transport_done(&address);
    g_assert_true(fm_transport_parse("monitor:[::1]:8242", &address, &error));
    g_assert_cmpstr(address.host, ==, "::1");
    g_assert_cmpint(address.kind, ==, FM_TRANSPORT_MONITOR);
    fm_transport_done(&address);
    g_autofree char *longest = g_strdup_printf("unix:/%0*d", 107, 1);
    const char *wrong[] = {"tcp:",       "tcp:host", "tcp::1", "tcp:host:99999", "tcp:host:x",
                           "tcp:::1:80", "unix:",    "file",   longest};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_assert_false(fm_transport_parse(wrong[i], &address, &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_USAGE);
        g_clear_error(&error);
    }
    g_assert_false(fm_transport_is_address("log.eventlog"));
}

static void serving_others_needs_a_token(void)
{
    struct fm_transport_address address;
    uint16_t port;
    GError *error = NULL;
    g_assert_true(fm_transport_parse("tcp:0.0.0.0:0", &address, NULL));
    g_assert_cmpint(fm_transport_listen(&address, NULL, &port, &error), ==, -1);
    g_assert_error(error, FM_ERROR, FM_ERROR_USAGE);
    g_clear_error(&error);
    fm_transport_done(&address);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/control/any-pieces", messages_are_found_in_any_pieces);
    g_test_add_func("/control/long-name", a_read_of_256_bytes_may_begin_inside_a_name);
    g_test_add_func("/control/answers", answers_carry_a_status);
    g_test_add_func("/control/names", commands_have_names);
    g_test_add_func("/control/between-blocks", answers_stand_between_blocks);
    g_test_add_func("/control/addresses", addresses_are_understood_or_refused);
    g_test_add_func("/control/token", serving_others_needs_a_token);
    return g_test_run();
}
