/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of traces, and completions of their filters. */
#include <string.h>

#include "base/error.h"
#include "base/text/json.h"
#include "pages/trace/page.h"
#include "serve/serve_internal.h"

/* --- pages --- */

struct answer {
    struct fm_later later;
    struct fm_trace_page *page;
    char *method, *path, *accept; /* the request's, for errors */
};

static void answer_drop(struct fm_later *later)
{
    struct answer *answer = (struct answer *)later;
    fm_trace_page_free(answer->page);
    g_free(answer->method);
    g_free(answer->path);
    g_free(answer->accept);
    g_free(answer);
}

static bool answer_step(struct fm_later *later)
{
    return fm_trace_page_step(((struct answer *)later)->page);
}

/* A page may change from one moment to the next, so it has no validator. */
static void answer_end(struct fm_later *later, struct fm_response *ret)
{
    struct answer *answer = (struct answer *)later;
    GString *body = g_string_new(NULL);
    GError *error = NULL;
    if (fm_trace_page_write(answer->page, body, &error)) {
        enum fm_format format = fm_trace_page_format(answer->page);
        *ret = (struct fm_response){.status = 200,
                                    .content_type = fm_format_content_type(format),
                                    .body = g_string_free_to_bytes(body)};
    } else {
        g_string_free(body, TRUE);
        const struct fm_request request = {
            .method = answer->method, .path = answer->path, .accept = answer->accept};
        fm_response_error(&request, error, ret);
    }
    answer_drop(later);
}

static struct fm_later *answer_new(const struct fm_request *request, struct fm_trace_page *page)
{
    struct answer *answer = g_new0(struct answer, 1);
    answer->later = (struct fm_later){answer_step, answer_end, answer_drop};
    answer->page = page;
    answer->method = g_strdup(request->method);
    answer->path = g_strdup(request->path);
    answer->accept = g_strdup(request->accept);
    return &answer->later;
}

void fm_answer_trace(const struct fm_exchange *exchange)
{
    struct fm_server *server = exchange->server;
    const struct fm_request *request = exchange->request;
    struct fm_response *ret = exchange->ret;
    GError *error = NULL;
    struct fm_trace_query query;
    struct fm_trace_page *page = NULL;
    if (request->query != NULL && strlen(request->query) > FM_QUERY_BYTES_MAX) {
        fm_response_message(request, 400, "the address is too long", ret);
        return;
    }
    if (!fm_trace_query_parse(request->query, &query, &error)) {
        fm_response_error(request, error, ret);
        return;
    }
    fm_open_files_grow(server->recordings);
    bool good = fm_trace_page_new(server->recordings, server->options.patience_us, &query,
                                  exchange->format, request->can_wait, &page, &error);
    fm_trace_query_done(&query);
    if (!good) {
        fm_response_error(request, error, ret);
        return;
    }
    struct fm_later *later = answer_new(request, page);
    if (request->can_wait) {
        *ret = (struct fm_response){.later = later, .body = g_bytes_new_static("", 0)};
        return;
    }
    while (later->step(later))
        ;
    later->end(later, ret);
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
