/* SPDX-License-Identifier: Apache-2.0 */
/* Whose events are whose, for every destination: what a log as a trace shows of each thread. */
#include "check.h"
#include "dial.h"
#include "owners_seen.h"

#include <fathom/eventlog.h>
#include <unistd.h>

#include "tests/patience.h"

/* Logs its own name until stop is set. */
struct worker {
    char name[32];
    GThread *thread;
    gint stop, rounds;
};

static gpointer work(gpointer data)
{
    struct worker *w = data;
    fm_eventlog_label_thread(w->name);
    for (; !g_atomic_int_get(&w->stop); g_atomic_int_inc(&w->rounds)) {
        fm_eventlog_message(w->name);
        if (g_atomic_int_get(&w->rounds) % 64 == 63) /* files stay small on a busy machine */
            g_usleep(500);
    }
    return NULL;
}

static void begin_work(struct worker *w, const char *name, unsigned number)
{
    g_snprintf(w->name, sizeof(w->name), "%s %u", name, number);
    w->stop = w->rounds = 0;
    w->thread = g_thread_new("worker", work, w);
}

static void work_on(struct worker *w, gint rounds)
{
    gint before = g_atomic_int_get(&w->rounds);
    check_until(g_atomic_int_get(&w->rounds) > before + rounds);
}

/* Returns how many messages it logged. */
static uint64_t end_work(struct worker *w)
{
    g_atomic_int_set(&w->stop, 1);
    g_thread_join(w->thread);
    return (uint64_t)w->rounds;
}

static void swap_to(const char *path, unsigned flags)
{
    g_assert_cmpint(fm_eventlog_set_sink_with(fopen(path, "wb"), flags | FM_EVENTLOG_HEADER, -1),
                    ==, 0);
}

/* The thread's buffer holds events that are older than the second file when it begins. */
static void second_file_has_the_threads_of_the_first(void)
{
    g_autofree char *first = temp_path("a.eventlog"), *second = temp_path("b.eventlog");
    struct worker w;
    g_assert_cmpint(fm_eventlog_start(NULL), ==, 0);
    g_assert_cmpint(fm_eventlog_open_file(first), ==, 0);
    begin_work(&w, "worker", 0);
    check_until(g_atomic_int_get(&w.rounds) > 100);
    g_assert_cmpint(fm_eventlog_flush(-1), ==, 0);
    work_on(&w, 500);
    swap_to(second, 0);
    work_on(&w, 500);
    uint64_t logged = end_work(&w);
    FILE *last = fm_eventlog_get_sink();
    g_assert_cmpint(fm_eventlog_stop(), ==, 0);
    fclose(last);
    validate_file(second);
    uint64_t in_first = owners_check(first, false), in_second = owners_check(second, false);
    g_assert_cmpuint(in_first, >, 100);
    g_assert_cmpuint(in_second, >, 0);
    g_assert_cmpuint(in_first + in_second, ==, logged);
    unlink(first);
    unlink(second);
}

/* One worker in turn ends at each swap, and its lane is another's. */
static void swaps_keep_every_event_on_its_thread(void)
{
    enum { SWAPS = 40, WORKERS = 8 };
    static const unsigned flags[] = {FM_EVENTLOG_DRAIN | FM_EVENTLOG_CLOSE_PREV,
                                     FM_EVENTLOG_CLOSE_PREV};
    for (unsigned f = 0; f < G_N_ELEMENTS(flags); f++) {
        char *paths[SWAPS];
        struct worker workers[WORKERS];
        uint64_t logged = 0, seen = 0;
        struct fm_eventlog_options o = {.buffer_bytes = 4096};
        g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
        paths[0] = temp_path("0.eventlog");
        swap_to(paths[0], 0);
        for (unsigned i = 0; i < WORKERS; i++)
            begin_work(&workers[i], "worker", i);
        for (unsigned i = 1; i < SWAPS; i++) {
            struct worker *w = &workers[i % WORKERS];
            work_on(w, 20);
            paths[i] = temp_path("next.eventlog");
            swap_to(paths[i], flags[f]);
            logged += end_work(w);
            begin_work(w, "later worker", i);
        }
        for (unsigned i = 0; i < WORKERS; i++)
            logged += end_work(&workers[i]);
        FILE *last = fm_eventlog_get_sink();
        g_assert_cmpint(fm_eventlog_stop(), ==, 0);
        fclose(last);
        for (unsigned i = 0; i < SWAPS; i++) {
            validate_file(paths[i]);
            seen += owners_check(paths[i], false);
            unlink(paths[i]);
            g_free(paths[i]);
        }
        g_assert_cmpuint(seen, ==, logged);
    }
}

static void write_and_check(const GByteArray *bytes, bool gaps, uint64_t at_least)
{
    g_autofree char *path = temp_path("client.eventlog");
    g_assert_true(g_file_set_contents(path, (const char *)bytes->data, bytes->len, NULL));
    validate_file(path);
    g_assert_cmpuint(owners_check(path, gaps), >=, at_least);
    unlink(path);
}

static void client_that_joins_hears_whose_lanes_they_are(void)
{
    g_autofree char *file = temp_path("a.eventlog");
    struct worker w;
    serve(NULL, NULL, 1 << 16);
    g_assert_cmpint(fm_eventlog_open_file(file), ==, 0);
    begin_work(&w, "worker", 0);
    check_until(g_atomic_int_get(&w.rounds) > 100);
    g_assert_cmpint(fm_eventlog_flush(-1), ==, 0);
    work_on(&w, 100);
    struct reading r = {dial_unix(), g_byte_array_new()};
    wait_clients(1);
    GThread *reader = g_thread_new("client", read_to_end, &r);
    work_on(&w, 1000);
    uint64_t logged = end_work(&w);
    serve_end();
    g_thread_join(reader);
    write_and_check(r.all, false, 1000);
    g_assert_cmpuint(owners_check(file, false), ==, logged);
    g_byte_array_unref(r.all);
    unlink(file);
}

static uint64_t dropped(void)
{
    struct fm_eventlog_stats s;
    fm_eventlog_stats(&s);
    return s.client_dropped_events;
}

/* Threads that use one lane one after the other, most of them where the client loses blocks. */
static uint64_t log_by_threads(unsigned *number, unsigned threads, gint rounds)
{
    struct worker w;
    uint64_t logged = 0;
    for (unsigned i = 0; i < threads; i++) {
        begin_work(&w, "worker", (*number)++);
        check_until(g_atomic_int_get(&w.rounds) >= rounds);
        logged += end_work(&w);
    }
    return logged;
}

static void client_with_a_gap_hears_whose_lanes_they_are(void)
{
    struct fm_eventlog_listen_options o = {.queue_limit_bytes = 100000};
    unsigned number = 0;
    serve(NULL, &o, 4096);
    uint64_t before = dropped();
    struct reading r = {dial_unix(), g_byte_array_new()};
    wait_clients(1);
    struct worker steady;
    begin_work(&steady, "steady", 0);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t lost = dropped();
        while (dropped() == lost)
            log_by_threads(&number, 20, 500);
        read_on(r.fd, r.all, r.all->len + 80000);
        log_by_threads(&number, 20, 10);
    }
    GThread *reader = g_thread_new("client", read_to_end, &r);
    log_by_threads(&number, 20, 10);
    end_work(&steady);
    g_assert_cmpuint(dropped(), >, before);
    serve_end();
    g_thread_join(reader);
    write_and_check(r.all, true, 1000);
    g_byte_array_unref(r.all);
}

static void logs_of_earlier_versions_are_read_right(void)
{
    g_autofree char *path = temp_path("late.eventlog");
    owners_write_late(path);
    g_assert_cmpuint(owners_check(path, false), ==, 20);
    unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define T(name) g_test_add_func("/eventlog/owners/" #name, name)
    T(second_file_has_the_threads_of_the_first);
    T(swaps_keep_every_event_on_its_thread);
    T(client_that_joins_hears_whose_lanes_they_are);
    T(client_with_a_gap_hears_whose_lanes_they_are);
    T(logs_of_earlier_versions_are_read_right);
#undef T
    return g_test_run();
}
