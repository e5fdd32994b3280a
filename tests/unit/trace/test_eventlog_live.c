/* SPDX-License-Identifier: Apache-2.0 */
/* Logs that grow: a file being written, cut, replaced; a socket. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "eventlog/log/log.h"
#include "eventlog_maker.h"
#include "tests/own_clock.h"
#include "trace/format/open.h"

static const struct maker_options one_lane = {
    .capabilities = 1, .blocks = 30, .events = 200, .step_ns = 100, .seed = 4};
static const struct maker_options four_lanes = {
    .capabilities = 4, .blocks = 10, .events = 200, .step_ns = 100, .seed = 5};

static struct fm_trace *open_trace(const char *path)
{
    GError *error = NULL;
    g_autofree char *identity = fm_trace_identity(path, &error);
    g_assert_no_error(error);
    struct fm_trace *trace = fm_trace_open(path, identity, &error);
    g_assert_no_error(error);
    return trace;
}

/* Times of all events as they are in the file at that path. */
static GArray *reference(const char *path)
{
    GError *error = NULL;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    struct fm_eventlog_log *log = fm_eventlog_log_open(path, NULL, &error);
    g_assert_no_error(error);
    struct fm_eventlog_merge *merge = fm_eventlog_merge_new(log);
    struct fm_eventlog_event event;
    while (fm_eventlog_merge_next(merge, &event, &error))
        g_array_append_val(all, event.time_ns);
    g_assert_no_error(error);
    fm_eventlog_merge_free(merge);
    fm_eventlog_log_free(log);
    return all;
}

static bool take_time(void *user, void *call_data)
{
    const struct fm_tracefile_context *at = call_data;
    g_array_append_val((GArray *)user, at->event.time);
    return false;
}

static void assert_same(const GArray *a, const GArray *b)
{
    g_assert_cmpuint(a->len, ==, b->len);
    for (guint i = 0; i < a->len; i++)
        g_assert_cmpuint(g_array_index(a, uint64_t, i), ==, g_array_index(b, uint64_t, i));
}

static GArray *read_all(struct fm_trace *trace)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, take_time, all, FM_HOOK_DEFAULT);
    fm_trace_each_event(trace, 0, FM_TIME_INF, hooks);
    return all;
}

static void append(const char *path, const uint8_t *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(write(fd, bytes, length), ==, (ssize_t)length);
    close(fd);
    own_clock_set_by(path);
}

/* Grows until there is nothing more; a context that reads along is told. */
static bool grow(struct fm_trace *trace, struct fm_context *context)
{
    GError *error = NULL;
    bool ended, grown = false, more;
    do {
        uint64_t old_end = trace->end_time;
        more = fm_trace_grow(trace, &ended, &error);
        g_assert_no_error(error);
        if (more && context != NULL)
            fm_context_renew(context, trace, old_end);
        grown |= more;
    } while (more && !ended);
    return grown;
}

static void test_a_reader_follows(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    maker_log(bytes, &one_lane);
    char *path = maker_file(bytes);
    g_autoptr(GArray) expected = reference(path);
    g_unlink(path);
    GRand *random = g_rand_new_with_seed(11);
    guint at = 3000; /* the header and a little */
    append(path, bytes->data, at);
    struct fm_trace *trace = open_trace(path);
    g_assert_true(fm_trace_grows(trace));
    g_assert_cmpint(fm_trace_poll_fd(trace), ==, -1);
    struct fm_context *context = fm_context_new(&trace, 1);
    g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    struct fm_chunk_hooks hooks = {.event = fm_hooks_new()};
    fm_hooks_add(hooks.event, take_time, seen, FM_HOOK_DEFAULT);
    fm_context_begin(context, &hooks, -1);
    fm_context_seek_time(context, 0);
    unsigned rounds_with_events = 0;
    while (at < bytes->len) {
        guint length = MIN((guint)g_rand_int_range(random, 1, 9000), bytes->len - at);
        append(path, bytes->data + at, length);
        at += length;
        fm_context_middle(context, FM_TIME_INF, 300, NULL); /* not always to the end */
        fm_context_save_sync(context);
        grow(trace, context);
        rounds_with_events += fm_context_middle(context, FM_TIME_INF, UINT64_MAX, NULL) > 0;
        fm_context_save_sync(context);
    }
    grow(trace, context);
    fm_context_middle(context, FM_TIME_INF, UINT64_MAX, NULL);
    assert_same(seen, expected);
    g_assert_cmpuint(rounds_with_events, >, 10);
    g_assert_cmpuint(trace->end_time, >=, g_array_index(expected, uint64_t, expected->len - 1));
    g_assert_false(fm_trace_grows(trace)); /* the end mark */
    g_autofree char *damage = fm_trace_damage(trace);
    g_assert_cmpstr(damage, ==, "");
    g_assert_cmpuint(trace->generation, ==, 0);
    fm_context_free(context);
    fm_hooks_free(hooks.event);
    fm_trace_free(trace);
    g_rand_free(random);
    maker_remove(path);
}

static void test_all_is_there_in_the_end(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    maker_log(bytes, &four_lanes);
    char *path = maker_file(bytes);
    g_autoptr(GArray) expected = reference(path);
    g_unlink(path);
    append(path, bytes->data, 2000);
    struct fm_trace *trace = open_trace(path);
    for (guint at = 2000; at < bytes->len; at += 5000) {
        append(path, bytes->data + at, MIN(5000, bytes->len - at));
        grow(trace, NULL);
        /* What is shown is in order, and never beyond the trace's end. */
        g_autoptr(GArray) now = read_all(trace);
        for (guint i = 1; i < now->len; i++)
            g_assert_cmpuint(g_array_index(now, uint64_t, i - 1), <=,
                             g_array_index(now, uint64_t, i));
        if (now->len > 0)
            g_assert_cmpuint(g_array_index(now, uint64_t, now->len - 1), <=, trace->end_time);
    }
    g_autoptr(GArray) all = read_all(trace);
    assert_same(all, expected);
    fm_trace_free(trace);
    maker_remove(path);
}

static void test_a_cut_log_that_goes_on_after_all(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    maker_log(bytes, &four_lanes);
    char *path = maker_file(bytes);
    g_autoptr(GArray) expected = reference(path);
    g_unlink(path);
    append(path, bytes->data, bytes->len / 2 + 7);
    maker_age(path); /* nobody has written for long: taken as it is */
    struct fm_trace *trace = open_trace(path);
    g_autoptr(GArray) half = reference(path), seen = read_all(trace);
    assert_same(seen, half);
    g_autofree char *damage = fm_trace_damage(trace);
    g_assert_nonnull(strstr(damage, "inside an event"));
    append(path, bytes->data + bytes->len / 2 + 7, bytes->len - bytes->len / 2 - 7);
    g_assert_true(grow(trace, NULL));
    g_autoptr(GArray) all = read_all(trace);
    assert_same(all, expected);
    g_autofree char *none = fm_trace_damage(trace);
    g_assert_cmpstr(none, ==, "");
    fm_trace_free(trace);
    maker_remove(path);
}

/* A block that is being written is not counted as known; nobody writing, it is taken as it is. When
 * it grows after that, it is not known again until it is whole. */
static void test_a_block_that_is_not_whole(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    maker_log(bytes, &four_lanes);
    char *path = maker_file(bytes);
    g_autoptr(GArray) expected = reference(path);
    GError *error = NULL;
    struct fm_eventlog_log *log = fm_eventlog_log_open(path, NULL, &error);
    g_assert_no_error(error);
    const struct fm_eventlog_block block =
        g_array_index(log->blocks, struct fm_eventlog_block, log->blocks->len / 2);
    fm_eventlog_log_free(log);
    g_unlink(path);
    guint begin = (guint)block.offset, middle = begin + (guint)block.length / 2;
    append(path, bytes->data, middle);
    struct fm_trace *trace = open_trace(path);
    int writer = open(path, O_WRONLY | O_CLOEXEC);
    g_assert_cmpuint(fm_trace_extent(trace), ==, begin);
    g_assert_cmpuint(fm_trace_pending(trace), ==, middle - begin);
    g_autoptr(GArray) before = read_all(trace);
    maker_age(path);
    g_assert_true(grow(trace, NULL));
    g_assert_cmpuint(fm_trace_extent(trace), ==, middle);
    g_assert_cmpuint(fm_trace_pending(trace), ==, 0);
    g_autoptr(GArray) cut = read_all(trace), all_of_it = reference(path);
    assert_same(cut, all_of_it);
    g_assert_cmpuint(cut->len, >, before->len);
    append(path, bytes->data + middle, 30);
    g_assert_true(grow(trace, NULL));
    g_assert_cmpuint(fm_trace_extent(trace), ==, begin);
    g_assert_cmpuint(fm_trace_pending(trace), ==, middle + 30 - begin);
    g_autoptr(GArray) again = read_all(trace);
    for (guint i = 1; i < again->len; i++)
        g_assert_cmpuint(g_array_index(again, uint64_t, i - 1), <=,
                         g_array_index(again, uint64_t, i));
    g_assert_cmpuint(again->len, <, cut->len);
    append(path, bytes->data + middle + 30, bytes->len - middle - 30);
    g_assert_true(grow(trace, NULL));
    g_assert_cmpuint(fm_trace_extent(trace), ==, bytes->len);
    g_assert_cmpuint(fm_trace_pending(trace), ==, 0);
    g_autoptr(GArray) all = read_all(trace);
    assert_same(all, expected);
    close(writer);
    fm_trace_free(trace);
    maker_remove(path);
}

static void test_replaced_and_cut_files(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new(), other = g_byte_array_new();
    maker_log(bytes, &four_lanes);
    maker_log(other, &one_lane);
    g_byte_array_set_size(other, other->len / 2);
    char *path = maker_file(bytes);
    struct fm_trace *trace = open_trace(path);
    struct fm_context *context = fm_context_new(&trace, 1);
    fm_context_seek_time(context, 0);
    fm_context_middle(context, FM_TIME_INF, 100, NULL);
    /* Cut under a reader: what it asks for is not there, and that is all. */
    g_assert_cmpint(truncate(path, 3000), ==, 0);
    fm_context_middle(context, FM_TIME_INF, UINT64_MAX, NULL);
    fm_context_free(context);
    maker_age(path);
    g_assert_true(grow(trace, NULL));
    g_assert_cmpuint(trace->generation, ==, 1);
    g_autoptr(GArray) cut = reference(path), seen = read_all(trace);
    assert_same(seen, cut);
    /* Another file of the same name. */
    g_unlink(path);
    append(path, other->data, other->len);
    maker_age(path);
    g_assert_true(grow(trace, NULL));
    g_assert_cmpuint(trace->generation, ==, 2);
    g_autoptr(GArray) expected = reference(path), now = read_all(trace);
    assert_same(now, expected);
    g_autofree char *damage = fm_trace_damage(trace);
    g_assert_nonnull(strstr(damage, "replaced"));
    fm_trace_free(trace);
    maker_remove(path);
}

static void test_a_socket(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    maker_log(bytes, &one_lane);
    char *path = maker_file(bytes);
    g_autoptr(GArray) expected = reference(path);
    g_autofree char *folder = g_dir_make_tmp("fathom-XXXXXX", NULL);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    g_snprintf(name.sun_path, sizeof name.sun_path, "%s/s", folder);
    g_autofree char *address = g_strconcat("unix:", name.sun_path, NULL);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(listener, (struct sockaddr *)&name, sizeof name), ==, 0);
    g_assert_cmpint(listen(listener, 1), ==, 0);
    struct fm_trace *trace = open_trace(address);
    int peer = accept(listener, NULL, NULL);
    g_assert_cmpint(peer, >=, 0);
    g_assert_cmpint(fm_trace_poll_fd(trace), >=, 0);
    struct fm_context *context = fm_context_new(&trace, 1);
    g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    struct fm_chunk_hooks hooks = {.event = fm_hooks_new()};
    fm_hooks_add(hooks.event, take_time, seen, FM_HOOK_DEFAULT);
    fm_context_begin(context, &hooks, -1);
    fm_context_seek_time(context, 0);
    fm_context_save_sync(context);
    for (guint at = 0; at < bytes->len; at += 4000) {
        guint length = MIN(4000, bytes->len - at);
        g_assert_cmpint(send(peer, bytes->data + at, length, 0), ==, length);
        grow(trace, context);
        fm_context_middle(context, FM_TIME_INF, UINT64_MAX, NULL);
        fm_context_save_sync(context);
    }
    close(peer);
    grow(trace, context);
    fm_context_middle(context, FM_TIME_INF, UINT64_MAX, NULL);
    assert_same(seen, expected);
    g_assert_cmpint(fm_trace_poll_fd(trace), ==, -1);
    g_assert_false(fm_trace_grows(trace));
    fm_context_free(context);
    fm_hooks_free(hooks.event);
    fm_trace_free(trace);
    close(listener);
    g_unlink(name.sun_path);
    g_rmdir(folder);
    maker_remove(path);
}

static void test_nobody_listens(void)
{
    g_autofree char *folder = g_dir_make_tmp("fathom-XXXXXX", NULL);
    g_autofree char *address = g_strdup_printf("unix:%s/none", folder);
    GError *error = NULL;
    own_monotonic_runs = true; /* it tries for a while */
    g_assert_null(fm_trace_open(address, address, &error));
    own_monotonic_runs = false;
    g_assert_nonnull(error);
    g_error_free(error);
    g_rmdir(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eventlog-live/follow", test_a_reader_follows);
    g_test_add_func("/eventlog-live/complete", test_all_is_there_in_the_end);
    g_test_add_func("/eventlog-live/cut-then-more", test_a_cut_log_that_goes_on_after_all);
    g_test_add_func("/eventlog-live/not-whole", test_a_block_that_is_not_whole);
    g_test_add_func("/eventlog-live/replaced", test_replaced_and_cut_files);
    g_test_add_func("/eventlog-live/socket", test_a_socket);
    g_test_add_func("/eventlog-live/nobody", test_nobody_listens);
    return g_test_run();
}
