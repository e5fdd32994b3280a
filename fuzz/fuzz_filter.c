/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a filter: an accepted filter can be printed, and its printed form is accepted, prints
 * the same and accepts the same events; completion offers only valid words. */
#include <string.h>

#include "trace/filter/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENTS = 4 };
static unsigned cursor;

static bool peek(struct fm_tracefile *tracefile, struct fm_event *ret)
{
    (void)tracefile;
    *ret = (struct fm_event){.time = cursor * 1000, .id = cursor, .cpu = (int32_t)cursor - 1};
    return cursor < EVENTS;
}

static const char *event_name(struct fm_tracefile *tracefile, uint32_t id)
{
    static const char *const names[] = {"a", "RunThread", "x:y", "b c"};
    (void)tracefile;
    return id < EVENTS ? names[id] : NULL;
}

static unsigned event_values(struct fm_tracefile *tracefile, const struct fm_event *event,
                             struct fm_event_value *ret)
{
    (void)tracefile;
    ret[0] = (struct fm_event_value){.name = "n", .kind = FM_VALUE_UNSIGNED, .number = event->id};
    ret[1] = (struct fm_event_value){.name = "s", .kind = FM_VALUE_SIGNED, .number = UINT64_MAX};
    ret[2] = (struct fm_event_value){
        .name = "t.u", .kind = FM_VALUE_TEXT, .text = "abab", .text_length = 4};
    ret[3] = (struct fm_event_value){.name = "r", .kind = FM_VALUE_REAL, .real = 0.5};
    return 4;
}

static const struct fm_tracefile_class class_ = {
    .peek = peek, .event_name = event_name, .event_values = event_values};

static unsigned accepted(struct fm_filter *filter, struct fm_trace *trace)
{
    struct fm_tracefile_context at = {.tracefile = trace->tracefiles->pdata[0]};
    unsigned bits = 0;
    for (cursor = 0; peek(at.tracefile, &at.event); cursor++)
        bits |= fm_filter_accepts(filter, &at, NULL) ? 1u << cursor : 0;
    return bits;
}

static void check_accepted(struct fm_filter *filter, struct fm_trace *trace)
{
    char *printed = fm_filter_print(filter);
    struct fm_filter *back = fm_filter_new(printed, NULL);
    if (back == NULL)
        g_error("what is printed is refused: %s", printed);
    char *again = fm_filter_print(back);
    if (strcmp(printed, again) != 0)
        g_error("printed as %s, then as %s", printed, again);
    unsigned first = accepted(filter, trace);
    if (first != accepted(filter, trace) || first != accepted(back, trace))
        g_error("accepts differently: %s", printed);
    fm_filter_free(back);
    g_free(again);
    g_free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *)data, size);
    struct fm_trace *trace = fm_trace_new("/a/b", "1:1");
    trace->state_model = &fm_state_model_eventlog;
    GError *error = NULL;
    size_t at;
    fm_trace_add_tracefile(trace, &class_, "file", "channel", 0, NULL);
    struct fm_filter *filter = fm_filter_new(text, &error);
    if (filter != NULL)
        check_accepted(filter, trace);
    else if (error == NULL || !g_utf8_validate(error->message, -1, NULL))
        g_error("refused without a clean message");
    g_clear_error(&error);
    fm_filter_free(filter);
    GPtrArray *words = fm_filter_complete(text, size, &trace, 1, &at);
    if (at > strlen(text))
        g_error("completion beyond the text");
    g_ptr_array_unref(words);
    fm_trace_free(trace);
    g_free(text);
    return 0;
}
