/* SPDX-License-Identifier: Apache-2.0 */
/* From a path to the function that answers it. */
#include <string.h>

#include "serve/growing/growing.h"
#include "serve/profile_live.h"
#include "serve/serve_internal.h"
#include "serve/trace_live.h"

#define BIT(format) (1u << FM_FORMAT_##format)
#define TABLES (BIT(HTML) | BIT(TEXT) | BIT(JSON) | BIT(CSV))

static void answer_live(const struct fm_exchange *x)
{
    fm_growing_answer(x->server, x->request, fm_server_handle, x->ret);
}

static void answer_moment(const struct fm_exchange *x)
{
    fm_growing_answer_moment(x->server, x->request, x->ret);
}

static void answer_events(const struct fm_exchange *x)
{
    fm_profile_live_answer(x->server, x->request, x->ret);
}

static void answer_trace_stream(const struct fm_exchange *x)
{
    fm_trace_live_stream(x->server, x->request, x->ret);
}

static void answer_trace_ask(const struct fm_exchange *x)
{
    fm_trace_live_ask(x->server, x->request, x->ret);
}

static void answer_trace_status(const struct fm_exchange *x)
{
    fm_trace_live_status(x->server, x->ret);
}

static void answer_nothing(const struct fm_exchange *x)
{
    *x->ret = (struct fm_response){.status = 204, .body = g_bytes_new_static("", 0)};
}

static const struct route {
    const char *path;
    void (*answer)(const struct fm_exchange *exchange);
    unsigned endings; /* bits of formats that the path may end in: "/deep.json" */
    bool subtree;     /* all that is below the path, too */
} routes[] = {
    {"/deep", fm_answer_deep, TABLES | BIT(SVG) | BIT(DOT), false},
    {"/compare", fm_answer_compare, TABLES | BIT(SVG), false},
    {"/trace", fm_answer_trace, TABLES | BIT(DOT), false},
    {"/trace/stream", answer_trace_stream, 0, false},
    {"/trace/ask", answer_trace_ask, 0, false},
    {"/trace/complete", fm_answer_trace_complete, 0, false},
    {"/trace/status", answer_trace_status, 0, false},
    {"/find", fm_answer_find, 0, false},
    {"/live", answer_live, 0, false},
    {"/moment", answer_moment, 0, false},
    {"/events", answer_events, 0, false},
    {"/assets/", fm_answer_asset, 0, true},
    {"/favicon.ico", answer_nothing, 0, false},
    {"/index", fm_answer_front, TABLES | BIT(DOT), false},
    {"/", fm_answer_front, TABLES | BIT(DOT), false},
};

static const struct route *find(const struct fm_request *request, enum fm_format *ret_format)
{
    size_t stem;
    bool ends = fm_request_format(request, &stem, ret_format);
    for (size_t i = 0; i < G_N_ELEMENTS(routes); i++) {
        size_t size = strlen(routes[i].path);
        if (strncmp(request->path, routes[i].path, size) != 0)
            continue;
        if (request->path[size] == '\0' || routes[i].subtree)
            return &routes[i];
        if (ends && stem == size && (routes[i].endings >> *ret_format & 1u) != 0)
            return &routes[i];
    }
    return NULL;
}

static bool method_is_known(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "POST") == 0;
}

void fm_server_handle(struct fm_server *server, const struct fm_request *request,
                      struct fm_response *ret)
{
    g_return_if_fail(request->method != NULL && request->path != NULL && ret != NULL);
    struct fm_exchange exchange = {.server = server, .request = request, .ret = ret};
    const struct route *route = find(request, &exchange.format);
    if (!method_is_known(request->method)) {
        fm_response_message(request, 405, "expected the method GET, HEAD or POST", ret);
    } else if (route != NULL) {
        exchange.rest = request->path + strlen(route->path);
        route->answer(&exchange);
    } else if (g_str_has_suffix(request->path, ".svg")) {
        fm_response_message(request, 404, "only pages of profiles have pictures of their own", ret);
    } else {
        fm_response_message(request, 404, "there is no such page; the recordings are listed at /",
                            ret);
    }
}
