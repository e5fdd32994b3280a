/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome's trace event format, as an object. A segment is one complete event ("X"), written as it
 * ends: within a lane they nest as its stack does, and readers sort. Times are microseconds with
 * three decimals since the trace's begin, so that doubles hold them exactly. */
#include <inttypes.h>

#include "base/text/json.h"
#include "exchange/trace/internal.h"
#include "trace/format/open.h"

/* A process for each kind of lane, as a lane's parent may become known late. */
static uint64_t group_of(const struct fm_lane *lane)
{
    return (uint64_t)lane->kind + 1;
}

static void time_member(struct fm_json *json, const char *name, uint64_t ns)
{
    fm_json_fixed(json, name, (double)ns / 1e3, 3);
}

static uint64_t since_begin(const struct fm_trace_export *x, uint64_t time)
{
    return time - MIN(time, x->trace->start_time);
}

static void begin_event(struct fm_trace_export *x, struct fm_json *json, const char *phase,
                        const struct fm_lane *lane, const char *name)
{
    g_string_truncate(x->text, 0);
    g_string_append(x->text, x->any ? ",\n" : "\n");
    x->any = true;
    fm_json_init(json, x->text);
    fm_json_object(json, NULL);
    fm_json_text(json, "ph", phase);
    fm_json_text(json, "name", name);
    fm_json_uint(json, "pid", group_of(lane));
    fm_json_uint(json, "tid", (uint64_t)lane->index + 1);
}

static void end_event(struct fm_trace_export *x, struct fm_json *json)
{
    fm_json_end(json);
    fm_writer_bytes(x->out, x->text->str, x->text->len);
}

static void on_segment(void *user, const struct fm_lane *lane, uint32_t depth,
                       const struct fm_state_entry *entry, uint64_t end)
{
    struct fm_trace_export *x = user;
    struct fm_json json;
    (void)depth;
    begin_event(x, &json, "X", lane, fm_trace_value_name(x->trace, entry->value));
    fm_json_text(&json, "cat", fm_state_class_name(fm_trace_value_class(x->trace, entry->value)));
    time_member(&json, "ts", since_begin(x, entry->since));
    time_member(&json, "dur", end - MIN(end, entry->since));
    end_event(x, &json);
}

static void on_number(void *user, const struct fm_lane *lane, uint64_t time, double value)
{
    struct fm_trace_export *x = user;
    struct fm_json json;
    begin_event(x, &json, "C", lane, lane->name);
    time_member(&json, "ts", since_begin(x, time));
    fm_json_object(&json, "args");
    fm_json_double(&json, "value", value);
    fm_json_end(&json);
    end_event(x, &json);
}

static void on_mark(void *user, const struct fm_lane *lane, uint64_t time, uint32_t value)
{
    struct fm_trace_export *x = user;
    struct fm_json json;
    begin_event(x, &json, "i", lane, fm_trace_value_name(x->trace, value));
    fm_json_text(&json, "s", "t");
    time_member(&json, "ts", since_begin(x, time));
    end_event(x, &json);
}

static void arrow_end(struct fm_trace_export *x, const char *phase, const struct fm_lane *lane,
                      uint64_t time)
{
    struct fm_json json;
    begin_event(x, &json, phase, lane, "wakes");
    fm_json_text(&json, "cat", "arrow");
    fm_json_uint(&json, "id", x->arrows);
    if (*phase == 'f')
        fm_json_text(&json, "bp", "e"); /* binds to what is around it, not to what follows */
    time_member(&json, "ts", since_begin(x, time));
    end_event(x, &json);
}

static void on_arrow(void *user, const struct fm_lane *from, uint64_t from_time,
                     const struct fm_lane *to, uint64_t to_time)
{
    struct fm_trace_export *x = user;
    x->arrows++;
    arrow_end(x, "s", from, from_time);
    arrow_end(x, "f", to, to_time);
}

const struct fm_state_observer fm_chrome_observer = {
    .segment = on_segment, .number = on_number, .mark = on_mark, .arrow = on_arrow};

static void metadata(struct fm_trace_export *x, const char *what, const struct fm_lane *lane,
                     const char *member, const char *text, uint64_t number)
{
    struct fm_json json;
    begin_event(x, &json, "M", lane, what);
    fm_json_object(&json, "args");
    if (text != NULL)
        fm_json_text(&json, member, text);
    else
        fm_json_uint(&json, member, number);
    fm_json_end(&json);
    end_event(x, &json);
}

void fm_chrome_begin(struct fm_trace_export *x)
{
    static const char head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    fm_writer_bytes(x->out, head, sizeof head - 1);
}

/* Names stand at the end: they may change as long as the trace is read. */
void fm_chrome_end(struct fm_trace_export *x)
{
    bool named[FM_LANE_KIND_COUNT] = {false};
    int64_t epoch;
    struct fm_json json;
    for (uint32_t i = 0; i < fm_state_lane_count(x->state); i++) {
        const struct fm_lane *lane = fm_state_lane(x->state, i);
        g_autofree char *label = fm_state_lane_label(x->state, lane);
        if (!named[lane->kind]) {
            metadata(x, "process_name", lane, "name", fm_trace_export_group(lane->kind), 0);
            metadata(x, "process_sort_index", lane, "sort_index", NULL, lane->kind);
        }
        named[lane->kind] = true;
        metadata(x, "thread_name", lane, "name", label, 0);
        metadata(x, "thread_sort_index", lane, "sort_index", NULL, i);
    }
    g_string_assign(x->text, "\n],\"otherData\":");
    fm_json_init(&json, x->text);
    fm_json_object(&json, NULL);
    fm_json_text(&json, "program", "fathom");
    /* As text: these are more than a double holds. */
    g_autofree char *start = g_strdup_printf("%" PRIu64, x->trace->start_time);
    fm_json_text(&json, "start_ns", start);
    if (fm_trace_epoch(x->trace, &epoch)) {
        g_autofree char *since_1970 = g_strdup_printf("%" PRId64, epoch);
        fm_json_text(&json, "clock_zero_since_1970_ns", since_1970);
    }
    fm_json_end(&json);
    g_string_append(x->text, "}\n");
    fm_writer_bytes(x->out, x->text->str, x->text->len);
}
