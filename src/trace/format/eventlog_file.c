/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/format/eventlog_trace.h"
#include "trace/state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "trace/format/open.h"

enum { NOTES_MAX = 100 };

void fm_eventlog_trace_note(struct fm_eventlog_trace *self, const char *format, ...)
{
    if (++self->note_count > NOTES_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    g_string_append_vprintf(self->notes, format, arguments);
    g_string_append_c(self->notes, '\n');
    va_end(arguments);
}

/* --- the cursor --- */

/* Takes the next event of the merge; NULL at its end. What cannot be read is noted and left out. */
static const struct fm_eventlog_event *take_raw(struct fm_eventlog_trace *self)
{
    GError *error = NULL;
    const struct fm_eventlog_event *raw;
    while (FM_UNLIKELY((raw = fm_eventlog_merge_take(self->merge, &error)) == NULL) &&
           error != NULL) {
        fm_eventlog_trace_note(self, "%s", error->message);
        g_clear_error(&error);
    }
    return raw;
}

/* Field by field: a copy in one piece would wait until all of them have been written. */
static inline void set_event(struct fm_event *event, const struct fm_eventlog_event *raw)
{
    event->time = fm_eventlog_trace_time(raw->time_ns);
    event->id = raw->number;
    event->cpu = raw->capability;
    event->payload_size = raw->payload_length;
    event->payload = raw->payload;
}

static inline const struct fm_eventlog_event *fetch(struct fm_eventlog_trace *self)
{
    const struct fm_eventlog_event *raw = take_raw(self);
    self->has_event = raw != NULL;
    if (raw == NULL)
        return NULL;
    set_event(&self->event, raw);
    uint64_t time = self->event.time;
    if (FM_UNLIKELY(time > self->trace->end_time) && time <= self->horizon)
        self->trace->end_time = time;
    return raw;
}

static bool peek(struct fm_tracefile *tracefile, struct fm_event *ret)
{
    const struct fm_eventlog_trace *self = tracefile->implementation;
    if (!self->has_event || self->event.time > self->horizon)
        return false;
    *ret = self->event;
    return true;
}

static inline const struct fm_eventlog_event *step(struct fm_eventlog_trace *self)
{
    g_assert(self->has_event);
    uint64_t time = self->event.time;
    const struct fm_eventlog_event *raw = fetch(self);
    self->tie = self->event.time == time ? self->tie + 1 : 0;
    return raw;
}

static void advance(struct fm_tracefile *tracefile)
{
    struct fm_eventlog_trace *self = tracefile->implementation;
    if (self->has_event)
        step(self);
}

static bool next(struct fm_tracefile *tracefile, struct fm_event *ret)
{
    struct fm_eventlog_trace *self = tracefile->implementation;
    if (!self->has_event)
        return false;
    const struct fm_eventlog_event *raw = step(self);
    if (raw == NULL || raw->time_ns > self->horizon)
        return false;
    set_event(ret, raw);
    return true;
}

static void to_time(struct fm_eventlog_trace *self, uint64_t time)
{
    GError *error = NULL;
    if (!fm_eventlog_merge_seek_time(self->merge, time, &error)) {
        fm_eventlog_trace_note(self, "%s", error->message);
        g_clear_error(&error);
    }
    self->tie = 0;
    fetch(self);
}

static void seek_time(struct fm_tracefile *tracefile, uint64_t time)
{
    to_time(tracefile->implementation, time);
}

static uint64_t tell(struct fm_tracefile *tracefile)
{
    const struct fm_eventlog_trace *self = tracefile->implementation;
    return self->tie;
}

static void to_place(struct fm_eventlog_trace *self, uint64_t time, uint64_t tie)
{
    to_time(self, time);
    while (self->has_event && self->event.time == time && self->tie < tie)
        step(self);
}

static void seek(struct fm_tracefile *tracefile, uint64_t time, uint64_t location)
{
    to_place(tracefile->implementation, time, location);
}

static const struct fm_tracefile_class tracefile_class = {
    .peek = peek,
    .advance = advance,
    .next = next,
    .seek_time = seek_time,
    .tell = tell,
    .seek = seek,
    .event_name = fm_eventlog_event_name,
    .event_values = fm_eventlog_event_values,
    .event_fields = fm_eventlog_event_fields,
    .lane_owner = fm_eventlog_lane_owner,
};

void fm_eventlog_trace_renew(struct fm_eventlog_trace *self)
{
    bool had_event = self->has_event;
    uint64_t time = self->event.time, tie = self->tie;
    fm_eventlog_merge_free(self->merge);
    self->merge = fm_eventlog_merge_new(self->log);
    if (had_event)
        to_place(self, time, tie);
    else
        to_time(self, self->trace->end_time == 0 ? 0 : self->trace->end_time + 1);
}

/* --- the trace --- */

char *fm_eventlog_trace_damage(const struct fm_trace *trace)
{
    const struct fm_eventlog_trace *self = trace->implementation;
    GString *text = g_string_new(self->notes->str);
    for (guint i = 0; i < self->log->gaps->len && i < NOTES_MAX; i++) {
        const struct fm_eventlog_gap *gap =
            &g_array_index(self->log->gaps, struct fm_eventlog_gap, i);
        g_string_append_printf(text,
                               "%s: offset %" G_GUINT64_FORMAT ": %" G_GUINT64_FORMAT
                               " bytes could not be read: %s\n",
                               trace->path, gap->offset, gap->length, gap->reason);
    }
    if (self->log->gaps->len > NOTES_MAX)
        g_string_append_printf(text, "%s: %u more gaps\n", trace->path,
                               self->log->gaps->len - NOTES_MAX);
    const struct fm_eventlog_tail *tail = &self->log->tail;
    if (tail->end_mark && tail->length > 0)
        g_string_append_printf(text,
                               "%s: offset %" G_GUINT64_FORMAT ": %" G_GUINT64_FORMAT
                               " bytes follow the end of the log\n",
                               trace->path, tail->offset, tail->length);
    else if (tail->length > 0)
        g_string_append_printf(text,
                               "%s: offset %" G_GUINT64_FORMAT
                               ": the log ends inside an event, of which %" G_GUINT64_FORMAT
                               " bytes are there\n",
                               trace->path, tail->offset, tail->length);
    else if (!tail->end_mark && self->scanned && !self->live)
        g_string_append_printf(text,
                               "%s: offset %" G_GUINT64_FORMAT
                               ": the log has no end mark: it was not finished\n",
                               trace->path, self->log->size);
    if (self->late_blocks > 0)
        g_string_append_printf(text, "%s: %" G_GUINT64_FORMAT " blocks came late\n", trace->path,
                               self->late_blocks);
    return g_string_free(text, FALSE);
}

bool fm_eventlog_trace_epoch(const struct fm_trace *trace, int64_t *ret_ns)
{
    const struct fm_eventlog_trace *self = trace->implementation;
    *ret_ns = self->epoch_ns;
    return self->has_epoch;
}

static void take_log(struct fm_eventlog_trace *self, int fd)
{
    self->log = fm_eventlog_log_take(fd, self->trace->path);
    self->log->on_text = fm_eventlog_trace_take_text;
    self->log->user = self;
    self->merge = fm_eventlog_merge_new(self->log);
    self->horizon = FM_TIME_INF;
}

void fm_eventlog_trace_replace(struct fm_eventlog_trace *self, int fd)
{
    fm_eventlog_merge_free(self->merge);
    fm_eventlog_log_free(self->log);
    g_hash_table_remove_all(self->delivered);
    g_clear_pointer(&self->owners, g_array_unref);
    self->owners_blocks = 0;
    self->has_event = self->scanned = false;
    self->latest = self->late_blocks = 0;
    self->trace->start_time = self->trace->end_time = 0;
    self->trace->generation++;
    take_log(self, fd);
}

static void free_self(struct fm_trace *trace)
{
    struct fm_eventlog_trace *self = trace->implementation;
    fm_eventlog_merge_free(self->merge);
    fm_eventlog_log_free(self->log);
    g_hash_table_unref(self->any);
    g_hash_table_unref(self->texts);
    g_ptr_array_unref(self->owned_texts);
    g_hash_table_unref(self->labels);
    if (self->owners != NULL)
        g_array_unref(self->owners);
    g_hash_table_unref(self->delivered);
    g_string_free(self->scratch, TRUE);
    g_string_free(self->notes, TRUE);
    if (self->socket >= 0)
        close(self->socket);
    fm_roots_unref(self->roots);
    g_free(self);
}

struct fm_trace *fm_eventlog_trace_new(const struct fm_trace_class *class_, const char *path,
                                       int fd)
{
    struct fm_trace *trace = fm_trace_new(path, NULL);
    struct fm_eventlog_trace *self = g_new0(struct fm_eventlog_trace, 1);
    trace->class_ = class_;
    trace->state_model = &fm_state_model_eventlog;
    trace->implementation = self;
    trace->free_implementation = free_self;
    self->trace = trace;
    self->socket = -1;
    self->texts = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL);
    self->any = g_hash_table_new(NULL, NULL);
    self->owned_texts = g_ptr_array_new_with_free_func(g_free);
    self->labels = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    self->delivered = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    self->scratch = g_string_new(NULL);
    self->notes = g_string_new(NULL);
    self->changed_us = g_get_monotonic_time();
    take_log(self, fd);
    fm_trace_add_tracefile(trace, &tracefile_class, "events", "eventlog", -1, self);
    return trace;
}
