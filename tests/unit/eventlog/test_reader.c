/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "support.h"

enum { HEADER_EVENTS = 48, MARKERS = 6 };

static size_t header_length(void)
{
    struct fm_eventlog_header *header = sample_header();
    size_t length = header->bytes->len;
    fm_eventlog_header_unref(header);
    return length;
}

static void whole_log_gives_every_event(void)
{
    GByteArray *log = sample_log(true);
    g_autofree char *items = items_of(log->data, log->len, 0);
    g_assert_cmpuint(count_lines(items, "header 10"), ==, 1);
    g_assert_cmpuint(count_lines(items, "event "), ==, HEADER_EVENTS + MARKERS);
    g_assert_cmpuint(count_lines(items, "gap"), ==, 0);
    g_assert_cmpuint(count_lines(items, "end"), ==, 1);
    g_assert_nonnull(strstr(items, " 700 1005 -1 "));
    g_assert_nonnull(strstr(items, " 19 2002 0 "));
    g_autofree char *last = g_strdup_printf("finished 1 %u 0 0\n", log->len);
    g_assert_true(g_str_has_suffix(items, last));
    g_byte_array_unref(log);
}

static void any_split_gives_the_same_items(void)
{
    GByteArray *log = sample_log(true);
    g_autofree char *whole = items_of(log->data, log->len, 0);
    for (size_t piece = 1; piece <= log->len; piece++) {
        g_autofree char *items = items_of(log->data, log->len, piece);
        g_assert_cmpstr(items, ==, whole);
    }
    g_byte_array_unref(log);
}

static void a_view_that_grows_gives_the_same_items(void)
{
    GByteArray *log = sample_log(true);
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("log");
    unsigned events = 0;
    for (size_t shown = 0; shown <= log->len; shown++) {
        struct fm_eventlog_event event;
        fm_eventlog_reader_view(reader, log->data, shown);
        enum fm_eventlog_status status;
        while ((status = fm_eventlog_reader_next(reader, &event, NULL)) != FM_EVENTLOG_MORE) {
            g_assert_cmpint(status, !=, FM_EVENTLOG_FAILED);
            events += status == FM_EVENTLOG_HAS_EVENT;
            if (status == FM_EVENTLOG_HAS_EVENT)
                g_assert_true(event.payload == log->data + event.offset + event.head_length);
        }
    }
    g_assert_cmpuint(events, ==, HEADER_EVENTS + MARKERS);
    fm_eventlog_reader_free(reader);
    g_byte_array_unref(log);
}

/* Cut after every byte: never a gap, every whole event before the cut, the rest told exactly. */
static void truncation_at_every_byte_is_told(void)
{
    GByteArray *log = sample_log(true);
    g_autofree char *whole = items_of(log->data, log->len, 0);
    size_t begin = header_length();
    for (size_t length = 0; length < log->len; length++) {
        g_autofree char *items = items_of(log->data, length, 0);
        if (length < begin) {
            g_assert_true(g_str_has_prefix(items, "failed log: "));
            continue;
        }
        const char *finished = strstr(items, "finished 0 ");
        g_assert_nonnull(finished);
        g_assert_cmpuint(count_lines(items, "gap"), ==, 0);
        g_assert_cmpint(strncmp(whole, items, (size_t)(finished - items)), ==, 0);
        uint64_t offset, left;
        g_assert_cmpint(sscanf(finished, "finished 0 %" SCNu64 " %" SCNu64, &offset, &left), ==, 2);
        g_assert_cmpuint(offset + left, ==, length);
        g_assert_cmpuint(left, <, 34);
    }
    g_byte_array_unref(log);
}

static void what_is_no_log_is_refused(void)
{
    static const struct {
        const char *bytes;
        size_t length;
        enum fm_error code;
        const char *message;
    } cases[] = {
#define CASE(text, code, message) {text, sizeof text - 1, code, message}
        CASE("", FM_ERROR_TRUNCATED, "empty"),
        CASE("hd", FM_ERROR_TRUNCATED, "truncated"),
        CASE("\x7f"
             "ELF....",
             FM_ERROR_FORMAT, "not an event log"),
        CASE("hdrbhdrb", FM_ERROR_FORMAT, "hetb"),
        CASE("hdrbhetbetb\0\0\1\0\4\0\0\0\x0d\nRun thread\0\0\0\0ete\0", FM_ERROR_TRUNCATED,
             "0D 0A"),
        CASE("hdrbhetbetb\0\0\1\0\4\x7f\xff\xff\xff", FM_ERROR_FORMAT, "65,536"),
        CASE("hdrbhetbetb\0\0\1\0\4\0\0\0\1R\xff\xff\xff\xff", FM_ERROR_FORMAT, "65,536"),
        CASE("hdrbhetbetb\0\0\1\0\4\0\0\0\1R\0\0\0\0etx\0", FM_ERROR_FORMAT, "ete"),
        CASE("hdrbhetbhetehdrexxxx", FM_ERROR_FORMAT, "datb"),
#undef CASE
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_eventlog_reader *reader = fm_eventlog_reader_new("log");
        struct fm_eventlog_event event;
        GError *error = NULL;
        fm_eventlog_reader_push(reader, cases[i].bytes, cases[i].length);
        fm_eventlog_reader_finish(reader);
        g_assert_cmpint(fm_eventlog_reader_next(reader, &event, &error), ==, FM_EVENTLOG_FAILED);
        g_assert_error(error, FM_ERROR, (int)cases[i].code);
        g_assert_nonnull(strstr(error->message, cases[i].message));
        g_clear_error(&error);
        /* It stays refused. */
        g_assert_cmpint(fm_eventlog_reader_next(reader, &event, &error), ==, FM_EVENTLOG_FAILED);
        g_clear_error(&error);
        fm_eventlog_reader_free(reader);
    }
}

/* Offset of the n-th block marker. */
static size_t block_at(const GByteArray *log, unsigned n)
{
    size_t at = header_length();
    for (; n > 0; n--)
        at += fm_eventlog_get32(log->data + at + 10);
    return at;
}

static void damage_in_a_block_loses_the_rest_of_that_block_only(void)
{
    GByteArray *log = sample_log(true);
    size_t second = block_at(log, 1), third = block_at(log, 2);
    size_t at = second + 24 + 14; /* the second event of the block */
    log->data[at] = 0x7A;         /* number 0x7A01 */
    for (size_t piece = 0; piece < 40; piece++) {
        g_autofree char *items = items_of(log->data, log->len, piece);
        g_autofree char *gap =
            g_strdup_printf("gap %zu %zu 0 2000 event number 31233 is not declared in the header\n",
                            at, third - at);
        g_assert_nonnull(strstr(items, gap));
        g_assert_cmpuint(count_lines(items, "gap"), ==, 1);
        g_assert_cmpuint(count_lines(items, "event "), ==, HEADER_EVENTS + MARKERS - 7);
        g_assert_cmpuint(count_lines(items, "end"), ==, 1);
    }
    g_byte_array_unref(log);
}

static void an_event_across_the_end_of_its_block_is_damage(void)
{
    GByteArray *log = sample_log(true);
    size_t first = block_at(log, 0), second = block_at(log, 1);
    size_t message = first + 24 + 14 + 14; /* a variable event: its length grows */
    log->data[message + 10] = 0x40;
    g_autofree char *items = items_of(log->data, log->len, 1);
    g_autofree char *gap = g_strdup_printf("gap %zu %zu -1 1001 event 19 of 16408 bytes crosses "
                                           "the end of its block at %zu\n",
                                           message, second - message, second);
    g_assert_nonnull(strstr(items, gap));
    g_byte_array_unref(log);
}

static void a_damaged_block_size_is_survived_by_a_search(void)
{
    GByteArray *log = sample_log(true);
    size_t second = block_at(log, 1), third = block_at(log, 2);
    log->data[second + 13] = (uint8_t)(log->data[second + 13] - 3); /* ends inside an event */
    g_autofree char *whole = items_of(log->data, log->len, 0);
    g_assert_cmpuint(count_lines(whole, "gap"), ==, 1);
    uint64_t offset, length;
    g_assert_cmpint(sscanf(strstr(whole, "gap "), "gap %" SCNu64 " %" SCNu64, &offset, &length), ==,
                    2);
    g_assert_cmpuint(offset, ==, third - 20);
    g_assert_cmpuint(offset + length, ==, third);
    g_assert_cmpuint(count_lines(whole, "event "), ==, HEADER_EVENTS + MARKERS - 1);
    for (size_t piece = 1; piece < 60; piece++) {
        g_autofree char *items = items_of(log->data, log->len, piece);
        g_assert_cmpstr(items, ==, whole);
    }
    g_byte_array_unref(log);
}

/* Every byte of the data damaged in three ways: no crash, splits agree, bytes are accounted for:
 * each is in an event, in a gap, in the tail, or the end mark. */
static void damage_at_every_byte_accounts_for_all_bytes(void)
{
    GByteArray *log = sample_log(true);
    size_t begin = header_length();
    for (size_t at = begin; at < log->len; at++) {
        static const uint8_t masks[] = {0xFF, 0x01, 0x80};
        for (size_t m = 0; m < G_N_ELEMENTS(masks); m++) {
            log->data[at] ^= masks[m];
            g_autofree char *whole = items_of(log->data, log->len, 0);
            g_autofree char *bytewise = items_of(log->data, log->len, 1);
            g_autofree char *sevens = items_of(log->data, log->len, 7);
            g_assert_cmpstr(whole, ==, bytewise);
            g_assert_cmpstr(whole, ==, sevens);
            uint64_t expected = begin;
            for (const char *line = strchr(whole, '\n') + 1; *line != '\0';
                 line = strchr(line, '\n') + 1) {
                uint64_t offset, length;
                unsigned number;
                if (sscanf(line, "event %" SCNu64 " %u", &offset, &number) == 2) {
                    g_assert_cmpuint(offset, ==, expected);
                    const struct fm_eventlog_type *type =
                        fm_eventlog_type_find((uint16_t)number, number == 700 ? 5 : -1);
                    bool variable = number != 700 && type->variable;
                    length = variable ? 12u + fm_eventlog_get16(log->data + offset + 10)
                                      : 10u + (number == 700 ? 5u
                                               : number == 2 ? 10u
                                                             : type->fixed_size);
                    expected += length;
                } else if (sscanf(line, "gap %" SCNu64 " %" SCNu64, &offset, &length) == 2) {
                    g_assert_cmpuint(offset, ==, expected);
                    g_assert_cmpuint(length, >, 0);
                    expected += length;
                } else if (g_str_has_prefix(line, "end")) {
                    expected += 2;
                } else if (sscanf(line, "finished %u %" SCNu64 " %" SCNu64, &number, &offset,
                                  &length) == 3) {
                    g_assert_cmpuint(offset, ==, expected);
                    expected += length;
                }
            }
            g_assert_cmpuint(expected, ==, log->len);
            log->data[at] ^= masks[m];
        }
    }
    g_byte_array_unref(log);
}

static void logs_back_to_back_reset_the_types(void)
{
    GByteArray *log = sample_log(true);
    GByteArray *unfinished = sample_log(false);
    g_autoptr(GByteArray) both = g_byte_array_new();
    g_byte_array_append(both, log->data, log->len);
    g_byte_array_append(both, log->data, log->len);
    g_autofree char *items = items_of(both->data, both->len, 3);
    g_assert_cmpuint(count_lines(items, "header"), ==, 2);
    g_assert_cmpuint(count_lines(items, "event "), ==, 2 * (HEADER_EVENTS + MARKERS));
    /* A log that was never finished, and another behind it: nothing is lost either. */
    g_byte_array_set_size(both, 0);
    g_byte_array_append(both, unfinished->data, unfinished->len);
    g_byte_array_append(both, log->data, log->len);
    g_autofree char *appended = items_of(both->data, both->len, 3);
    g_assert_cmpuint(count_lines(appended, "header"), ==, 2);
    g_assert_cmpuint(count_lines(appended, "gap"), ==, 0);
    g_assert_cmpuint(count_lines(appended, "event "), ==, 2 * (HEADER_EVENTS + MARKERS));
    g_byte_array_unref(log);
    g_byte_array_unref(unfinished);
}

static void bytes_after_the_end_mark_are_reported(void)
{
    GByteArray *log = sample_log(true);
    size_t length = log->len;
    g_byte_array_append(log, (const uint8_t *)"rubbish", 7);
    g_autofree char *items = items_of(log->data, log->len, 1);
    g_autofree char *finished = g_strdup_printf("finished 1 %zu 7 0\n", length);
    g_assert_true(g_str_has_suffix(items, finished));
    g_byte_array_unref(log);
}

static void a_block_never_closed_reaches_to_the_next(void)
{
    GByteArray *log = sample_log(true);
    size_t second = block_at(log, 1);
    memset(log->data + second + 10, 0, 12); /* size and end time */
    g_autofree char *items = items_of(log->data, log->len, 5);
    g_assert_cmpuint(count_lines(items, "gap"), ==, 0);
    g_assert_cmpuint(count_lines(items, "event "), ==, HEADER_EVENTS + MARKERS);
    g_assert_nonnull(strstr(items, " 2 2005 0 "));
    g_byte_array_unref(log);
}

static void hostile_sizes_cost_no_memory(void)
{
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("log");
    struct fm_eventlog_header *header = sample_header();
    struct fm_eventlog_event event;
    fm_eventlog_reader_push(reader, header->bytes->data, header->bytes->len);
    g_assert_cmpint(fm_eventlog_reader_next(reader, &event, NULL), ==, FM_EVENTLOG_HAS_HEADER);
    /* A block of 4 GiB is announced; then 16 MiB of events come. */
    static const uint8_t marker[24] = {0, 18, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF};
    static const uint8_t spark[10] = {0, 35, 0, 0, 0, 0, 0, 0, 0, 2};
    fm_eventlog_reader_push(reader, marker, sizeof marker);
    g_autofree uint8_t *many = g_malloc(sizeof spark * 10000);
    for (size_t i = 0; i < 10000; i++)
        memcpy(many + i * sizeof spark, spark, sizeof spark);
    unsigned events = 0;
    for (int i = 0; i < 160; i++) {
        fm_eventlog_reader_push(reader, many, sizeof spark * 10000);
        while (fm_eventlog_reader_next(reader, &event, NULL) == FM_EVENTLOG_HAS_EVENT)
            events++;
    }
    g_assert_cmpuint(events, ==, 1600001);
    g_assert_cmpuint(fm_eventlog_reader_memory(reader), <, 1 << 20);
    /* Then damage: the block's end is too far to wait for, so nothing piles up. */
    memset(many, 0x55, sizeof spark * 10000);
    for (int i = 0; i < 160; i++) {
        fm_eventlog_reader_push(reader, many, sizeof spark * 10000);
        g_assert_cmpint(fm_eventlog_reader_next(reader, &event, NULL), ==, FM_EVENTLOG_MORE);
    }
    g_assert_cmpuint(fm_eventlog_reader_memory(reader), <, 1 << 20);
    fm_eventlog_reader_finish(reader);
    g_assert_cmpint(fm_eventlog_reader_next(reader, &event, NULL), ==, FM_EVENTLOG_HAS_GAP);
    g_assert_cmpuint(fm_eventlog_reader_gap(reader)->length, ==, 160 * sizeof spark * 10000);
    fm_eventlog_header_unref(header);
    fm_eventlog_reader_free(reader);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/reader/whole-log-gives-every-event", whole_log_gives_every_event);
    g_test_add_func("/reader/any-split-gives-the-same-items", any_split_gives_the_same_items);
    g_test_add_func("/reader/a-view-that-grows", a_view_that_grows_gives_the_same_items);
    g_test_add_func("/reader/truncation-at-every-byte", truncation_at_every_byte_is_told);
    g_test_add_func("/reader/what-is-no-log-is-refused", what_is_no_log_is_refused);
    g_test_add_func("/reader/damage-in-a-block",
                    damage_in_a_block_loses_the_rest_of_that_block_only);
    g_test_add_func("/reader/event-across-block-end",
                    an_event_across_the_end_of_its_block_is_damage);
    g_test_add_func("/reader/damaged-block-size", a_damaged_block_size_is_survived_by_a_search);
    g_test_add_func("/reader/damage-at-every-byte", damage_at_every_byte_accounts_for_all_bytes);
    g_test_add_func("/reader/logs-back-to-back", logs_back_to_back_reset_the_types);
    g_test_add_func("/reader/bytes-after-the-end", bytes_after_the_end_mark_are_reported);
    g_test_add_func("/reader/block-never-closed", a_block_never_closed_reaches_to_the_next);
    g_test_add_func("/reader/hostile-sizes", hostile_sizes_cost_no_memory);
    return g_test_run();
}
