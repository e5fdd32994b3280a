/* SPDX-License-Identifier: Apache-2.0 */
/* The stream sink: setting it, taking it away, and what happens when writing fails. */
#include "check.h"

#include <errno.h>
#include <fathom/eventlog.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/patience.h"

static struct check *read_log(const char *path)
{
    validate_file(path);
    return check_file(path);
}

static void start(size_t buffer)
{
    struct fm_eventlog_options o = {.buffer_bytes = buffer};
    g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
}

/* 1: two lanes, file, end */
static void two_lanes_arrive_whole(void)
{
    g_autofree char *path = temp_path("two.eventlog");
    struct producer p[2];
    start(0);
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    producers_start(p, 2, 100000);
    producers_join(p, 2);
    g_assert_cmpint(fm_eventlog_stop(), ==, 0);
    struct check *c = read_log(path);
    g_assert_cmpuint(c->counts[522], ==, 200000);
    g_assert_cmpuint(c->gaps, ==, 0);
    g_assert_true(c->ended);
    g_assert_cmpuint(c->late_ns_max, ==, 0);
    g_assert_cmpuint(c->counts[0], ==, 2);
    g_assert_cmpuint(c->counts[2], ==, 2);
    g_assert_cmpuint(c->pid, ==, (uint32_t)getpid());
    g_assert_nonnull(strstr(c->args, "test_sinks"));
    check_free(c);
    unlink(path);
}

/* 2: the same without its last two bytes */
static void without_end_mark_is_unfinished(void)
{
    g_autofree char *path = temp_path("cut.eventlog");
    g_autofree char *data = NULL;
    gsize bytes;
    start(0);
    fm_eventlog_open_file(path);
    log_numbers(0, 0, 5000);
    fm_eventlog_stop();
    g_assert_true(g_file_get_contents(path, &data, &bytes, NULL));
    struct check *c = check_stream((const uint8_t *)data, bytes - 2);
    g_assert_false(c->ended);
    g_assert_false(c->cut);
    g_assert_cmpuint(c->counts[522], ==, 5000);
    check_free(c);
    unlink(path);
}

/* 3: a hole */
static void null_and_back_leaves_one_log_with_a_hole(void)
{
    g_autofree char *path = temp_path("hole.eventlog");
    FILE *file = fopen(path, "wb");
    start(0);
    g_assert_cmpint(fm_eventlog_set_sink(file, false, true), ==, 0);
    log_numbers(0, 0, 1000);
    FILE *old = fm_eventlog_get_sink();
    g_assert_true(old == file);
    g_assert_cmpint(fm_eventlog_set_sink_with(NULL, FM_EVENTLOG_DRAIN, -1), ==, 0);
    g_assert_null(fm_eventlog_get_sink());
    g_assert_cmpint(fm_eventlog_set_sink(NULL, false, false), ==, 0); /* none to none */
    log_numbers(0, 1000, 10000);
    g_assert_cmpint(fm_eventlog_set_sink(old, false, false), ==, 0);
    log_numbers(0, 11000, 1000);
    g_assert_cmpint(fm_eventlog_stop(), ==, 0);
    fclose(file);
    struct check *c = read_log(path);
    g_assert_cmpuint(c->counts[522], ==, 2000);
    g_assert_cmpuint(c->gaps, ==, 1);
    g_assert_true(c->ended);
    check_free(c);
    unlink(path);
}

/* 4 and 5: a second file with header */
static void second_file(bool drain)
{
    g_autofree char *first = temp_path("first.eventlog"), *second = temp_path("second.eventlog");
    start(0);
    FILE *a = fopen(first, "wb"), *b = fopen(second, "wb");
    fm_eventlog_set_sink(a, false, true);
    log_numbers(0, 0, 30000);
    unsigned flags = FM_EVENTLOG_CLOSE_PREV | FM_EVENTLOG_HEADER;
    g_assert_cmpint(fm_eventlog_set_sink_with(b, flags | (drain ? FM_EVENTLOG_DRAIN : 0), -1), ==,
                    0);
    log_numbers(0, 30000, 5000);
    g_assert_cmpint(fm_eventlog_stop(), ==, 0);
    fclose(b);
    struct check *c = read_log(first), *d = read_log(second);
    g_assert_true(c->ended && d->ended);
    g_assert_cmpuint(c->counts[522] + d->counts[522], ==, 35000);
    g_assert_cmpuint(c->counts[522], ==, drain ? 30000 : 0); /* 0: all stood in the lane's buffer */
    check_free(c);
    check_free(d);
    unlink(first);
    unlink(second);
}

static void second_file_with_drain_splits_exactly(void)
{
    second_file(true);
}

static void second_file_without_drain_gets_what_was_buffered(void)
{
    second_file(false);
}

/* 6: a second file without header continues the first */
static void second_file_without_header_continues_the_first(void)
{
    g_autofree char *first = temp_path("first.eventlog"), *second = temp_path("second.eventlog");
    start(0);
    FILE *a = fopen(first, "wb"), *b = fopen(second, "wb");
    fm_eventlog_set_sink(a, false, true);
    log_numbers(0, 0, 3000);
    fm_eventlog_set_sink_with(b, FM_EVENTLOG_DRAIN, -1);
    fm_eventlog_lock_name(&first, "a name of the second file"); /* global events follow at once */
    log_numbers(0, 3000, 2000);
    fm_eventlog_stop();
    fclose(a);
    fclose(b);
    g_autofree char *one = NULL, *two = NULL;
    gsize one_bytes, two_bytes;
    g_assert_true(g_file_get_contents(first, &one, &one_bytes, NULL));
    g_assert_true(g_file_get_contents(second, &two, &two_bytes, NULL));
    g_assert_cmpint(memcmp(two, "hdrb", 4), !=, 0);
    g_assert_cmpmem(two, 2, "\0\22", 2); /* begins with a block marker */
    g_autoptr(GByteArray) both = g_byte_array_new();
    g_byte_array_append(both, (const uint8_t *)one, (guint)one_bytes);
    g_byte_array_append(both, (const uint8_t *)two, (guint)two_bytes);
    struct check *c = check_stream(both->data, both->len);
    g_assert_cmpuint(c->counts[522], ==, 5000);
    g_assert_cmpuint(c->counts[42], ==, 1);
    check_free(c);
    unlink(first);
    unlink(second);
}

/* 7: switching while four lanes log */
static void switching_while_lanes_log_keeps_blocks_whole(void)
{
    enum { FILES = 4, TURNS = 1000, EACH = 300000 };
    char *paths[FILES];
    FILE *files[FILES];
    struct producer p[4];
    struct fm_eventlog_stats before, after;
    start(4096);
    fm_eventlog_stats(&before);
    for (int i = 0; i < FILES; i++) {
        paths[i] = temp_path("turn.eventlog");
        files[i] = fopen(paths[i], "wb");
        fm_eventlog_set_sink(files[i], false, true);
    }
    producers_start(p, 4, EACH);
    for (int i = 0; i < TURNS; i++)
        g_assert_cmpint(
            fm_eventlog_set_sink_with(files[i % FILES], i % 3 ? FM_EVENTLOG_DRAIN : 0, -1), ==, 0);
    producers_join(p, 4);
    fm_eventlog_stop();
    fm_eventlog_stats(&after);
    uint64_t found = 0;
    for (int i = 0; i < FILES; i++) {
        fclose(files[i]);
        struct check *c = read_log(paths[i]);
        g_assert_false(c->cut);
        found += c->counts[522];
        check_free(c);
        unlink(paths[i]);
        g_free(paths[i]);
    }
    g_assert_cmpuint(found, ==, 4 * EACH);
    g_assert_cmpuint(after.produced_events - before.produced_events, ==,
                     after.stream_events - before.stream_events);
    g_assert_cmpuint(after.dropped_events, ==, before.dropped_events);
}

static gint asking, asked;
static gpointer ask(gpointer data)
{
    FILE **files = data;
    while (g_atomic_int_get(&asking)) {
        FILE *now = fm_eventlog_get_sink();
        g_assert_true(now == NULL || now == files[0] || now == files[1]);
        g_atomic_int_inc(&asked);
    }
    return NULL;
}

/* The sink may be asked for while it changes. */
static void sink_may_be_asked_for_at_any_time(void)
{
    FILE *files[2] = {tmpfile(), tmpfile()};
    start(4096);
    g_atomic_int_set(&asking, 1);
    GThread *thread = g_thread_new("ask", ask, files);
    for (int i = 0; i < 2000 || g_atomic_int_get(&asked) < 100; i++) {
        FILE *next = i % 3 == 2 ? NULL : files[i % 3];
        g_assert_cmpint(fm_eventlog_set_sink(next, false, false), ==, 0);
        g_assert_true(fm_eventlog_get_sink() == next);
    }
    g_atomic_int_set(&asking, 0);
    g_thread_join(thread);
    fm_eventlog_stop();
    fclose(files[0]);
    fclose(files[1]);
}

/* Old sinks are closed while other threads flush: never under a write, and each is a whole log. */
static void closing_old_sinks_while_lanes_log(void)
{
    enum { FILES = 60, EACH = 200000 };
    char *paths[FILES];
    struct producer p[3];
    unsigned flags = FM_EVENTLOG_CLOSE_PREV | FM_EVENTLOG_HEADER;
    start(2048);
    for (int i = 0; i < FILES; i++) {
        paths[i] = temp_path("one.eventlog");
        g_assert_cmpint(fm_eventlog_set_sink_with(fopen(paths[i], "wb"),
                                                  flags | (i % 2 ? FM_EVENTLOG_DRAIN : 0), -1),
                        ==, 0);
        if (i == 0)
            producers_start(p, 3, EACH);
    }
    producers_join(p, 3);
    FILE *last = fm_eventlog_get_sink();
    fm_eventlog_stop();
    fclose(last);
    uint64_t found = 0;
    for (int i = 0; i < FILES; i++) {
        struct check *c = i % 20 == 0 ? read_log(paths[i]) : check_file(paths[i]);
        g_assert_true(c->ended);
        found += c->counts[522];
        check_free(c);
        unlink(paths[i]);
        g_free(paths[i]);
    }
    g_assert_cmpuint(found, ==, 3 * EACH);
}

static bool forking_write(void *context, const void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
    pid_t pid = fork();
    if (pid == 0)
        _exit(fm_eventlog_status() == FM_EVENTLOG_STOPPED ? 0 : 1);
    int status;
    waitpid(pid, &status, 0);
    *(int *)context = status;
    return true;
}

static void fork_inside_of_a_callback_makes_a_silent_child(void)
{
    int status = -1;
    struct fm_eventlog_writer w = {.write = forking_write, .context = &status};
    start(4096);
    g_assert_cmpint(fm_eventlog_set_writer(&w, 0, -1), ==, 0);
    log_numbers(0, 0, 10);
    g_assert_cmpint(fm_eventlog_flush(-1), ==, 0);
    g_assert_cmpint(status, ==, 0);
    g_assert_cmpint(fm_eventlog_stop(), ==, 0);
}

/* 8: the reader of a pipe sleeps: the writer waits, and nothing is lost */
static void full_pipe_blocks_and_loses_nothing(void)
{
    int fd[2];
    struct producer p;
    g_assert_cmpint(pipe(fd), ==, 0);
    start(4096);
    FILE *sink = fdopen(fd[1], "wb");
    fm_eventlog_set_sink(sink, false, true);
    producers_start(&p, 1, 100000); /* 1.8 MB, the pipe holds 64 KiB */
    struct pollfd room = {.fd = fd[1], .events = POLLOUT};
    check_until(poll(&room, 1, 0) == 0); /* the pipe is full */
    g_autoptr(GByteArray) all = g_byte_array_new();
    uint8_t piece[65536];
    ssize_t n;
    bool stopped = false;
    fcntl(fd[0], F_SETFL, O_NONBLOCK);
    for (;;) {
        n = read(fd[0], piece, sizeof(piece));
        if (n > 0) {
            g_byte_array_append(all, piece, (guint)n);
        } else if (n == 0) {
            break;
        } else if (!stopped && all->len > 1800000) {
            producers_join(&p, 1);
            fm_eventlog_stop();
            fclose(sink);
            stopped = true;
        } else {
            g_usleep(200);
        }
    }
    struct check *c = check_stream(all->data, all->len);
    g_assert_cmpuint(c->counts[522], ==, 100000);
    g_assert_true(c->ended);
    check_free(c);
    close(fd[0]);
}

/* 9: the reader closes */
static void closed_pipe_is_counted_and_a_later_sink_works(void)
{
    int fd[2];
    struct fm_eventlog_stats s, t;
    g_autofree char *path = temp_path("later.eventlog");
    g_assert_cmpint(pipe(fd), ==, 0);
    signal(SIGPIPE, SIG_DFL); /* a signal would end this test */
    start(4096);
    fm_eventlog_stats(&s);
    FILE *sink = fdopen(fd[1], "wb");
    fm_eventlog_set_sink(sink, false, true);
    close(fd[0]);
    log_numbers(0, 0, 10000);
    fm_eventlog_flush(-1);
    fm_eventlog_stats(&t);
    g_assert_cmpint(t.stream_errno, ==, EPIPE);
    g_assert_cmpuint(t.stream_disabled - s.stream_disabled, ==, 1);
    g_assert_null(fm_eventlog_get_sink());
    g_assert_cmpuint(t.produced_events - s.produced_events, >=, 10000);
    g_assert_cmpuint(t.stream_lost_events - s.stream_lost_events, ==,
                     t.produced_events - s.produced_events);
    g_assert_true(fm_eventlog_on()); /* so that what is lost is counted */
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    log_numbers(0, 10000, 100);
    fm_eventlog_stop();
    fclose(sink);
    struct check *c = read_log(path);
    g_assert_cmpuint(c->counts[522], ==, 100);
    check_free(c);
    unlink(path);
}

/* 10: no space */
static void full_device_is_counted_exactly(void)
{
    struct fm_eventlog_stats s, t;
    FILE *full = fopen("/dev/full", "wb");
    if (!full) {
        g_test_skip("no /dev/full");
        return;
    }
    struct fm_eventlog_options o = {.buffer_bytes = 4096, .failures_max = 1000000};
    g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
    fm_eventlog_stats(&s);
    g_assert_cmpint(fm_eventlog_set_sink(full, false, true), ==, -ENOSPC);
    log_numbers(0, 0, 20000);
    fm_eventlog_stop();
    fm_eventlog_stats(&t);
    uint64_t lost = t.stream_lost_events - s.stream_lost_events;
    g_assert_cmpuint(lost, ==, t.produced_events - s.produced_events);
    g_assert_cmpuint(lost, >=, 20000);
    g_assert_cmpuint(t.stream_lost_bytes - s.stream_lost_bytes, >=, 20000 * 18);
    g_assert_cmpint(t.stream_errno, ==, ENOSPC);
    fclose(full);
}

/* A file that may grow no more: the block that was torn is cut off again, and the rest is valid. */
static void torn_block_is_taken_back(void)
{
    g_autofree char *path = temp_path("limit.eventlog");
    struct fm_eventlog_stats s, t;
    struct fm_eventlog_options o = {.buffer_bytes = 8192, .failures_max = 1000000};
    struct rlimit old, limit = {.rlim_cur = 100000};
    getrlimit(RLIMIT_FSIZE, &old);
    limit.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_DFL); /* a signal would end this test */
    fm_eventlog_start(&o);
    fm_eventlog_stats(&s);
    fm_eventlog_open_file(path);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
    log_numbers(0, 0, 10000); /* 180 kB */
    fm_eventlog_flush(-1);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &old), ==, 0);
    log_numbers(0, 10000, 1000); /* there is room again */
    fm_eventlog_stop();
    fm_eventlog_stats(&t);
    struct check *c = read_log(path);
    g_assert_true(c->ended);
    g_assert_cmpint(t.stream_errno, ==, EFBIG);
    g_assert_cmpuint(c->gaps, ==, 1);
    g_assert_cmpuint(c->next[0], ==, 11000);
    g_assert_cmpuint(t.stream_events - s.stream_events, ==, c->events);
    uint64_t lost = t.stream_lost_events - s.stream_lost_events;
    g_assert_cmpuint(lost, ==, c->missing_events);
    g_assert_cmpuint(c->counts[522] + lost, ==, 11000);
    check_free(c);
    unlink(path);
}

static void closing_what_is_being_set_is_refused(void)
{
    g_autofree char *path = temp_path("same.eventlog");
    FILE *file = fopen(path, "wb");
    g_assert_cmpint(fm_eventlog_set_sink(file, false, true), ==, -ENOTCONN);
    start(0);
    g_assert_cmpint(fm_eventlog_set_sink(file, false, true), ==, 0);
    g_assert_cmpint(fm_eventlog_set_sink(file, true, false), ==, -EINVAL);
    g_assert_cmpint(fm_eventlog_start(NULL), ==, -EALREADY);
    g_assert_cmpint(fm_eventlog_stop(), ==, 0);
    g_assert_cmpint(fm_eventlog_stop(), ==, -ENOTCONN);
    fclose(file);
    unlink(path);
}

/* A stream that goes back to its owner holds all bytes and stands at their end. */
static void stream_given_back_is_flushed(void)
{
    g_autofree char *path = temp_path("back.eventlog"), *data = NULL;
    gsize bytes;
    FILE *file = fopen(path, "wb");
    start(0);
    fm_eventlog_set_sink(file, false, true);
    log_numbers(0, 0, 10);
    fm_eventlog_set_sink_with(NULL, FM_EVENTLOG_DRAIN, -1);
    long at = ftell(file);
    g_assert_true(g_file_get_contents(path, &data, &bytes, NULL));
    g_assert_cmpint(at, ==, (long)bytes);
    fputs("tail", file);
    fclose(file);
    g_free(g_steal_pointer(&data));
    g_assert_true(g_file_get_contents(path, &data, &bytes, NULL));
    g_assert_cmpint(at + 4, ==, (long)bytes);
    struct check *c = check_stream((const uint8_t *)data, bytes - 4);
    g_assert_cmpuint(c->counts[522], ==, 10);
    check_free(c);
    fm_eventlog_stop();
    unlink(path);
}

/* 23: a writer whose callback logs */
static GByteArray *written;
static unsigned inits, stops;

static bool writer_init(void *context)
{
    inits++;
    return context == &written;
}

static bool writer_write(void *context, const void *data, size_t bytes)
{
    (void)context;
    static uint32_t number;
    g_byte_array_append(written, data, (guint)bytes);
    if (fm_eventlog_thread_id())
        log_numbers(5, number++, 1);
    g_assert_cmpint(fm_eventlog_set_sink(NULL, false, false), ==, -EDEADLK);
    return true;
}

static void writer_stop(void *context)
{
    (void)context;
    stops++;
}

static void callback_that_logs_is_queued_and_never_deadlocks(void)
{
    struct fm_eventlog_stats s, t;
    struct fm_eventlog_writer w = {writer_init, writer_write, NULL, writer_stop, &written};
    written = g_byte_array_new();
    start(4096);
    fm_eventlog_stats(&s);
    g_assert_cmpint(fm_eventlog_set_writer(&w, FM_EVENTLOG_HEADER, -1), ==, 0);
    g_assert_null(fm_eventlog_get_sink());
    log_numbers(0, 0, 5000);
    g_assert_cmpint(fm_eventlog_set_writer(NULL, FM_EVENTLOG_DRAIN, -1), ==, 0);
    fm_eventlog_flush(-1);
    fm_eventlog_stats(&t);
    fm_eventlog_stop();
    struct check *c = check_stream(written->data, written->len);
    g_assert_cmpuint(inits, ==, 1);
    g_assert_cmpuint(stops, ==, 1);
    g_assert_cmpuint(c->next[0], ==, 5000);
    g_assert_cmpuint(c->next[5], >, 0);
    g_assert_cmpuint(t.produced_events - s.produced_events, ==,
                     c->events + t.dropped_events - s.dropped_events + t.discarded_events -
                         s.discarded_events);
    check_free(c);
    g_byte_array_unref(written);
}

/* 22: fork in the middle */
static void child_of_fork_writes_its_own_log(void)
{
    g_autofree char *folder = temp_folder();
    g_autofree char *path = g_build_filename(folder, "parent.eventlog", NULL);
    g_autofree char *pattern = g_build_filename(folder, "child.%.eventlog", NULL);
    struct fm_eventlog_options o = {.fork_path = pattern};
    fm_eventlog_start(&o);
    fm_eventlog_open_file(path);
    uint32_t name = fm_eventlog_intern("before the fork");
    log_numbers(0, 0, 1000);
    pid_t pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        log_numbers(1, 0, 500);
        fm_eventlog_instant(name);
        _exit(fm_eventlog_stop() == 0 ? 0 : 1);
    }
    log_numbers(0, 1000, 1000);
    int status;
    waitpid(pid, &status, 0);
    g_assert_cmpint(status, ==, 0);
    fm_eventlog_stop();
    g_autofree char *own = g_strdup_printf("%s/child.%d.eventlog", folder, (int)pid);
    struct check *c = read_log(path), *d = read_log(own);
    g_assert_cmpuint(c->counts[522], ==, 2000);
    g_assert_cmpuint(c->next[0], ==, 2000);
    g_assert_cmpuint(c->next[1], ==, 0);
    g_assert_cmpuint(d->counts[522], ==, 500);
    g_assert_cmpuint(d->next[0], ==, 0);
    g_assert_cmpuint(d->pid, ==, (uint32_t)pid);
    g_assert_cmpuint(d->replayed[42], >=, 1);
    g_assert_true(c->ended && d->ended);
    check_free(c);
    check_free(d);
    unlink(path);
    unlink(own);
}

/* 25: kill -9 at full speed */
static void killed_program_leaves_whole_blocks(void)
{
    g_autofree char *path = temp_path("killed.eventlog");
    struct stat status;
    pid_t pid = fork();
    if (pid == 0) {
        start(4096);
        fm_eventlog_open_file(path);
        log_numbers(0, 0, UINT32_MAX - 1);
        _exit(0);
    }
    check_until(stat(path, &status) == 0 && status.st_size >= 100000);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    struct check *c = check_file(path);
    g_assert_false(c->ended);
    g_assert_cmpuint(c->counts[522], >, 1000);
    g_assert_cmpuint(c->gaps, ==, 0);
    check_free(c);
    g_autofree char *live = g_strconcat(path, ".live", NULL);
    g_assert_cmpint(unlink(live), ==, 0);
    unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define T(name) g_test_add_func("/eventlog/sinks/" #name, name)
    T(two_lanes_arrive_whole);
    T(without_end_mark_is_unfinished);
    T(null_and_back_leaves_one_log_with_a_hole);
    T(second_file_with_drain_splits_exactly);
    T(second_file_without_drain_gets_what_was_buffered);
    T(second_file_without_header_continues_the_first);
    T(switching_while_lanes_log_keeps_blocks_whole);
    T(sink_may_be_asked_for_at_any_time);
    T(closing_old_sinks_while_lanes_log);
    T(fork_inside_of_a_callback_makes_a_silent_child);
    T(full_pipe_blocks_and_loses_nothing);
    T(closed_pipe_is_counted_and_a_later_sink_works);
    T(full_device_is_counted_exactly);
    T(torn_block_is_taken_back);
    T(closing_what_is_being_set_is_refused);
    T(stream_given_back_is_flushed);
    T(callback_that_logs_is_queued_and_never_deadlocks);
    T(child_of_fork_writes_its_own_log);
    T(killed_program_leaves_whole_blocks);
#undef T
    return g_test_run();
}
