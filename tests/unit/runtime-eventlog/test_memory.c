/* SPDX-License-Identifier: Apache-2.0 */
/* The log in memory, buffers that change their size, limits of single events. */
#include "check.h"

#include <errno.h>
#include <fathom/eventlog.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/patience.h"

static struct fm_eventlog_stats before;

static void start(size_t buffer, uint64_t limit, enum fm_eventlog_policy policy)
{
    struct fm_eventlog_options o = {.flags = FM_EVENTLOG_MEMORY,
                                    .buffer_bytes = buffer,
                                    .memory_limit_bytes = limit,
                                    .policy = policy};
    fm_eventlog_stats(&before);
    g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
}

static struct check *finish_and_check(GByteArray *all)
{
    fm_eventlog_finish();
    g_autoptr(GByteArray) rest = take_all();
    g_byte_array_append(all, rest->data, rest->len);
    g_assert_cmpint(fm_eventlog_chunk_wait(0), ==, -ENODATA);
    fm_eventlog_stop();
    validate_bytes(all->data, all->len);
    struct check *c = check_stream(all->data, all->len);
    g_assert_true(c->ended);
    return c;
}

/* 11: chunks of exactly the chunk size, joined a prefix of the log */
static void chunks_have_the_chunk_size_and_join(void)
{
    enum { SIZE = 8192 };
    start(SIZE, 0, 0);
    log_numbers(0, 0, 20000);
    g_autoptr(GByteArray) all = g_byte_array_new();
    void *data = NULL;
    size_t n;
    while ((n = fm_eventlog_chunk_get(&data)) != 0) {
        g_assert_cmpuint(n, ==, SIZE);
        g_byte_array_append(all, data, (guint)n);
        free(data);
    }
    g_assert_cmpuint(all->len, >, 20000 * 18 - 3 * SIZE);
    struct check *c = check_stream(all->data, all->len);
    g_assert_cmpuint(c->gaps, ==, 0);
    check_free(c);
    c = finish_and_check(all);
    g_assert_cmpuint(c->counts[522], ==, 20000);
    g_assert_cmpuint(c->gaps, ==, 0);
    check_free(c);
}

/* 12: a little, not a chunk full */
static void tail_can_be_taken_after_finish(void)
{
    start(0, 0, 0);
    log_numbers(0, 0, 280); /* 5 kB */
    void *data = &before;
    g_assert_cmpuint(fm_eventlog_chunk_get(&data), ==, 0);
    g_assert_true(data == &before);
    g_autoptr(GByteArray) all = g_byte_array_new();
    struct check *c = finish_and_check(all);
    g_assert_cmpuint(c->counts[522], ==, 280);
    check_free(c);
}

static void partial_take_gives_the_tail_early(void)
{
    struct fm_eventlog_chunk chunk;
    start(65536, 0, 0);
    g_autoptr(GByteArray) all = g_byte_array_new();
    for (uint32_t i = 0; i < 50; i++) {
        log_numbers(0, i * 10, 10);
        fm_eventlog_flush(-1);
        g_assert_true(fm_eventlog_chunk_take(&chunk, true));
        g_byte_array_append(all, chunk.data, (guint)chunk.bytes);
        fm_eventlog_chunk_release(&chunk);
        g_assert_false(fm_eventlog_chunk_take(&chunk, true));
    }
    struct check *c = finish_and_check(all);
    g_assert_cmpuint(c->counts[522], ==, 500);
    g_assert_cmpuint(c->gaps, ==, 0);
    check_free(c);
}

static size_t resident_bytes(void)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents("/proc/self/statm", &text, NULL, NULL));
    return (size_t)g_ascii_strtoull(strchr(text, ' '), NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* 13: nobody reads */
static void limit_holds_and_counts(enum fm_eventlog_policy policy)
{
    enum { EVENTS = 6000000 }; /* 108 MB through 16 MiB */
    g_autoptr(GByteArray) all = g_byte_array_sized_new(20 << 20);
    size_t at_first = resident_bytes();
    start(0, 16 << 20, policy);
    log_numbers(0, 0, EVENTS);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they need memory too */
    g_assert_cmpuint(resident_bytes(), <, at_first + (24u << 20));
#endif
    g_assert_cmpuint(at_first, >, 0);
    fm_eventlog_flush(-1);
    struct check *c = finish_and_check(all);
    struct fm_eventlog_stats s;
    fm_eventlog_stats(&s);
    uint64_t dropped = s.memory_dropped_events - before.memory_dropped_events;
    g_assert_cmpuint(dropped, >, EVENTS / 2);
    g_assert_cmpuint(c->missing_events, ==, dropped);
    g_assert_cmpuint(c->events + dropped, ==, s.produced_events - before.produced_events);
    g_assert_cmpuint(c->next[0], ==, policy == FM_EVENTLOG_DROP_OLDEST ? EVENTS : c->next[0]);
    g_assert_cmpuint(s.dropped_events, ==, before.dropped_events);
    check_free(c);
}

static void limit_holds_dropping_newest(void)
{
    limit_holds_and_counts(FM_EVENTLOG_DROP_NEWEST);
}

static void limit_holds_dropping_oldest(void)
{
    limit_holds_and_counts(FM_EVENTLOG_DROP_OLDEST);
}

/* The gap stands where the events are missing, and the log goes on behind it. */
static void gap_is_told_when_space_is_back(void)
{
    start(4096, 16384, 0);
    log_numbers(0, 0, 10000);
    g_autoptr(GByteArray) all = g_byte_array_new();
    struct fm_eventlog_chunk chunk;
    for (int i = 0; i < 2; i++) {
        g_assert_true(fm_eventlog_chunk_take(&chunk, false));
        g_byte_array_append(all, chunk.data, (guint)chunk.bytes);
        fm_eventlog_chunk_release(&chunk);
    }
    log_numbers(0, 10000, 500);
    struct check *c = finish_and_check(all);
    struct fm_eventlog_stats s;
    fm_eventlog_stats(&s);
    g_assert_cmpuint(c->missing_events, ==, s.memory_dropped_events - before.memory_dropped_events);
    g_assert_cmpuint(c->missing_events, >, 0);
    g_assert_cmpuint(c->gaps, ==, 1);
    check_free(c);
}

static gpointer slow_reader(gpointer data)
{
    GByteArray *all = data;
    struct fm_eventlog_chunk chunk;
    while (fm_eventlog_chunk_wait(-1) == 1) {
        g_usleep(100);
        while (fm_eventlog_chunk_take(&chunk, false)) {
            g_byte_array_append(all, chunk.data, (guint)chunk.bytes);
            fm_eventlog_chunk_release(&chunk);
        }
    }
    return NULL;
}

static void blocking_policy_loses_nothing(void)
{
    start(4096, 16384, FM_EVENTLOG_BLOCK);
    g_autoptr(GByteArray) all = g_byte_array_new();
    GThread *reader = g_thread_new("reader", slow_reader, all);
    struct producer p[3];
    producers_start(p, 3, 30000);
    producers_join(p, 3);
    fm_eventlog_finish();
    g_thread_join(reader);
    fm_eventlog_stop();
    struct check *c = check_stream(all->data, all->len);
    g_assert_cmpuint(c->counts[522], ==, 90000);
    g_assert_cmpuint(c->gaps, ==, 0);
    g_assert_true(c->ended);
    check_free(c);
}

/* 14: without memory mode */
static void without_memory_mode_there_are_no_chunks(void)
{
    void *data = &before;
    struct fm_eventlog_chunk chunk;
    g_assert_cmpint(fm_eventlog_start(NULL), ==, 0);
    log_numbers(0, 0, 1000);
    g_assert_cmpuint(fm_eventlog_chunk_get(&data), ==, 0);
    g_assert_true(data == &before);
    g_assert_false(fm_eventlog_chunk_take(&chunk, true));
    fm_eventlog_stop();
}

static void wait_ends_by_time_chunk_or_finish_and_descriptor_agrees(void)
{
    start(4096, 0, 0);
    struct fm_eventlog_chunk chunk;
    while (fm_eventlog_chunk_take(&chunk, false)) /* what the header fills */
        fm_eventlog_chunk_release(&chunk);
    struct pollfd p = {.fd = fm_eventlog_chunk_fd(), .events = POLLIN};
    g_assert_cmpint(p.fd, >=, 0);
    g_assert_cmpint(fm_eventlog_chunk_wait(1), ==, 0);
    g_assert_cmpint(poll(&p, 1, 0), ==, 0);
    log_numbers(0, 0, 500);
    g_assert_cmpint(fm_eventlog_chunk_wait(-1), ==, 1);
    g_assert_cmpint(poll(&p, 1, 0), ==, 1);
    while (fm_eventlog_chunk_take(&chunk, false))
        fm_eventlog_chunk_release(&chunk);
    g_assert_cmpint(poll(&p, 1, 0), ==, 0);
    fm_eventlog_finish();
    g_assert_cmpint(poll(&p, 1, 0), ==, 1);
    g_assert_cmpint(fm_eventlog_chunk_wait(-1), ==, 1);
    while (fm_eventlog_chunk_take(&chunk, false))
        fm_eventlog_chunk_release(&chunk);
    g_assert_cmpint(fm_eventlog_chunk_wait(-1), ==, -ENODATA);
    fm_eventlog_stop();
}

/* 15: smaller while four lanes log */
static void blocks_after_a_resize_are_small_and_have_markers(void)
{
    struct producer p[4];
    start(1 << 20, 0, FM_EVENTLOG_DROP_NEWEST);
    g_autoptr(GByteArray) all = g_byte_array_new();
    producers_start(p, 4, 100000);
    g_assert_cmpint(fm_eventlog_resize(4096), ==, 4096);
    g_assert_cmpuint(fm_eventlog_buffer_size(), ==, 4096);
    producers_join(p, 4);
    fm_eventlog_flush(-1);
    fm_eventlog_finish();
    g_autoptr(GByteArray) rest = take_all();
    fm_eventlog_stop();
    struct check *c = check_stream(rest->data, rest->len);
    g_assert_cmpuint(c->counts[522], ==, 400000);
    g_assert_cmpuint(c->gaps, ==, 0);
    check_free(c);
    start(1 << 20, 0, FM_EVENTLOG_DROP_NEWEST); /* every lane has flushed once since: all small */
    fm_eventlog_resize(4096);
    log_numbers(0, 0, 50000);
    c = finish_and_check(all);
    g_assert_cmpuint(c->largest_block, <=, 4096);
    g_assert_cmpuint(c->cap_events[65535], <, 10);
    g_assert_cmpuint(c->counts[522], ==, 50000);
    check_free(c);
}

/* 16: impossible sizes */
static void sizes_are_refused_or_clamped_and_reported(void)
{
    start(0, 0, 0);
    g_assert_cmpuint(fm_eventlog_buffer_size(), ==, 2 << 20);
    g_assert_cmpint(fm_eventlog_resize(0), ==, -EINVAL);
    g_assert_cmpuint(fm_eventlog_buffer_size(), ==, 2 << 20);
    g_assert_cmpint(fm_eventlog_resize(1), ==, 128);
    g_assert_cmpuint(fm_eventlog_buffer_size(), ==, 128);
    g_assert_cmpint(fm_eventlog_resize((size_t)1 << 40), ==, 64 << 20);
    g_assert_cmpint(fm_eventlog_resize(1000), ==, 1024);
    g_assert_cmpint(fm_eventlog_resize(1024), ==, 1024);
    g_assert_cmpuint(fm_eventlog_buffer_size(), ==, 1024);
    fm_eventlog_stop();
}

/* 17: a buffer of 100 bytes */
static void long_messages_in_a_tiny_buffer_are_counted(void)
{
    char text[501];
    memset(text, 'x', 500);
    text[500] = '\0';
    start(100, 1 << 20, 0);
    for (int i = 0; i < 50; i++) {
        fm_eventlog_message("0123456789");
        fm_eventlog_message(text);
        log_numbers(0, (uint32_t)i, 1);
    }
    g_autoptr(GByteArray) all = g_byte_array_new();
    struct check *c = finish_and_check(all);
    struct fm_eventlog_stats s;
    fm_eventlog_stats(&s);
    g_assert_cmpuint(c->counts[19], ==, 50);
    g_assert_cmpuint(c->counts[522], ==, 50);
    g_assert_cmpuint(s.dropped_events - before.dropped_events, ==, 50);
    g_assert_cmpuint(c->events + 50, ==, s.produced_events - before.produced_events);
    check_free(c);
}

/* 18: the longest message, and one that is longer */
static void longest_message_arrives_and_a_longer_one_is_refused(void)
{
    g_autofree char *text = g_malloc(65537);
    memset(text, 'm', 65536);
    start(0, 0, 0);
    text[65535] = '\0';
    fm_eventlog_message(text);
    text[65535] = 'm';
    text[65536] = '\0';
    fm_eventlog_message(text);
    fm_eventlog_binary(text, 0);
    fm_eventlog_marker("after");
    fm_eventlog_messagef("%s%d", "formatted ", 7);
    g_autoptr(GByteArray) all = g_byte_array_new();
    struct check *c = finish_and_check(all);
    struct fm_eventlog_stats s;
    fm_eventlog_stats(&s);
    g_assert_cmpuint(c->counts[19], ==, 2);
    g_assert_cmpuint(c->counts[58], ==, 1);
    g_assert_cmpuint(c->counts[181], ==, 1);
    g_assert_cmpuint(s.dropped_events - before.dropped_events, ==, 1);
    g_assert_cmpuint(all->len, >, 65535);
    check_free(c);
}

/* Chunks that wait keep the size with which they were made, and the bytes in them. */
static void waiting_chunks_keep_their_size_over_a_resize(void)
{
    start(8192, 0, 0);
    log_numbers(0, 0, 20000);
    g_assert_cmpint(fm_eventlog_resize(1024), ==, 1024);
    g_autoptr(GByteArray) all = g_byte_array_new();
    void *data = NULL;
    size_t n;
    unsigned old = 0;
    while ((n = fm_eventlog_chunk_get(&data)) != 0) {
        old += n == 8192;
        g_byte_array_append(all, data, (guint)n);
        free(data);
    }
    g_assert_cmpuint(old, >=, 20000 * 18 / 8192);
    log_numbers(0, 20000, 2000);
    unsigned fresh = 0;
    fm_eventlog_flush(-1);
    while ((n = fm_eventlog_chunk_get(&data)) != 0) {
        fresh += n == 1024;
        g_byte_array_append(all, data, (guint)n);
        free(data);
    }
    g_assert_cmpuint(fresh, >=, 25);
    struct check *c = finish_and_check(all);
    g_assert_cmpuint(c->counts[522], ==, 22000);
    g_assert_cmpuint(c->gaps, ==, 0);
    check_free(c);
}

/* Adding to a list that nobody takes from costs the same however long it is: walking it would take
 * hours here. */
static void long_backlog_is_cheap_to_add_to(void)
{
    enum { EVENTS = 1500000 }; /* 27 MB in chunks of 128 bytes: 290,000 */
    start(128, (uint64_t)256 << 20, 0);
    log_numbers(0, 0, EVENTS);
    fm_eventlog_finish();
    g_autoptr(GByteArray) all = take_all();
    fm_eventlog_stop();
    struct check *c = check_stream(all->data, all->len);
    g_assert_cmpuint(c->counts[522], ==, EVENTS);
    check_free(c);
}

/* 19: random sizes, many lanes, a reader */
static void random_resizes_lose_nothing(void)
{
    enum { LANES = 8, EACH = 40000, RESIZES = 200 };
    struct producer p[LANES];
    start(4096, (uint64_t)1 << 30, 0);
    g_autoptr(GByteArray) all = g_byte_array_new();
    GThread *reader = g_thread_new("reader", slow_reader, all);
    producers_start(p, LANES, EACH);
    for (int i = 0; i < RESIZES; i++) {
        gint exponent = g_test_rand_int_range(6, 21);
        g_assert_cmpint(
            fm_eventlog_resize((size_t)g_test_rand_int_range(100, 200 << (exponent - 6))), >=, 128);
    }
    producers_join(p, LANES);
    fm_eventlog_finish();
    g_thread_join(reader);
    fm_eventlog_stop();
    struct check *c = check_stream(all->data, all->len);
    g_assert_cmpuint(c->counts[522], ==, LANES * EACH);
    g_assert_cmpuint(c->gaps, ==, 0);
    check_free(c);
}

/* 20: lanes come and go */
static void new_lanes_get_numbers_and_an_ended_one_is_delivered(void)
{
    struct producer p[2];
    struct fm_eventlog_chunk chunk;
    start(0, 0, 0);
    log_numbers(40, 0, 10);
    producers_start(p, 2, 100);
    producers_join(p, 2);
    g_autoptr(GByteArray) all = g_byte_array_new();
    while (fm_eventlog_chunk_take(&chunk, true)) { /* no flush: the ended lanes' blocks are here */
        g_byte_array_append(all, chunk.data, (guint)chunk.bytes);
        fm_eventlog_chunk_release(&chunk);
    }
    struct check *c = check_stream(all->data, all->len);
    g_assert_cmpuint(c->counts[522], ==, 200);
    check_free(c);
    c = finish_and_check(all);
    g_assert_cmpuint(c->counts[522], ==, 210);
    g_assert_cmpuint(c->counts[47], >=, 2);
    check_free(c);
}

static uint64_t numbers_in_chunks(GByteArray *all)
{
    struct fm_eventlog_chunk chunk;
    while (fm_eventlog_chunk_take(&chunk, true)) {
        g_byte_array_append(all, chunk.data, (guint)chunk.bytes);
        fm_eventlog_chunk_release(&chunk);
    }
    struct check *c = check_stream(all->data, all->len);
    uint64_t found = c->counts[522];
    check_free(c);
    return found;
}

/* 24: the last event of an idle lane is seen soon */
static void flush_interval_delivers_idle_lanes(void)
{
    start(0, 0, 0);
    g_assert_cmpint(fm_eventlog_set_flush_interval(20), ==, 0);
    log_numbers(0, 0, 3);
    g_autoptr(GByteArray) all = g_byte_array_new();
    check_until(numbers_in_chunks(all) == 3); /* this thread logs no more */
    fm_eventlog_set_flush_interval(0);
    check_free(finish_and_check(all));
}

/* With memory and a file both get the bytes, each with one header. */
static void memory_and_file_get_the_same_events(void)
{
    g_autofree char *path = temp_path("both.eventlog");
    start(4096, 0, 0);
    log_numbers(0, 0, 1000);
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    log_numbers(0, 1000, 1000);
    g_autoptr(GByteArray) all = g_byte_array_new();
    struct check *c = finish_and_check(all), *d = check_file(path);
    validate_file(path);
    g_assert_cmpuint(c->counts[522], ==, 2000);
    g_assert_cmpuint(d->counts[522], ==, 1000);
    g_assert_cmpuint(d->next[0], ==, 2000);
    check_free(c);
    check_free(d);
    unlink(path);
}

static void nothing_is_formatted_without_a_destination(void)
{
    struct fm_eventlog_stats a, b;
    fm_eventlog_start(NULL);
    fm_eventlog_stats(&a);
    g_assert_false(fm_eventlog_on());
    log_numbers(0, 0, 1000);
    fm_eventlog_message("nobody hears this");
    fm_eventlog_flush(-1);
    fm_eventlog_stats(&b);
    g_assert_cmpuint(a.produced_events, ==, b.produced_events);
    fm_eventlog_stop();
}

/* Threads that are cancelled. */

static void *log_cancelled(void *unused)
{
    (void)unused;
    pthread_cancel(pthread_self());
    log_numbers(0, 0, 20000);
    pthread_testcancel();
    return NULL;
}

static void *wait_for_ever(void *unused)
{
    (void)unused;
    fm_eventlog_chunk_wait(-1);
    return NULL;
}

static void cancelled(void *(*run)(void *))
{
    pthread_t thread;
    void *result = NULL;
    g_assert_cmpint(pthread_create(&thread, NULL, run, NULL), ==, 0);
    pthread_cancel(thread);
    g_assert_cmpint(pthread_join(thread, &result), ==, 0);
    g_assert_true(result == PTHREAD_CANCELED);
}

/* Many buffers are handed over, which writes to a descriptor. */
static void cancelled_threads_leave_whole(void)
{
    start(8192, 0, 0);
    cancelled(wait_for_ever);
    g_assert_cmpint(fm_eventlog_chunk_wait(0), ==, 0);
    cancelled(log_cancelled);
    g_assert_cmpint(fm_eventlog_chunk_wait(0), ==, 1);
    g_autoptr(GByteArray) all = g_byte_array_new();
    struct check *c = finish_and_check(all);
    g_assert_cmpuint(c->counts[522], ==, 20000);
    check_free(c);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define T(name) g_test_add_func("/eventlog/memory/" #name, name)
    T(cancelled_threads_leave_whole);
    T(without_memory_mode_there_are_no_chunks);
    T(chunks_have_the_chunk_size_and_join);
    T(tail_can_be_taken_after_finish);
    T(partial_take_gives_the_tail_early);
    T(limit_holds_dropping_newest);
    T(limit_holds_dropping_oldest);
    T(gap_is_told_when_space_is_back);
    T(blocking_policy_loses_nothing);
    T(wait_ends_by_time_chunk_or_finish_and_descriptor_agrees);
    T(blocks_after_a_resize_are_small_and_have_markers);
    T(sizes_are_refused_or_clamped_and_reported);
    T(long_messages_in_a_tiny_buffer_are_counted);
    T(longest_message_arrives_and_a_longer_one_is_refused);
    T(waiting_chunks_keep_their_size_over_a_resize);
    T(long_backlog_is_cheap_to_add_to);
    T(random_resizes_lose_nothing);
    T(new_lanes_get_numbers_and_an_ended_one_is_delivered);
    T(flush_interval_delivers_idle_lanes);
    T(memory_and_file_get_the_same_events);
    T(nothing_is_formatted_without_a_destination);
#undef T
    return g_test_run();
}
