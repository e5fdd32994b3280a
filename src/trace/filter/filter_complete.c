/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "trace/filter/filter_internal.h"

enum { SUGGESTIONS_MAX = 200, EVENT_IDS_MAX = 1 << 16 };

struct completion {
    struct fm_trace *const *traces;
    unsigned trace_count;
    const char *prefix;
    GHashTable *found; /* a set of strings */
};

static void offer(struct completion *completion, const char *text)
{
    if (text != NULL &&
        g_ascii_strncasecmp(text, completion->prefix, strlen(completion->prefix)) == 0)
        g_hash_table_add(completion->found, g_strdup(text));
}

static void offer_value(struct completion *completion, const char *text)
{
    if (text == NULL)
        return;
    GString *value = g_string_new(NULL);
    fm_filter_print_value(value, text, false);
    offer(completion, value->str);
    g_string_free(value, TRUE);
}

typedef void visit_tracefile(struct completion *completion, struct fm_tracefile *tracefile);

static void each_tracefile(struct completion *completion, visit_tracefile *visit)
{
    for (unsigned i = 0; i < completion->trace_count; i++) {
        GPtrArray *tracefiles = completion->traces[i]->tracefiles;
        for (guint j = 0; j < tracefiles->len; j++)
            visit(completion, tracefiles->pdata[j]);
    }
}

static void offer_event_names(struct completion *completion, struct fm_tracefile *tracefile)
{
    if (tracefile->class_->event_name == NULL)
        return;
    for (uint32_t id = 0; id < EVENT_IDS_MAX; id++)
        offer_value(completion, tracefile->class_->event_name(tracefile, id));
}

static void offer_event_fields(struct completion *completion, struct fm_tracefile *tracefile)
{
    const char *names[FM_EVENT_VALUES_MAX];
    if (tracefile->class_->event_fields == NULL)
        return;
    for (uint32_t id = 0; id < EVENT_IDS_MAX; id++) {
        unsigned count = tracefile->class_->event_fields(tracefile, id, names);
        for (unsigned i = 0; i < count; i++) {
            GString *path = g_string_new("event.field.");
            fm_filter_print_path_part(path, names[i]);
            offer(completion, path->str);
            g_string_free(path, TRUE);
        }
    }
}

static void offer_channel(struct completion *completion, struct fm_tracefile *tracefile)
{
    offer_value(completion, tracefile->channel);
}

static void offer_tracefile(struct completion *completion, struct fm_tracefile *tracefile)
{
    offer_value(completion, tracefile->name);
}

static void offer_trace(struct completion *completion, struct fm_tracefile *tracefile)
{
    g_autofree char *last = g_path_get_basename(tracefile->trace->path);
    offer_value(completion, last);
}

static void offer_state_values(struct completion *completion)
{
    for (unsigned i = 0; i < completion->trace_count; i++) {
        uint32_t count = fm_trace_value_count(completion->traces[i]);
        for (uint32_t value = 0; value < count; value++)
            offer_value(completion, fm_trace_value_name(completion->traces[i], value));
    }
}

static void offer_values(struct completion *completion, const struct filter_field *field)
{
    const char *word;
    switch (field->source) {
    case SOURCE_EVENT_NAME:
    case SOURCE_EVENT_SUBNAME:
        each_tracefile(completion, offer_event_names);
        break;
    case SOURCE_CHANNEL_NAME:
        each_tracefile(completion, offer_channel);
        break;
    case SOURCE_TRACEFILE_NAME:
        each_tracefile(completion, offer_tracefile);
        break;
    case SOURCE_TRACE_NAME:
        each_tracefile(completion, offer_trace);
        break;
    case SOURCE_STATE_VALUE:
    case SOURCE_STATE_SUBMODE:
        offer_state_values(completion);
        break;
    default:
        for (unsigned i = 0; field->public.type == FM_FILTER_WORD &&
                             (word = fm_filter_word(field->source, i)) != NULL;
             i++)
            offer_value(completion, word);
    }
}

static void offer_fields(struct completion *completion)
{
    for (size_t i = 0; i < fm_filter_table_count; i++) {
        bool dynamic = fm_filter_table[i].source == SOURCE_EVENT_FIELD;
        if (!fm_filter_field_is_of(&fm_filter_table[i], FM_FILTER_OF_EVENTS))
            continue;
        offer(completion, dynamic ? "event.field." : fm_filter_table[i].public.path);
    }
    if (g_ascii_strncasecmp(completion->prefix, "event.field.", strlen("event.field.")) == 0)
        each_tracefile(completion, offer_event_fields);
}

static void offer_operators(struct completion *completion, const struct filter_field *field)
{
    bool ordered = field->public.type != FM_FILTER_TEXT && field->public.type != FM_FILTER_WORD;
    for (unsigned i = 0; i < (ordered ? 6 : 2); i++)
        offer(completion, fm_filter_operators[i]);
}

static void offer_joiners(struct completion *completion)
{
    offer(completion, "&");
    offer(completion, "|");
    offer(completion, "^");
}

static void set_prefix(struct completion *completion, const struct filter_scanner *scanner,
                       size_t at, size_t *ret_at)
{
    *ret_at = at;
    completion->prefix = scanner->text + at;
}

/* Reads a test; true when it is whole and followed by something, so that reading goes on. */
static bool pass_test(struct completion *completion, struct filter_scanner *scanner, size_t *ret_at)
{
    g_assert(scanner->at <= strlen(scanner->text));
    size_t length, begin = scanner->at;
    bool quoted, whole;
    enum filter_operator op;
    g_autofree char *path = fm_filter_scan_path(scanner);
    if (scanner->text[scanner->at] == '\0') {
        set_prefix(completion, scanner, begin, ret_at);
        offer_fields(completion);
        return false;
    }
    const struct filter_field *field = path == NULL ? NULL : fm_filter_field_find(path);
    if (field == NULL)
        return false;
    enum filter_token token = fm_filter_peek(scanner, &length, &op);
    if (token == TOKEN_END) {
        set_prefix(completion, scanner, scanner->at, ret_at);
        offer_operators(completion, field);
        return false;
    }
    if (token != TOKEN_OPERATOR)
        return false;
    scanner->at += length;
    fm_filter_peek(scanner, &length, &op);
    begin = scanner->at;
    g_free(fm_filter_scan_value(scanner, &quoted, &whole));
    if (scanner->text[scanner->at] == '\0' && !(quoted && whole)) {
        set_prefix(completion, scanner, begin, ret_at);
        offer_values(completion, field);
        return false;
    }
    return true;
}

static void complete(struct completion *completion, struct filter_scanner *scanner, size_t *ret_at)
{
    size_t length;
    enum filter_operator op;
    for (;;) {
        enum filter_token token = fm_filter_peek(scanner, &length, &op);
        while (token == TOKEN_NOT || token == TOKEN_OPEN) {
            scanner->at += length;
            token = fm_filter_peek(scanner, &length, &op);
        }
        if (token == TOKEN_END) {
            set_prefix(completion, scanner, scanner->at, ret_at);
            offer_fields(completion);
            return;
        }
        if (token != TOKEN_OTHER || !pass_test(completion, scanner, ret_at))
            return;
        while ((token = fm_filter_peek(scanner, &length, &op)) == TOKEN_CLOSE)
            scanner->at += length;
        if (token == TOKEN_END) {
            set_prefix(completion, scanner, scanner->at, ret_at);
            offer_joiners(completion);
            return;
        }
        if (token != TOKEN_AND && token != TOKEN_OR && token != TOKEN_XOR)
            return;
        scanner->at += length;
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *fm_filter_complete(const char *text, size_t cursor, struct fm_trace *const *traces,
                              unsigned trace_count, size_t *ret_at)
{
    g_return_val_if_fail(text != NULL && ret_at != NULL, NULL);
    GPtrArray *sorted = g_ptr_array_new_with_free_func(g_free);
    size_t length = strnlen(text, FILTER_TEXT_MAX);
    g_autofree char *before = g_strndup(text, MIN(cursor, length));
    struct completion completion = {
        .traces = traces,
        .trace_count = trace_count,
        .found = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
    };
    struct filter_scanner scanner = {before, 0};
    *ret_at = MIN(cursor, length);
    complete(&completion, &scanner, ret_at);
    GHashTableIter iter;
    void *word;
    g_hash_table_iter_init(&iter, completion.found);
    while (g_hash_table_iter_next(&iter, &word, NULL))
        g_ptr_array_add(sorted, g_strdup(word));
    g_hash_table_unref(completion.found);
    g_ptr_array_sort(sorted, compare_texts);
    if (sorted->len > SUGGESTIONS_MAX)
        g_ptr_array_set_size(sorted, SUGGESTIONS_MAX);
    return sorted;
}
