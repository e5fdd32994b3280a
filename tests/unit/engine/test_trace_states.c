/* SPDX-License-Identifier: Apache-2.0 */
/* The computation "state" and readers that keep states. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "event_trace.h"
#include "engine/trace_modules.h"
#include "engine/reader_states.h"
#include "trace/statistics/statistics.h"

#define U(x) ((uint64_t)(x))
enum { ROUNDS = 50000, ROUND = 100 };

/* Two threads take turns: parse 0-70, lex 10-15 in it; a counter counts. */
static struct event_list *make_program(void)
{
    struct event_list *list = event_list_new();
    event_add(list, 0, -1, 29, "4s", U(0), "fathom-0.1.0 C event log");
    event_add(list, 0, -1, 32, "44", U(0), U(77));
    event_add(list, 0, -1, 42, "s4", "parse", U(1));
    event_add(list, 0, -1, 42, "s4", "lex", U(2));
    event_add(list, 0, -1, 42, "s4", "count", U(3));
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t time = 100 + U(ROUND) * i;
        event_add(list, time, i % 2, 512, "4", U(1));
        event_add(list, time + 10, i % 2, 512, "4", U(2));
        event_add(list, time + 15, i % 2, 513, "4", U(2));
        if (i % 8 == 0)
            event_add(list, time + 16, 0, 515, "48", U(3), U(i));
        event_add(list, time + 70, i % 2, 513, "4", U(1));
    }
    return list;
}

struct world {
    struct event_list *list;
    char *folder, *path, *cache, *states, *saved;
    struct fm_engine *engine;
};

static struct fm_trace *opener(const char *path, const char *identity, void *user, GError **error)
{
    const struct world *world = user;
    (void)error;
    struct fm_trace *trace = event_list_trace(world->list);
    g_free(trace->path);
    g_free(trace->identity);
    trace->path = g_strdup(path);
    trace->identity = g_strdup(identity);
    return trace;
}

static void start_engine(struct world *world)
{
    GError *error = NULL;
    world->engine = fm_engine_new(opener, world);
    g_assert_true(fm_engine_modules_load(world->engine, &error));
    g_assert_no_error(error);
}

static void begin(struct world *world)
{
    GError *error = NULL;
    world->list = make_program();
    world->folder = g_dir_make_tmp("fathom-XXXXXX", &error);
    g_assert_no_error(error);
    world->path = g_build_filename(world->folder, "a.eventlog", NULL);
    g_assert_true(g_file_set_contents(world->path, "log", 3, NULL));
    struct stat status;
    g_assert_cmpint(stat(world->path, &status), ==, 0);
    world->cache = g_build_filename(world->folder, "cache", NULL);
    world->states = g_build_filename(world->cache, "states", NULL);
    world->saved =
        g_strdup_printf("%s/%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x.fathom-state",
                        world->states, (guint64)status.st_dev, (guint64)status.st_ino);
    g_assert_cmpint(g_mkdir_with_parents(world->states, 0700), ==, 0);
    g_setenv("FATHOM_CACHE", world->cache, true);
    start_engine(world);
}

static void end(struct world *world)
{
    fm_engine_free(world->engine);
    g_unlink(world->saved);
    g_rmdir(world->states);
    g_rmdir(world->cache);
    g_unlink(world->path);
    g_assert_cmpint(g_rmdir(world->folder), ==, 0);
    g_free(world->folder);
    g_free(world->path);
    g_free(world->saved);
    g_free(world->states);
    g_free(world->cache);
    event_list_free(world->list);
}

static void run_all(struct world *world)
{
    while (fm_engine_step(world->engine))
        g_assert_cmpstr(fm_engine_check(world->engine), ==, NULL);
}

static void test_pass_and_reuse(void)
{
    struct world world;
    GError *error = NULL;
    begin(&world);
    struct fm_trace *trace = fm_engine_open(world.engine, world.path, &error);
    g_assert_no_error(error);
    g_assert_cmpint(fm_background_request(world.engine, trace, "state"), ==, FM_REQUEST_QUEUED);
    g_assert_cmpint(fm_background_request(world.engine, trace, "statistics"), ==,
                    FM_REQUEST_QUEUED);
    run_all(&world);
    g_assert_true(fm_background_is_ready(trace, "state"));
    const struct fm_checkpoints *checkpoints =
        fm_attributes_get(trace->attributes, "state/checkpoints");
    unsigned count = (unsigned)((event_list_count(world.list) - 1) / 25000);
    g_assert_cmpuint(count, >=, 8);
    g_assert_cmpuint(fm_checkpoints_count(checkpoints), ==, count);
    struct fm_statistics *statistics =
        fm_attributes_get(trace->attributes, "statistics/statistics");
    const struct fm_statistics_node *root = fm_statistics_root(statistics);
    g_assert_cmpuint(root->all_events, ==, event_list_count(world.list));
    const struct fm_statistics_node *parse =
        fm_statistics_find(root, "thread", "thread on lane 0", "parse", NULL);
    g_assert_cmpuint(parse->count, ==, ROUNDS / 2);
    g_assert_cmpuint(parse->time, ==, U(70) * ROUNDS / 2);
    g_assert_cmpuint(fm_statistics_find(parse, "lex", NULL)->time, ==, U(5) * ROUNDS / 2);
    /* Another program opens it: no pass. */
    fm_engine_free(world.engine);
    start_engine(&world);
    trace = fm_engine_open(world.engine, world.path, &error);
    g_assert_no_error(error);
    g_assert_cmpint(fm_background_request(world.engine, trace, "state"), ==, FM_REQUEST_READY);
    g_assert_false(fm_engine_has_work(world.engine));
    checkpoints = fm_attributes_get(trace->attributes, "state/checkpoints");
    g_assert_cmpuint(fm_checkpoints_count(checkpoints), ==, count);
    g_assert_true(fm_background_run(world.engine, trace, "state", NULL, &error));
    g_assert_no_error(error);
    /* Discarded: it is not loaded again. */
    fm_background_discard(world.engine, trace);
    g_assert_cmpint(fm_background_request(world.engine, trace, "state"), ==, FM_REQUEST_QUEUED);
    run_all(&world);
    g_assert_true(fm_background_is_ready(trace, "state"));
    end(&world);
}

static void test_damaged(void)
{
    struct world world;
    GError *error = NULL;
    begin(&world);
    g_assert_true(g_file_set_contents(world.saved, "fathom-state", 13, NULL));
    struct fm_trace *trace = fm_engine_open(world.engine, world.path, &error);
    g_assert_no_error(error);
    g_assert_cmpint(fm_background_request(world.engine, trace, "state"), ==, FM_REQUEST_QUEUED);
    const char *damage = fm_attributes_get(trace->attributes, "state/damage");
    g_assert_nonnull(damage);
    g_assert_nonnull(strstr(damage, world.saved));
    run_all(&world);
    g_assert_true(fm_background_is_ready(trace, "state"));
    /* It was replaced by a good one. */
    fm_engine_free(world.engine);
    start_engine(&world);
    trace = fm_engine_open(world.engine, world.path, &error);
    g_assert_no_error(error);
    g_assert_cmpint(fm_background_request(world.engine, trace, "state"), ==, FM_REQUEST_READY);
    end(&world);
}

static void test_closed_in_mid_pass(void)
{
    struct world world;
    GError *error = NULL;
    begin(&world);
    struct fm_trace *trace = fm_engine_open(world.engine, world.path, &error);
    g_assert_no_error(error);
    fm_background_request(world.engine, trace, "state");
    fm_background_request(world.engine, trace, "statistics");
    fm_background_request(world.engine, trace, "summary");
    for (unsigned i = 0; i < 5; i++)
        g_assert_true(fm_engine_step(world.engine));
    g_assert_true(fm_background_is_in_progress(trace, "state"));
    fm_engine_close(world.engine, trace);
    g_assert_false(fm_engine_step(world.engine));
    g_assert_false(g_file_test(world.saved, G_FILE_TEST_EXISTS));
    end(&world);
}

/* --- readers --- */

struct view {
    struct fm_reader_states *states;
    struct fm_trace *trace;
    struct fm_state *state;
    struct fm_statistics *statistics;
    char *at_start;
    uint64_t end;
    bool done;
};

static bool before_request(void *hook_data, void *call_data)
{
    struct fm_events_request *request = hook_data;
    struct view *view = request->viewer_data;
    (void)call_data;
    view->state = fm_reader_states_of(view->states, view->trace);
    view->at_start = describe_state(view->state);
    view->statistics = fm_statistics_new(view->state);
    fm_statistics_set_interval(view->statistics, request->start_time, request->end_time);
    fm_statistics_begin(view->statistics);
    return false;
}

static bool before_chunk(void *hook_data, void *call_data)
{
    const struct fm_events_request *request = hook_data;
    struct view *view = request->viewer_data;
    (void)call_data;
    fm_state_add_observer(view->state, fm_statistics_observer(view->statistics));
    return false;
}

static bool count_event(void *hook_data, void *call_data)
{
    const struct fm_events_request *request = hook_data;
    const struct view *view = request->viewer_data;
    return fm_statistics_hook(view->statistics, call_data);
}

static bool after_chunk(void *hook_data, void *call_data)
{
    const struct fm_events_request *request = hook_data;
    struct view *view = request->viewer_data;
    (void)call_data;
    fm_state_remove_observer(view->state, fm_statistics_observer(view->statistics));
    return false;
}

static bool after_request(void *hook_data, void *call_data)
{
    const struct fm_events_request *request = hook_data;
    struct view *view = request->viewer_data;
    (void)call_data;
    fm_state_flush(view->state, view->end, fm_statistics_observer(view->statistics));
    view->done = true;
    return false;
}

static void look(struct world *world, struct fm_engine_reader *reader, struct view *view,
                 uint64_t start, uint64_t stop)
{
    struct fm_events_request *request = fm_events_request_new(view);
    request->viewer_data = view;
    request->start_time = start;
    request->end_time = view->end = stop;
    request->before_request = fm_hooks_new();
    request->after_request = fm_hooks_new();
    request->chunk.before_traceset = fm_hooks_new();
    request->chunk.after_traceset = fm_hooks_new();
    request->chunk.event = fm_hooks_new();
    fm_hooks_add(request->before_request, before_request, request, FM_HOOK_DEFAULT);
    fm_hooks_add(request->chunk.before_traceset, before_chunk, request, FM_HOOK_DEFAULT);
    fm_hooks_add(request->chunk.event, count_event, request, FM_HOOK_DEFAULT);
    fm_hooks_add(request->chunk.after_traceset, after_chunk, request, FM_HOOK_DEFAULT);
    fm_hooks_add(request->after_request, after_request, request, FM_HOOK_DEFAULT);
    view->done = false;
    g_assert_true(fm_engine_reader_request(reader, request));
    while (!view->done) {
        g_assert_true(fm_engine_step(world->engine) || view->done);
        g_assert_cmpstr(fm_engine_check(world->engine), ==, NULL);
    }
}

static void end_view(struct view *view)
{
    fm_statistics_free(view->statistics);
    g_free(view->at_start);
}

/* Reads from the begin: what the state is at a time. */
static char *state_at(struct world *world, uint64_t time)
{
    struct fm_trace *trace = event_list_trace(world->list);
    struct fm_state *state = fm_state_new(trace);
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, fm_state_hook, state, FM_HOOK_STATE);
    fm_trace_each_event(trace, 0, time, hooks);
    char *text = describe_state(state);
    fm_state_free(state);
    fm_trace_free(trace);
    return text;
}

static void test_reader(void)
{
    struct world world;
    GError *error = NULL;
    begin(&world);
    struct fm_engine_reader *reader = fm_engine_reader_new(world.engine);
    struct view view = {.states = fm_reader_states_new(reader)};
    g_assert_true(fm_engine_reader_add_trace(reader, world.path, &error));
    g_assert_no_error(error);
    view.trace = fm_engine_reader_context(reader)->traces[0].trace;
    uint64_t start = 100 + ROUND * U(40000) + 12; /* in lex of a round of thread 0 */
    /* Nothing is computed: what is open there is not known, and its ends fit nothing. */
    look(&world, reader, &view, start, start + 1000);
    g_assert_false(fm_state_is_complete(view.state));
    g_assert_cmpuint(fm_state_inconsistent(view.state), ==, 2);
    g_assert_cmpstr(view.at_start, ==, "inconsistent 0 hidden 0");
    end_view(&view);
    g_assert_true(fm_background_run(world.engine, view.trace, "state", NULL, &error));
    g_assert_no_error(error);
    uint64_t starts[] = {start, 5, start / 2, 3 * start / 2, start + 100};
    for (unsigned i = 0; i < G_N_ELEMENTS(starts); i++) {
        look(&world, reader, &view, starts[i], starts[i] + 1000);
        char *expected = state_at(&world, starts[i]);
        g_assert_true(fm_state_is_complete(view.state));
        g_assert_cmpstr(view.at_start, ==, expected);
        g_free(expected);
        if (i == 0) {
            const struct fm_statistics_node *parse = fm_statistics_find(
                fm_statistics_root(view.statistics), "thread", "thread on lane 0", "parse", NULL);
            g_assert_cmpuint(parse->count, ==, 6);
            /* The rest of the first, four whole ones, the begin of the last. */
            g_assert_cmpuint(parse->time, ==, 58 + 4 * 70 + 12);
            g_assert_cmpuint(parse->longest, ==, 70);
            g_assert_cmpuint(parse->longest_at, ==, 100 + ROUND * U(40002));
            const struct fm_statistics_node *counter =
                fm_statistics_find(fm_statistics_root(view.statistics), "counter", "count", NULL);
            g_assert_cmpuint(counter->numbers, ==, 3);
            g_assert_cmpfloat(counter->least, ==, 39992);
            g_assert_cmpfloat(counter->greatest, ==, 40008);
        }
        end_view(&view);
    }
    fm_engine_reader_free(reader);
    fm_reader_states_free(view.states);
    end(&world);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trace states/pass and reuse", test_pass_and_reuse);
    g_test_add_func("/trace states/damaged", test_damaged);
    g_test_add_func("/trace states/closed in mid-pass", test_closed_in_mid_pass);
    g_test_add_func("/trace states/reader", test_reader);
    return g_test_run();
}
