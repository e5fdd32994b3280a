/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of traces. */
#include <string.h>

#include "base/error.h"
#include "pages/trace/page.h"
#include "serve/traces.h"

/* A page may change from one moment to the next, so it has no validator. */
static void answer_page(struct fm_server *server, const struct fm_request *request,
                        enum fm_format format, struct fm_response *ret)
{
    GError *error = NULL;
    struct fm_trace_query query;
    if (request->query != NULL && strlen(request->query) > FM_QUERY_BYTES_MAX) {
        fm_response_message(request, 400, "the address is too long", ret);
        return;
    }
    if (!fm_trace_query_parse(request->query, &query, &error)) {
        fm_response_error(request, error, ret);
        return;
    }
    GString *body = g_string_new(NULL);
    trace_live_grow(server);
    if (trace_page_write(server, &query, format, body, &error)) {
        *ret = (struct fm_response){.status = 200,
                                    .content_type = fm_format_content_type(format),
                                    .body = g_string_free_to_bytes(body)};
    } else {
        g_string_free(body, TRUE);
        fm_response_error(request, error, ret);
    }
    fm_trace_query_clear(&query);
}

/* What may stand at the end of a filter that is being typed: {"at": byte, "words": [...]}. */
static void answer_complete(struct fm_server *server, const struct fm_request *request,
                            struct fm_response *ret)
{
    GError *error = NULL;
    struct fm_trace_query query;
    struct trace_set *set = NULL;
    if (!fm_trace_query_parse(request->query, &query, &error)) {
        fm_response_error(request, error, ret);
        return;
    }
    if (!trace_set_open(server, &query, &set, &error)) {
        fm_response_error(request, error, ret);
        fm_trace_query_clear(&query);
        return;
    }
    g_autofree struct fm_trace **traces = g_new(struct fm_trace *, set->count);
    for (unsigned i = 0; i < set->count; i++)
        traces[i] = set->parts[i].trace;
    const char *text = query.filter == NULL ? "" : query.filter;
    size_t at = 0;
    g_autoptr(GPtrArray) words = fm_filter_complete(text, strlen(text), traces, set->count, &at);
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "{\"at\": %zu, \"words\": [", at);
    for (unsigned i = 0; i < words->len; i++) {
        g_string_append(out, i > 0 ? ", " : "");
        fm_json_append_text(out, words->pdata[i]);
    }
    g_string_append(out, "]}\n");
    *ret = (struct fm_response){
        .status = 200, .content_type = "application/json", .body = g_string_free_to_bytes(out)};
    trace_set_free(set);
    fm_trace_query_clear(&query);
}

bool fm_trace_handle(struct fm_server *server, const struct fm_request *request,
                     struct fm_response *ret)
{
    const char *path = request->path;
    enum fm_format format = fm_format_from_accept(request->accept);
    if (strcmp(path, "/trace") == 0)
        answer_page(server, request, format, ret);
    else if (g_str_has_prefix(path, "/trace.") &&
             fm_format_from_name(path + strlen("/trace."), &format))
        answer_page(server, request, format, ret);
    else if (strcmp(path, "/trace/stream") == 0)
        trace_live_stream(server, request, ret);
    else if (strcmp(path, "/trace/ask") == 0)
        trace_live_ask(server, request, ret);
    else if (strcmp(path, "/trace/complete") == 0)
        answer_complete(server, request, ret);
    else if (strcmp(path, "/trace/status") == 0)
        trace_live_status(server, request, ret);
    else
        return false;
    return true;
}
