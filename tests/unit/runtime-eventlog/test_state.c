/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader that comes late is told, and the events of the macros. */
#include "check.h"

#include <errno.h>
#include <fathom/eventlog.h>
#include <unistd.h>

static struct check *second_log(void (*between)(void))
{
    g_autofree char *first = temp_path("first.eventlog"), *second = temp_path("second.eventlog");
    g_assert_cmpint(fm_eventlog_open_file(first), ==, 0);
    between();
    g_assert_cmpint(fm_eventlog_open_file(second), ==, 0); /* ends the first */
    fm_eventlog_stop();
    struct check *c = check_file(first);
    validate_file(first);
    g_assert_true(c->ended);
    g_assert_cmpuint(c->replayed[16], ==, 0); /* its initial events are news */
    check_free(c);
    c = check_file(second);
    validate_file(second);
    unlink(first);
    unlink(second);
    return c;
}

/* 21: a thousand live labelled threads */
static void thousand_threads(void)
{
    for (unsigned i = 0; i < 1100; i++) {
        char label[32];
        uint32_t id = fm_eventlog_thread_new();
        snprintf(label, sizeof(label), "worker %u", i);
        fm_eventlog_thread_label(id, label);
        if (i % 4 == 1)
            fm_eventlog_thread_run(id);
        if (i % 4 == 2)
            fm_eventlog_thread_stop(id, 8, 3);
        if (i % 4 == 3)
            fm_eventlog_thread_runnable(id);
        if (i >= 1000)
            fm_eventlog_thread_stop(id, 5, 0); /* finished: not alive */
    }
}

static void late_sink_hears_of_all_threads(void)
{
    fm_eventlog_start(NULL);
    struct check *c = second_log(thousand_threads);
    unsigned labelled = 0;
    GHashTableIter i;
    gpointer id, label;
    g_hash_table_iter_init(&i, c->threads);
    while (g_hash_table_iter_next(&i, &id, &label))
        labelled += g_str_has_prefix(label, "worker ");
    g_assert_cmpuint(labelled, ==, 1000);
    g_assert_cmpuint(c->replayed[0], ==, 1001); /* and this thread */
    g_assert_cmpuint(c->replayed[3], ==, 250);
    g_assert_cmpuint(c->replayed[2], ==, 250);
    g_assert_cmpuint(c->replayed[1], ==, 251);
    g_assert_cmpuint(c->replayed[16], ==, 2);
    g_assert_cmpuint(c->replayed[25], ==, 2);
    g_assert_cmpuint(c->replayed[43], ==, 1);
    g_assert_cmpuint(c->counts[0], ==, 0); /* nothing replayed counts as new */
    g_assert_nonnull(strstr(c->args, "test_state"));
    g_assert_cmpuint(g_hash_table_size(c->caps), ==, 1);
    static const unsigned order[] = {25, 29, 30, 32, 33, 43, 45, 27, 55, 0, 42, 44};
    for (unsigned k = 1; k < G_N_ELEMENTS(order); k++) { /* what is named before what names it */
        g_assert_cmpuint(c->first[order[k]], >, 0);
        g_assert_cmpuint(c->first[order[k - 1]], <, c->first[order[k]]);
    }
    check_free(c);
}

static void threads_above_the_limit_are_forgotten_and_counted(void)
{
    struct fm_eventlog_stats s;
    struct fm_eventlog_options o = {.threads_max = 10};
    fm_eventlog_start(&o);
    fm_eventlog_stats(&s);
    uint32_t base = s.threads;
    uint32_t ids[50];
    for (int i = 0; i < 50; i++)
        ids[i] = fm_eventlog_thread_new();
    fm_eventlog_stats(&s);
    g_assert_cmpuint(s.threads, <=, MAX(10, base));
    g_assert_cmpuint(s.threads_forgotten, >=, 40);
    for (int i = 0; i < 50; i++)
        fm_eventlog_thread_stop(ids[i], 5, 0);
    fm_eventlog_stats(&s);
    g_assert_cmpuint(s.threads, ==, base);
    fm_eventlog_stop();
    o.threads_max = 1000000;
    fm_eventlog_start(&o);
    fm_eventlog_stop();
}

static void names_and_locks(void)
{
    fm_eventlog_intern("a name");
    fm_eventlog_lock_name(&names_and_locks, "the lock");
}

static void late_sink_hears_of_names(void)
{
    fm_eventlog_start(NULL);
    uint32_t one = fm_eventlog_intern("one");
    g_assert_cmpuint(one, ==, fm_eventlog_intern("one"));
    g_assert_cmpuint(one, !=, fm_eventlog_intern("two"));
    g_autofree char *long_name = g_strnfill(4001, 'x');
    g_assert_cmpuint(fm_eventlog_intern(long_name), ==, 0);
    struct check *c = second_log(names_and_locks);
    g_assert_cmpuint(c->replayed[42], >=, 4);
    g_assert_cmpuint(c->replayed[525], ==, 1);
    g_assert_cmpuint(c->replayed[526], >, 0); /* modules */
    check_free(c);
}

/* ---- last values in a late sink ---------------------------------------------------------------
 */

static void leave_things_open(void)
{
    FM_COUNTER("queue", 41);
    FM_COUNTER("queue", 42);
    FM_COUNTER("load", 0.25);
    fm_eventlog_heap(3000, 2000, 1000);
    FM_SPAN_BEGIN("ended before");
    FM_SPAN_END("ended before");
    FM_SPAN_BEGIN("outer");
    FM_SPAN_BEGIN("inner");
    FM_ASYNC_BEGIN("request", 700007);
    FM_ASYNC_BEGIN("request", 800008);
    FM_ASYNC_END("request", 700007);
    fm_eventlog_lock_acquire(&leave_things_open);
}

/* A file that comes late begins with what was open and counted, once: what was logged before it
 * came may be in the old file, or in buffers that go to the new one. */
static void late_file_begins_with_last_values(void)
{
    static const unsigned flags[] = {FM_EVENTLOG_DRAIN, 0};
    for (unsigned i = 0; i < G_N_ELEMENTS(flags); i++) {
        g_autofree char *first = temp_path("a.eventlog"), *second = temp_path("b.eventlog");
        struct fm_eventlog_options o = {.flags = FM_EVENTLOG_VALUES};
        g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
        g_assert_cmpint(fm_eventlog_open_file(first), ==, 0);
        leave_things_open();
        g_assert_cmpint(
            fm_eventlog_set_sink_with(fopen(second, "wb"), flags[i] | FM_EVENTLOG_HEADER, -1), ==,
            0);
        FM_SPAN_END("inner");
        FM_SPAN_END("outer");
        fm_eventlog_lock_release(&leave_things_open);
        FILE *last = fm_eventlog_get_sink();
        g_assert_cmpint(fm_eventlog_stop(), ==, 0);
        fclose(last);
        validate_file(second);
        struct check *c = check_file(second);
        bool drained = flags[i] & FM_EVENTLOG_DRAIN;
        const uint64_t *kept = drained ? c->replayed : c->counts;
        g_assert_cmpuint(kept[FM_EVENT_COUNTER], ==, drained ? 1 : 2);
        g_assert_cmpuint(kept[FM_EVENT_COUNTER_REAL], ==, 1);
        g_assert_cmpuint(kept[FM_EVENT_HEAP_LIVE], ==, 1);
        g_assert_cmpuint(kept[FM_EVENT_ASYNC_BEGIN], ==, drained ? 1 : 2);
        g_assert_cmpuint(kept[FM_EVENT_LOCK_ACQUIRE], ==, 1);
        g_assert_cmpuint(kept[FM_EVENT_SPAN_BEGIN], ==, drained ? 2 : 3);
        g_assert_cmpuint(c->open_twice, ==, 0);
        g_assert_cmpuint(c->never_begun, ==, 0);
        g_assert_cmpuint(g_hash_table_size(c->open), ==, 0);
        g_assert_cmpuint(c->before_name, ==, 0);
        check_free(c);
        unlink(first);
        unlink(second);
    }
}

static gint logging;

static gpointer log_spans(gpointer data)
{
    gint *rounds = data;
    while (g_atomic_int_get(&logging)) {
        FM_SPAN("one");
        FM_SPAN("two");
        FM_SPAN("three");
        g_atomic_int_inc(rounds);
    }
    return NULL;
}

/* Each file alone: no span of it was open already, none ends that had not begun in it. */
static void values_and_blocks_meet_exactly_at_a_switch(void)
{
    enum { FILES = 60, THREADS = 3 };
    char *paths[FILES];
    GThread *threads[THREADS];
    gint rounds = 0;
    struct fm_eventlog_options o = {.flags = FM_EVENTLOG_VALUES, .buffer_bytes = 512};
    g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
    g_atomic_int_set(&logging, 1);
    for (int i = 0; i < THREADS; i++)
        threads[i] = g_thread_new("spans", log_spans, &rounds);
    for (int i = 0; i < FILES; i++) {
        gint before = g_atomic_int_get(&rounds);
        paths[i] = temp_path("one.eventlog");
        unsigned flags = FM_EVENTLOG_HEADER | FM_EVENTLOG_CLOSE_PREV;
        g_assert_cmpint(fm_eventlog_set_sink_with(fopen(paths[i], "wb"),
                                                  flags | (i % 2 ? FM_EVENTLOG_DRAIN : 0), -1),
                        ==, 0);
        while (g_atomic_int_get(&rounds) < before + 20)
            g_thread_yield();
    }
    g_atomic_int_set(&logging, 0);
    for (int i = 0; i < THREADS; i++)
        g_thread_join(threads[i]);
    FILE *last = fm_eventlog_get_sink();
    g_assert_cmpint(fm_eventlog_stop(), ==, 0);
    fclose(last);
    uint64_t replayed = 0;
    for (int i = 0; i < FILES; i++) {
        struct check *c = check_file(paths[i]);
        g_assert_cmpuint(c->open_twice, ==, 0);
        g_assert_cmpuint(c->never_begun, ==, 0);
        replayed += c->replayed[FM_EVENT_SPAN_BEGIN];
        check_free(c);
        unlink(paths[i]);
        g_free(paths[i]);
    }
    g_assert_cmpuint(replayed, >, 0);
}

static void spans(void)
{
    FM_SPAN("outer");
    FM_SPAN_BEGIN("inner");
    FM_INSTANT("now");
    FM_VALUE("v", -5);
    FM_COUNTER("depth", 2);
    FM_SPAN_END("inner");
    FM_ASYNC_BEGIN("request", 77);
    FM_ASYNC_END("request", 77);
}

static void macros_log_once_resolved_names(void)
{
    g_autofree char *path = temp_path("macros.eventlog");
    int lock = 0;
    fm_eventlog_start(NULL);
    fm_eventlog_open_file(path);
    for (int i = 0; i < 100; i++)
        spans();
    fm_eventlog_lock_wait(&lock);
    fm_eventlog_lock_acquire(&lock);
    fm_eventlog_lock_release(&lock);
    fm_eventlog_function_enter(&lock, &path);
    fm_eventlog_function_exit((void *)0);
    fm_eventlog_alloc_sample(fm_eventlog_intern("site"), &lock, 10, 4096);
    fm_eventlog_alloc_free(&lock);
    fm_eventlog_heap(1000, 900, 800);
    fm_eventlog_stop();
    validate_file(path);
    struct check *c = check_file(path);
    g_assert_cmpuint(c->counts[512], ==, 200);
    g_assert_cmpuint(c->counts[513], ==, 200);
    g_assert_cmpuint(c->counts[514], ==, 100);
    g_assert_cmpuint(c->counts[528], ==, 100);
    g_assert_cmpuint(c->counts[515], ==, 100);
    g_assert_cmpuint(c->counts[523], ==, 100);
    g_assert_cmpuint(c->counts[524], ==, 100);
    g_assert_cmpuint(c->counts[516], ==, 1);
    g_assert_cmpuint(c->counts[517], ==, 1);
    for (unsigned type = 518; type <= 522; type++)
        g_assert_cmpuint(c->counts[type], ==, 1);
    for (unsigned type = 49; type <= 51; type++)
        g_assert_cmpuint(c->counts[type], ==, 1);
    g_assert_cmpuint(c->counts[42] + c->replayed[42], >=, 7);
    check_free(c);
    unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define T(name) g_test_add_func("/eventlog/state/" #name, name)
    T(late_sink_hears_of_all_threads);
    T(threads_above_the_limit_are_forgotten_and_counted);
    T(late_sink_hears_of_names);
    T(late_file_begins_with_last_values);
    T(values_and_blocks_meet_exactly_at_a_switch);
    T(macros_log_once_resolved_names);
#undef T
    return g_test_run();
}
