/* SPDX-License-Identifier: Apache-2.0 */
/* Real logs of GHC against counts that another reader made. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventlog/reader/count.h"
#include "eventlog/log/log.h"
#include "support.h"

static const char *const names[] = {"conc",      "marks",       "profhc",      "sparks",
                                    "trunc_mid", "trunc_noend", "trunc_header"};

/* Counts pieces of the given size (0 = random); the counts in the form of the expected files. */
static char *counted(const GByteArray *log, size_t piece, uint32_t seed)
{
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("log");
    struct fm_eventlog_counts *counts = fm_eventlog_counts_new();
    GRand *random = g_rand_new_with_seed(seed);
    GString *out = g_string_new(NULL);
    GError *error = NULL;
    enum fm_eventlog_status status = FM_EVENTLOG_MORE;
    for (size_t at = 0; status != FM_EVENTLOG_FINISHED && status != FM_EVENTLOG_FAILED;) {
        size_t size = piece == 0 ? (size_t)g_rand_int_range(random, 1, 100000) : piece;
        size = MIN(size, log->len - at);
        if (size == 0)
            fm_eventlog_reader_finish(reader);
        fm_eventlog_reader_push(reader, log->data + at, size);
        at += size;
        do {
            status = fm_eventlog_count(reader, counts, &error);
            g_assert_cmpint(status, !=, FM_EVENTLOG_HAS_EVENT);
            g_assert_cmpint(status, !=, FM_EVENTLOG_HAS_GAP);
        } while (status != FM_EVENTLOG_MORE && status != FM_EVENTLOG_FINISHED &&
                 status != FM_EVENTLOG_FAILED);
    }
    if (status == FM_EVENTLOG_FAILED) {
        g_string_append(out, error->message);
        g_error_free(error);
    } else {
        g_string_append_printf(out, "declared_types %" PRIu64 "\nevents %" PRIu64 "\n",
                               counts->declared_types, counts->events);
        g_string_append_printf(out, "first_in_file_ns %" PRIu64 "\nlast_in_file_ns %" PRIu64 "\n",
                               counts->first_ns, counts->last_ns);
        g_string_append_printf(out, "min_ns %" PRIu64 "\nmax_ns %" PRIu64 "\n", counts->min_ns,
                               counts->max_ns);
        g_string_append_printf(out, "backward_steps_in_file_order %" PRIu64 "\n",
                               counts->backward_steps);
    }
    uint64_t cells = 0;
    for (int32_t capability = -1; capability < 300; capability++) {
        uint64_t events = fm_eventlog_counts_capability(counts, capability, NULL);
        if (events > 0 && capability < 0)
            g_string_append_printf(out, "cap none %" PRIu64 "\n", events);
        else if (events > 0)
            g_string_append_printf(out, "cap %d %" PRIu64 "\n", capability, events);
        for (int number = 0; number < 300; number++) {
            uint64_t cell;
            g_assert_true(fm_eventlog_counts_cell(counts, (uint16_t)number, capability, &cell));
            cells += cell;
        }
    }
    g_assert_cmpuint(cells, ==, counts->events);
    for (int number = 0; number < 65536; number++) {
        uint64_t count = fm_eventlog_counts_type(counts, (uint16_t)number);
        g_autofree char *label = count == 0 ? NULL : fm_eventlog_type_label((uint16_t)number);
        if (count > 0)
            g_string_append_printf(out, "type %s %" PRIu64 "\n", label, count);
    }
    g_rand_free(random);
    fm_eventlog_counts_free(counts);
    fm_eventlog_reader_free(reader);
    return g_string_free(out, FALSE);
}

/* Each expected line stands in the counts, and there are no others. */
static void check_counts(const char *counts, const char *expected)
{
    g_autofree char *wanted_text = g_strchomp(g_strdup(expected));
    g_autofree char *got_text = g_strchomp(g_strdup(counts));
    g_auto(GStrv) wanted = g_strsplit(wanted_text, "\n", 0);
    g_auto(GStrv) got = g_strsplit(got_text, "\n", 0);
    for (char **line = wanted; *line != NULL; line++) {
        if (!g_strv_contains((const char *const *)got, *line))
            g_error("expected '%s' in:\n%s", *line, counts);
    }
    g_assert_cmpuint(g_strv_length(got), ==, g_strv_length(wanted));
}

static void counts_equal_the_expected(const void *data)
{
    g_autofree char *log_name = g_strdup_printf("%s.eventlog", (const char *)data);
    g_autofree char *text_name = g_strdup_printf("%s.expected.txt", (const char *)data);
    g_autofree char *log_path = sample_path(log_name);
    g_autofree char *text_path = log_path == NULL ? NULL : sample_path(text_name);
    g_autofree char *expected = NULL;
    if (text_path == NULL)
        return;
    g_assert_true(g_file_get_contents(text_path, &expected, NULL, NULL));
    GByteArray *log = read_file(log_path);
    static const size_t pieces[] = {1u << 30, 0, 0, 7, 4096};
    for (size_t i = 0; i < G_N_ELEMENTS(pieces); i++) {
        g_autofree char *counts = counted(log, pieces[i], (uint32_t)i);
        if (g_str_has_prefix(expected, "stderr:"))
            g_assert_nonnull(strstr(counts, "not enough bytes"));
        else
            check_counts(counts, expected);
    }
    g_byte_array_unref(log);
}

static void rewriting_gives_the_same_bytes(const void *data)
{
    g_autofree char *name = g_strdup_printf("%s.eventlog", (const char *)data);
    g_autofree char *path = sample_path(name);
    if (path == NULL)
        return;
    GByteArray *log = read_file(path);
    g_autoptr(GByteArray) copy = g_byte_array_new();
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("log");
    struct fm_eventlog_writer *writer = fm_eventlog_writer_new(fm_eventlog_write_bytes, copy);
    fm_eventlog_reader_push(reader, log->data, log->len);
    fm_eventlog_reader_finish(reader);
    enum fm_eventlog_status status;
    struct fm_eventlog_event event;
    GError *error = NULL;
    while ((status = fm_eventlog_reader_next(reader, &event, &error)) != FM_EVENTLOG_FINISHED &&
           status != FM_EVENTLOG_FAILED) {
        if (status == FM_EVENTLOG_HAS_HEADER)
            fm_eventlog_writer_header(writer, fm_eventlog_reader_header(reader), &error);
        else if (status == FM_EVENTLOG_HAS_END)
            fm_eventlog_writer_end(writer, &error);
        else
            fm_eventlog_writer_raw(writer, &event, &error);
        g_assert_no_error(error);
    }
    fm_eventlog_writer_flush(writer, NULL);
    size_t whole =
        status == FM_EVENTLOG_FAILED ? 0 : log->len - fm_eventlog_reader_tail(reader)->length;
    g_clear_error(&error);
    g_assert_cmpmem(copy->data, copy->len, log->data, (int)whole);
    fm_eventlog_reader_free(reader);
    fm_eventlog_writer_free(writer);
    g_byte_array_unref(log);
}

struct key {
    uint64_t time_ns, offset;
    int32_t capability;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->capability != y->capability)
        return x->capability < y->capability ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void merging_sorts_by_time(const void *data)
{
    g_autofree char *name = g_strdup_printf("%s.eventlog", (const char *)data);
    g_autofree char *path = sample_path(name);
    GError *error = NULL;
    if (path == NULL)
        return;
    struct fm_eventlog_log *log = fm_eventlog_log_open(path, NULL, &error);
    if (log == NULL) {
        g_assert_cmpstr(data, ==, "trunc_header");
        g_error_free(error);
        return;
    }
    g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(struct key));
    struct fm_eventlog_event event;
    for (guint i = 0; i < log->blocks->len; i++) {
        struct fm_eventlog_run *run =
            fm_eventlog_run_new(log, &g_array_index(log->blocks, struct fm_eventlog_block, i), 0);
        while (fm_eventlog_run_next(run, &event, &error)) {
            struct key key = {event.time_ns, event.offset, event.capability};
            g_array_append_val(keys, key);
        }
        g_assert_no_error(error);
        fm_eventlog_run_free(run);
    }
    g_assert_cmpuint(keys->len, ==, log->counts->events);
    qsort(keys->data, keys->len, sizeof(struct key), compare_keys);
    const struct key *sorted = (const struct key *)(void *)keys->data;
    struct fm_eventlog_merge *merge = fm_eventlog_merge_new(log);
    for (guint i = 0; i < keys->len; i++) {
        g_assert_true(fm_eventlog_merge_next(merge, &event, &error));
        g_assert_cmpuint(event.offset, ==, sorted[i].offset);
        g_assert_cmpuint(event.time_ns, ==, sorted[i].time_ns);
    }
    g_assert_false(fm_eventlog_merge_next(merge, &event, &error));
    g_assert_no_error(error);
    /* Seeking: to an event exactly, and to a time. */
    for (guint i = 0; i < keys->len; i += keys->len / 50 + 1) {
        g_assert_true(fm_eventlog_merge_seek_event(merge, sorted[i].time_ns, sorted[i].capability,
                                                   sorted[i].offset, &error));
        g_assert_true(fm_eventlog_merge_next(merge, &event, &error));
        g_assert_cmpuint(event.offset, ==, sorted[i].offset);
        g_assert_true(fm_eventlog_merge_seek_time(merge, sorted[i].time_ns, &error));
        g_assert_true(fm_eventlog_merge_next(merge, &event, &error));
        g_assert_cmpuint(event.time_ns, ==, sorted[i].time_ns);
    }
    g_assert_true(fm_eventlog_merge_seek_time(merge, UINT64_MAX, &error));
    g_assert_false(fm_eventlog_merge_next(merge, &event, &error));
    fm_eventlog_merge_free(merge);
    fm_eventlog_log_free(log);
}

static void every_field_decodes(const void *data)
{
    g_autofree char *name = g_strdup_printf("%s.eventlog", (const char *)data);
    g_autofree char *path = sample_path(name);
    if (path == NULL)
        return;
    GByteArray *log = read_file(path);
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("log");
    fm_eventlog_reader_push(reader, log->data, log->len);
    fm_eventlog_reader_finish(reader);
    enum fm_eventlog_status status;
    struct fm_eventlog_event event;
    unsigned events = 0;
    while ((status = fm_eventlog_reader_next(reader, &event, NULL)) != FM_EVENTLOG_FINISHED &&
           status != FM_EVENTLOG_FAILED) {
        struct fm_eventlog_value values[FM_EVENTLOG_FIELDS_MAX];
        bool malformed;
        if (status != FM_EVENTLOG_HAS_EVENT)
            continue;
        g_assert_nonnull(event.type);
        g_assert_cmpuint(fm_eventlog_decode(&event, values, &malformed), ==,
                         event.type->field_count);
        g_assert_false(malformed);
        events++;
    }
    g_assert_true(events > 10000 || strcmp(data, "trunc_header") == 0);
    fm_eventlog_reader_free(reader);
    g_byte_array_unref(log);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        GTestDataFunc run;
    } tests[] = {
        {"counts-equal-the-expected", counts_equal_the_expected},
        {"rewriting-gives-the-same-bytes", rewriting_gives_the_same_bytes},
        {"merging-sorts-by-time", merging_sorts_by_time},
        {"every-field-decodes", every_field_decodes},
    };
    g_test_init(&argc, &argv, NULL);
    for (size_t t = 0; t < G_N_ELEMENTS(tests); t++) {
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
            g_autofree char *path = g_strdup_printf("/golden/%s/%s", tests[t].name, names[i]);
            g_test_add_data_func(path, names[i], tests[t].run);
        }
    }
    return g_test_run();
}
