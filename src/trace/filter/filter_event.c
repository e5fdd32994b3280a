/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of an event's fields and names. */
#include <string.h>

#include "trace/filter/filter_internal.h"

/* --- fields of events --- */

static unsigned read_values(const struct fm_tracefile_context *at, struct fm_event_value *ret)
{
    const struct fm_tracefile_class *class_ = at->tracefile->class_;
    return class_->event_values == NULL ? 0 : class_->event_values(at->tracefile, &at->event, ret);
}

static const struct fm_event_value *find_value(const struct fm_event_value *values, unsigned count,
                                               const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(values[i].name, name) == 0)
            return &values[i];
    }
    return NULL;
}

const char *fm_filter_event_name(const struct fm_tracefile_context *at)
{
    const struct fm_tracefile_class *class_ = at->tracefile->class_;
    return class_->event_name == NULL ? NULL : class_->event_name(at->tracefile, at->event.id);
}

/* By which of the test's paths an event of this type could have the field: bits. */
uint8_t fm_filter_possible_paths(const struct filter_test *test,
                                 const struct fm_tracefile_context *at)
{
    const char *name = fm_filter_event_name(at);
    uint8_t paths = 1;
    if (name != NULL && g_strcmp0(test->field_event, name) == 0)
        paths |= 2;
    if (name != NULL && g_strcmp0(test->field_channel_event, name) == 0 &&
        g_strcmp0(test->field_event, at->tracefile->channel) == 0)
        paths |= 4;
    return paths;
}

static const struct fm_event_value *value_by_paths(const struct filter_test *test,
                                                   const struct fm_tracefile_context *at,
                                                   uint8_t paths, struct fm_event_value *values)
{
    unsigned count = read_values(at, values);
    const struct fm_event_value *value = NULL;
    if ((paths & 4) != 0)
        value = find_value(values, count, test->field_rest);
    if (value == NULL && (paths & 2) != 0)
        value = find_value(values, count, test->field_event_rest);
    if (value == NULL)
        value = find_value(values, count, test->field_path);
    return value;
}

const struct fm_event_value *fm_filter_event_value(const struct filter_test *test,
                                                   const struct fm_tracefile_context *at,
                                                   struct fm_event_value *values)
{
    return value_by_paths(test, at, fm_filter_possible_paths(test, at), values);
}

bool fm_filter_test_event_field(const struct filter_test *test,
                                const struct fm_tracefile_context *at, uint8_t paths)
{
    struct fm_event_value values[FM_EVENT_VALUES_MAX];
    const struct fm_event_value *value = value_by_paths(test, at, paths, values);
    return value != NULL && fm_filter_compare_value(test, value);
}

bool fm_filter_test_target(const struct filter_test *test, const struct fm_tracefile_context *at,
                           const struct fm_state *state)
{
    static const char *const names[] = {"child_tid", "tid", "thread", "pid"};
    struct fm_event_value values[FM_EVENT_VALUES_MAX];
    unsigned count = read_values(at, values);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const struct fm_event_value *value = find_value(values, count, names[i]);
        if (value != NULL && value->kind != FM_VALUE_TEXT && value->kind != FM_VALUE_REAL)
            return value->kind == FM_VALUE_SIGNED
                       ? fm_filter_compare_signed(test, (int64_t)value->number)
                       : fm_filter_compare_unsigned(test, value->number);
    }
    uint64_t thread;
    if (state == NULL)
        return true;
    return fm_filter_running_thread(at, state, &thread) && fm_filter_compare_unsigned(test, thread);
}

/* --- names: the same for all events of a type --- */

static bool test_event_name(const struct filter_test *test, const struct fm_tracefile_context *at)
{
    const char *name = fm_filter_event_name(at);
    if (name == NULL)
        return false;
    struct filter_test equal = *test;
    equal.op = OP_EQUAL;
    bool same = fm_filter_compare_text(&equal, name, strlen(name));
    const char *channel = at->tracefile->channel;
    if (!same && test->field->source == SOURCE_EVENT_NAME && channel != NULL) {
        g_autofree char *whole = g_strdup_printf("%s.%s", channel, name);
        same = fm_filter_compare_text(&equal, whole, strlen(whole));
    }
    return same == (test->op == OP_EQUAL);
}

bool fm_filter_test_trace(const struct filter_test *test, const struct fm_trace *trace)
{
    struct filter_test equal = *test;
    equal.op = OP_EQUAL;
    g_autofree char *last = g_path_get_basename(trace->path);
    bool same = fm_filter_compare_text(&equal, trace->path, strlen(trace->path)) ||
                fm_filter_compare_text(&equal, last, strlen(last));
    return same == (test->op == OP_EQUAL);
}

bool fm_filter_test_name(const struct filter_test *test, const struct fm_tracefile_context *at)
{
    const char *name =
        test->field->source == SOURCE_CHANNEL_NAME ? at->tracefile->channel : at->tracefile->name;
    if (test->field->source == SOURCE_TRACE_NAME)
        return fm_filter_test_trace(test, at->tracefile->trace);
    if (test->field->source == SOURCE_EVENT_NAME || test->field->source == SOURCE_EVENT_SUBNAME)
        return test_event_name(test, at);
    return name != NULL && fm_filter_compare_text(test, name, strlen(name));
}
