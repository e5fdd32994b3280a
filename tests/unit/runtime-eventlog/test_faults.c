/* SPDX-License-Identifier: Apache-2.0 */
/* What must not break the count: signals, forks, threads that end, all at once. With the argument
 * `full` at full size. Always: produced = delivered + dropped. */
#include "check.h"

#include <errno.h>
#include <fathom/eventlog.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static bool full_size;
static struct fm_eventlog_stats before;

static GByteArray *collected;
static gpointer collect(gpointer data)
{
    (void)data;
    struct fm_eventlog_chunk chunk;
    while (fm_eventlog_chunk_wait(-1) == 1)
        while (fm_eventlog_chunk_take(&chunk, false)) {
            g_byte_array_append(collected, chunk.data, (guint)chunk.bytes);
            fm_eventlog_chunk_release(&chunk);
        }
    return NULL;
}

static GThread *reader;
static void start_collecting(size_t buffer)
{
    struct fm_eventlog_options o = {.flags = FM_EVENTLOG_MEMORY,
                                    .buffer_bytes = buffer,
                                    .memory_limit_bytes = (uint64_t)2 << 30};
    fm_eventlog_stats(&before);
    collected = g_byte_array_new();
    g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
    reader = g_thread_new("collect", collect, NULL);
}

static struct check *stop_collecting(uint64_t *dropped)
{
    struct fm_eventlog_stats s;
    fm_eventlog_stop();
    g_thread_join(reader);
    fm_eventlog_stats(&s);
    struct check *c = check_stream(collected->data, collected->len);
    validate_bytes(collected->data, collected->len);
    *dropped = s.dropped_events - before.dropped_events + s.memory_dropped_events -
               before.memory_dropped_events + s.discarded_events - before.discarded_events;
    g_assert_cmpuint(s.produced_events - before.produced_events, ==, c->events + *dropped);
    g_assert_true(c->ended);
    g_byte_array_unref(collected);
    return c;
}

/* ---- signal handlers that log -----------------------------------------------------------------
 */

static _Atomic uint32_t signals_seen;
static uint32_t tick_name;

static void on_tick(int number)
{
    (void)number;
    fm_eventlog_value(tick_name, 1);
    fm_eventlog_lock_wait(&tick_name);
    signals_seen++;
}

static gpointer flush_all(gpointer data)
{
    fm_eventlog_flush(-1);
    return data;
}

/* As the header does it, without looking whether a handler has come. */
static void append_number(uint32_t number)
{
    struct fm_eventlog_head_ *h = &fm_eventlog_head_;
    uint16_t type = fm_eventlog_be16_(FM_EVENT_FUNCTION_EXIT);
    uint64_t stamp = fm_eventlog_stamp_(), value = fm_eventlog_be64_(number);
    unsigned char *p = h->pos;
    memcpy(p, &type, 2);
    memcpy(p + 2, &stamp, 8);
    memcpy(p + 10, &value, 8);
    __atomic_store_n(&h->pos, p + 18, __ATOMIC_RELEASE);
    __atomic_store_n(h->copy, p + 18, __ATOMIC_RELEASE);
}

/* What handlers logged in the middle of appending stands where it belongs among the lane's events,
 * also when another thread hands them over. */
static void events_of_handlers_stand_at_their_time(void)
{
    for (int other = 0; other < 2; other++) {
        g_autofree char *path = temp_path("order.eventlog");
        struct fm_eventlog_options o = {.buffer_bytes = 65536};
        g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
        g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
        log_numbers(0, 0, 10);
        if (!fm_eventlog_head_.limit) { /* stamps need a call here: no event is appended so */
            fm_eventlog_stop();
            unlink(path);
            g_test_skip("no counter");
            return;
        }
        fm_eventlog_head_.busy = 1; /* an append is under way */
        for (uint32_t i = 10; i < 40; i += 3) {
            log_numbers(0, i, 2);
            append_number(i + 2);
        }
        fm_eventlog_head_.busy = 0;
        if (other)
            g_thread_join(g_thread_new("flush", flush_all, NULL));
        g_assert_cmpint(fm_eventlog_stop(), ==, 0);
        struct check *c = check_file(path); /* numbers that go back abort it */
        g_assert_cmpuint(c->counts[FM_EVENT_FUNCTION_EXIT], ==, 40);
        g_assert_cmpuint(c->gaps, ==, 0);
        g_assert_cmpuint(c->late_ns_max, ==, 0);
        check_free(c);
        unlink(path);
    }
}

static void handlers_that_log_lose_nothing_uncounted(void)
{
    uint32_t turns = full_size ? 40000000 : 4000000;
    uint64_t dropped;
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART}, old;
    start_collecting(4096);
    tick_name = fm_eventlog_intern("tick");
    fm_eventlog_function_exit(NULL); /* number 0: this thread has its lane */
    signals_seen = 0;
    sigaction(SIGPROF, &action, &old);
    setitimer(ITIMER_PROF, &often, NULL);
    uint32_t logged = 1;
    for (; logged < turns || signals_seen <= 10; logged += 100000)
        log_numbers(0, logged, 100000);
    setitimer(ITIMER_PROF, &never, NULL);
    sigaction(SIGPROF, &old, NULL);
    struct check *c = stop_collecting(&dropped);
    g_test_message("%u signals, %lu dropped", signals_seen, (unsigned long)dropped);
    g_assert_cmpuint(signals_seen, >, 10);
    g_assert_cmpuint(c->counts[528] + c->counts[518] + dropped, ==, 2 * (uint64_t)signals_seen);
    g_assert_cmpuint(c->counts[522], ==, logged);
    g_assert_cmpuint(c->gaps, ==, 0);
    check_free(c);
}

/* ---- threads that end -------------------------------------------------------------------------
 */

static gpointer three_events(gpointer data)
{
    log_numbers(GPOINTER_TO_UINT(data), 0, 0);
    FM_INSTANT("short life");
    FM_COUNTER("threads", 1);
    return NULL;
}

static void *three_events_raw(void *data)
{
    three_events(data);
    return NULL;
}

static void threads_over_time_reuse_lanes(void)
{
    unsigned threads = full_size ? 1000000 : 3000;
    uint64_t dropped;
    struct fm_eventlog_stats s;
    start_collecting(4096);
    for (unsigned i = 0; i < threads; i += 4) {
        pthread_t t[4];
        for (unsigned k = 0; k < 4; k++)
            g_assert_cmpint(pthread_create(&t[k], NULL, three_events_raw, GUINT_TO_POINTER(1)), ==,
                            0);
        for (unsigned k = 0; k < 4; k++)
            pthread_join(t[k], NULL);
    }
    fm_eventlog_stats(&s);
    g_assert_cmpuint(s.lanes, <, 32);
    g_assert_cmpuint(s.lanes_used, <=, 2);
    g_assert_cmpuint(s.threads, <=, 2);
    struct check *c = stop_collecting(&dropped);
    g_assert_cmpuint(dropped, ==, 0);
    g_assert_cmpuint(c->counts[514], ==, threads);
    g_assert_cmpuint(c->counts[515], ==, threads);
    g_assert_cmpuint(c->counts[0], ==, threads);
    g_assert_cmpuint(c->counts[2], ==, threads);
    g_assert_cmpuint(c->counts[57], ==, threads);
    g_assert_cmpuint(g_hash_table_size(c->threads), <=, 2);
    check_free(c);
}

static gint draining;
static gpointer drain(gpointer data)
{
    (void)data;
    while (g_atomic_int_get(&draining))
        g_assert_cmpint(fm_eventlog_flush(-1), ==, 0);
    return NULL;
}

static void threads_may_end_while_a_drain_waits(void)
{
    uint64_t dropped;
    struct producer p[4];
    start_collecting(1024);
    g_atomic_int_set(&draining, 1);
    GThread *t = g_thread_new("drain", drain, NULL);
    uint64_t total = 0;
    for (int round = 0; round < (full_size ? 3000 : 100); round++) {
        for (unsigned i = 0; i < 4; i++) {
            p[i] = (struct producer){.number = i, .count = 200};
            p[i].thread = g_thread_new("short", three_events, GUINT_TO_POINTER(0));
        }
        producers_join(p, 4);
        total += 4;
    }
    g_atomic_int_set(&draining, 0);
    g_thread_join(t);
    struct check *c = stop_collecting(&dropped);
    g_assert_cmpuint(dropped, ==, 0);
    g_assert_cmpuint(c->counts[514], ==, total);
    g_assert_cmpuint(c->counts[2], ==, total);
    check_free(c);
}

/* Events of destructors that run after the lane has been given up. */
static pthread_key_t late_key;
static void late(void *value)
{
    fm_eventlog_lock_release(value);
    if (value == (void *)8)
        pthread_setspecific(late_key, (void *)4);
}

static void *with_late_destructor(void *data)
{
    pthread_setspecific(late_key, (void *)8);
    fm_eventlog_lock_acquire(data);
    return NULL;
}

static void destructors_may_log(void)
{
    uint64_t dropped;
    pthread_key_create(&late_key, late);
    start_collecting(1024);
    for (int i = 0; i < 50; i++) {
        pthread_t t;
        g_assert_cmpint(pthread_create(&t, NULL, with_late_destructor, &late_key), ==, 0);
        pthread_join(t, NULL);
    }
    struct check *c = stop_collecting(&dropped);
    g_assert_cmpuint(c->counts[519], ==, 50);
    g_assert_cmpuint(c->counts[520] + dropped, ==, 100);
    check_free(c);
    pthread_key_delete(late_key);
}

/* ---- all at once -------------------------------------------------------------------------------
 */

static gint resizing;
static gpointer resize_at_random(gpointer data)
{
    (void)data;
    GRand *rand = g_rand_new_with_seed(7);
    while (g_atomic_int_get(&resizing)) {
        fm_eventlog_resize((size_t)100 << g_rand_int_range(rand, 0, 20)); /* to 64 MiB at most */
        g_usleep(200);
    }
    g_rand_free(rand);
    return NULL;
}

static void switching_and_resizing_while_eight_log(void)
{
    enum { LANES = 8, FILES = 4 };
    unsigned switches = full_size ? 10000 : 500;
    uint32_t each = full_size ? 2000000 : 100000;
    char *paths[FILES];
    FILE *files[FILES];
    struct producer p[LANES];
    struct fm_eventlog_stats a, b;
    struct fm_eventlog_options o = {.buffer_bytes = 4096};
    g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
    fm_eventlog_stats(&a);
    for (int i = 0; i < FILES; i++) {
        paths[i] = temp_path("switched.eventlog");
        files[i] = fopen(paths[i], "wb");
        fm_eventlog_set_sink(files[i], false, true);
    }
    g_atomic_int_set(&resizing, 1);
    GThread *resizer = g_thread_new("resize", resize_at_random, NULL);
    producers_start(p, LANES, each);
    for (unsigned i = 0; i < switches; i++)
        fm_eventlog_set_sink_with(files[i % FILES], i % 5 ? 0 : FM_EVENTLOG_DRAIN, -1);
    producers_join(p, LANES);
    g_atomic_int_set(&resizing, 0);
    g_thread_join(resizer);
    fm_eventlog_stop();
    fm_eventlog_stats(&b);
    uint64_t found = 0, all = 0;
    for (int i = 0; i < FILES; i++) {
        fclose(files[i]);
        validate_file(paths[i]);
        struct check *c = check_file(paths[i]);
        g_assert_false(c->cut);
        found += c->counts[522];
        all += c->events;
        check_free(c);
        unlink(paths[i]);
        g_free(paths[i]);
    }
    g_assert_cmpuint(found, ==, LANES * (uint64_t)each);
    g_assert_cmpuint(b.produced_events - a.produced_events, ==, all);
    g_assert_cmpuint(b.stream_events - a.stream_events, ==, all);
    g_assert_cmpuint(b.dropped_events, ==, a.dropped_events);
}

static void forks_while_others_log(void)
{
    int forks = full_size ? 500 : 20;
    uint64_t dropped;
    struct producer p[2];
    start_collecting(4096);
    producers_start(p, 2, full_size ? 3000000 : 300000);
    for (int i = 0; i < forks; i++) {
        pid_t pid = fork();
        g_assert_cmpint(pid, >=, 0);
        if (pid == 0) { /* the parent has no stream: the child logs nowhere */
            log_numbers(9, 0, 10);
            fm_eventlog_flush(-1);
            _exit(fm_eventlog_on() ? 1 : 0);
        }
        int status;
        waitpid(pid, &status, 0);
        g_assert_cmpint(status, ==, 0);
    }
    producers_join(p, 2);
    struct check *c = stop_collecting(&dropped);
    g_assert_cmpuint(dropped, ==, 0);
    g_assert_cmpuint(c->counts[522], ==, 2 * (uint64_t)p[0].count);
    g_assert_cmpuint(c->next[9], ==, 0);
    check_free(c);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    full_size = argc > 1 && g_str_equal(argv[1], "full");
#define T(name) g_test_add_func("/eventlog/faults/" #name, name)
    T(events_of_handlers_stand_at_their_time);
    T(handlers_that_log_lose_nothing_uncounted);
    T(threads_over_time_reuse_lanes);
    T(threads_may_end_while_a_drain_waits);
    T(destructors_may_log);
    T(switching_and_resizing_while_eight_log);
    T(forks_while_others_log);
#undef T
    return g_test_run();
}
