/* SPDX-License-Identifier: Apache-2.0 */
/* The computations of an event log on the engine: one pass for all, broken off, done again. */
#include "engine/trace_modules.h"

#include <glib/gstdio.h>

#include "eventlog_maker.h"
#include "trace/format/open.h"
#include "trace/state/state.h"
#include "trace/statistics/statistics.h"
#include "trace/summary/summary.h"

static const struct maker_options options = {
    .capabilities = 3, .blocks = 4, .events = 500, .step_ns = 1000, .seed = 3};
enum { EVENTS = 3 * 4 * 500 };

static struct fm_trace *open_trace(const char *path, const char *identity, void *user,
                                   GError **error)
{
    (void)user;
    return fm_trace_open(path, identity, error);
}

static struct fm_engine *new_engine(void)
{
    GError *error = NULL;
    struct fm_engine *engine = fm_engine_new(open_trace, NULL);
    g_assert_true(fm_engine_modules_load(engine, &error));
    g_assert_no_error(error);
    fm_engine_set_chunk(engine, 100);
    return engine;
}

static char *make_file(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    maker_log(bytes, &options);
    return maker_file(bytes);
}

static void request_all(struct fm_engine *engine, struct fm_trace *trace)
{
    g_assert_cmpint(fm_background_request(engine, trace, "state"), ==, FM_REQUEST_QUEUED);
    g_assert_cmpint(fm_background_request(engine, trace, "statistics"), ==, FM_REQUEST_QUEUED);
    g_assert_cmpint(fm_background_request(engine, trace, "summary"), ==, FM_REQUEST_QUEUED);
}

static unsigned run(struct fm_engine *engine, unsigned steps_max)
{
    unsigned steps = 0;
    while (steps < steps_max && fm_engine_has_work(engine)) {
        fm_engine_step(engine);
        steps++;
        g_assert_cmpstr(fm_engine_check(engine), ==, NULL);
    }
    return steps;
}

static void check_results(struct fm_engine *engine, struct fm_trace *trace)
{
    g_assert_true(fm_background_is_ready(trace, "state"));
    g_assert_true(fm_background_is_ready(trace, "statistics"));
    g_assert_true(fm_background_is_ready(trace, "summary"));
    g_assert_cmpint(fm_background_request(engine, trace, "summary"), ==, FM_REQUEST_READY);
    struct fm_summary *summary = fm_attributes_get(trace->attributes, "summary/summary");
    struct fm_statistics *statistics =
        fm_attributes_get(trace->attributes, "statistics/statistics");
    const struct fm_state *state = fm_attributes_get(trace->attributes, "summary/state");
    struct fm_checkpoints *checkpoints = fm_attributes_get(trace->attributes, "state/checkpoints");
    g_assert_true(fm_checkpoints_is_complete(checkpoints));
    g_assert_cmpuint(fm_summary_events(summary, 0, UINT64_MAX), ==, EVENTS);
    g_assert_cmpuint(fm_summary_known_until(summary), ==, trace->end_time);
    g_assert_cmpuint(fm_statistics_root(statistics)->all_events, ==, EVENTS);
    /* Each lane of the summary is one of the state's. */
    g_autoptr(GArray) lanes = fm_summary_lanes(summary, 0, UINT64_MAX);
    g_assert_cmpuint(lanes->len, >, 0);
    for (guint i = 0; i < lanes->len; i++)
        g_assert_cmpuint(g_array_index(lanes, uint32_t, i), <, fm_state_lane_count(state));
    struct fm_picture picture = {
        .start = trace->start_time, .end = trace->end_time + 1, .columns = 100};
    fm_summary_draw(summary, NULL, 0, &picture, 5000);
    g_assert_cmpuint(picture.boxes->len, >, 0);
    uint64_t events = 0;
    for (guint i = 0; i < picture.events->len; i++)
        events += g_array_index(picture.events, uint32_t, i);
    g_assert_cmpuint(events, ==, EVENTS);
    fm_picture_done(&picture);
    g_assert_null(fm_attributes_get(trace->attributes, "pass/state"));
}

static void test_one_pass_serves_all(void)
{
    GError *error = NULL;
    char *path = make_file();
    struct fm_engine *engine = new_engine();
    struct fm_trace *trace = fm_engine_open(engine, path, &error);
    g_assert_no_error(error);
    request_all(engine, trace);
    /* One pass: as many steps as one needs. */
    g_assert_cmpuint(run(engine, 10000), <=, EVENTS / 100 + 2);
    check_results(engine, trace);
    fm_engine_close(engine, trace);
    fm_engine_free(engine);
    maker_remove(path);
}

static void test_one_after_the_other(void)
{
    GError *error = NULL;
    char *path = make_file();
    struct fm_engine *engine = new_engine();
    struct fm_trace *trace = fm_engine_open(engine, path, &error);
    g_assert_no_error(error);
    static const char *const modules[] = {"summary", "statistics", "state"};
    for (unsigned i = 0; i < G_N_ELEMENTS(modules); i++) {
        g_assert_true(fm_background_run(engine, trace, modules[i], NULL, &error));
        g_assert_no_error(error);
    }
    check_results(engine, trace);
    fm_engine_close(engine, trace);
    fm_engine_free(engine);
    maker_remove(path);
}

static void test_closed_and_discarded_in_mid_pass(void)
{
    GError *error = NULL;
    char *path = make_file();
    struct fm_engine *engine = new_engine();
    struct fm_trace *trace = fm_engine_open(engine, path, &error);
    g_assert_no_error(error);
    request_all(engine, trace);
    run(engine, 20);
    g_assert_true(fm_background_is_in_progress(trace, "summary"));
    fm_engine_close(engine, trace); /* nothing leaks: the sanitizer's build tells */
    trace = fm_engine_open(engine, path, &error);
    g_assert_no_error(error);
    request_all(engine, trace);
    run(engine, 20);
    fm_background_discard(engine, trace);
    g_assert_null(fm_attributes_get(trace->attributes, "summary/summary"));
    g_assert_null(fm_attributes_get(trace->attributes, "state/checkpoints"));
    g_assert_null(fm_attributes_get(trace->attributes, "statistics/statistics"));
    run(engine, 10000); /* what was asked for is asked for again */
    check_results(engine, trace);
    fm_background_discard(engine, trace);
    g_assert_false(fm_background_is_ready(trace, "summary"));
    request_all(engine, trace);
    run(engine, 10000);
    check_results(engine, trace);
    fm_engine_close(engine, trace);
    fm_engine_free(engine);
    maker_remove(path);
}

static bool paint(void *painter, void *at)
{
    return fm_painter_hook(painter, at);
}

/* Painting all of it ad hoc, while the pass waits, gives the sums of the summary. */
static void test_the_ad_hoc_picture_is_that_of_the_summary(void)
{
    GError *error = NULL;
    char *path = make_file();
    struct fm_engine *engine = new_engine();
    struct fm_engine_reader *reader = fm_engine_reader_new(engine);
    g_assert_true(fm_engine_reader_add_trace(reader, path, &error));
    struct fm_trace *trace = fm_engine_reader_context(reader)->traces[0].trace;
    struct fm_state *state = fm_state_new(trace);
    struct fm_painter *painter =
        fm_painter_new(state, trace->start_time, trace->end_time + 1, 100, 5000);
    fm_state_add_observer(state, fm_painter_observer(painter));
    struct fm_events_request *request = fm_events_request_new(reader);
    request->start_time = 0;
    request->chunk.event = fm_hooks_new();
    fm_hooks_add(request->chunk.event, fm_state_hook, state, FM_HOOK_STATE);
    fm_hooks_add(request->chunk.event, paint, painter, FM_HOOK_DEFAULT);
    request_all(engine, trace);
    g_assert_true(fm_engine_reader_request(reader, request));
    run(engine, 10000);
    check_results(engine, trace);
    struct fm_summary *summary = fm_attributes_get(trace->attributes, "summary/summary");
    struct fm_picture painted,
        drawn = {.start = trace->start_time, .end = trace->end_time + 1, .columns = 100};
    fm_painter_picture(painter, trace->end_time, NULL, 0, &painted);
    fm_summary_draw(summary, NULL, 0, &drawn, 5000);
    uint64_t in_painted = 0, in_drawn = 0;
    for (guint i = 0; i < painted.boxes->len; i++)
        in_painted += g_array_index(painted.boxes, struct fm_box, i).count;
    for (guint i = 0; i < drawn.boxes->len; i++)
        in_drawn += g_array_index(drawn.boxes, struct fm_box, i).count;
    g_assert_cmpuint(in_painted, ==, in_drawn);
    g_assert_cmpuint(painted.events->len, ==, drawn.events->len);
    fm_picture_done(&painted);
    fm_picture_done(&drawn);
    fm_painter_free(painter);
    fm_engine_reader_free(reader);
    fm_state_free(state);
    fm_engine_free(engine);
    maker_remove(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trace-modules/one-pass", test_one_pass_serves_all);
    g_test_add_func("/trace-modules/one-by-one", test_one_after_the_other);
    g_test_add_func("/trace-modules/broken-off", test_closed_and_discarded_in_mid_pass);
    g_test_add_func("/trace-modules/ad-hoc", test_the_ad_hoc_picture_is_that_of_the_summary);
    return g_test_run();
}
