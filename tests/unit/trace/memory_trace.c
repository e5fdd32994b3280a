/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_trace.h"

struct stream {
    const struct memory_event *events;
    uint64_t count, cursor;
};

static bool peek(struct fm_tracefile *tracefile, struct fm_event *ret)
{
    const struct stream *stream = tracefile->implementation;
    if (stream->cursor >= stream->count)
        return false;
    const struct memory_event *event = &stream->events[stream->cursor];
    *ret = (struct fm_event){
        .time = event->time, .id = event->id, .payload = (const uint8_t *)event->label};
    return true;
}

static void advance(struct fm_tracefile *tracefile)
{
    struct stream *stream = tracefile->implementation;
    stream->cursor++;
}

static void seek_time(struct fm_tracefile *tracefile, uint64_t time)
{
    struct stream *stream = tracefile->implementation;
    stream->cursor = 0;
    while (stream->cursor < stream->count && stream->events[stream->cursor].time < time)
        stream->cursor++;
}

static uint64_t tell(struct fm_tracefile *tracefile)
{
    const struct stream *stream = tracefile->implementation;
    return stream->cursor;
}

static void seek(struct fm_tracefile *tracefile, uint64_t time, uint64_t location)
{
    struct stream *stream = tracefile->implementation;
    stream->cursor = location;
    while (stream->cursor < stream->count && stream->events[stream->cursor].time < time)
        stream->cursor++;
}

static void free_stream(struct fm_tracefile *tracefile)
{
    g_free(tracefile->implementation);
}

static const struct fm_tracefile_class memory_class = {
    peek, advance, seek_time, tell, seek, free_stream,
};

void memory_trace_add(struct fm_trace *trace, const char *channel,
                      const struct memory_event *events)
{
    struct stream *stream = g_new0(struct stream, 1);
    stream->events = events;
    while (events[stream->count].label != NULL)
        stream->count++;
    if (stream->count > 0) {
        bool first = trace->tracefiles->len == 0;
        uint64_t last_time = events[stream->count - 1].time;
        trace->start_time = first ? events[0].time : MIN(trace->start_time, events[0].time);
        trace->end_time = MAX(trace->end_time, last_time);
    }
    fm_trace_add_tracefile(trace, &memory_class, "memory", channel, 0, stream);
}

const char *memory_event_label(const struct fm_tracefile_context *context)
{
    return (const char *)context->event.payload;
}
