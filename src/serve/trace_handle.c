/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of traces. */
#include <string.h>

#include "base/error.h"
#include "base/text/json.h"
#include "pages/trace/page.h"
#include "serve/serve_internal.h"
#include "serve/trace_handle.h"
#include "serve/trace_live.h"

/* A page may change at any moment, so it has no validator. */
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
    fm_recordings_grow(server->recordings);
    if (fm_trace_page_write(server->recordings, server->options.patience_us, &query, format, body,
                            &error)) {
        *ret = (struct fm_response){.status = 200,
                                    .content_type = fm_format_content_type(format),
                                    .body = g_string_free_to_bytes(body)};
    } else {
        g_string_free(body, TRUE);
        fm_response_error(request, error, ret);
    }
    fm_trace_query_clear(&query);
}

/* Completions for the end of a filter: {"at": byte, "words": [...]}. */
static void answer_complete(struct fm_server *server, const struct fm_request *request,
                            struct fm_response *ret)
{
    GError *error = NULL;
    struct fm_trace_query query;
    struct fm_trace_set *set = NULL;
    if (!fm_trace_query_parse(request->query, &query, &error)) {
        fm_response_error(request, error, ret);
        return;
    }
    if (!fm_trace_set_open(server->recordings, &query, &set, &error)) {
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
    struct fm_json json;
    fm_json_init(&json, out);
    json.spaced = true;
    fm_json_object(&json, NULL);
    fm_json_uint(&json, "at", at);
    fm_json_array(&json, "words");
    for (unsigned i = 0; i < words->len; i++)
        fm_json_text(&json, NULL, words->pdata[i]);
    fm_json_end(&json);
    fm_json_end(&json);
    g_string_append_c(out, '\n');
    *ret = (struct fm_response){
        .status = 200, .content_type = "application/json", .body = g_string_free_to_bytes(out)};
    fm_trace_set_free(set);
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
        fm_trace_live_stream(server, request, ret);
    else if (strcmp(path, "/trace/ask") == 0)
        fm_trace_live_ask(server, request, ret);
    else if (strcmp(path, "/trace/complete") == 0)
        answer_complete(server, request, ret);
    else if (strcmp(path, "/trace/status") == 0)
        fm_trace_live_status(server, ret);
    else
        return false;
    return true;
}
