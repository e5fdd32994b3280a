/* SPDX-License-Identifier: Apache-2.0 */
/* Any events produce some state; any bytes are saved states, or rejected. The first byte chooses.
 * Even: events follow (time step w8, lane s8, number w16 big-endian, length w8, payload). Odd: a
 * file of saved states without its checksum, of a trace without events. */
#include <stdlib.h>
#include <string.h>

#include "eventlog/reader/eventlog.h"
#include "trace/state/checkpoint_internal.h"
#include "trace/statistics/statistics.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct stream {
    const uint8_t *bytes;
    size_t size;
    size_t at;
    uint64_t time; /* before the event at the cursor */
    bool defines;  /* defines names: a name used before its definition differs the second time */
};

static bool peek(struct fm_tracefile *tracefile, struct fm_event *ret)
{
    const struct stream *stream = tracefile->implementation;
    const uint8_t *event = stream->bytes + stream->at;
    if (stream->size - stream->at < 5 || stream->size - stream->at - 5 < event[4])
        return false;
    *ret = (struct fm_event){.time = stream->time + event[0],
                             .cpu = (int8_t)event[1],
                             .id = (uint32_t)(event[2] << 8 | event[3]),
                             .payload_size = event[4],
                             .payload = event + 5};
    return true;
}

static void advance(struct fm_tracefile *tracefile)
{
    struct stream *stream = tracefile->implementation;
    struct fm_event event;
    if (!peek(tracefile, &event))
        return;
    stream->time = event.time;
    stream->defines |= event.id == FM_EVENTLOG_INTERN_STRING || event.id == FM_EVENTLOG_MODULE ||
                       event.id == FM_EVENTLOG_HEAP_PROF_COST_CENTRE;
    stream->at += 5 + event.payload_size;
}

static void seek_time(struct fm_tracefile *tracefile, uint64_t time)
{
    struct stream *stream = tracefile->implementation;
    struct fm_event event;
    stream->at = 0;
    stream->time = 0;
    while (peek(tracefile, &event) && event.time < time)
        advance(tracefile);
}

static uint64_t tell(struct fm_tracefile *tracefile)
{
    return ((const struct stream *)tracefile->implementation)->at;
}

static void seek(struct fm_tracefile *tracefile, uint64_t time, uint64_t location)
{
    const struct stream *stream = tracefile->implementation;
    seek_time(tracefile, time);
    while (stream->at < location && stream->at < stream->size) {
        size_t before = stream->at;
        advance(tracefile);
        if (stream->at == before)
            break;
    }
}

static const struct fm_tracefile_class class_ = {
    .peek = peek, .advance = advance, .seek_time = seek_time, .tell = tell, .seek = seek};

static struct fm_context *read_all(struct fm_trace *trace, const struct fm_chunk_hooks *hooks,
                                   uint64_t end)
{
    struct fm_context *context = fm_context_new(&trace, 1);
    fm_context_seek_time(context, 0);
    fm_context_begin(context, hooks, -1);
    fm_context_middle(context, end, UINT64_MAX, NULL);
    return context;
}

/* A restored checkpoint must equal the state that was read. */
static void compare(const struct fm_state *a, const struct fm_state *b)
{
    if (fm_state_lane_count(a) != fm_state_lane_count(b) ||
        fm_state_inconsistent(a) != fm_state_inconsistent(b))
        abort();
    for (uint32_t i = 0; i < fm_state_lane_count(a); i++) {
        const struct fm_lane *x = fm_state_lane(a, i), *y = fm_state_lane(b, i);
        if (x->kind != y->kind || x->key != y->key || x->depth != y->depth ||
            x->ended != y->ended || x->hidden != y->hidden || x->has_number != y->has_number ||
            memcmp(x->model, y->model, sizeof x->model) != 0)
            abort();
        for (uint32_t j = 0; j < x->depth; j++) {
            const struct fm_state_entry *e = &x->stack[j], *f = &y->stack[j];
            if (e->value != f->value || e->since != f->since || e->detail != f->detail ||
                e->nested != f->nested)
                abort();
        }
    }
}

static void read_events(struct fm_trace *trace, const struct stream *stream)
{
    struct fm_state *state = fm_state_new(trace);
    struct fm_statistics *statistics = fm_statistics_new(state);
    struct fm_checkpoints *checkpoints = fm_checkpoints_new(trace, 10000);
    struct fm_chunk_hooks hooks = {.event = fm_hooks_new()};
    fm_checkpoints_set_interval(checkpoints, 5);
    fm_checkpoints_record(checkpoints, state);
    fm_state_add_observer(state, fm_statistics_observer(statistics));
    fm_hooks_add(hooks.event, fm_checkpoints_hook, checkpoints, FM_HOOK_STATE - 1);
    fm_hooks_add(hooks.event, fm_state_hook, state, FM_HOOK_STATE);
    fm_hooks_add(hooks.event, fm_statistics_hook, statistics, FM_HOOK_DEFAULT);
    fm_context_free(read_all(trace, &hooks, FM_TIME_INF));
    fm_hooks_free(hooks.event);
    fm_state_flush(state, UINT64_MAX, fm_statistics_observer(statistics));
    fm_statistics_root(statistics);
    fm_checkpoints_end(checkpoints, UINT64_MAX - 1);
    struct fm_state *again = fm_state_new(trace);
    hooks.event = fm_hooks_new();
    fm_hooks_add(hooks.event, fm_state_hook, again, FM_HOOK_STATE);
    struct fm_context *context = read_all(trace, &hooks, 0);
    fm_checkpoints_restore(checkpoints, context, UINT64_MAX - 1, again);
    fm_context_middle(context, FM_TIME_INF, UINT64_MAX, NULL);
    if (!stream->defines)
        compare(state, again);
    fm_context_free(context);
    fm_hooks_free(hooks.event);
    fm_state_free(again);
    fm_checkpoints_free(checkpoints);
    fm_statistics_free(statistics);
    fm_state_free(state);
}

static void read_saved(struct fm_trace *trace, const uint8_t *bytes, size_t size)
{
    GError *error = NULL;
    struct fm_checkpoints *checkpoints =
        fm_checkpoints_parse(trace, bytes, size, NULL, "input", 1 << 20, &error);
    if (checkpoints != NULL && error != NULL)
        abort();
    g_clear_error(&error);
    if (checkpoints == NULL)
        return;
    struct fm_state *state = fm_state_new(trace);
    struct fm_context *context = fm_context_new(&trace, 1);
    for (uint64_t time = 1; time != 0; time <<= 3)
        fm_checkpoints_restore(checkpoints, context, time, state);
    fm_checkpoints_thin(checkpoints);
    fm_checkpoints_restore(checkpoints, context, FM_TIME_INF, state);
    fm_context_free(context);
    fm_state_free(state);
    fm_checkpoints_free(checkpoints);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    bool saved = bytes[0] & 1;
    struct stream stream = {.bytes = bytes + 1, .size = saved ? 0 : size - 1};
    struct fm_trace *trace = fm_trace_new("input", "0:0");
    trace->state_model = &fm_state_model_eventlog;
    fm_trace_add_tracefile(trace, &class_, "input", "eventlog", -1, &stream);
    trace->end_time = UINT64_MAX - 1;
    if (saved)
        read_saved(trace, bytes + 1, size - 1);
    else
        read_events(trace, &stream);
    fm_trace_free(trace);
    return 0;
}
