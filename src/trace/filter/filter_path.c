/* SPDX-License-Identifier: Apache-2.0 */
/* Values of fields, for tables; and tests of segments. */
#include <string.h>

#include "base/error.h"
#include "trace/filter/filter_internal.h"

struct fm_filter_path {
    struct filter_test test; /* the field, and of event.field its parts */
    char *text;
};

/* Fields of the state that only tests know. */
static bool has_values(enum filter_source source)
{
    switch (source) {
    case SOURCE_TRACE_NAME:
    case SOURCE_EVENT_CATEGORY:
    case SOURCE_EVENT_TSC:
    case SOURCE_EVENT_TARGET:
    case SOURCE_STATE_PROCESS:
    case SOURCE_STATE_PARENT:
    case SOURCE_STATE_MODE:
    case SOURCE_STATE_SUBMODE:
    case SOURCE_STATE_STATUS:
    case SOURCE_STATE_BORN:
    case SOURCE_STATE_SINCE:
        return false;
    default:
        return true;
    }
}

struct fm_filter_path *fm_filter_path_new(const char *text, enum fm_filter_of of, GError **error)
{
    struct filter_scanner scanner = {text, 0};
    g_autofree char *path = fm_filter_scan_path(&scanner);
    const struct filter_field *field = path == NULL ? NULL : fm_filter_field_find(path);
    if (field == NULL || scanner.text[scanner.at] != '\0' || !has_values(field->source) ||
        !fm_filter_field_is_of(field, of)) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "'%s' is not a field of %s: expected %s", text,
                    of == FM_FILTER_OF_EVENTS ? "events" : "segments",
                    of == FM_FILTER_OF_EVENTS
                        ? "event.name, event.time, event.cpu, event.field.NAME, channel.name, "
                          "state.value, state.class, state.thread, state.process_name, lane.name..."
                        : "segment.name, segment.state, segment.duration, segment.self, "
                          "segment.start, segment.level, lane.name, lane.kind, lane.process...");
        return NULL;
    }
    struct fm_filter_path *made = g_new0(struct fm_filter_path, 1);
    made->test.field = field;
    made->text = g_strdup(text);
    if (field->source == SOURCE_EVENT_FIELD)
        fm_filter_split_field(&made->test, path + strlen("event.field."));
    return made;
}

void fm_filter_path_free(struct fm_filter_path *path)
{
    if (path == NULL)
        return;
    fm_filter_test_clear(&path->test);
    g_free(path->text);
    g_free(path);
}

const char *fm_filter_path_text(const struct fm_filter_path *path)
{
    return path->text;
}

enum fm_filter_type fm_filter_path_type(const struct fm_filter_path *path)
{
    return path->test.field->public.type;
}

/* --- of segments --- */

void fm_filter_path_of_segment(const struct fm_filter_path *path,
                               const struct fm_filter_segment *segment, struct fm_filter_value *ret)
{
    *ret = (struct fm_filter_value){.kind = FM_FILTER_IS_NUMBER, .lasting = true};
    switch (path->test.field->source) {
    case SOURCE_SEGMENT_NAME:
        fm_filter_value_text(ret, segment->name);
        break;
    case SOURCE_SEGMENT_STATE:
        fm_filter_value_text(ret, fm_state_class_name(segment->state_class));
        break;
    case SOURCE_SEGMENT_START:
        ret->number = segment->start;
        break;
    case SOURCE_SEGMENT_END:
        ret->number = segment->end;
        break;
    case SOURCE_SEGMENT_DURATION:
        ret->number = segment->end - segment->start;
        break;
    case SOURCE_SEGMENT_SELF:
        ret->number = segment->self;
        break;
    case SOURCE_SEGMENT_LEVEL:
        ret->number = segment->level;
        break;
    case SOURCE_LANE_NAME:
        fm_filter_value_text(ret, segment->lane);
        break;
    case SOURCE_LANE_KIND:
        fm_filter_value_text(ret, fm_lane_kind_name(segment->kind));
        break;
    case SOURCE_LANE_KEY:
        ret->number = segment->number;
        break;
    case SOURCE_LANE_PROCESS:
        fm_filter_value_text(ret, segment->process);
        break;
    default:
        ret->kind = FM_FILTER_IS_NOTHING;
    }
}

/* Whether the test's answer is the same for all segments of a value, or of a lane. */
enum filter_memory fm_filter_memory(const struct filter_test *test)
{
    switch (test->field->source) {
    case SOURCE_SEGMENT_NAME:
    case SOURCE_SEGMENT_STATE:
        return MEMORY_BY_VALUE;
    case SOURCE_SEGMENT_START:
    case SOURCE_SEGMENT_END:
    case SOURCE_SEGMENT_DURATION:
    case SOURCE_SEGMENT_SELF:
    case SOURCE_SEGMENT_LEVEL:
        return MEMORY_NONE;
    default:
        return MEMORY_BY_LANE;
    }
}

bool fm_filter_test_segment(const struct filter_test *test, const struct fm_filter_segment *segment)
{
    if (test->field->source == SOURCE_TRACE_NAME)
        return fm_filter_test_trace(test, segment->trace);
    const struct fm_filter_path path = {.test = {.field = test->field}};
    struct fm_filter_value value;
    fm_filter_path_of_segment(&path, segment, &value);
    if (value.kind == FM_FILTER_IS_NOTHING)
        return false;
    if (value.kind != FM_FILTER_IS_TEXT)
        return fm_filter_compare_unsigned(test, value.number);
    if (test->field->public.type == FM_FILTER_WORD) /* its words have that name, in one case */
        return (g_ascii_strcasecmp(value.text, test->text) == 0) == (test->op == OP_EQUAL);
    return fm_filter_compare_text(test, value.text, value.length);
}

/* --- of events --- */

static void take_field(const struct fm_filter_path *path, const struct fm_tracefile_context *at,
                       struct fm_filter_value *ret)
{
    struct fm_event_value values[FM_EVENT_VALUES_MAX];
    const struct fm_event_value *value = fm_filter_event_value(&path->test, at, values);
    ret->lasting = false;
    if (value == NULL) {
        ret->kind = FM_FILTER_IS_NOTHING;
        return;
    }
    ret->number = value->number;
    ret->real = value->real;
    ret->text = value->text;
    ret->length = value->text_length;
    switch (value->kind) {
    case FM_VALUE_UNSIGNED: /* the word for it is what people know */
        ret->kind = value->text == NULL ? FM_FILTER_IS_NUMBER : FM_FILTER_IS_TEXT;
        break;
    case FM_VALUE_ADDRESS:
        ret->kind = FM_FILTER_IS_NUMBER;
        break;
    case FM_VALUE_SIGNED:
        ret->kind = FM_FILTER_IS_SIGNED;
        break;
    case FM_VALUE_REAL:
        ret->kind = FM_FILTER_IS_REAL;
        break;
    case FM_VALUE_TEXT:
        ret->kind = FM_FILTER_IS_TEXT;
        break;
    }
}

void fm_filter_path_of_event(const struct fm_filter_path *path,
                             const struct fm_tracefile_context *at, const struct fm_state *state,
                             struct fm_filter_value *ret)
{
    const struct fm_tracefile_class *class_ = at->tracefile->class_;
    *ret = (struct fm_filter_value){.kind = FM_FILTER_IS_NUMBER, .lasting = true};
    switch (path->test.field->source) {
    case SOURCE_EVENT_NAME:
    case SOURCE_EVENT_SUBNAME:
        fm_filter_value_text(ret, class_->event_name == NULL
                                      ? NULL
                                      : class_->event_name(at->tracefile, at->event.id));
        break;
    case SOURCE_CHANNEL_NAME:
        fm_filter_value_text(ret, at->tracefile->channel);
        break;
    case SOURCE_TRACEFILE_NAME:
        fm_filter_value_text(ret, at->tracefile->name);
        break;
    case SOURCE_EVENT_FIELD:
        take_field(path, at, ret);
        break;
    case SOURCE_EVENT_TIME:
        ret->number = at->event.time;
        break;
    case SOURCE_EVENT_CPU:
        ret->kind = at->event.cpu < 0 ? FM_FILTER_IS_NOTHING : FM_FILTER_IS_NUMBER;
        ret->number = (uint64_t)(at->event.cpu < 0 ? 0 : at->event.cpu);
        break;
    default:
        fm_filter_state_value(path->test.field->source, at, state, ret);
    }
}
