/* SPDX-License-Identifier: Apache-2.0 */
/* An event log as a trace: the events of the merge, each once, in its order; seeking; damage. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "eventlog/log/log.h"
#include "base/error.h"
#include "eventlog_maker.h"
#include "trace/format/open.h"

enum { FOLDERS = 3001 }; /* one more than are searched */

struct seen {
    uint64_t time;
    uint32_t id, size;
    int32_t lane;
    uint32_t sum; /* of the payload */
};

static uint32_t sum_of(const uint8_t *bytes, uint32_t size)
{
    uint32_t sum = size;
    for (uint32_t i = 0; i < size; i++)
        sum = sum * 31 + bytes[i];
    return sum;
}

static struct fm_trace *open_trace(const char *path)
{
    GError *error = NULL;
    g_autofree char *identity = fm_trace_identity(path, &error);
    g_assert_no_error(error);
    struct fm_trace *trace = fm_trace_open(path, identity, &error);
    g_assert_no_error(error);
    bool ended;
    while (fm_trace_grow(trace, &ended, &error) && !ended)
        g_assert_no_error(error);
    g_assert_no_error(error);
    return trace;
}

static bool next(struct fm_tracefile *tracefile, struct seen *ret)
{
    struct fm_event event;
    if (!tracefile->class_->peek(tracefile, &event))
        return false;
    *ret = (struct seen){event.time, event.id, event.payload_size, event.cpu,
                         sum_of(event.payload, event.payload_size)};
    tracefile->class_->advance(tracefile);
    return true;
}

static void assert_same(const struct seen *a, const struct seen *b)
{
    g_assert_cmpuint(a->time, ==, b->time);
    g_assert_cmpuint(a->id, ==, b->id);
    g_assert_cmpuint(a->size, ==, b->size);
    g_assert_cmpint(a->lane, ==, b->lane);
    g_assert_cmpuint(a->sum, ==, b->sum);
}

/* By time, then capability, then place in the file; no event stands twice. */
static void assert_in_order(const struct fm_eventlog_event *a, const struct fm_eventlog_event *b)
{
    g_assert_cmpuint(a->time_ns, <=, b->time_ns);
    if (a->time_ns < b->time_ns)
        return;
    g_assert_cmpint(a->capability, <=, b->capability);
    if (a->capability == b->capability)
        g_assert_cmpuint(a->offset, <, b->offset);
}

/* The events by the merge of the log that was read wholly: all of them, in their order. */
static GArray *reference(const char *path)
{
    GError *error = NULL;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct seen));
    struct fm_eventlog_log *log = fm_eventlog_log_open(path, NULL, &error);
    g_assert_no_error(error);
    struct fm_eventlog_merge *merge = fm_eventlog_merge_new(log);
    struct fm_eventlog_event event, before = {0};
    while (fm_eventlog_merge_next(merge, &event, &error)) {
        if (all->len > 0)
            assert_in_order(&before, &event);
        before = event;
        struct seen seen = {event.time_ns, event.number, event.payload_length, event.capability,
                            sum_of(event.payload, event.payload_length)};
        g_array_append_val(all, seen);
    }
    g_assert_no_error(error);
    fm_eventlog_merge_free(merge);
    g_assert_cmpuint(all->len, >, 0);
    g_assert_cmpuint(all->len, ==, log->counts->events);
    fm_eventlog_log_free(log);
    return all;
}

static void check_same_as_merge(const char *path)
{
    g_autoptr(GArray) expected = reference(path);
    struct fm_trace *trace = open_trace(path);
    g_assert_cmpuint(trace->tracefiles->len, ==, 1);
    struct fm_tracefile *tracefile = trace->tracefiles->pdata[0];
    tracefile->class_->seek_time(tracefile, 0);
    struct seen seen;
    guint count = 0;
    for (; next(tracefile, &seen); count++) {
        g_assert_cmpuint(count, <, expected->len);
        assert_same(&seen, &g_array_index(expected, struct seen, count));
    }
    g_assert_cmpuint(count, ==, expected->len);
    if (count > 0) {
        g_assert_cmpuint(trace->start_time, <=, g_array_index(expected, struct seen, 0).time);
        g_assert_cmpuint(trace->end_time, >=, g_array_index(expected, struct seen, count - 1).time);
    }
    fm_trace_free(trace);
}

/* 1,000 seeks by time and by place, in random order, against reading from the begin. */
static void check_seeks(const char *path, unsigned seed)
{
    g_autoptr(GArray) expected = reference(path);
    struct fm_trace *trace = open_trace(path);
    struct fm_tracefile *tracefile = trace->tracefiles->pdata[0];
    g_autofree uint64_t *places = g_new(uint64_t, expected->len);
    tracefile->class_->seek_time(tracefile, 0);
    struct seen seen;
    for (guint i = 0; i < expected->len; i++) {
        places[i] = tracefile->class_->tell(tracefile);
        g_assert_true(next(tracefile, &seen));
    }
    GRand *random = g_rand_new_with_seed(seed);
    for (unsigned round = 0; round < 1000; round++) {
        guint index = (guint)g_rand_int_range(random, 0, (gint32)expected->len);
        uint64_t time = g_array_index(expected, struct seen, index).time;
        if (round % 2 == 0) {
            tracefile->class_->seek(tracefile, time, places[index]);
        } else {
            time += (uint64_t)g_rand_int_range(random, 0, 3);
            tracefile->class_->seek_time(tracefile, time);
            guint low = 0, high = expected->len;
            while (low < high) {
                guint middle = (low + high) / 2;
                if (g_array_index(expected, struct seen, middle).time < time)
                    low = middle + 1;
                else
                    high = middle;
            }
            index = low;
        }
        for (guint i = index; i < MIN(index + 3, expected->len); i++) {
            g_assert_cmpuint(tracefile->class_->tell(tracefile), ==, places[i]);
            g_assert_true(next(tracefile, &seen));
            assert_same(&seen, &g_array_index(expected, struct seen, i));
        }
        if (index >= expected->len)
            g_assert_false(next(tracefile, &seen));
    }
    g_rand_free(random);
    fm_trace_free(trace);
}

static const struct maker_options many[] = {
    {.capabilities = 1, .blocks = 1, .events = 10, .step_ns = 100},
    {.capabilities = 4, .blocks = 20, .events = 500, .step_ns = 100, .strays = 50, .stray_ns = 900},
    {.capabilities = 3, .blocks = 5, .events = 900, .step_ns = 50, .ties = true},
    {.capabilities = 3,
     .blocks = 5,
     .events = 900,
     .step_ns = 50,
     .ties = true,
     .strays = 3,
     .stray_ns = 100000},
    {.capabilities = 2, .blocks = 10, .events = 300, .step_ns = 1000, .no_end = true},
    {.capabilities = 1, .blocks = 1, .events = 9000, .step_ns = 1000, .unmarked = true},
    {.capabilities = 700, .blocks = 2, .events = 7, .step_ns = 10},
    {.capabilities = 300,
     .blocks = 3,
     .events = 20,
     .step_ns = 100,
     .ties = true,
     .strays = 7,
     .stray_ns = 3000},
    /* Larger than what is read at once when a log is opened. */
    {.capabilities = 8,
     .blocks = 10,
     .events = 6000,
     .step_ns = 5000,
     .strays = 1000,
     .stray_ns = 30000},
    {.capabilities = 1, .blocks = 1, .events = 600000, .step_ns = 100, .unmarked = true},
};

static void test_same_events_as_the_merge(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(many); i++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        maker_log(bytes, &many[i]);
        char *path = maker_file(bytes);
        check_same_as_merge(path);
        maker_remove(path);
    }
}

static void test_seeks(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(many); i++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        maker_log(bytes, &many[i]);
        char *path = maker_file(bytes);
        check_seeks(path, i);
        maker_remove(path);
    }
}

static void test_several_logs_in_one_file(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    maker_log(bytes, &many[1]);
    maker_log(bytes, &many[4]); /* has no end mark */
    maker_log(bytes, &many[2]);
    char *path = maker_file(bytes);
    check_same_as_merge(path);
    check_seeks(path, 1);
    maker_remove(path);
}

static void test_damage_is_skipped_and_told(void)
{
    GRand *random = g_rand_new_with_seed(7);
    unsigned told = 0;
    for (unsigned round = 0; round < 60; round++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        maker_log(bytes, &many[1]);
        /* Event numbers that are not declared, lost bytes, a cut end. */
        guint at = (guint)g_rand_int_range(random, 2000, (gint32)bytes->len - 100);
        if (round % 3 == 0)
            memset(bytes->data + at, 0xEE, 20);
        else if (round % 3 == 1)
            g_byte_array_remove_range(bytes, at, 13);
        else
            g_byte_array_set_size(bytes, at);
        char *path = maker_file(bytes);
        check_same_as_merge(path);
        struct fm_trace *trace = open_trace(path);
        g_autofree char *damage = fm_trace_damage(trace);
        told += strstr(damage, path) != NULL;
        fm_trace_free(trace);
        maker_remove(path);
    }
    g_assert_cmpuint(told, >=, 55); /* overwritten payloads are no damage that can be seen */
    g_rand_free(random);
}

static void test_a_whole_log_has_no_damage(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    maker_log(bytes, &many[1]);
    char *path = maker_file(bytes);
    struct fm_trace *trace = open_trace(path);
    g_autofree char *damage = fm_trace_damage(trace);
    g_assert_cmpstr(damage, ==, "");
    g_assert_false(fm_trace_grows(trace));
    g_assert_cmpstr(fm_trace_format(trace), ==, "eventlog");
    fm_trace_free(trace);
    maker_remove(path);
}

/* Blocks of every length around that of a window (256 KiB): the last event may lie across its end.
 */
static void test_blocks_of_any_length(void)
{
    for (unsigned length = (256 << 10) - 14; length < (256 << 10) + 14; length++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        const struct maker_options options = {
            .capabilities = 1, .blocks = 2, .events = 12000, .step_ns = 100, .block_bytes = length};
        maker_log(bytes, &options);
        char *path = maker_file(bytes);
        check_same_as_merge(path);
        struct fm_trace *trace = open_trace(path);
        g_autofree char *damage = fm_trace_damage(trace);
        g_assert_cmpstr(damage, ==, "");
        fm_trace_free(trace);
        maker_remove(path);
    }
}

static void test_names_values_and_texts(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    maker_log(bytes, &many[1]);
    char *path = maker_file(bytes);
    struct fm_trace *trace = open_trace(path);
    struct fm_tracefile *tracefile = trace->tracefiles->pdata[0];
    g_assert_cmpstr(tracefile->class_->event_name(tracefile, 1), ==, "RunThread");
    g_assert_cmpstr(tracefile->class_->event_name(tracefile, 512), ==, "SpanBegin");
    g_assert_null(tracefile->class_->event_name(tracefile, 9999));
    tracefile->class_->seek_time(tracefile, 0);
    struct fm_event event;
    struct fm_event_value values[FM_EVENT_VALUES_MAX];
    bool stop_seen = false, span_seen = false, message_seen = false;
    while (tracefile->class_->peek(tracefile, &event)) {
        unsigned count = tracefile->class_->event_values(tracefile, &event, values);
        if (event.id == 2) {
            stop_seen = true;
            g_assert_cmpuint(count, ==, 3);
            g_assert_cmpstr(values[0].name, ==, "thread");
            g_assert_cmpint((int32_t)values[0].number, ==, event.cpu + 1);
            g_assert_cmpmem(values[1].text, values[1].text_length, "finished", 8);
        } else if (event.id == 512) {
            span_seen = true;
            g_assert_cmpuint(count, ==, 1);
            g_assert_cmpint(values[0].kind, ==, FM_VALUE_UNSIGNED);
            g_assert_cmpmem(values[0].text, values[0].text_length, "name", 4);
        } else if (event.id == 19) {
            message_seen = true;
            g_assert_cmpint(values[0].kind, ==, FM_VALUE_TEXT);
            g_assert_cmpuint(values[0].text_length, ==, event.payload_size);
        }
        tracefile->class_->advance(tracefile);
    }
    g_assert_true(stop_seen && span_seen && message_seen);
    fm_trace_free(trace);
    maker_remove(path);
}

static void test_real_logs(void)
{
    static const char *const names[] = {"conc",   "marks",     "profhc",
                                        "sparks", "trunc_mid", "trunc_noend"};
    const char *folder = g_getenv("FATHOM_SAMPLE_DATA");
    g_autofree char *first =
        g_build_filename(folder ? folder : "", "eventlog", "conc.eventlog", NULL);
    if (folder == NULL || !g_file_test(first, G_FILE_TEST_EXISTS)) {
        g_test_skip("FATHOM_SAMPLE_DATA does not name the folder of sample data");
        return;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *name = g_strconcat(names[i], ".eventlog", NULL);
        g_autofree char *path = g_build_filename(folder, "eventlog", name, NULL);
        check_same_as_merge(path);
        check_seeks(path, i);
    }
    g_autofree char *cut = g_build_filename(folder, "eventlog", "trunc_header.eventlog", NULL);
    GError *error = NULL;
    g_assert_null(fm_trace_open(cut, "x", &error));
    g_assert_nonnull(error);
    g_assert_nonnull(strstr(error->message, "trunc_header.eventlog"));
    g_error_free(error);
}

static void test_recognise(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    maker_log(bytes, &many[0]);
    char *path = maker_file(bytes);
    g_assert_true(fm_trace_recognise(path));
    maker_remove(path);
    g_byte_array_set_size(bytes, 0);
    g_byte_array_append(bytes, (const uint8_t *)"Mercury deep", 12);
    path = maker_file(bytes);
    g_assert_false(fm_trace_recognise(path));
    GError *error = NULL;
    g_assert_null(fm_trace_open(path, "x", &error));
    g_assert_nonnull(error);
    g_error_free(error);
    maker_remove(path);
    g_assert_true(fm_trace_recognise("unix:/nowhere"));
    g_assert_false(fm_trace_recognise("/nowhere/at/all"));
}

static char *make_folder(const char *in, const char *name)
{
    char *path = g_build_filename(in, name, NULL);
    g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
    return path;
}

/* A folder is a trace if one below it is; but not for long is that looked for, nor in hidden ones
 * and behind links. */
static void test_recognise_folders(void)
{
    g_autofree char *top = g_dir_make_tmp("fathom-XXXXXX", NULL);
    g_autofree char *in = make_folder(top, "in"), *deep = make_folder(in, "deep");
    g_autofree char *hidden = make_folder(top, ".hidden");
    g_autofree char *metadata = g_build_filename(deep, "metadata", NULL);
    g_assert_false(fm_trace_recognise(top));
    g_assert_true(g_file_set_contents(metadata, "/* CTF 1.8 */", -1, NULL));
    g_assert_true(fm_trace_recognise(top));
    g_assert_true(fm_trace_recognise(deep));
    g_autofree char *elsewhere = g_build_filename(hidden, "in", NULL);
    g_assert_cmpint(g_rename(in, elsewhere), ==, 0);
    g_assert_cmpint(symlink(elsewhere, in), ==, 0);
    g_assert_false(fm_trace_recognise(top));
    g_assert_true(fm_trace_recognise(in));
    g_unlink(in);
    g_assert_cmpint(g_rename(elsewhere, in), ==, 0);
    for (unsigned i = 0; i < FOLDERS; i++) {
        g_autofree char *name = g_strdup_printf("a%u", i);
        g_free(make_folder(top, name));
    }
    g_assert_false(fm_trace_recognise(top));
    for (unsigned i = 0; i < FOLDERS; i++) {
        g_autofree char *name = g_strdup_printf("%s/a%u", top, i);
        g_rmdir(name);
    }
    g_unlink(metadata);
    g_rmdir(deep);
    g_rmdir(in);
    g_rmdir(hidden);
    g_assert_cmpint(g_rmdir(top), ==, 0);
}

static const char clock_1970[] = "/* CTF 1.8 */\ntypealias integer { size = 8; } := clock_t;\n"
                                 "clock { name = monotonic; uuid = \"a\"; // clock { }\n"
                                 "description = \"Monotonic Clock\"; offset = 1; };";
static const char clock_absolute[] = "/* CTF 1.8 */ clock { absolute = TRUE; offset_s = 7; };";
static const char clock_a[] = "/* CTF 1.8 clock { */ clock\t{\nname = perf_clock;uuid=\"a\";\n};";
static const char clock_b[] = "/* CTF 1.8 */ env { x = \"clock { uuid = a; }\"; };\n"
                              "clock { uuid = \"b\"; absolute = false; };";
static const char clock_cut[] = "/* CTF 1.8 */ clock { uuid = \"b";
static const char no_clock[] = "/* CTF 1.8 */ trace { major = 1; };";

/* A packet of metadata for each third of the text; of the other byte order, too. */
static void write_packets(const char *path, const char *text, bool swapped)
{
    enum { HEADER = 37, PADDING = 5, CONTENT_AT = 24, PACKET_AT = 28 };
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (size_t length = strlen(text), at = 0, part; at < length; at += part) {
        uint8_t header[HEADER] = {0}, padding[PADDING] = "clock";
        part = MIN(length / 3 + 1, length - at);
        uint32_t numbers[] = {0x75d11d57, (uint32_t)(HEADER + part) * 8,
                              (uint32_t)(HEADER + part + PADDING) * 8};
        const unsigned places[] = {0, CONTENT_AT, PACKET_AT};
        for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++) {
            uint32_t number = swapped ? GUINT32_SWAP_LE_BE(numbers[i]) : numbers[i];
            memcpy(header + places[i], &number, sizeof number);
        }
        g_byte_array_append(bytes, header, sizeof header);
        g_byte_array_append(bytes, (const uint8_t *)text + at, (guint)part);
        g_byte_array_append(bytes, padding, sizeof padding);
    }
    g_assert_true(g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, NULL));
}

/* A folder is one trace when the clocks of all the traces below it count the same. */
static void test_recognise_by_clocks(void)
{
    static const struct {
        const char *first, *second;
        bool is_trace;
    } pairs[] = {
        {clock_1970, clock_1970, true}, {clock_1970, clock_absolute, true},
        {clock_1970, clock_a, false},   {clock_absolute, clock_b, false},
        {clock_a, clock_a, true},       {clock_a, clock_b, false},
        {clock_a, no_clock, true},      {no_clock, no_clock, true},
        {clock_b, clock_cut, true},     {clock_a, clock_cut, false},
    };
    g_autofree char *top = g_dir_make_tmp("fathom-XXXXXX", NULL);
    g_autofree char *one = make_folder(top, "one"), *two = make_folder(top, "two");
    g_autofree char *first = g_build_filename(one, "metadata", NULL);
    g_autofree char *second = g_build_filename(two, "metadata", NULL);
    for (unsigned i = 0; i < 3 * G_N_ELEMENTS(pairs); i++) {
        const char *other = pairs[i / 3].second;
        g_assert_true(g_file_set_contents(first, pairs[i / 3].first, -1, NULL));
        if (i % 3 == 0)
            g_assert_true(g_file_set_contents(second, other, -1, NULL));
        else
            write_packets(second, other, i % 3 == 2);
        g_assert_cmpint(fm_trace_recognise(top), ==, pairs[i / 3].is_trace);
        g_assert_true(fm_trace_recognise(one) && fm_trace_recognise(two));
        if (pairs[i / 3].is_trace)
            continue;
        g_autoptr(GError) error = NULL;
        g_assert_null(fm_trace_open(top, "x", &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE);
        g_assert_nonnull(strstr(error->message, one));
        g_assert_nonnull(strstr(error->message, two));
    }
    g_unlink(first);
    g_unlink(second);
    g_rmdir(one);
    g_rmdir(two);
    g_assert_cmpint(g_rmdir(top), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eventlog-trace/same-as-merge", test_same_events_as_the_merge);
    g_test_add_func("/eventlog-trace/seeks", test_seeks);
    g_test_add_func("/eventlog-trace/several-logs", test_several_logs_in_one_file);
    g_test_add_func("/eventlog-trace/damage", test_damage_is_skipped_and_told);
    g_test_add_func("/eventlog-trace/whole", test_a_whole_log_has_no_damage);
    g_test_add_func("/eventlog-trace/lengths", test_blocks_of_any_length);
    g_test_add_func("/eventlog-trace/values", test_names_values_and_texts);
    g_test_add_func("/eventlog-trace/real", test_real_logs);
    g_test_add_func("/eventlog-trace/recognise", test_recognise);
    g_test_add_func("/eventlog-trace/recognise-folders", test_recognise_folders);
    g_test_add_func("/eventlog-trace/recognise-by-clocks", test_recognise_by_clocks);
    return g_test_run();
}
