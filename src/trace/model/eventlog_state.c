/* SPDX-License-Identifier: Apache-2.0 */
/* Event logs: what programs in C and in Haskell have in common, and who handles the rest. */
#include <string.h>

#include "trace/model/eventlog_state_haskell.h"

/* --- process, names, messages --- */

/* The log was taken for a Haskell program's until now. */
static void become_native(struct fm_state *state, struct eventlog_model *model, uint64_t time)
{
    if (model->native)
        return;
    model->native = true;
    for (uint32_t i = 0; i < model->capability_count; i++) {
        struct capability *capability = &model->capabilities[i];
        if (capability->lane != FM_LANE_NONE)
            fm_state_lane_end(state, fm_state_lane_at(state, capability->lane), time);
        capability->lane = FM_LANE_NONE;
    }
}

static void rts_identifier(struct happening *at)
{
    uint32_t length = at->event->payload_size - 4;
    if (length < 6 || memcmp(text_at(at, 4), "fathom", 6) != 0)
        return;
    at->names->native = true;
    become_native(at->state, at->model, at->time);
}

static void program_args(struct happening *at)
{
    const char *name = text_at(at, 4);
    size_t length = strnlen(name, at->event->payload_size - 4);
    const char *slash = memrchr(name, '/', length);
    if (slash != NULL) {
        length -= (size_t)(slash + 1 - name);
        name = slash + 1;
    }
    at->model->process_name =
        fm_trace_value_bytes(at->state->trace, name, length, FM_STATE_UNKNOWN);
    if (at->model->process != FM_LANE_NONE)
        fm_state_lane_rename(at->state, fm_eventlog_process(at),
                             fm_trace_value_name(at->state->trace, at->model->process_name));
}

static void process_id(struct happening *at)
{
    fm_eventlog_process_begin(at, u32_at(at, 4));
}

static void intern_string(struct happening *at)
{
    uint32_t length = at->event->payload_size - 4;
    fm_eventlog_set_text(at->names, u32_at(at, length), text_at(at, 0), length);
}

static void message(struct happening *at)
{
    struct fm_lane *lane = fm_eventlog_lane_here(at);
    set_event_lane(at, lane);
    fm_state_mark(at->state, lane,
                  fm_eventlog_message_value(at->names, text_at(at, 0), at->event->payload_size),
                  at->time);
}

static void binary_message(struct happening *at)
{
    struct fm_lane *lane = fm_eventlog_lane_here(at);
    fm_state_mark(at->state, lane, at->names->message, at->time);
}

static void thread_label(struct happening *at)
{
    struct fm_lane *lane = fm_state_lane_find(at->state, FM_LANE_THREAD, u32_at(at, 0));
    if (lane == NULL) { /* it has ended, or was created before the log begins */
        if (at->state->complete)
            fm_state_count_inconsistent(at->state);
        else
            lane = fm_eventlog_thread(at, u32_at(at, 0));
    }
    if (lane == NULL)
        return;
    uint32_t name = fm_trace_value_bytes(at->state->trace, text_at(at, 4),
                                         at->event->payload_size - 4, FM_STATE_UNKNOWN);
    fm_state_lane_rename(at->state, lane, fm_trace_value_name(at->state->trace, name));
}

/* --- heap --- */

/* Haskell: by each capability for itself; C: of the whole program, by any of its threads. */
static void heap_allocated(struct happening *at)
{
    struct eventlog_model *model = at->model;
    uint32_t number = at->capability == NULL || model->native ? 0 : at->capability_number;
    struct capability *capability = fm_eventlog_capability(model, number);
    uint64_t allocated = u64_at(at, 4);
    model->allocated += allocated - capability->allocated;
    capability->allocated = allocated;
    fm_eventlog_heap_number(at, HEAP_ALLOCATED, "allocated", (double)model->allocated);
}

static void heap_size(struct happening *at)
{
    fm_eventlog_heap_number(at, HEAP_SIZE, "heap size", (double)u64_at(at, 4));
}

static void heap_live(struct happening *at)
{
    fm_eventlog_heap_number(at, HEAP_LIVE, "live", (double)u64_at(at, 4));
}

static const struct event_rule common_rules[] = {
    [FM_EVENTLOG_MESSAGE] = {message, 0},
    [FM_EVENTLOG_USER_MESSAGE] = {message, 0},
    [FM_EVENTLOG_RTS_IDENTIFIER] = {rts_identifier, 4},
    [FM_EVENTLOG_PROGRAM_ARGS] = {program_args, 4},
    [FM_EVENTLOG_OS_PROCESS_PID] = {process_id, 8},
    [FM_EVENTLOG_INTERN_STRING] = {intern_string, 4},
    [FM_EVENTLOG_THREAD_LABEL] = {thread_label, 4},
    [FM_EVENTLOG_HEAP_ALLOCATED] = {heap_allocated, 12},
    [FM_EVENTLOG_HEAP_SIZE] = {heap_size, 12},
    [FM_EVENTLOG_HEAP_LIVE] = {heap_live, 12},
    [FM_EVENTLOG_USER_MARKER] = {message, 0},
    [FM_EVENTLOG_USER_BINARY_MESSAGE] = {binary_message, 0},
};

static const struct event_rule *find_rule(bool native, uint32_t number)
{
    if (number < G_N_ELEMENTS(common_rules) && common_rules[number].handle != NULL)
        return &common_rules[number];
    if (native || (number >= FM_EVENTLOG_SPAN_BEGIN && number < DECLARED_FIRST)) {
        const struct event_rule *rule = fm_eventlog_rule_c(number);
        if (rule != NULL)
            return rule;
    }
    return fm_eventlog_rule_haskell(number);
}

/* Cached results of find_rule(), which each event needs. */
static const struct event_rule *found_rules[2][DECLARED_END];

static void find_rules(void)
{
    static gsize found;
    if (!g_once_init_enter(&found))
        return;
    for (uint32_t number = 0; number < DECLARED_END; number++) {
        found_rules[false][number] = find_rule(false, number);
        found_rules[true][number] = find_rule(true, number);
    }
    g_once_init_leave(&found, 1);
}

/* --- the model --- */

static void *model_new(struct fm_state *state)
{
    struct eventlog_model *model = g_new0(struct eventlog_model, 1);
    find_rules();
    model->names = fm_eventlog_names(state->trace);
    /* Read from the begin it is told in time. */
    model->native = !state->complete && model->names->native;
    model->process = model->collector = model->sweeper = FM_LANE_NONE;
    model->asynchronous = fm_eventlog_asynchronous_new();
    model->heap_bands = g_array_new(false, false, sizeof(uint32_t));
    return model;
}

static void *model_copy(const void *data)
{
    const struct eventlog_model *from = data;
    struct eventlog_model *model = g_memdup2(from, sizeof *from);
    model->capabilities =
        g_memdup2(from->capabilities, from->capability_count * sizeof(struct capability));
    if (from->samples != NULL)
        model->samples = g_memdup2(from->samples, (from->sample_mask + 1) * sizeof(struct sample));
    model->asynchronous = fm_eventlog_asynchronous_new(); /* model_restored fills it */
    model->heap_bands = g_array_copy(from->heap_bands);
    return model;
}

static void model_free(void *data)
{
    struct eventlog_model *model = data;
    g_free(model->capabilities);
    g_free(model->samples);
    g_hash_table_unref(model->asynchronous);
    g_array_unref(model->heap_bands);
    g_free(model);
}

/* Finds the lane of an event whose handler did not say. */
static void place(struct happening *at)
{
    const struct capability *capability = at->capability;
    uint32_t index = at->model->process;
    if (capability != NULL) {
        index = at->model->native                     ? capability->owner
                : capability->running != FM_LANE_NONE ? capability->running
                                                      : capability->lane;
    }
    at->state->event_lane = index;
}

static void handle_event(struct fm_state *state, void *data, const struct fm_tracefile_context *in)
{
    struct eventlog_model *model = data;
    const struct fm_event *event = &in->event;
    struct happening at = {.state = state,
                           .model = model,
                           .names = model->names,
                           .event = event,
                           .tracefile = in->tracefile,
                           .capability_number = UINT32_MAX,
                           .time = event->time};
    if (!model->native && event->id >= FM_EVENTLOG_SPAN_BEGIN &&
        event->id <= FM_EVENTLOG_SPAN_DETAIL_REAL)
        become_native(state, model, event->time);
    if (event->cpu >= 0) {
        at.capability_number = (uint32_t)event->cpu;
        at.capability = fm_eventlog_capability(model, at.capability_number);
    }
    const struct event_rule *rule = event->id < DECLARED_END ? found_rules[model->native][event->id]
                                                             : find_rule(model->native, event->id);
    if (rule != NULL && event->payload_size >= rule->least)
        rule->handle(&at);
    else if (rule != NULL)
        fm_state_count_inconsistent(state);
    if (state->event_lane == FM_LANE_NONE) {
        if (event->cpu >= 0) /* the array may have grown */
            at.capability = fm_eventlog_capability(model, at.capability_number);
        place(&at);
    }
}

const struct fm_state_model fm_state_model_eventlog = {
    .name = "eventlog",
    .model_new = model_new,
    .model_copy = model_copy,
    .model_free = model_free,
    .model_write = fm_eventlog_model_write,
    .model_read = fm_eventlog_model_read,
    .model_restored = fm_eventlog_model_restored,
    .shared_write = fm_eventlog_names_write,
    .shared_read = fm_eventlog_names_read,
    .event = handle_event,
};
