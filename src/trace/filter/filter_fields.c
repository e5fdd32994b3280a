/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "trace/filter/filter_internal.h"

#define FIELD(path, type, source, help)                 \
    {                                                   \
        {path, FM_FILTER_##type, help}, SOURCE_##source \
    }

/* Ascending by path. */
const struct filter_field fm_filter_table[] = {
    FIELD("channel.name", TEXT, CHANNEL_NAME, "group of event types"),
    FIELD("event.category", TEXT, EVENT_CATEGORY, "kept for old filters: always true"),
    FIELD("event.cpu", NUMBER, EVENT_CPU, "CPU or capability that it happened on"),
    FIELD("event.field", FIELD, EVENT_FIELD,
          "a field of the event: event.field.NAME, .EVENT.NAME or .CHANNEL.EVENT.NAME"),
    FIELD("event.name", TEXT, EVENT_NAME, "EVENT, or CHANNEL.EVENT"),
    FIELD("event.subname", TEXT, EVENT_SUBNAME, "EVENT, without the channel"),
    FIELD("event.target_pid", NUMBER, EVENT_TARGET,
          "thread or process that it is about, else the one that runs"),
    FIELD("event.time", TIME, EVENT_TIME, "when it happened"),
    FIELD("event.tsc", NUMBER, EVENT_TSC, "its time stamp in ns, before clocks are corrected"),
    FIELD("lane.key", NUMBER, LANE_KEY, "number of the lane: thread, capability, CPU"),
    FIELD("lane.kind", WORD, LANE_KIND, "kind of the lane that the event belongs to"),
    FIELD("lane.name", TEXT, LANE_NAME, "name of the lane that the event belongs to"),
    FIELD("lane.process", TEXT, LANE_PROCESS, "process that the lane belongs to"),
    FIELD("segment.duration", TIME, SEGMENT_DURATION, "how long it takes"),
    FIELD("segment.end", TIME, SEGMENT_END, "when it ends"),
    FIELD("segment.level", NUMBER, SEGMENT_LEVEL, "number of segments that it lies in"),
    FIELD("segment.name", TEXT, SEGMENT_NAME, "name of the span or state"),
    FIELD("segment.self", TIME, SEGMENT_SELF, "its time without that of what lies in it"),
    FIELD("segment.start", TIME, SEGMENT_START, "when it begins"),
    FIELD("segment.state", WORD, SEGMENT_STATE, "what it means: span, running, waiting..."),
    FIELD("state.class", WORD, STATE_CLASS, "what the innermost state means"),
    FIELD("state.cpu", NUMBER, STATE_CPU, "CPU or capability of the running thread"),
    FIELD("state.creation_time", TIME, STATE_BORN, "when the running thread was first seen"),
    FIELD("state.depth", NUMBER, STATE_DEPTH, "number of states in each other on the lane"),
    FIELD("state.execution_mode", WORD, STATE_MODE, "mode of the running thread"),
    FIELD("state.execution_submode", TEXT, STATE_SUBMODE, "which system call, trap or interrupt"),
    FIELD("state.insertion_time", TIME, STATE_BORN, "when the running thread was first seen"),
    FIELD("state.pid", NUMBER, STATE_THREAD, "running thread, as schedulers number it"),
    FIELD("state.ppid", NUMBER, STATE_PARENT, "parent of the running process"),
    FIELD("state.process_name", TEXT, STATE_PROCESS_NAME, "name of the running process"),
    FIELD("state.process_status", WORD, STATE_STATUS, "status of the running thread"),
    FIELD("state.since", TIME, STATE_SINCE, "when the innermost state began"),
    FIELD("state.tgid", NUMBER, STATE_PROCESS, "running process"),
    FIELD("state.thread", NUMBER, STATE_THREAD, "running thread"),
    FIELD("state.thread_brand", TEXT, STATE_THREAD_BRAND, "name of the running thread"),
    FIELD("state.value", TEXT, STATE_VALUE, "innermost state of the event's lane"),
    FIELD("trace.name", TEXT, TRACE_NAME, "the trace's path, or its last part"),
    FIELD("tracefile.name", TEXT, TRACEFILE_NAME, "which stream of the trace"),
};
const size_t fm_filter_table_count = G_N_ELEMENTS(fm_filter_table);

const char *const fm_filter_operators[6] = {"=", "!=", "<", "<=", ">", ">="};

static const char *const modes[] = {"MODE_UNKNOWN", "USER_MODE", "SYSCALL", "TRAP",
                                    "IRQ",          "SOFTIRQ",   NULL};
static const char *const statuses[] = {"UNNAMED", "WAIT_FORK", "WAIT_CPU", "EXIT", "ZOMBIE",
                                       "WAIT",    "RUN",       "DEAD",     NULL};

const struct filter_field *fm_filter_field_find(const char *path)
{
    static const char dynamic[] = "event.field.";
    for (size_t i = 0; i < fm_filter_table_count; i++) {
        const struct filter_field *field = &fm_filter_table[i];
        if (field->source == SOURCE_EVENT_FIELD
                ? g_ascii_strncasecmp(path, dynamic, strlen(dynamic)) == 0 &&
                      path[strlen(dynamic)] != '\0'
                : g_ascii_strcasecmp(path, field->public.path) == 0)
            return field;
    }
    return NULL;
}

const char *fm_filter_word(enum filter_source source, unsigned index)
{
    switch (source) {
    case SOURCE_STATE_MODE:
        return modes[index];
    case SOURCE_STATE_STATUS:
        return statuses[index];
    case SOURCE_STATE_CLASS:
    case SOURCE_SEGMENT_STATE:
        return index < FM_STATE_CLASS_COUNT ? fm_state_class_name((enum fm_state_class)index)
                                            : NULL;
    case SOURCE_LANE_KIND:
        return index < FM_LANE_KIND_COUNT ? fm_lane_kind_name((enum fm_lane_kind)index) : NULL;
    default:
        return NULL;
    }
}

bool fm_filter_field_is_of(const struct filter_field *field, enum fm_filter_of of)
{
    if (field->source >= SOURCE_SEGMENT_NAME)
        return of == FM_FILTER_OF_SEGMENTS;
    bool both = field->source >= SOURCE_LANE_NAME || field->source == SOURCE_TRACE_NAME;
    return both || of == FM_FILTER_OF_EVENTS;
}
