/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios 36 to 54 of the schedulers: events at 10,20a,20b,30,40,50,60,70; chunks of 3 unless
 * said. */
#include <unistd.h>

#include "world.h"

#define INF FM_TIME_INF

static const struct memory_event events[] = {
    {10, 0, "10"}, {20, 0, "20a"}, {20, 1, "20b"}, {30, 0, "30"}, {40, 0, "40"},
    {50, 0, "50"}, {60, 0, "60"},  {70, 0, "70"},  {0, 0, NULL},
};
static const struct memory_event other_events[] = {
    {15, 0, "15"},
    {35, 0, "35"},
    {55, 0, "55"},
    {0, 0, NULL},
};

struct fixture {
    struct world *world;
    struct fm_engine_reader *reader;
};

static void add_trace(struct fixture *f, struct fm_engine_reader *reader, const char *name,
                      const struct memory_event *trace_events)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(
        fm_engine_reader_add_trace(reader, world_file(f->world, name, trace_events), &error));
    g_assert_no_error(error);
}

static void set_up(struct fixture *f, gconstpointer data)
{
    (void)data;
    f->world = world_new(3);
    f->reader = fm_engine_reader_new(f->world->engine);
    add_trace(f, f->reader, "x", events);
}

static void tear_down(struct fixture *f, gconstpointer data)
{
    (void)data;
    world_free(f->world);
}

static struct fm_events_request *submit(struct fixture *f, const char *name, uint64_t start,
                                        uint64_t end)
{
    struct fm_events_request *request = world_request(f->world, name, start, end);
    g_assert_true(fm_engine_reader_request(f->reader, request));
    return request;
}

static void test_36_interval(struct fixture *f, gconstpointer data)
{
    (void)data;
    submit(f, "V", 20, 50);
    world_expect(f->world, "BR.V BC.V V:20a-30 AC.V ->T");
    world_expect(f->world, "BC.V V:40 AC.V AR.V ->F");
}

static void test_37_overlap(struct fixture *f, gconstpointer data)
{
    (void)data;
    fm_engine_set_chunk(f->world->engine, 100);
    submit(f, "V1", 10, 50);
    submit(f, "V2", 30, 70);
    world_expect(f->world, "BR.V1 BC.V1 V1:10-20b AC.V1 ->T");
    world_expect(f->world, "BC.V1 BR.V2 BC.V2 V1:30 V2:30 V1:40 V2:40 AC.V1 AR.V1 AC.V2 ->T");
    world_expect(f->world, "BC.V2 V2:50-60 AC.V2 AR.V2 ->F");
}

static void test_38_disjoint(struct fixture *f, gconstpointer data)
{
    (void)data;
    submit(f, "V1", 10, 20);
    submit(f, "V2", 60, 70);
    world_expect(f->world, "BR.V1 BC.V1 V1:10 AC.V1 AR.V1 ->T");
    world_expect(f->world, "BR.V2 BC.V2 V2:60 AC.V2 AR.V2 ->F");
}

static void test_39_count(struct fixture *f, gconstpointer data)
{
    (void)data;
    submit(f, "V", 20, INF)->num_events = 4;
    world_expect(f->world, "BR.V BC.V V:20a-30 AC.V ->T");
    world_expect(f->world, "BC.V V:40 AC.V AR.V ->F");
}

static void test_40_count_among_equal_times(struct fixture *f, gconstpointer data)
{
    (void)data;
    submit(f, "V", 20, INF)->num_events = 1;
    world_expect(f->world, "BR.V BC.V V:20a AC.V AR.V ->F");
    struct fm_events_request *next = world_request(f->world, "W", INF, INF);
    next->start_position = fm_context_save_position(fm_engine_reader_context(f->reader));
    next->num_events = 1;
    g_assert_true(fm_engine_reader_request(f->reader, next));
    world_expect(f->world, "BR.W BC.W W:20b AC.W AR.W ->F");
}

static void test_41_stop_flag(struct fixture *f, gconstpointer data)
{
    (void)data;
    fm_engine_set_chunk(f->world->engine, 100);
    world_label_of(submit(f, "V1", 10, INF))->stop_at = "30";
    submit(f, "V2", 10, 50);
    world_expect(f->world, "BR.V1 BC.V1 BR.V2 BC.V2 V1:10 V2:10 V1:20a V2:20a V1:20b V2:20b "
                           "V1:30 V2:30 AC.V1 AR.V1 AC.V2 ->T");
    world_expect(f->world, "BC.V2 V2:40 AC.V2 AR.V2 ->F");
}

static void test_42_true_without_flag(struct fixture *f, gconstpointer data)
{
    (void)data;
    struct label *label = world_label_of(submit(f, "V", 10, 50));
    label->stop_at = "20a";
    label->request = NULL;
    world_expect(f->world, "BR.V BC.V V:10-20a AC.V ->T");
    world_expect(f->world, "BC.V V:20b-40 AC.V AR.V ->F");
}

static void test_43_end_of_traceset(struct fixture *f, gconstpointer data)
{
    (void)data;
    submit(f, "V", 50, INF);
    world_expect(f->world, "BR.V BC.V V:50-70 AC.V AR.V ->F");
    submit(f, "W", 1000, INF); /* begins after the end */
    world_expect(f->world, "BR.W BC.W AC.W AR.W ->F");
}

static void test_44_empty_interval(struct fixture *f, gconstpointer data)
{
    (void)data;
    submit(f, "V", 35, 35);
    world_expect(f->world, "BR.V BC.V AC.V AR.V ->F");
    submit(f, "W", 20, INF)->num_events = 0;
    world_expect(f->world, "BR.W BC.W AC.W AR.W ->F");
}

static void test_45_start_without_an_event(struct fixture *f, gconstpointer data)
{
    (void)data;
    fm_engine_set_chunk(f->world->engine, 100);
    submit(f, "V1", 10, 70);
    submit(f, "V2", 35, 60);
    world_expect(f->world, "BR.V1 BC.V1 V1:10-30 AC.V1 ->T");
    world_expect(f->world, "BC.V1 BR.V2 BC.V2 V1:40 V2:40 V1:50 V2:50 AC.V1 AC.V2 AR.V2 ->T");
    world_expect(f->world, "BC.V1 V1:60 AC.V1 AR.V1 ->F");
}

static void test_46_earlier_request_arrives(struct fixture *f, gconstpointer data)
{
    (void)data;
    fm_engine_set_chunk(f->world->engine, 1);
    submit(f, "V1", 40, 70);
    world_expect(f->world, "BR.V1 BC.V1 V1:40 AC.V1 ->T");
    submit(f, "V2", 10, 60);
    world_expect(f->world, "BR.V2 BC.V2 V2:10 AC.V2 ->T");
    world_expect(f->world, "BC.V2 V2:20a AC.V2 ->T");
    world_expect(f->world, "BC.V2 V2:20b AC.V2 ->T");
    world_expect(f->world, "BC.V2 V2:30 AC.V2 ->T");
    world_expect(f->world, "BC.V2 V2:40 AC.V2 ->T");
    world_expect(f->world, "BC.V1 BC.V2 V1:50 V2:50 AC.V1 AC.V2 AR.V2 ->T");
    world_expect(f->world, "BC.V1 V1:60 AC.V1 AR.V1 ->F");
}

static void test_47_withdrawal_between_chunks(struct fixture *f, gconstpointer data)
{
    (void)data;
    struct fm_events_request *request = submit(f, "V", 20, 50);
    void *owner = request->owner;
    world_expect(f->world, "BR.V BC.V V:20a-30 AC.V ->T");
    fm_engine_reader_remove_all(f->reader, owner);
    g_assert_false(fm_engine_has_work(f->world->engine));
    world_expect(f->world, "->F");
}

static void test_48_withdrawal_of_one_of_two(struct fixture *f, gconstpointer data)
{
    (void)data;
    void *owner = submit(f, "V1", 10, 60)->owner;
    submit(f, "V2", 10, 60);
    world_expect(f->world,
                 "BR.V1 BC.V1 BR.V2 BC.V2 V1:10 V2:10 V1:20a V2:20a V1:20b V2:20b AC.V1 AC.V2 ->T");
    fm_engine_reader_remove_all(f->reader, owner);
    world_expect(f->world, "BC.V2 V2:30-50 AC.V2 AR.V2 ->F");
}

static bool withdraw_other(void *hook_data, void *call_data)
{
    struct fm_events_request *request = hook_data;
    struct label *label = request->owner;
    const struct fm_tracefile_context *context = call_data;
    if (context->event.time == 20)
        fm_engine_reader_remove_all(request->viewer_data, label);
    return false;
}

static void test_withdrawal_from_inside_a_hook(struct fixture *f, gconstpointer data)
{
    (void)data;
    fm_engine_set_chunk(f->world->engine, 100);
    struct fm_events_request *request = submit(f, "V", 10, 60);
    request->viewer_data = f->reader;
    fm_hooks_add(request->chunk.event, withdraw_other, request, FM_HOOK_FIRST);
    submit(f, "W", 10, 40);
    /* V's event hooks are not called any more, its after-chunk hooks are, after_request is not. */
    world_expect(f->world, "BR.V BC.V BR.W BC.W V:10 W:10-30 AC.V AC.W AR.W ->F");
}

struct withdrawal {
    struct fm_engine_reader *reader;
    const void *owner;
};

static bool withdraw(void *hook_data, void *call_data)
{
    const struct withdrawal *withdrawal = hook_data;
    (void)call_data;
    fm_engine_reader_remove_all(withdrawal->reader, withdrawal->owner);
    return false;
}

/* What was withdrawn before it began is not called at all. */
static void test_withdrawal_of_one_that_begins_next(struct fixture *f, gconstpointer data)
{
    (void)data;
    fm_engine_set_chunk(f->world->engine, 100);
    struct withdrawal withdrawal = {.reader = f->reader};
    struct fm_events_request *first = submit(f, "V", 10, 30);
    fm_hooks_add(first->before_request, withdraw, &withdrawal, FM_HOOK_DEFAULT);
    withdrawal.owner = submit(f, "W", 10, 40)->owner;
    world_expect(f->world, "BR.V BC.V V:10-20b AC.V AR.V ->F");
}

static void test_49_stop_button(struct fixture *f, gconstpointer data)
{
    (void)data;
    submit(f, "V1", 10, 60);
    submit(f, "V2", 40, 60);
    world_expect(f->world, "BR.V1 BC.V1 V1:10-20b AC.V1 ->T");
    fm_engine_reader_stop(f->reader);
    world_expect(f->world, "->F");
}

static bool count_call(void *hook_data, void *call_data)
{
    unsigned *count = hook_data;
    (void)call_data;
    ++*count;
    return false;
}

static struct fm_hooks *counting_hooks(unsigned *count)
{
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, count_call, count, FM_HOOK_DEFAULT);
    return hooks;
}

static void test_50_one_trace_of_two(struct fixture *f, gconstpointer data)
{
    (void)data;
    unsigned before = 0, after = 0;
    add_trace(f, f->reader, "y", other_events);
    struct fm_events_request *request = submit(f, "V", 10, INF);
    request->trace = 1;
    request->num_events = 6;
    request->chunk.before_trace = counting_hooks(&before);
    request->chunk.after_trace = counting_hooks(&after);
    world_expect(f->world, "BR.V BC.V V:15 AC.V ->T"); /* 10 15 20a are read */
    g_assert_cmpuint(before, ==, 1);
    g_assert_cmpuint(after, ==, 1);
    world_expect(f->world, "BC.V V:35 AC.V AR.V ->F"); /* 20b 30 35: six in all */
}

static void test_51_empty_traceset(struct fixture *f, gconstpointer data)
{
    (void)data;
    submit(f, "V", 10, 60);
    world_expect(f->world, "BR.V BC.V V:10-20b AC.V ->T");
    struct fm_context *context = fm_engine_reader_context(f->reader);
    fm_engine_reader_remove_trace(f->reader, context->traces[0].trace);
    world_expect(f->world, "AR.V ->F");
}

struct drawing {
    struct fixture *f;
    const char *modes;
};

static void redraw(struct world *world, struct label *label)
{
    struct drawing *drawing = (struct drawing *)(uintptr_t)label->argument;
    fm_engine_reader_remove_all(drawing->f->reader, label);
    g_string_append(world->log, "redraw ");
    submit(drawing->f, "again", 10, INF)->num_events = 1;
}

static void test_52_incomplete_then_redraw(struct fixture *f, gconstpointer data)
{
    (void)data;
    struct fm_trace *trace = fm_engine_reader_context(f->reader)->traces[0].trace;
    struct drawing drawing = {f, NULL};
    world_module(f->world, "state", trace);
    g_assert_cmpint(fm_background_request(f->world->engine, trace, "state"), ==, FM_REQUEST_QUEUED);
    struct fm_hooks *hooks = world_notify(f->world, "viewer");
    struct label *label = g_ptr_array_index(f->world->labels, f->world->labels->len - 1);
    label->act = redraw;
    label->argument = (const char *)&drawing;
    fm_background_notify_queue(f->world->engine, f, trace, INF, NULL, hooks);
    submit(f, "first", 10, INF)->num_events = 1;
    g_assert_false(fm_background_is_ready(trace, "state"));
    world_expect(f->world, "BR.first BC.first first:10 AC.first AR.first ->T");
    world_expect(f->world, "ip+state BR.state BC.state state:10-20b AC.state ->T");
    world_expect(f->world, "BC.state state:30-50 AC.state ->T");
    world_expect(f->world, "BC.state state:60-70 AC.state ip-state rdystate AR.state "
                           "N(viewer) redraw ->T");
    g_assert_true(fm_background_is_ready(trace, "state"));
    world_expect(f->world, "BR.again BC.again again:10 AC.again AR.again ->F");
}

static void test_53_one_instance_for_two_tabs(struct fixture *f, gconstpointer data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    struct fm_trace *trace = fm_engine_reader_context(f->reader)->traces[0].trace;
    struct fm_engine_reader *second = fm_engine_reader_new(f->world->engine);
    g_autofree char *link_path = g_build_filename(f->world->folder, "link", NULL);
    g_assert_cmpint(symlink(trace->path, link_path), ==, 0);
    g_assert_true(
        fm_engine_reader_add_trace(second, link_path, &error)); /* another spelling, same file */
    g_assert_true(fm_engine_reader_context(second)->traces[0].trace == trace);
    g_assert_cmpuint(fm_engine_references(f->world->engine, trace), ==, 2);
    g_assert_true(fm_engine_reader_add_trace(second, link_path, &error)); /* again: no effect */
    g_assert_cmpuint(fm_engine_references(f->world->engine, trace), ==, 2);
    fm_engine_reader_free(second);
    g_assert_cmpuint(f->world->closed, ==, 0);
    fm_engine_reader_free(f->reader);
    g_assert_cmpuint(f->world->closed, ==, 1);
    g_assert_cmpuint(f->world->opened, ==, 1);
    unlink(link_path);
    g_assert_null(fm_engine_open(f->world->engine, "/nonexistent/trace", &error));
    g_assert_nonnull(error);
}

static void test_54_position_before_time(struct fixture *f, gconstpointer data)
{
    (void)data;
    struct fm_context *context = fm_engine_reader_context(f->reader);
    submit(f, "T", 50, INF)->num_events = 1;
    struct fm_events_request *request = world_request(f->world, "P", INF, INF);
    fm_context_seek_time(context, 20);
    fm_context_middle(context, INF, 1, NULL); /* past 20a */
    request->start_position = fm_context_save_position(context);
    request->num_events = 1;
    fm_context_seek_time(context, 0);
    fm_context_save_sync(context);
    g_assert_true(fm_engine_reader_request(f->reader, request));
    world_expect(f->world, "BR.P BC.P P:20b AC.P AR.P ->T");
    world_expect(f->world, "BR.T BC.T T:50 AC.T AR.T ->F");
}

static void test_a_request_without_start_is_rejected(struct fixture *f, gconstpointer data)
{
    (void)data;
    g_assert_false(fm_engine_reader_request(f->reader, world_request(f->world, "V", INF, 60)));
    g_assert_cmpuint(fm_engine_reader_pending(f->reader), ==, 0);
}

static void test_hooks_by_id_see_their_events(struct fixture *f, gconstpointer data)
{
    (void)data;
    unsigned count = 0;
    struct fm_events_request *request = fm_events_request_new(f);
    request->start_time = 0;
    request->chunk.event_by_id = fm_hooks_by_id_new();
    fm_hooks_add(fm_hooks_by_id_get(request->chunk.event_by_id, "kernel", 1), count_call, &count,
                 FM_HOOK_DEFAULT);
    fm_hooks_add(fm_hooks_by_id_get(request->chunk.event_by_id, "fs", 0), count_call, &count,
                 FM_HOOK_DEFAULT);
    g_assert_true(fm_engine_reader_request(f->reader, request));
    while (fm_engine_step(f->world->engine))
        ;
    g_assert_cmpuint(count, ==, 1); /* 20b alone has id 1 in channel "kernel" */
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define SCENARIO(name, function) \
    g_test_add("/foreground/" name, struct fixture, NULL, set_up, function, tear_down)
    SCENARIO("36", test_36_interval);
    SCENARIO("37", test_37_overlap);
    SCENARIO("38", test_38_disjoint);
    SCENARIO("39", test_39_count);
    SCENARIO("40", test_40_count_among_equal_times);
    SCENARIO("41", test_41_stop_flag);
    SCENARIO("42", test_42_true_without_flag);
    SCENARIO("43", test_43_end_of_traceset);
    SCENARIO("44", test_44_empty_interval);
    SCENARIO("45", test_45_start_without_an_event);
    SCENARIO("46", test_46_earlier_request_arrives);
    SCENARIO("47", test_47_withdrawal_between_chunks);
    SCENARIO("48", test_48_withdrawal_of_one_of_two);
    SCENARIO("withdrawal-inside", test_withdrawal_from_inside_a_hook);
    SCENARIO("withdrawal-next", test_withdrawal_of_one_that_begins_next);
    SCENARIO("49", test_49_stop_button);
    SCENARIO("50", test_50_one_trace_of_two);
    SCENARIO("51", test_51_empty_traceset);
    SCENARIO("52", test_52_incomplete_then_redraw);
    SCENARIO("53", test_53_one_instance_for_two_tabs);
    SCENARIO("54", test_54_position_before_time);
    SCENARIO("no-start", test_a_request_without_start_is_rejected);
    SCENARIO("by-id", test_hooks_by_id_see_their_events);
    return g_test_run();
}
