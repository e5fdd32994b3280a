/* SPDX-License-Identifier: Apache-2.0 */
#include "event_trace.h"

#include <stdarg.h>
#include <string.h>

struct listed {
    uint64_t time;
    int lane;
    uint32_t id, at, size; /* at: in bytes */
};

struct event_list {
    GArray *events; /* of struct listed */
    GByteArray *bytes;
};

struct event_list *event_list_new(void)
{
    struct event_list *list = g_new0(struct event_list, 1);
    list->events = g_array_new(false, false, sizeof(struct listed));
    list->bytes = g_byte_array_new();
    return list;
}

void event_list_free(struct event_list *list)
{
    g_array_unref(list->events);
    g_byte_array_unref(list->bytes);
    g_free(list);
}

static void add_integer(GByteArray *bytes, uint64_t value, unsigned width)
{
    uint64_t big = GUINT64_TO_BE(value);
    g_byte_array_append(bytes, (const uint8_t *)&big + 8 - width, width);
}

void event_add(struct event_list *list, uint64_t time, int lane, unsigned id, const char *fields,
               ...)
{
    struct listed event = {.time = time, .lane = lane, .id = id, .at = list->bytes->len};
    va_list arguments;
    va_start(arguments, fields);
    for (; *fields != '\0'; fields++) {
        if (*fields == 's' || *fields == 'z') {
            const char *text = va_arg(arguments, const char *);
            g_byte_array_append(list->bytes, (const uint8_t *)text,
                                (guint)strlen(text) + (*fields == 'z'));
        } else {
            add_integer(list->bytes, va_arg(arguments, uint64_t), (unsigned)(*fields - '0'));
        }
    }
    va_end(arguments);
    event.size = list->bytes->len - event.at;
    g_array_append_val(list->events, event);
}

uint64_t event_list_count(const struct event_list *list)
{
    return list->events->len;
}

/* --- the tracefile --- */

struct stream {
    const struct event_list *list;
    uint64_t cursor;
};

static const struct listed *event_at(const struct stream *stream, uint64_t index)
{
    return &g_array_index(stream->list->events, struct listed, index);
}

static bool peek(struct fm_tracefile *tracefile, struct fm_event *ret)
{
    const struct stream *stream = tracefile->implementation;
    if (stream->cursor >= stream->list->events->len)
        return false;
    const struct listed *event = event_at(stream, stream->cursor);
    *ret = (struct fm_event){.time = event->time,
                             .id = event->id,
                             .cpu = event->lane,
                             .payload_size = event->size,
                             .payload = stream->list->bytes->data + event->at};
    return true;
}

static void advance(struct fm_tracefile *tracefile)
{
    ((struct stream *)tracefile->implementation)->cursor++;
}

static void seek_time(struct fm_tracefile *tracefile, uint64_t time)
{
    struct stream *stream = tracefile->implementation;
    uint64_t low = 0, high = stream->list->events->len;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (event_at(stream, middle)->time < time)
            low = middle + 1;
        else
            high = middle;
    }
    stream->cursor = low;
}

static uint64_t tell(struct fm_tracefile *tracefile)
{
    return ((const struct stream *)tracefile->implementation)->cursor;
}

static void seek(struct fm_tracefile *tracefile, uint64_t time, uint64_t location)
{
    (void)time;
    ((struct stream *)tracefile->implementation)->cursor = location;
}

static void free_stream(struct fm_tracefile *tracefile)
{
    g_free(tracefile->implementation);
}

static const char *event_name(struct fm_tracefile *tracefile, uint32_t id)
{
    (void)tracefile;
    return id >= 640 && id < 896 ? "request" : NULL;
}

static const struct fm_tracefile_class event_class = {
    .event_name = event_name,
    .peek = peek,
    .advance = advance,
    .seek_time = seek_time,
    .tell = tell,
    .seek = seek,
    .free = free_stream,
};

struct fm_trace *event_list_trace(const struct event_list *list)
{
    struct fm_trace *trace = fm_trace_new("memory", "0:0");
    trace->state_model = &fm_state_model_eventlog;
    struct stream *stream = g_new0(struct stream, 1);
    stream->list = list;
    if (list->events->len > 0) {
        trace->start_time = event_at(stream, 0)->time;
        trace->end_time = event_at(stream, list->events->len - 1)->time;
    }
    fm_trace_add_tracefile(trace, &event_class, "memory", "eventlog", -1, stream);
    return trace;
}

/* --- the recorder --- */

static void add_lane(GString *lines, const struct fm_lane *lane)
{
    char plain[64];
    if (lane->kind == FM_LANE_LOCK)
        g_snprintf(plain, sizeof plain, "lock 0x%" G_GINT64_MODIFIER "x", lane->key);
    else
        g_snprintf(plain, sizeof plain, "%s %" G_GUINT64_FORMAT, fm_lane_kind_name(lane->kind),
                   lane->key);
    if (strcmp(plain, lane->name) == 0)
        g_string_append(lines, plain);
    else
        g_string_append_printf(lines, "%s \"%s\"", fm_lane_kind_name(lane->kind), lane->name);
}

static void lane_added(void *user, const struct fm_lane *lane)
{
    struct recorder *recorder = user;
    g_string_append(recorder->lines, "+ ");
    add_lane(recorder->lines, lane);
    g_string_append_c(recorder->lines, '\n');
}

static void segment(void *user, const struct fm_lane *lane, uint32_t depth,
                    const struct fm_state_entry *entry, uint64_t end)
{
    struct recorder *recorder = user;
    add_lane(recorder->lines, lane);
    g_string_append_printf(recorder->lines, ":%u %s %" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT "\n",
                           depth, fm_trace_value_name(recorder->trace, entry->value), entry->since,
                           end);
}

static void number(void *user, const struct fm_lane *lane, uint64_t time, double value)
{
    struct recorder *recorder = user;
    add_lane(recorder->lines, lane);
    g_string_append_printf(recorder->lines, " = %g @%" G_GUINT64_FORMAT "\n", value, time);
}

static void mark(void *user, const struct fm_lane *lane, uint64_t time, uint32_t value)
{
    struct recorder *recorder = user;
    g_string_append(recorder->lines, "! ");
    add_lane(recorder->lines, lane);
    g_string_append_printf(recorder->lines, " %s @%" G_GUINT64_FORMAT "\n",
                           fm_trace_value_name(recorder->trace, value), time);
}

static void arrow(void *user, const struct fm_lane *from, uint64_t from_time,
                  const struct fm_lane *to, uint64_t to_time)
{
    struct recorder *recorder = user;
    add_lane(recorder->lines, from);
    g_string_append_printf(recorder->lines, " @%" G_GUINT64_FORMAT " -> ", from_time);
    add_lane(recorder->lines, to);
    g_string_append_printf(recorder->lines, " @%" G_GUINT64_FORMAT "\n", to_time);
}

void recorder_init(struct recorder *recorder, struct fm_trace *trace)
{
    *recorder = (struct recorder){
        .observer = {.user = recorder,
                     .lane_added = lane_added,
                     .segment = segment,
                     .number = number,
                     .mark = mark,
                     .arrow = arrow},
        .trace = trace,
        .lines = g_string_new(NULL),
    };
}

void recorder_clear(struct recorder *recorder)
{
    g_string_free(recorder->lines, true);
}

struct fm_state *read_state(struct fm_trace *trace, struct recorder *recorder)
{
    struct fm_state *state = fm_state_new(trace);
    if (recorder != NULL)
        fm_state_add_observer(state, &recorder->observer);
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, fm_state_hook, state, FM_HOOK_STATE);
    fm_trace_each_event(trace, 0, FM_TIME_INF, hooks);
    return state;
}

char *describe_state(const struct fm_state *state)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < fm_state_lane_count(state); i++) {
        const struct fm_lane *lane = fm_state_lane(state, i);
        g_string_append_printf(text, "%u ", i);
        add_lane(text, lane);
        g_string_append_printf(text, " parent %d born %" G_GUINT64_FORMAT, (int)lane->parent,
                               lane->born);
        if (lane->ended)
            g_string_append(text, " ended");
        if (lane->has_number)
            g_string_append_printf(text, " = %.17g", lane->number);
        if (lane->hidden > 0)
            g_string_append_printf(text, " hidden %u", lane->hidden);
        for (unsigned j = 0; j < G_N_ELEMENTS(lane->model); j++)
            g_string_append_printf(text, " m%" G_GUINT64_FORMAT, lane->model[j]);
        for (uint32_t d = 0; d < lane->depth; d++) {
            const struct fm_state_entry *entry = &lane->stack[d];
            g_string_append_printf(
                text, " [%s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "]",
                fm_trace_value_name(fm_state_trace(state), entry->value), entry->since,
                entry->detail, entry->nested);
        }
        g_string_append_c(text, '\n');
    }
    g_string_append_printf(text, "inconsistent %" G_GUINT64_FORMAT " hidden %" G_GUINT64_FORMAT,
                           fm_state_inconsistent(state), fm_state_hidden(state));
    return g_string_free(text, false);
}
