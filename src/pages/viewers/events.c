/* SPDX-License-Identifier: Apache-2.0 */
/* The list of events: a number of events from a position on, or before one. Logs can only be read
 * forward, so going back reads windows that double until enough is found. */
#include <inttypes.h>
#include <string.h>

#include "pages/viewers/viewers.h"

#define TEXT_BYTES_MAX 300u
#define OFFSET_NS_DEFAULT UINT64_C(1000000)

void fm_viewer_event_row_free(void *data)
{
    struct fm_viewer_event_row *row = data;
    g_free(row->position);
    g_free(row->source);
    g_free(row->name);
    g_ptr_array_unref(row->fields);
    g_free(row);
}

/* --- one event as text --- */

static char *trace_value_text(const struct fm_event_value *value)
{
    char real[G_ASCII_DTOSTR_BUF_SIZE];
    const char *unit = value->unit == NULL ? "" : value->unit;
    const char *blank = unit[0] == '\0' ? "" : " ";
    switch (value->kind) {
    case FM_VALUE_UNSIGNED:
        if (value->text != NULL)
            return g_strndup(value->text, MIN(value->text_length, TEXT_BYTES_MAX));
        return g_strdup_printf("%" PRIu64 "%s%s", value->number, blank, unit);
    case FM_VALUE_SIGNED:
        return g_strdup_printf("%" PRId64 "%s%s", (int64_t)value->number, blank, unit);
    case FM_VALUE_REAL:
        return g_strdup_printf("%s%s%s", g_ascii_formatd(real, sizeof real, "%.9g", value->real),
                               blank, unit);
    case FM_VALUE_ADDRESS:
        return g_strdup_printf("0x%" PRIx64, value->number);
    case FM_VALUE_TEXT:
        break;
    }
    bool cut = value->text_length > TEXT_BYTES_MAX;
    g_autofree char *text = g_strndup(value->text == NULL ? "" : value->text,
                                      cut ? TEXT_BYTES_MAX : value->text_length);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return cut ? g_strconcat(valid, "\xE2\x80\xA6", NULL) : g_steal_pointer(&valid);
}

/* "capability 3" of an event log, "kernel, CPU 2" of a trace with a stream a CPU. */
static char *where_text(const struct fm_tracefile_context *at)
{
    const struct fm_tracefile *file = at->tracefile;
    if (strcmp(fm_trace_format(file->trace), "ctf") != 0)
        return at->event.cpu < 0 ? g_strdup("program")
                                 : g_strdup_printf("capability %" PRId32, at->event.cpu);
    return at->event.cpu < 0 ? g_strdup(file->channel)
                             : g_strdup_printf("%s, CPU %" PRId32, file->channel, at->event.cpu);
}

/* LTTng's context "ip" is the event's code address: shown as function, or object and offset. */
static void add_code(struct fm_trace *trace, const struct fm_event_value *values, unsigned count,
                     GPtrArray *fields)
{
    const struct fm_event_value *place = NULL, *process = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(values[i].name, "ip") == 0)
            place = &values[i];
        else if (strcmp(values[i].name, "vpid") == 0)
            process = &values[i];
    }
    if (place == NULL || trace->state_model == NULL || trace->state_model->code == NULL)
        return;
    char *name =
        trace->state_model->code(trace, process == NULL ? 0 : process->number, place->number);
    if (name == NULL)
        return;
    g_ptr_array_add(fields, g_strdup("code"));
    g_ptr_array_add(fields, name);
}

struct fm_viewer_event_row *fm_viewer_event_row_new(const struct fm_tracefile_context *at)
{
    struct fm_tracefile *file = at->tracefile;
    struct fm_viewer_event_row *row = g_new0(struct fm_viewer_event_row, 1);
    struct fm_position *position = fm_context_save_position(at->context);
    row->position = fm_viewer_position_print(position);
    fm_position_free(position);
    row->time = at->event.time;
    row->part = at->trace_context->index;
    row->cpu = at->event.cpu;
    row->source = where_text(at);
    const char *name =
        file->class_->event_name == NULL ? NULL : file->class_->event_name(file, at->event.id);
    row->name = name == NULL ? g_strdup_printf("event %u", at->event.id) : g_strdup(name);
    row->fields = g_ptr_array_new_with_free_func(g_free);
    struct fm_event_value values[FM_EVENT_VALUES_MAX];
    unsigned count = file->class_->event_values == NULL
                         ? 0
                         : file->class_->event_values(file, &at->event, values);
    for (unsigned i = 0; i < MIN(count, FM_EVENT_VALUES_MAX); i++) {
        g_ptr_array_add(row->fields, g_strdup(values[i].name));
        g_ptr_array_add(row->fields, trace_value_text(&values[i]));
    }
    add_code(file->trace, values, MIN(count, FM_EVENT_VALUES_MAX), row->fields);
    return row;
}

static bool is_wanted(struct fm_viewer_job *job, const struct fm_tracefile_context *at)
{
    return job->filter == NULL ||
           fm_filter_accepts(job->filter, at, job->set->parts[at->trace_context->index].state);
}

/* --- forward --- */

static bool take_forward(struct fm_viewer_reading *reading, struct fm_tracefile_context *at)
{
    struct fm_viewer_events *events = (struct fm_viewer_events *)reading->job;
    if (!is_wanted(reading->job, at))
        return false;
    g_ptr_array_add(events->rows, fm_viewer_event_row_new(at));
    if (events->rows->len < events->wanted)
        return false;
    reading->request->stop = true;
    return true;
}

static void note_place(struct fm_viewer_reading *reading, uint64_t time)
{
    (void)time;
    struct fm_viewer_events *events = (struct fm_viewer_events *)reading->job;
    const struct fm_context *context = fm_engine_reader_context(reading->job->set->reader);
    g_clear_pointer(&events->next, g_free);
    events->at_end = fm_context_time(context) == FM_TIME_INF;
    if (!events->at_end) {
        struct fm_position *position = fm_context_save_position(context);
        events->next = fm_viewer_position_print(position);
        fm_position_free(position);
    }
    events->searched = MIN(fm_context_time(context), reading->job->end);
}

static void read_forward(struct fm_viewer_events *events, uint64_t time,
                         const struct fm_position *from)
{
    const struct fm_viewer_reading reading = {
        .part = -1, .event = take_forward, .pause = note_place, .end = note_place};
    fm_viewer_job_read(&events->job, &reading, time, from, FM_TIME_INF, NULL);
}

/* --- backward --- */

static bool take_backward(struct fm_viewer_reading *reading, struct fm_tracefile_context *at)
{
    struct fm_viewer_events *events = (struct fm_viewer_events *)reading->job;
    if (!is_wanted(reading->job, at))
        return false;
    if (events->found->len >= events->wanted - events->rows->len)
        g_ptr_array_remove_index(events->found, 0);
    g_ptr_array_add(events->found, fm_viewer_event_row_new(at));
    return false;
}

static void read_window(struct fm_viewer_events *events);

static void end_window(struct fm_viewer_reading *reading, uint64_t time)
{
    (void)time;
    struct fm_viewer_events *events = (struct fm_viewer_events *)reading->job;
    for (unsigned i = events->found->len; i-- > 0;)
        g_ptr_array_insert(events->rows, 0, g_ptr_array_steal_index(events->found, i));
    g_clear_pointer(&events->until, fm_position_free);
    uint64_t first = reading->job->start;
    events->searched = events->window_end;
    if (events->rows->len >= events->wanted)
        return;
    if (events->window_end <= first) {
        events->at_start = true;
        return;
    }
    events->offset = MIN(events->offset, UINT64_MAX / 4) * 2;
    read_window(events);
}

/* The events before window_end, and before the position when there is one. */
static void read_window(struct fm_viewer_events *events)
{
    const struct fm_viewer_job *job = &events->job;
    uint64_t end = events->window_end;
    uint64_t start = end - MIN(events->offset, end - MIN(end, job->start));
    const struct fm_viewer_reading reading = {
        .part = -1, .event = take_backward, .end = end_window};
    events->window_end = start;
    fm_viewer_job_read(&events->job, &reading, start, NULL,
                       events->until != NULL ? FM_TIME_INF : end, events->until);
}

static void begin_backward(struct fm_viewer_events *events)
{
    const struct fm_viewer_job *job = &events->job;
    events->backward = true;
    events->next = fm_viewer_position_print(events->until);
    events->window_end = MIN(events->until->time, job->end);
    events->offset = MAX(OFFSET_NS_DEFAULT, (job->end - job->start) / 100000);
    events->found = g_ptr_array_new_with_free_func(fm_viewer_event_row_free);
    read_window(events);
}

/* --- the viewer --- */

static bool begin(struct fm_viewer_job *job, GError **error)
{
    struct fm_viewer_events *events = (struct fm_viewer_events *)job;
    const struct fm_viewer_set *set = job->set;
    const struct fm_trace_query *query = &job->query;
    const char *from = query->from;
    uint64_t time = job->start;
    if (query->at != FM_TRACE_TIME_UNSET)
        time = set->origin + query->at;
    else if (from == NULL && query->event != NULL)
        from = query->event;
    else if (query->cursor != FM_TRACE_TIME_UNSET)
        time = set->origin + query->cursor;
    job->start = set->origin + set->start;
    job->end = set->origin + set->end;
    job->known_until = job->start;
    events->rows = g_ptr_array_new_with_free_func(fm_viewer_event_row_free);
    events->wanted = query->rows == 0 ? TRACE_ROWS_DEFAULT : query->rows;
    job->provisional = job->filter != NULL && fm_filter_needs_state(job->filter) &&
                       !fm_viewer_set_is_ready(set, TRACE_STATE);
    if (query->until != NULL) {
        events->until = fm_viewer_position_parse(set, query->until, error);
        if (events->until == NULL)
            return false;
        begin_backward(events);
        return true;
    }
    struct fm_position *position = NULL;
    if (from != NULL && (position = fm_viewer_position_parse(set, from, error)) == NULL)
        return false;
    read_forward(events, time, position);
    fm_position_free(position);
    return true;
}

static void clear(struct fm_viewer_job *job)
{
    struct fm_viewer_events *events = (struct fm_viewer_events *)job;
    g_clear_pointer(&events->rows, g_ptr_array_unref);
    g_clear_pointer(&events->found, g_ptr_array_unref);
    fm_position_free(events->until);
    g_free(events->next);
}

const struct fm_viewer fm_viewer_of_events = {"events", sizeof(struct fm_viewer_events), begin,
                                              clear};
