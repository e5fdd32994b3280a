/* SPDX-License-Identifier: Apache-2.0 */
/* Why a filter accepts no event: the names that it asks for and the traces do not have. */
#include <string.h>

#include "base/text/distance.h"
#include "trace/filter/filter_internal.h"

enum { NEAREST_MAX = 3, EVENT_IDS_MAX = 1 << 16 };

struct names {
    const struct filter_test *test;
    char *wanted; /* the value, a pattern's * left out */
    bool any;     /* one of them is what the test asks for */
    unsigned count;
    char *nearest[NEAREST_MAX];
    unsigned distance[NEAREST_MAX];
};

/* To the name, or of a pattern to its begin. */
static unsigned distance_of(const struct names *names, const char *name)
{
    unsigned distance = fm_text_distance(names->wanted, name);
    if (!names->test->pattern)
        return distance;
    g_autofree char *begin = g_strndup(name, strlen(names->wanted));
    return MIN(distance, fm_text_distance(names->wanted, begin));
}

static void offer(struct names *names, const char *name)
{
    if (name == NULL || name[0] == '\0' || names->any)
        return;
    names->any = fm_filter_compare_text(names->test, name, strlen(name));
    unsigned distance = distance_of(names, name), at = names->count;
    for (unsigned i = 0; i < names->count; i++)
        if (strcmp(names->nearest[i], name) == 0)
            return;
    while (at > 0 && distance < names->distance[at - 1])
        at--;
    if (at == NEAREST_MAX)
        return;
    if (names->count == NEAREST_MAX)
        g_free(names->nearest[--names->count]);
    for (unsigned i = names->count++; i > at; i--) {
        names->nearest[i] = names->nearest[i - 1];
        names->distance[i] = names->distance[i - 1];
    }
    names->nearest[at] = g_strdup(name);
    names->distance[at] = distance;
}

static void offer_lanes(struct names *names, const struct fm_state *state, int kind)
{
    for (uint32_t i = 0; i < fm_state_lane_count(state); i++) {
        const struct fm_lane *lane = fm_state_lane(state, i);
        if (kind < 0 || (int)lane->kind == kind)
            offer(names, lane->name);
    }
}

static void offer_events(struct names *names, struct fm_tracefile *tracefile, bool with_channel)
{
    for (uint32_t id = 0; tracefile->class_->event_name != NULL && id < EVENT_IDS_MAX; id++) {
        const char *name = tracefile->class_->event_name(tracefile, id);
        offer(names, name);
        if (name == NULL || !with_channel)
            continue;
        g_autofree char *whole = g_strdup_printf("%s.%s", tracefile->channel, name);
        names->any |= fm_filter_compare_text(names->test, whole, strlen(whole));
    }
}

static void offer_values(struct names *names, const struct fm_trace *trace)
{
    for (uint32_t value = 0; value < fm_trace_value_count(trace); value++)
        offer(names, fm_trace_value_name(trace, value));
}

/* The kind of object whose names could be suggested; NULL = names of the field cannot be listed. */
static const char *offer_all(struct names *names, const struct fm_state *state)
{
    const struct fm_trace *trace = fm_state_trace(state);
    enum filter_source source = names->test->field->source;
    for (guint i = 0; i < trace->tracefiles->len; i++) {
        struct fm_tracefile *tracefile = trace->tracefiles->pdata[i];
        if (source == SOURCE_EVENT_NAME || source == SOURCE_EVENT_SUBNAME)
            offer_events(names, tracefile, source == SOURCE_EVENT_NAME);
        if (source == SOURCE_CHANNEL_NAME)
            offer(names, tracefile->channel);
    }
    switch (source) {
    case SOURCE_EVENT_NAME:
    case SOURCE_EVENT_SUBNAME:
        return "type of event";
    case SOURCE_CHANNEL_NAME:
        return "channel";
    case SOURCE_LANE_NAME:
        offer_lanes(names, state, -1);
        return "lane";
    case SOURCE_STATE_PROCESS_NAME:
        offer_lanes(names, state, FM_LANE_PROCESS);
        return "process";
    case SOURCE_STATE_THREAD_BRAND:
        offer_lanes(names, state, FM_LANE_THREAD);
        return "thread";
    case SOURCE_STATE_VALUE:
        offer_values(names, trace);
        return "state";
    default:
        return NULL;
    }
}

static char *without_any(const char *text)
{
    GString *plain = g_string_new(NULL);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c != FILTER_ANY)
            g_string_append_c(plain, *c);
    }
    return g_string_free(plain, FALSE);
}

/* Appends a sentence when no name is what the test asks for. */
static void explain(const struct filter_test *test, const struct fm_state *const *states,
                    unsigned state_count, GString *to)
{
    struct names names = {.test = test, .wanted = without_any(test->text)};
    const char *what = NULL;
    for (unsigned i = 0; i < state_count; i++)
        what = offer_all(&names, states[i]);
    if (what != NULL && !names.any) {
        g_string_append_printf(to, " No %s is named ", what);
        fm_filter_print_value(to, test->text, test->pattern);
        g_string_append(to, names.count == 0 ? "; there are none." : "; the nearest: ");
        for (unsigned i = 0; i < names.count; i++)
            g_string_append_printf(to, "%s%s", names.nearest[i], i + 1 < names.count ? ", " : ".");
    }
    for (unsigned i = 0; i < names.count; i++)
        g_free(names.nearest[i]);
    g_free(names.wanted);
}

char *fm_filter_explain_nothing(const struct fm_filter *filter,
                                const struct fm_state *const *states, unsigned state_count)
{
    GString *text = g_string_new("No event passes the filter.");
    const struct filter_tree *tree = fm_filter_tree(filter);
    for (guint i = 0; i < tree->tests->len; i++) {
        const struct filter_test *test = &g_array_index(tree->tests, struct filter_test, i);
        if (test->op == OP_EQUAL && test->field->public.type == FM_FILTER_TEXT)
            explain(test, states, state_count, text);
    }
    g_autofree char *whole = g_string_free(text, FALSE);
    return g_utf8_make_valid(whole, -1);
}
