/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of traces, and completions of their filters. */
#include <string.h>

#include "base/error.h"
#include "base/text/json.h"
#include "pages/trace/page.h"
#include "serve/serve_internal.h"

/* A page may change from one moment to the next, so it has no validator. */
void fm_answer_trace(const struct fm_exchange *exchange)
{
    struct fm_server *server = exchange->server;
    const struct fm_request *request = exchange->request;
    struct fm_response *ret = exchange->ret;
    enum fm_format format = exchange->format;
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
    fm_open_files_grow(server->recordings);
    if (fm_trace_page_write(server->recordings, server->options.patience_us, &query, format, body,
                            &error)) {
        *ret = (struct fm_response){.status = 200,
                                    .content_type = fm_format_content_type(format),
                                    .body = g_string_free_to_bytes(body)};
    } else {
        g_string_free(body, TRUE);
        fm_response_error(request, error, ret);
    }
    fm_trace_query_done(&query);
}

/* Completions for the end of a filter: {"at": byte, "words": [...]}. */
void fm_answer_trace_complete(const struct fm_exchange *exchange)
{
    struct fm_server *server = exchange->server;
    const struct fm_request *request = exchange->request;
    struct fm_response *ret = exchange->ret;
    GError *error = NULL;
    struct fm_trace_query query;
    struct fm_viewer_set *set = NULL;
    if (!fm_trace_query_parse(request->query, &query, &error)) {
        fm_response_error(request, error, ret);
        return;
    }
    if (!fm_viewer_set_open(server->recordings, &query, &set, &error)) {
        fm_response_error(request, error, ret);
        fm_trace_query_done(&query);
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
    fm_viewer_set_free(set);
    fm_trace_query_done(&query);
}
