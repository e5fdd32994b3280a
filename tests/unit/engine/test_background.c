/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios 1 to 30 of the schedulers: ten events at times 1..10, chunks of 4. */
#include "world.h"

#define INF FM_TIME_INF

static void request(struct world *world, struct fm_trace *trace, const char *module,
                    enum fm_request_result expected)
{
    g_assert_cmpint(fm_background_request(world->engine, trace, module), ==, expected);
}

static void notify_queue(struct world *world, struct fm_trace *trace, const char *name,
                         uint64_t time)
{
    struct fm_hooks *hooks = world_notify(world, name);
    fm_background_notify_queue(world->engine, (void *)(uintptr_t)name, trace, time, NULL, hooks);
}

/* The position just before the event at a time. */
static struct fm_position *position_of(struct fm_trace *trace, uint64_t time)
{
    struct fm_context *context = fm_context_new(&trace, 1);
    fm_context_seek_time(context, time);
    struct fm_position *position = fm_context_save_position(context);
    fm_context_free(context);
    return position;
}

struct fixture {
    struct world *world;
    struct fm_trace *x;
    struct label *a, *b;
};

static void set_up_with(struct fixture *f, const struct memory_event *events)
{
    f->world = world_new(4);
    f->x = world_open(f->world, "x", events);
    f->a = world_module(f->world, "A", f->x);
    f->b = world_module(f->world, "B", f->x);
}

static void set_up(struct fixture *f, gconstpointer data)
{
    (void)data;
    set_up_with(f, ten_events);
}

static void tear_down(struct fixture *f, gconstpointer data)
{
    (void)data;
    world_free(f->world);
}

static void run_whole_pass(struct fixture *f)
{
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, "BC.A A:9-10 AC.A ip-A rdyA AR.A ->F");
}

static void test_01_single_request(struct fixture *f, gconstpointer data)
{
    (void)data;
    g_assert_cmpfloat(fm_background_progress(f->world->engine, f->x), <, 0);
    run_whole_pass(f);
    g_assert_true(fm_background_is_ready(f->x, "A"));
}

static void test_02_exact_multiple(void)
{
    struct fixture f;
    set_up_with(&f, eight_events);
    request(f.world, f.x, "A", FM_REQUEST_QUEUED);
    world_expect(f.world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    world_expect(f.world, "BC.A A:5-8 AC.A ip-A rdyA AR.A ->F");
    tear_down(&f, NULL);
}

static void test_03_empty_trace(void)
{
    struct fixture f;
    set_up_with(&f, no_events);
    request(f.world, f.x, "A", FM_REQUEST_QUEUED);
    world_expect(f.world, "ip+A BR.A BC.A AC.A ip-A rdyA AR.A ->F");
    tear_down(&f, NULL);
}

static void test_04_two_viewers_before_start(struct fixture *f, gconstpointer data)
{
    (void)data;
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    notify_queue(f->world, f->x, "v1", INF);
    request(f->world, f->x, "A", FM_REQUEST_QUEUED_BEFORE);
    notify_queue(f->world, f->x, "v2", INF);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, "BC.A A:9-10 AC.A ip-A rdyA AR.A N(v1) N(v2) ->F");
}

static void test_05_same_module_in_progress(struct fixture *f, gconstpointer data)
{
    (void)data;
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    g_assert_true(fm_background_is_in_progress(f->x, "A"));
    request(f->world, f->x, "A", FM_REQUEST_IN_PROGRESS);
    g_assert_true(fm_background_notify_current(f->world->engine, f, f->x, INF, NULL,
                                               world_notify(f->world, "v2")));
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, "BC.A A:9-10 AC.A ip-A rdyA AR.A N(v2) ->F");
}

static void test_06_already_ready(struct fixture *f, gconstpointer data)
{
    (void)data;
    run_whole_pass(f);
    request(f->world, f->x, "A", FM_REQUEST_READY);
    g_assert_false(fm_engine_has_work(f->world->engine));
    world_expect(f->world, "->F");
}

static void test_07_two_modules_in_one_read(struct fixture *f, gconstpointer data)
{
    (void)data;
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    request(f->world, f->x, "B", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+A BR.A ip+B BR.B BC.A BC.B "
                           "A:1 B:1 A:2 B:2 A:3 B:3 A:4 B:4 AC.A AC.B ->T");
    world_expect(f->world, "BC.A BC.B A:5 B:5 A:6 B:6 A:7 B:7 A:8 B:8 AC.A AC.B ->T");
    world_expect(f->world, "BC.A BC.B A:9 B:9 A:10 B:10 AC.A AC.B "
                           "ip-A rdyA AR.A ip-B rdyB AR.B ->F");
}

static void test_08_other_module_mid_pass(struct fixture *f, gconstpointer data)
{
    (void)data;
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    request(f->world, f->x, "B", FM_REQUEST_QUEUED);
    g_assert_false(fm_background_is_in_progress(f->x, "B"));
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, "BC.A A:9-10 AC.A ip-A rdyA AR.A ->T");
    g_assert_false(fm_background_is_in_progress(f->x, "B"));
    world_expect(f->world, "ip+B BR.B BC.B B:1-4 AC.B ->T");
    world_expect(f->world, "BC.B B:5-8 AC.B ->T");
    world_expect(f->world, "BC.B B:9-10 AC.B ip-B rdyB AR.B ->F");
}

static void test_09_several_arrivals_share_the_next_pass(struct fixture *f, gconstpointer data)
{
    (void)data;
    world_module(f->world, "C", f->x);
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    request(f->world, f->x, "B", FM_REQUEST_QUEUED);
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    request(f->world, f->x, "C", FM_REQUEST_QUEUED);
    world_expect(f->world, "BC.A A:9-10 AC.A ip-A rdyA AR.A ->T");
    world_expect(f->world, "ip+B BR.B ip+C BR.C BC.B BC.C "
                           "B:1 C:1 B:2 C:2 B:3 C:3 B:4 C:4 AC.B AC.C ->T");
}

static unsigned shared_calls;

static bool count_shared(void *hook_data, void *call_data)
{
    (void)hook_data;
    (void)call_data;
    shared_calls++;
    return false;
}

static void register_sharing(struct world *world, const char *name, bool as_event, bool as_adder)
{
    struct fm_computation computation = {0};
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, count_shared, NULL, FM_HOOK_DEFAULT);
    if (as_event)
        computation.chunk.event = hooks;
    else if (as_adder)
        computation.adder = hooks;
    else
        computation.remover = hooks;
    g_assert_true(fm_engine_register_computation(world->engine, name, &computation));
}

static void run_all(struct world *world)
{
    while (fm_engine_step(world->engine))
        g_assert_cmpstr(fm_engine_check(world->engine), ==, NULL);
}

static void test_10_shared_hook_is_called_once_an_event(struct fixture *f, gconstpointer data)
{
    (void)data;
    register_sharing(f->world, "S1", true, false);
    register_sharing(f->world, "S2", true, false);
    request(f->world, f->x, "S1", FM_REQUEST_QUEUED);
    request(f->world, f->x, "S2", FM_REQUEST_QUEUED);
    shared_calls = 0;
    fm_engine_step(f->world->engine);
    g_assert_cmpuint(shared_calls, ==, 4);
    run_all(f->world);
    g_assert_cmpuint(shared_calls, ==, 10);
}

static void test_11_shared_adder_once_a_pass(struct fixture *f, gconstpointer data)
{
    (void)data;
    register_sharing(f->world, "S1", false, true);
    register_sharing(f->world, "S2", false, true);
    request(f->world, f->x, "S1", FM_REQUEST_QUEUED);
    request(f->world, f->x, "S2", FM_REQUEST_QUEUED);
    shared_calls = 0;
    run_all(f->world);
    g_assert_cmpuint(shared_calls, ==, 1);
    register_sharing(f->world, "R1", false, false);
    register_sharing(f->world, "R2", false, false);
    request(f->world, f->x, "R1", FM_REQUEST_QUEUED);
    request(f->world, f->x, "R2", FM_REQUEST_QUEUED);
    shared_calls = 0;
    fm_engine_step(f->world->engine);
    g_assert_cmpuint(shared_calls, ==, 0);
    run_all(f->world);
    g_assert_cmpuint(shared_calls, ==, 1);
}

/* Scenarios 12 to 16: when a notification fires, by the step (1, 2, or 3 = the end of the pass). */
static void check_notification(struct fixture *f, uint64_t time, uint64_t position_time,
                               unsigned expected_step)
{
    struct fm_position *position = position_time == INF ? NULL : position_of(f->x, position_time);
    fm_background_notify_queue(f->world->engine, f, f->x, time, position,
                               world_notify(f->world, "v"));
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, expected_step == 1 ? "ip+A BR.A BC.A A:1-4 AC.A N(v) ->T"
                                              : "ip+A BR.A BC.A A:1-4 AC.A ->T");
    world_expect(f->world, expected_step == 2 ? "BC.A A:5-8 AC.A N(v) ->T" : "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, expected_step == 3 ? "BC.A A:9-10 AC.A ip-A rdyA AR.A N(v) ->F"
                                              : "BC.A A:9-10 AC.A ip-A rdyA AR.A ->F");
}

static void test_12_notify_by_time(struct fixture *f, gconstpointer data)
{
    (void)data;
    check_notification(f, 4, INF, 1);
}

static void test_13_notify_on_the_boundary(struct fixture *f, gconstpointer data)
{
    (void)data;
    check_notification(f, 5, INF, 1);
}

static void test_14_notify_after_the_chunk(struct fixture *f, gconstpointer data)
{
    (void)data;
    check_notification(f, 6, INF, 2);
}

static void test_15_notify_after_the_end(void)
{
    const struct {
        uint64_t time, position;
    } cases[] = {{100, INF}, {10, INF}, {INF, 10}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fixture f;
        set_up(&f, NULL);
        check_notification(&f, cases[i].time, cases[i].position, 3);
        tear_down(&f, NULL);
    }
}

static void test_16_notify_by_position(struct fixture *f, gconstpointer data)
{
    (void)data;
    check_notification(f, INF, 7, 2);
}

static void test_17_queued_notification_waits_for_a_later_pass(struct fixture *f,
                                                               gconstpointer data)
{
    (void)data;
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    notify_queue(f->world, f->x, "v", INF);
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, "BC.A A:9-10 AC.A ip-A rdyA AR.A ->F");
    request(f->world, f->x, "B", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+B BR.B BC.B B:1-4 AC.B ->T");
    world_expect(f->world, "BC.B B:5-8 AC.B ->T");
    world_expect(f->world, "BC.B B:9-10 AC.B ip-B rdyB AR.B N(v) ->F");
}

static void test_18_notify_current_without_a_pass(struct fixture *f, gconstpointer data)
{
    (void)data;
    request(f->world, f->x, "A", FM_REQUEST_QUEUED); /* queued, not running */
    g_assert_false(fm_background_notify_current(f->world->engine, f, f->x, INF, NULL,
                                                world_notify(f->world, "v")));
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, "BC.A A:9-10 AC.A ip-A rdyA AR.A ->F");
}

static void test_19_owner_withdraws(struct fixture *f, gconstpointer data)
{
    (void)data;
    struct fm_engine *engine = f->world->engine;
    struct fm_trace *y = world_open(f->world, "y", eight_events);
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    fm_background_notify_queue(engine, f, f->x, INF, NULL, world_notify(f->world, "mine"));
    world_expect_background(f->world, f->x, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    fm_background_notify_queue(engine, f, f->x, INF, NULL, world_notify(f->world, "mine"));
    fm_background_notify_queue(engine, f, y, INF, NULL, world_notify(f->world, "mine"));
    g_assert_true(fm_background_notify_current(engine, engine, f->x, INF, NULL,
                                               world_notify(f->world, "other")));
    fm_background_notify_remove(engine, f);
    world_expect_background(f->world, f->x, "BC.A A:5-8 AC.A ->T");
    world_expect_background(f->world, f->x, "BC.A A:9-10 AC.A ip-A rdyA AR.A N(other) ->F");
}

static void request_other(struct world *world, struct label *label)
{
    request(world, label->trace, label->argument, FM_REQUEST_QUEUED);
}

static void test_20_request_from_a_callback(struct fixture *f, gconstpointer data)
{
    (void)data;
    f->a->act = request_other;
    f->a->argument = "B";
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, "BC.A A:9-10 AC.A ip-A rdyA AR.A ->T");
    world_expect(f->world, "ip+B BR.B BC.B B:1-4 AC.B ->T");
}

static void request_refused(struct world *world, struct label *label)
{
    request(world, label->trace, label->argument, FM_REQUEST_NO_MODULE);
}

/* What is asked for while all is thrown away would be thrown away, too: it is refused. */
static void test_request_while_all_is_discarded(struct fixture *f, gconstpointer data)
{
    (void)data;
    f->a->act = request_refused;
    f->a->argument = "B";
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    fm_background_discard(f->world->engine, f->x);
    world_expect_log(f->world, "ip-A AR.A");
    f->a->act = NULL;
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T"); /* it was wanted, and is again */
}

static void test_21_unknown_module(struct fixture *f, gconstpointer data)
{
    (void)data;
    request(f->world, f->x, "Z", FM_REQUEST_NO_MODULE);
    g_assert_false(fm_engine_has_work(f->world->engine));
}

/* --- a trace that arrives --- */

static enum fm_trace_growth growth_now;

static enum fm_trace_growth tell_growth(const struct fm_trace *trace)
{
    (void)trace;
    return growth_now;
}

/* A pass does not end before the trace has, does nothing while it waits, and goes on. */
static void test_waits_for_what_arrives(struct fixture *f, gconstpointer data)
{
    static const struct fm_trace_class arriving = {.format = "test", .growth = tell_growth};
    struct fm_engine *engine = f->world->engine;
    (void)data;
    f->x->class_ = &arriving;
    growth_now = FM_TRACE_SEARCHED; /* what is found may be earlier: nothing begins */
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, "->F");
    g_assert_false(fm_engine_has_work(engine));
    g_assert_false(fm_background_is_in_progress(f->x, "A"));
    growth_now = FM_TRACE_ARRIVING;
    fm_engine_trace_grown(engine, f->x, FM_TIME_INF);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, "BC.A A:9-10 AC.A ->F");
    g_assert_true(fm_background_is_in_progress(f->x, "A"));
    g_assert_false(fm_engine_has_work(engine));
    world_expect(f->world, "->F");
    growth_now = FM_TRACE_WHOLE;
    fm_engine_trace_grown(engine, f->x, 10);
    world_expect(f->world, "BC.A AC.A ip-A rdyA AR.A ->F");
    f->x->class_ = NULL;
}

static void test_24_trace_closed_mid_pass(struct fixture *f, gconstpointer data)
{
    (void)data;
    struct fm_trace *y = world_open(f->world, "y", ten_events);
    f->b->trace = y;
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    request(f->world, y, "B", FM_REQUEST_QUEUED);
    notify_queue(f->world, f->x, "v", INF);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    world_expect(f->world, "ip+B BR.B BC.B B:1-4 AC.B ->T");
    fm_engine_close(f->world->engine, f->x);
    world_expect_log(f->world, "ip-A AR.A"); /* once, with ready false */
    g_assert_cmpuint(f->world->closed, ==, 1);
    world_expect(f->world, "BC.B B:5-8 AC.B ->T");
    world_expect(f->world, "BC.B B:9-10 AC.B ip-B rdyB AR.B ->F");
}

static struct fm_engine_reader *open_reader(struct world *world, const char *name,
                                            const struct memory_event *events)
{
    g_autoptr(GError) error = NULL;
    struct fm_engine_reader *reader = fm_engine_reader_new(world->engine);
    g_assert_true(fm_engine_reader_add_trace(reader, world_file(world, name, events), &error));
    g_assert_no_error(error);
    return reader;
}

static struct fm_engine_reader *reader_of(struct fixture *f)
{
    g_autoptr(GError) error = NULL;
    struct fm_engine_reader *reader = fm_engine_reader_new(f->world->engine);
    g_assert_true(fm_engine_reader_add_trace(reader, f->x->path, &error));
    g_assert_no_error(error);
    return reader;
}

static void test_25_foreground_first(struct fixture *f, gconstpointer data)
{
    (void)data;
    struct fm_engine_reader *reader = open_reader(f->world, "y", eight_events);
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    g_assert_true(fm_engine_reader_request(reader, world_request(f->world, "V", 1, INF)));
    world_expect(f->world, "BR.V BC.V V:1-4 AC.V ->T");
    world_expect(f->world, "BC.V V:5-8 AC.V AR.V ->T");
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, "BC.A A:9-10 AC.A ip-A rdyA AR.A ->F");
}

static void test_26_cursor_is_shared(struct fixture *f, gconstpointer data)
{
    (void)data;
    struct fm_engine_reader *reader = reader_of(f);
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    fm_engine_reader_request(reader, world_request(f->world, "V", 7, 9));
    world_expect(f->world, "BR.V BC.V V:7-8 AC.V AR.V ->T");
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, "BC.A A:9-10 AC.A ip-A rdyA AR.A ->F");
}

static void test_27_lock_refused(struct fixture *f, gconstpointer data)
{
    (void)data;
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    g_assert_cmpint(fm_trace_lock(f->x), ==, 0);
    g_assert_cmpint(fm_trace_lock(f->x), ==, -1);
    g_assert_true(fm_background_step(f->world->engine, f->x));
    g_assert_cmpstr(f->world->log->str, ==, "");
    g_assert_cmpint(fm_trace_unlock(f->x), ==, 0);
    g_assert_cmpint(fm_trace_unlock(f->x), ==, -1);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
}

static void test_28_hook_says_stop(struct fixture *f, gconstpointer data)
{
    (void)data;
    f->a->stop_at = "2";
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    world_expect(f->world, "ip+A BR.A BC.A A:1-2 AC.A ->T");
    world_expect(f->world, "BC.A A:3-6 AC.A ->T");
    world_expect(f->world, "BC.A A:7-10 AC.A ip-A rdyA AR.A ->F");
}

static void test_29_disable_nests(struct fixture *f, gconstpointer data)
{
    (void)data;
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    fm_engine_disable(f->world->engine);
    fm_engine_disable(f->world->engine);
    world_expect(f->world, "->T");
    world_expect_background(f->world, f->x, "->T");
    fm_engine_enable(f->world->engine);
    world_expect(f->world, "->T");
    fm_engine_enable(f->world->engine);
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
}

static unsigned waiting;

static void count_down(struct world *world, struct label *label)
{
    (void)label;
    if (--waiting == 0)
        g_string_append(world->log, "redraw ");
}

static struct fm_hooks *waiting_notify(struct world *world, const char *name)
{
    struct fm_hooks *hooks = world_notify(world, name);
    struct label *label = g_ptr_array_index(world->labels, world->labels->len - 1);
    label->act = count_down;
    return hooks;
}

static void test_30_two_traces_alternate(struct fixture *f, gconstpointer data)
{
    (void)data;
    struct fm_trace *y = world_open(f->world, "y", eight_events);
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    request(f->world, y, "A", FM_REQUEST_QUEUED);
    waiting = 2;
    fm_background_notify_queue(f->world->engine, f, f->x, INF, NULL, waiting_notify(f->world, "x"));
    fm_background_notify_queue(f->world->engine, f, y, INF, NULL, waiting_notify(f->world, "y"));
    f->a->trace = NULL; /* one label for two traces: no flags in the log */
    world_expect(f->world, "BR.A BC.A A:1-4 AC.A ->T");
    world_expect(f->world, "BR.A BC.A A:1-4 AC.A ->T");
    g_assert_true(fm_background_is_in_progress(f->x, "A") && fm_background_is_in_progress(y, "A"));
    world_expect(f->world, "BC.A A:5-8 AC.A ->T");
    world_expect(f->world, "BC.A A:5-8 AC.A AR.A N(y) ->T");
    g_assert_true(fm_background_is_ready(y, "A"));
    g_assert_false(fm_background_is_ready(f->x, "A"));
    world_expect(f->world, "BC.A A:9-10 AC.A AR.A N(x) redraw ->F");
}

static void test_background_share_gives_one_step_after_n(struct fixture *f, gconstpointer data)
{
    (void)data;
    struct fm_engine_reader *reader = reader_of(f);
    fm_engine_set_background_share(f->world->engine, 2);
    fm_engine_set_chunk(f->world->engine, 2);
    request(f->world, f->x, "A", FM_REQUEST_QUEUED);
    fm_engine_reader_request(reader, world_request(f->world, "V", 1, INF));
    world_expect(f->world, "BR.V BC.V V:1-2 AC.V ->T");
    world_expect(f->world, "BC.V V:3-4 AC.V ->T");
    world_expect(f->world, "ip+A BR.A BC.A A:1-2 AC.A ->T");
    world_expect(f->world, "BC.V V:5-6 AC.V ->T");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define SCENARIO(name, function) \
    g_test_add("/background/" name, struct fixture, NULL, set_up, function, tear_down)
    SCENARIO("01", test_01_single_request);
    g_test_add_func("/background/02", test_02_exact_multiple);
    g_test_add_func("/background/03", test_03_empty_trace);
    SCENARIO("04", test_04_two_viewers_before_start);
    SCENARIO("05", test_05_same_module_in_progress);
    SCENARIO("06", test_06_already_ready);
    SCENARIO("07", test_07_two_modules_in_one_read);
    SCENARIO("08", test_08_other_module_mid_pass);
    SCENARIO("09", test_09_several_arrivals_share_the_next_pass);
    SCENARIO("10", test_10_shared_hook_is_called_once_an_event);
    SCENARIO("11", test_11_shared_adder_once_a_pass);
    SCENARIO("12", test_12_notify_by_time);
    SCENARIO("13", test_13_notify_on_the_boundary);
    SCENARIO("14", test_14_notify_after_the_chunk);
    g_test_add_func("/background/15", test_15_notify_after_the_end);
    SCENARIO("16", test_16_notify_by_position);
    SCENARIO("17", test_17_queued_notification_waits_for_a_later_pass);
    SCENARIO("18", test_18_notify_current_without_a_pass);
    SCENARIO("19", test_19_owner_withdraws);
    SCENARIO("20", test_20_request_from_a_callback);
    SCENARIO("discard-request", test_request_while_all_is_discarded);
    SCENARIO("21", test_21_unknown_module);
    SCENARIO("waits", test_waits_for_what_arrives);
    SCENARIO("24", test_24_trace_closed_mid_pass);
    SCENARIO("25", test_25_foreground_first);
    SCENARIO("26", test_26_cursor_is_shared);
    SCENARIO("27", test_27_lock_refused);
    SCENARIO("28", test_28_hook_says_stop);
    SCENARIO("29", test_29_disable_nests);
    SCENARIO("30", test_30_two_traces_alternate);
    SCENARIO("share", test_background_share_gives_one_step_after_n);
    return g_test_run();
}
