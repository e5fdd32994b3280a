/* SPDX-License-Identifier: Apache-2.0 */
/* A trace with a corrected clock: its classes are replaced by ones that ask the format's own and
 * convert the times. Nothing else needs to know. */
#include "trace/clock/clock.h"

#include <math.h>

#include "base/error.h"

/* Two times may become one by a drift under 1: the place tells which it was. */
enum { PLACE_BITS = 40 };
#define CHANGE_MAX 9e18 /* ns: fits into 64 bits with a sign */

struct fm_trace_clock {
    struct fm_correction correction;
    const struct fm_trace_class *trace_class; /* the format's own; NULL = has none */
    struct fm_trace_class corrected_class;
    uint64_t start_time, end_time; /* as recorded */
    uint64_t shown_end;            /* value that end_time was set to */
    unsigned tracefile_count;
    const struct fm_tracefile_class **classes; /* the format's own, by tracefile */
    struct fm_tracefile_class *corrected;
};

static uint64_t to_corrected(const struct fm_trace_clock *clock, uint64_t time)
{
    if (time == FM_TIME_INF)
        return time;
    /* The drift is near 1: only the small part is rounded. Addresses may name any time: what lies
     * before the begin or after the end of time is there. */
    double change = (clock->correction.drift - 1) * (double)time + clock->correction.offset_ns;
    int64_t rounded = llrint(CLAMP(change, -CHANGE_MAX, CHANGE_MAX));
    if (rounded < 0)
        return time - MIN(time, (uint64_t)-rounded);
    return time + MIN(FM_TIME_INF - 1 - time, (uint64_t)rounded);
}

/* The first recorded time whose corrected one is at or after the given one. */
static uint64_t to_recorded(const struct fm_trace_clock *clock, uint64_t time)
{
    const uint64_t last = FM_TIME_INF - 1;
    g_assert(clock->correction.drift >= 0.5 && clock->correction.drift <= 2);
    if (to_corrected(clock, last) < time)
        return FM_TIME_INF;
    double guess = ((double)time - clock->correction.offset_ns) / clock->correction.drift;
    uint64_t near = guess <= 0 ? 0 : guess >= CHANGE_MAX ? (uint64_t)CHANGE_MAX : (uint64_t)guess;
    uint64_t low = near, high = near;
    for (uint64_t step = 4096; low > 0 && to_corrected(clock, low) >= time; step *= 2)
        low -= MIN(low, step);
    for (uint64_t step = 4096; to_corrected(clock, high) < time; step *= 2)
        high += MIN(last - high, step);
    g_assert(to_corrected(clock, high) >= time);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (to_corrected(clock, middle) >= time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static const struct fm_tracefile_class *own_class(const struct fm_tracefile *tracefile)
{
    g_assert(tracefile->index < tracefile->trace->clock->tracefile_count);
    return tracefile->trace->clock->classes[tracefile->index];
}

static void show_times(struct fm_trace *trace)
{
    struct fm_trace_clock *clock = trace->clock;
    trace->start_time = to_corrected(clock, clock->start_time);
    trace->end_time = clock->shown_end = to_corrected(clock, clock->end_time);
}

/* Formats may move the end of the trace while they read. */
static void take_end(struct fm_trace *trace)
{
    struct fm_trace_clock *clock = trace->clock;
    if (trace->end_time == clock->shown_end)
        return;
    clock->end_time = MAX(clock->end_time, trace->end_time);
    g_assert(clock->end_time >= trace->end_time);
    show_times(trace);
}

static bool peek(struct fm_tracefile *tracefile, struct fm_event *ret)
{
    if (!own_class(tracefile)->peek(tracefile, ret))
        return false;
    ret->time = to_corrected(tracefile->trace->clock, ret->time);
    return true;
}

static void advance(struct fm_tracefile *tracefile)
{
    own_class(tracefile)->advance(tracefile);
    take_end(tracefile->trace);
}

static bool next(struct fm_tracefile *tracefile, struct fm_event *ret)
{
    bool more = own_class(tracefile)->next(tracefile, ret);
    take_end(tracefile->trace);
    if (more)
        ret->time = to_corrected(tracefile->trace->clock, ret->time);
    return more;
}

static void seek_time(struct fm_tracefile *tracefile, uint64_t time)
{
    own_class(tracefile)->seek_time(tracefile, to_recorded(tracefile->trace->clock, time));
    take_end(tracefile->trace);
}

static uint64_t tell(struct fm_tracefile *tracefile)
{
    const struct fm_trace_clock *clock = tracefile->trace->clock;
    struct fm_event event;
    uint64_t place = own_class(tracefile)->tell(tracefile);
    if (!own_class(tracefile)->peek(tracefile, &event))
        return place;
    uint64_t first = to_recorded(clock, to_corrected(clock, event.time));
    g_assert(first <= event.time);
    return (event.time - first) << PLACE_BITS | place;
}

static void seek(struct fm_tracefile *tracefile, uint64_t time, uint64_t location)
{
    uint64_t first = to_recorded(tracefile->trace->clock, time);
    own_class(tracefile)->seek(tracefile, first + MIN(location >> PLACE_BITS, FM_TIME_INF - first),
                               location & ((UINT64_C(1) << PLACE_BITS) - 1));
    take_end(tracefile->trace);
}

static bool grow(struct fm_trace *trace, bool *ret_ended, GError **error)
{
    struct fm_trace_clock *clock = trace->clock;
    struct fm_tracefile **tracefiles = (struct fm_tracefile **)trace->tracefiles->pdata;
    /* The format works on its own times, and may call its own classes. */
    trace->start_time = clock->start_time;
    trace->end_time = clock->end_time;
    for (unsigned i = 0; i < clock->tracefile_count; i++)
        tracefiles[i]->class_ = clock->classes[i];
    bool grown = clock->trace_class->grow(trace, ret_ended, error);
    clock->start_time = trace->start_time;
    clock->end_time = trace->end_time;
    for (unsigned i = 0; i < clock->tracefile_count; i++)
        tracefiles[i]->class_ = &clock->corrected[i];
    show_times(trace);
    return grown;
}

static void free_clock(void *data)
{
    struct fm_trace *trace = data;
    struct fm_trace_clock *clock = trace->clock;
    for (unsigned i = 0; i < clock->tracefile_count; i++) {
        struct fm_tracefile *tracefile = trace->tracefiles->pdata[i];
        tracefile->class_ = clock->classes[i];
    }
    trace->class_ = clock->trace_class;
    trace->clock = NULL;
    g_free(clock->classes);
    g_free(clock->corrected);
    g_free(clock);
}

static void set_up(struct fm_trace *trace)
{
    g_assert(trace->clock == NULL);
    struct fm_trace_clock *clock = g_new0(struct fm_trace_clock, 1);
    trace->clock = clock;
    fm_trace_own(trace, trace, free_clock);
    clock->trace_class = trace->class_;
    clock->start_time = trace->start_time;
    clock->end_time = trace->end_time;
    clock->tracefile_count = trace->tracefiles->len;
    clock->classes = g_new(const struct fm_tracefile_class *, clock->tracefile_count);
    clock->corrected = g_new(struct fm_tracefile_class, clock->tracefile_count);
    for (unsigned i = 0; i < clock->tracefile_count; i++) {
        struct fm_tracefile *tracefile = trace->tracefiles->pdata[i];
        clock->classes[i] = tracefile->class_;
        clock->corrected[i] = *tracefile->class_;
        clock->corrected[i].peek = peek;
        clock->corrected[i].advance = advance;
        if (tracefile->class_->next != NULL)
            clock->corrected[i].next = next;
        clock->corrected[i].seek_time = seek_time;
        clock->corrected[i].tell = tell;
        clock->corrected[i].seek = seek;
        tracefile->class_ = &clock->corrected[i];
    }
    if (trace->class_ == NULL)
        return;
    clock->corrected_class = *trace->class_;
    if (trace->class_->grow != NULL)
        clock->corrected_class.grow = grow;
    trace->class_ = &clock->corrected_class;
}

bool fm_trace_set_correction(struct fm_trace *trace, struct fm_correction correction,
                             GError **error)
{
    bool good =
        correction.drift >= 0.5 && correction.drift <= 2 && fabs(correction.offset_ns) < 4e18;
    if (!good) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "%s: the clock cannot be corrected by drift %g, offset %g s: expected a drift "
                    "from 0.5 to 2",
                    trace->path, correction.drift, correction.offset_ns / 1e9);
        return false;
    }
    if (trace->clock == NULL && correction.drift == 1 && correction.offset_ns == 0)
        return true;
    if (trace->clock == NULL)
        set_up(trace);
    trace->clock->correction = correction;
    trace->cursor_owner = NULL;
    trace->generation++;
    show_times(trace);
    return true;
}

struct fm_correction fm_trace_correction(const struct fm_trace *trace)
{
    return trace->clock == NULL ? (struct fm_correction){1, 0} : trace->clock->correction;
}

static GMutex expected_lock;
static GHashTable *expected; /* identity -> struct fm_correction; as long as the process */

void fm_trace_expect_correction(const char *identity, struct fm_correction correction)
{
    g_mutex_lock(&expected_lock);
    if (expected == NULL)
        expected = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_hash_table_replace(expected, g_strdup(identity), g_memdup2(&correction, sizeof correction));
    g_mutex_unlock(&expected_lock);
}

void fm_trace_apply_expected(struct fm_trace *trace)
{
    struct fm_correction correction = {1, 0};
    g_mutex_lock(&expected_lock);
    const struct fm_correction *found =
        expected == NULL ? NULL : g_hash_table_lookup(expected, trace->identity);
    if (found != NULL)
        correction = *found;
    g_mutex_unlock(&expected_lock);
    GError *error = NULL;
    if (found != NULL && !fm_trace_set_correction(trace, correction, &error))
        g_clear_error(&error);
}

uint64_t fm_trace_recorded_time(const struct fm_tracefile_context *at)
{
    const struct fm_trace *trace = at->tracefile->trace;
    struct fm_event event;
    if (trace->clock == NULL ||
        !trace->clock->classes[at->tracefile->index]->peek(at->tracefile, &event))
        return at->event.time;
    return event.time;
}
