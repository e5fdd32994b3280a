/* SPDX-License-Identifier: Apache-2.0 */
/* Interned names: from anywhere, and always defined before they are used. check.c aborts when an
 * event has a name that its stream does not define before it. */
#include "check.h"

#include <fathom/eventlog.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static GByteArray *written;
static char inside[32];
static unsigned turns;

/* Runs inside the library, under the stream's lock: no lock may be taken for the name. */
static bool write_and_name(void *context, const void *data, size_t bytes)
{
    (void)context;
    g_byte_array_append(written, data, (guint)bytes);
    if (turns < 3000) {
        snprintf(inside, sizeof(inside), "inside %u", turns++);
        uint32_t id = fm_eventlog_intern(inside);
        g_assert_cmpuint(id, >, 0);
        g_assert_cmpuint(id, ==, fm_eventlog_intern(inside));
        if (fm_eventlog_thread_id())
            fm_eventlog_value(id, 1);
    }
    return true;
}

static void names_made_inside_the_library_are_defined_before_use(void)
{
    struct fm_eventlog_writer w = {.write = write_and_name};
    struct fm_eventlog_options o = {.buffer_bytes = 1024};
    written = g_byte_array_new();
    fm_eventlog_start(&o);
    fm_eventlog_set_writer(&w, FM_EVENTLOG_HEADER, -1);
    for (unsigned i = 0; i < 150000; i++)
        log_numbers(0, i, 1);
    fm_eventlog_set_writer(NULL, FM_EVENTLOG_DRAIN, -1);
    fm_eventlog_stop();
    struct check *c = check_stream(written->data, written->len);
    g_assert_cmpuint(turns, ==, 3000);
    g_assert_cmpuint(c->counts[528], >, 2900);
    g_assert_cmpuint(c->unnamed, ==, 0);
    g_assert_cmpuint(c->before_name, ==, 0);
    g_assert_cmpstr(g_hash_table_lookup(c->names, GUINT_TO_POINTER(fm_eventlog_intern("inside 7"))),
                    ==, "inside 7");
    check_free(c);
    g_byte_array_unref(written);
}

static _Atomic uint32_t ticks;

static void on_tick(int number)
{
    (void)number;
    char name[16] = "tick ";
    uint32_t n = ticks++ % 1000;
    for (int i = 0; i < 3; i++, n /= 10)
        name[5 + i] = (char)('0' + n % 10);
    fm_eventlog_instant(fm_eventlog_intern(name));
    FM_INSTANT("of a handler");
}

static void names_made_by_handlers_are_defined_before_use(void)
{
    g_autofree char *path = temp_path("handlers.eventlog");
    struct fm_eventlog_options o = {.buffer_bytes = 4096};
    struct fm_eventlog_stats before, after;
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART}, old;
    fm_eventlog_start(&o);
    fm_eventlog_stats(&before);
    fm_eventlog_open_file(path);
    log_numbers(0, 0, 1); /* this thread has its lane */
    sigaction(SIGPROF, &action, &old);
    setitimer(ITIMER_PROF, &often, NULL);
    for (uint32_t i = 1; ticks < 30; i++) { /* makes names too, so that handlers meet it doing so */
        char name[24];
        snprintf(name, sizeof(name), "main %u", i % 50000);
        fm_eventlog_instant(fm_eventlog_intern(name));
        log_numbers(0, i, 1);
    }
    setitimer(ITIMER_PROF, &never, NULL);
    sigaction(SIGPROF, &old, NULL);
    fm_eventlog_stop();
    fm_eventlog_stats(&after);
    validate_file(path);
    struct check *c = check_file(path);
    g_assert_cmpuint(c->unnamed, ==, 0);
    g_assert_cmpuint(c->before_name, ==, 0);
    g_assert_cmpuint(c->gaps, ==, 0);
    g_assert_cmpuint(c->events + after.dropped_events - before.dropped_events, ==,
                     after.produced_events - before.produced_events);
    check_free(c);
    unlink(path);
}

enum { SAME = 4000, RACERS = 4 };
static uint32_t ids[RACERS][SAME];
static gint racers_ready;

static gpointer race(gpointer data)
{
    unsigned which = GPOINTER_TO_UINT(data);
    g_atomic_int_inc(&racers_ready);
    while (g_atomic_int_get(&racers_ready) < RACERS)
        ;
    for (unsigned i = 0; i < SAME; i++) {
        char name[24];
        snprintf(name, sizeof(name), "raced %u", i);
        ids[which][i] = fm_eventlog_intern(name);
        fm_eventlog_instant(ids[which][i]);
    }
    return NULL;
}

static void threads_that_make_the_same_name_get_the_same_id(void)
{
    g_autofree char *path = temp_path("raced.eventlog");
    struct fm_eventlog_options o = {.buffer_bytes = 512};
    GThread *threads[RACERS];
    fm_eventlog_start(&o);
    fm_eventlog_open_file(path);
    for (unsigned i = 0; i < RACERS; i++)
        threads[i] = g_thread_new("race", race, GUINT_TO_POINTER(i));
    for (unsigned i = 0; i < RACERS; i++)
        g_thread_join(threads[i]);
    fm_eventlog_stop();
    for (unsigned i = 0; i < SAME; i++) {
        g_assert_cmpuint(ids[0][i], >, 0);
        for (unsigned k = 1; k < RACERS; k++)
            g_assert_cmpuint(ids[k][i], ==, ids[0][i]);
    }
    struct check *c = check_file(path);
    g_assert_cmpuint(c->counts[514], ==, RACERS * SAME);
    g_assert_cmpuint(c->unnamed, ==, 0);
    g_assert_cmpuint(c->before_name, ==, 0);
    check_free(c);
    unlink(path);
}

/* A stream that is set again without a header hears of the names that were made meanwhile. */
static void stream_that_comes_back_gets_names_made_meanwhile(void)
{
    g_autofree char *path = temp_path("back.eventlog");
    FILE *file = fopen(path, "wb");
    fm_eventlog_start(NULL);
    fm_eventlog_set_sink(file, false, true);
    fm_eventlog_set_sink_with(NULL, FM_EVENTLOG_DRAIN, -1);
    uint32_t id = fm_eventlog_intern("made while nobody listened");
    fm_eventlog_set_sink(file, false, false);
    fm_eventlog_instant(id);
    fm_eventlog_stop();
    fclose(file);
    validate_file(path);
    struct check *c = check_file(path);
    g_assert_cmpuint(c->counts[514], ==, 1);
    g_assert_cmpstr(g_hash_table_lookup(c->names, GUINT_TO_POINTER(id)), ==,
                    "made while nobody listened");
    check_free(c);
    unlink(path);
}

static void many_names_are_found_again(void)
{
    enum { NAMES = 50000 };
    uint32_t *first = g_new(uint32_t, NAMES);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < NAMES; i++) {
            char name[24];
            snprintf(name, sizeof(name), "many %u", i);
            uint32_t id = fm_eventlog_intern(name);
            if (round == 0)
                first[i] = id;
            g_assert_cmpuint(id, ==, first[i]);
        }
    g_assert_cmpuint(fm_eventlog_intern(""), >, 0);
    g_free(first);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define T(name) g_test_add_func("/eventlog/names/" #name, name)
    T(names_made_inside_the_library_are_defined_before_use);
    T(names_made_by_handlers_are_defined_before_use);
    T(threads_that_make_the_same_name_get_the_same_id);
    T(stream_that_comes_back_gets_names_made_meanwhile);
    T(many_names_are_found_again);
#undef T
    return g_test_run();
}
