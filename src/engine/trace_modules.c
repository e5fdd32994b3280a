/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/trace_modules.h"

#include "base/worker.h"
#include "trace/clock/synchronize.h"
#include "trace/format/open.h"
#include "trace/segments/segments.h"
#include "trace/state/tape.h"
#include "trace/statistics/statistics.h"
#include "trace/summary/summary.h"

/* With fewer, reading the trace again is cheaper than a file of saved states. */
enum { SAVE_CHECKPOINTS_MIN = 8 };

/* --- hooks shared by the computations of a pass --- */

static struct fm_trace *trace_of(void *call_data)
{
    const struct fm_context *context = call_data;
    return context->traces[0].trace;
}

static struct fm_state *pass_state(const struct fm_trace *trace)
{
    return fm_attributes_get(trace->attributes, "pass/state");
}

static void each_tracefile(void *call_data, fm_hook_function *function, void *data,
                           unsigned priority, bool add)
{
    const struct fm_context *context = call_data;
    for (unsigned i = 0; i < context->traces[0].tracefile_count; i++) {
        struct fm_hooks *hooks = context->traces[0].tracefiles[i].event_hooks;
        if (add)
            fm_hooks_add(hooks, function, data, priority);
        else
            fm_hooks_remove(hooks, function, data);
    }
}

static void free_state(void *state)
{
    fm_state_free(state);
}

/* Added once a pass, whatever the number of modules: hooks with the same function and data are
 * one. */
static bool add_state(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    struct fm_state *state = fm_state_new(trace);
    fm_attributes_set(trace->attributes, "pass/state", state, NULL);
    each_tracefile(call_data, fm_state_hook, state, FM_HOOK_STATE, true);
    return false;
}

static struct fm_tape *pass_tape(const struct fm_trace *trace)
{
    return fm_attributes_get(trace->attributes, "pass/tape");
}

/* A second thread may be reading the tape: after this, nothing reads it. */
static void drop_tape(struct fm_trace *trace)
{
    fm_tape_free(pass_tape(trace));
    fm_attributes_remove(trace->attributes, "pass/tape");
}

static void drop_state(struct fm_trace *trace)
{
    struct fm_state *state = pass_state(trace);
    drop_tape(trace);
    fm_attributes_remove(trace->attributes, "pass/state");
    if (state != fm_attributes_get(trace->attributes, "summary/state"))
        fm_state_free(state);
}

static bool remove_state(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    each_tracefile(call_data, fm_state_hook, pass_state(trace), FM_HOOK_STATE, false);
    if (pass_tape(trace) != NULL)
        each_tracefile(call_data, fm_tape_hook, pass_tape(trace), FM_HOOK_DEFAULT, false);
    drop_state(trace);
    return false;
}

/* For a computation that does not need the state: it reads events from the tape, which all such
 * computations share. */
static void take_from_tape(void *call_data, fm_tape_take *take, void *user)
{
    struct fm_trace *trace = trace_of(call_data);
    if (pass_tape(trace) == NULL) {
        struct fm_tape *tape = fm_tape_new(pass_state(trace), fm_worker_pays());
        fm_attributes_set(trace->attributes, "pass/tape", tape, NULL);
        each_tracefile(call_data, fm_tape_hook, tape, FM_HOOK_DEFAULT, true);
    }
    fm_tape_add(pass_tape(trace), take, user);
}

/* --- following a trace that is being written --- */

/* Up to where a pass has read. */
static uint64_t read_until(const struct fm_context *context)
{
    const struct fm_trace *trace = context->traces[0].trace;
    return context->queue_count == 0 ? trace->end_time
                                     : MIN(fm_context_time(context), trace->end_time);
}

static bool publish_checkpoints(void *hook_data, void *call_data)
{
    (void)hook_data;
    fm_checkpoints_follow(fm_attributes_get(trace_of(call_data)->attributes, "state/checkpoints"),
                          true);
    return false;
}

/* A viewer that asks has a copy made: fm_engine_statistics_so_far(). */
static bool publish_statistics(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    fm_tape_drain(pass_tape(trace));
    uint64_t *until = g_new(uint64_t, 1);
    *until = read_until(call_data);
    fm_attributes_set(trace->attributes, "statistics/until", until, g_free);
    return false;
}

struct fm_statistics *fm_engine_statistics_so_far(struct fm_trace *trace, uint64_t *ret_until)
{
    const struct fm_statistics *all = fm_attributes_get(trace->attributes, "statistics/statistics");
    const uint64_t *until = fm_attributes_get(trace->attributes, "statistics/until");
    if (all == NULL || until == NULL || pass_state(trace) == NULL)
        return NULL;
    *ret_until = *until;
    return fm_statistics_so_far(all, pass_state(trace), *until);
}

typedef void forget_result(struct fm_trace *trace, void *user);

/* An aborted pass leaves no result. */
static bool after_pass(struct fm_trace *trace, const char *name, forget_result *forget)
{
    if (fm_background_is_ready(trace, name))
        return false;
    if (pass_state(trace) != NULL)
        drop_state(trace);
    forget(trace, NULL);
    return false;
}

/* --- summary --- */

static void forget_summary(struct fm_trace *trace, void *user)
{
    (void)user;
    fm_attributes_remove(trace->attributes, "summary/summary");
    fm_attributes_remove(trace->attributes, "summary/state");
}

static void free_summary(void *summary)
{
    fm_summary_free(summary);
}

static bool add_summary(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    forget_summary(trace, NULL);
    struct fm_summary *summary = fm_summary_new(trace, FM_SUMMARY_BUDGET);
    fm_attributes_set(trace->attributes, "summary/summary", summary, free_summary);
    take_from_tape(call_data, fm_summary_take, summary);
    return false;
}

static void free_state(void *state);

/* The state goes on; what is open in it is shown up to where it is known. */
static bool publish_summary(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    fm_tape_drain(pass_tape(trace));
    fm_summary_show_open(fm_attributes_get(trace->attributes, "summary/summary"), pass_state(trace),
                         read_until(call_data));
    if (fm_attributes_get(trace->attributes, "summary/state") == NULL)
        fm_attributes_set(trace->attributes, "summary/state", pass_state(trace), free_state);
    return false;
}

static bool remove_summary(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    struct fm_summary *summary = fm_attributes_get(trace->attributes, "summary/summary");
    struct fm_state *state = pass_state(trace);
    (void)hook_data;
    fm_tape_end(pass_tape(trace), trace->end_time);
    fm_summary_hide_open(summary);
    fm_summary_end(summary, trace->end_time);
    if (fm_attributes_get(trace->attributes, "summary/state") == NULL)
        fm_attributes_set(trace->attributes, "summary/state", state, free_state);
    return false;
}

static bool after_summary(void *hook_data, void *call_data)
{
    (void)hook_data;
    return after_pass(trace_of(call_data), "summary", forget_summary);
}

/* --- statistics --- */

static void forget_statistics(struct fm_trace *trace, void *user)
{
    (void)user;
    fm_attributes_remove(trace->attributes, "statistics/statistics");
    fm_attributes_remove(trace->attributes, "statistics/until");
}

static void free_statistics(void *statistics)
{
    fm_statistics_free(statistics);
}

static bool add_statistics(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    struct fm_statistics *statistics = fm_statistics_new(pass_state(trace));
    fm_attributes_set(trace->attributes, "statistics/statistics", statistics, free_statistics);
    take_from_tape(call_data, fm_statistics_take, statistics);
    return false;
}

static bool remove_statistics(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    fm_tape_end(pass_tape(trace), trace->end_time);
    fm_attributes_remove(trace->attributes, "statistics/until");
    return false;
}

static bool after_statistics(void *hook_data, void *call_data)
{
    (void)hook_data;
    return after_pass(trace_of(call_data), "statistics", forget_statistics);
}

/* --- segments --- */

static void forget_segments(struct fm_trace *trace, void *user)
{
    (void)user;
    fm_attributes_remove(trace->attributes, "segments/segments");
}

static void free_segments(void *segments)
{
    fm_segments_free(segments);
}

static bool add_segments(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    struct fm_segments *segments = fm_segments_new(trace, FM_SEGMENTS_BUDGET);
    fm_attributes_set(trace->attributes, "segments/segments", segments, free_segments);
    take_from_tape(call_data, fm_segments_take, segments);
    return false;
}

static bool publish_segments(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    fm_tape_drain(pass_tape(trace));
    fm_segments_show_open(fm_attributes_get(trace->attributes, "segments/segments"),
                          pass_state(trace), read_until(call_data));
    return false;
}

static bool remove_segments(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    fm_segments_hide_open(fm_attributes_get(trace->attributes, "segments/segments"));
    fm_tape_end(pass_tape(trace), trace->end_time);
    return false;
}

static bool after_segments(void *hook_data, void *call_data)
{
    (void)hook_data;
    return after_pass(trace_of(call_data), "segments", forget_segments);
}

/* --- state --- */

static void free_checkpoints(void *checkpoints)
{
    fm_checkpoints_free(checkpoints);
}

static void forget_states(struct fm_trace *trace, void *user)
{
    (void)user;
    fm_attributes_remove(trace->attributes, "state/checkpoints");
}

/* Saved states have the times of the recording, so they fit only a trace whose times are not
 * shifted. */
static bool is_as_recorded(const struct fm_trace *trace)
{
    struct fm_correction correction = fm_trace_correction(trace);
    return correction.drift == 1 && correction.offset_ns == 0;
}

bool fm_engine_load_states(struct fm_trace *trace)
{
    if (fm_attributes_has(trace->attributes, "state/looked"))
        return fm_attributes_has(trace->attributes, "state/saved") &&
               fm_attributes_has(trace->attributes, "state/checkpoints");
    fm_attributes_set(trace->attributes, "state/looked", NULL, NULL);
    GError *error = NULL;
    bool saved = !fm_trace_grows(trace) && is_as_recorded(trace);
    struct fm_checkpoints *checkpoints =
        saved ? fm_checkpoints_read(trace, FM_STATE_BUDGET, &error) : NULL;
    if (error != NULL)
        fm_attributes_set(trace->attributes, "state/damage", g_strdup(error->message), g_free);
    g_clear_error(&error);
    if (checkpoints == NULL)
        return false;
    fm_attributes_set(trace->attributes, "state/checkpoints", checkpoints, free_checkpoints);
    fm_attributes_set(trace->attributes, "state/saved", NULL, NULL);
    return true;
}

static bool add_checkpoints(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    fm_attributes_set(trace->attributes, "state/looked", NULL, NULL);
    fm_attributes_remove(trace->attributes, "state/saved");
    struct fm_checkpoints *checkpoints = fm_checkpoints_new(trace, FM_STATE_BUDGET);
    fm_attributes_set(trace->attributes, "state/checkpoints", checkpoints, free_checkpoints);
    fm_checkpoints_record(checkpoints, pass_state(trace));
    /* Sees the state before the event. */
    each_tracefile(call_data, fm_checkpoints_hook, checkpoints, FM_HOOK_STATE - 1, true);
    return false;
}

static bool remove_checkpoints(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    struct fm_checkpoints *checkpoints = fm_attributes_get(trace->attributes, "state/checkpoints");
    (void)hook_data;
    each_tracefile(call_data, fm_checkpoints_hook, checkpoints, FM_HOOK_STATE - 1, false);
    fm_checkpoints_record(checkpoints, NULL);
    fm_checkpoints_follow(checkpoints, false);
    fm_checkpoints_end(checkpoints, trace->end_time);
    return false;
}

static bool after_state(void *hook_data, void *call_data)
{
    struct fm_trace *trace = trace_of(call_data);
    (void)hook_data;
    struct fm_checkpoints *checkpoints = fm_attributes_get(trace->attributes, "state/checkpoints");
    if (!fm_background_is_ready(trace, "state"))
        return after_pass(trace, "state", forget_states);
    GError *error = NULL;
    if (fm_checkpoints_count(checkpoints) >= SAVE_CHECKPOINTS_MIN && !fm_trace_grows(trace) &&
        is_as_recorded(trace) && !fm_checkpoints_write(checkpoints, &error))
        g_clear_error(&error); /* not needed: it is computed again the next time */
    return false;
}

/* --- registering --- */

static struct fm_hooks *hooks_of(fm_hook_function *first, unsigned first_priority,
                                 fm_hook_function *second, unsigned second_priority)
{
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, first, NULL, first_priority);
    if (second != NULL)
        fm_hooks_add(hooks, second, NULL, second_priority);
    return hooks;
}

/* Registers a computation that reads all events with the shared state: add and remove run once a
 * pass, after when it ends or is aborted. */
static bool register_pass(struct fm_engine *engine, const char *name, fm_hook_function *add,
                          fm_hook_function *remove, fm_hook_function *publish,
                          fm_hook_function *after, forget_result *forget,
                          bool (*found)(struct fm_trace *trace))
{
    struct fm_computation computation = {
        .adder = hooks_of(add_state, FM_HOOK_STATE, add, FM_HOOK_DEFAULT),
        .remover = hooks_of(remove, FM_HOOK_DEFAULT, remove_state, FM_HOOK_LAST),
        .publish = hooks_of(publish, FM_HOOK_DEFAULT, NULL, 0),
        .after_request = hooks_of(after, FM_HOOK_DEFAULT, NULL, 0),
        .work = {.discard = forget},
        .found = found,
    };
    return fm_engine_register_computation(engine, name, &computation);
}

static bool init_summary(struct fm_engine *engine, GError **error)
{
    (void)error;
    return register_pass(engine, "summary", add_summary, remove_summary, publish_summary,
                         after_summary, forget_summary, NULL);
}

static const struct fm_schedule_module summary_module = {
    .name = "summary",
    .description = "boxes and counts of the whole trace, for drawing at any zoom",
    .init = init_summary,
};

static bool init_state(struct fm_engine *engine, GError **error)
{
    (void)error;
    return register_pass(engine, "state", add_checkpoints, remove_checkpoints, publish_checkpoints,
                         after_state, forget_states, fm_engine_load_states);
}

static const struct fm_schedule_module state_module = {
    .name = "state",
    .description = "states saved along the trace, so that any time is reached at once",
    .init = init_state,
};

static bool init_statistics(struct fm_engine *engine, GError **error)
{
    (void)error;
    return register_pass(engine, "statistics", add_statistics, remove_statistics,
                         publish_statistics, after_statistics, forget_statistics, NULL);
}

static const struct fm_schedule_module statistics_module = {
    .name = "statistics",
    .description = "the statistics tree of the whole trace",
    .init = init_statistics,
};

static bool init_segments(struct fm_engine *engine, GError **error)
{
    (void)error;
    return register_pass(engine, "segments", add_segments, remove_segments, publish_segments,
                         after_segments, forget_segments, NULL);
}

static const struct fm_schedule_module segments_module = {
    .name = "segments",
    .description = "every segment and arrow, for totals of areas, durations and what waited",
    .init = init_segments,
};

static const struct fm_schedule_module *const modules[] = {&state_module, &statistics_module,
                                                           &summary_module, &segments_module, NULL};

bool fm_engine_modules_load(struct fm_engine *engine, GError **error)
{
    fm_engine_add_modules(engine, modules);
    for (unsigned i = 0; modules[i] != NULL; i++) {
        if (!fm_engine_require(engine, modules[i]->name, error))
            return false;
    }
    return true;
}
