/* SPDX-License-Identifier: Apache-2.0 */
/* /live: sends each new version of a page of a running program's profile.
 *
 * At first, and when the stream is reopened, it sends the whole page, then differences
 * (delta.h); a slow reader misses some versions.
 *
 *   event: page         {"text":"<!DOCTYPE html>..."}
 *   event: delta        [2000,-13,"<tr>...",17000]
 *   event: generation   {"generation":7,"running":true,"finished":false,
 *                        "text":"Process 4711 still runs: ..."}
 *
 * The first generation event gives the state at the begin of the stream. finished: the page's
 * address leads to the whole profile. */
#include <string.h>

#include "base/text/json.h"
#include "serve/growing/delta.h"
#include "serve/growing/growing.h"
#include "serve/live.h"

#define LOOK_MS 20 /* interval while a replaced profile is being read */
/* limit of unread bytes: a slow reader skips to the next version */
#define BACKLOG_MAX (1u << 20)

struct page {
    struct fm_live_page live;
    const struct fm_growing *growing;
    fm_growing_page_function *answer;
    char *query; /* the page's address */
    char *text;  /* the version that the reader has; NULL = none yet */
    guint timer; /* runs until there is another version; 0 = nobody waits */
};

static void tell(const struct page *page)
{
    g_autoptr(GString) out = g_string_new(NULL);
    struct fm_json json;
    fm_json_init(&json, out);
    fm_json_object(&json, NULL);
    fm_json_uint(&json, "generation", page->growing->generation);
    fm_json_bool(&json, "running", page->growing->running);
    fm_json_bool(&json, "finished", page->growing->finished != NULL);
    fm_json_text(&json, "text", page->growing->text);
    fm_json_end(&json);
    fm_stream_send(page->live.stream, "generation", out->str);
}

static void send_text(struct page *page, char *text)
{
    if (page->text == NULL) {
        g_autoptr(GString) out = g_string_new(NULL);
        struct fm_json json;
        fm_json_init(&json, out);
        fm_json_object(&json, NULL);
        fm_json_text(&json, "text", text);
        fm_json_end(&json);
        fm_stream_send(page->live.stream, "page", out->str);
    } else if (strcmp(text, page->text) != 0) {
        g_autofree char *delta = fm_delta(page->text, text);
        fm_stream_send(page->live.stream, "delta", delta);
    }
    g_free(page->text);
    page->text = text;
}

/* Makes the page as for any reader, once everything that it shows is known. */
static gboolean on_look(void *data)
{
    struct page *page = data;
    const struct fm_request request = {
        .method = "GET", .path = "/deep", .query = page->query, .can_stream = true};
    struct fm_response response = {0};
    if (fm_stream_backlog(page->live.stream) > BACKLOG_MAX)
        return G_SOURCE_CONTINUE;
    page->answer(page->live.server, &request, &response);
    gsize size;
    const char *body = g_bytes_get_data(response.body, &size);
    g_autofree char *text = g_strndup(body, size);
    bool shown = response.status == 200, known = strstr(text, " class=\"incomplete\"") == NULL;
    fm_response_done(&response);
    if (shown && !known)
        return G_SOURCE_CONTINUE;
    page->timer = 0;
    if (shown)
        send_text(page, g_steal_pointer(&text));
    return G_SOURCE_REMOVE;
}

static void look(struct page *page)
{
    if (page->timer == 0)
        page->timer = g_timeout_add(LOOK_MS, on_look, page);
}

/* Each version replaces the profile's contents, so the page keeps no reference to the engine's
 * data. */
static bool shows(const struct fm_live_page *live, const struct fm_trace *trace)
{
    (void)live;
    (void)trace;
    return false;
}

static void free_page(struct fm_live_page *live)
{
    struct page *page = (struct page *)live;
    if (page->timer != 0)
        g_source_remove(page->timer);
    g_free(page->query);
    g_free(page->text);
    g_free(page);
}

static const struct fm_live_class page_class = {.shows = shows, .free = free_page};

static struct page *page_at(const struct fm_server *server, unsigned index)
{
    return (struct page *)fm_live_page_at(server, &page_class, index);
}

static struct fm_growing *with_text(struct fm_server *server, const char *path, const char *text)
{
    struct fm_growing *growing = fm_growing_find(server, path);
    if (growing == NULL) {
        growing = g_new0(struct fm_growing, 1);
        growing->name = g_strdup(path);
        g_ptr_array_add(server->growing, growing);
    }
    g_free(growing->text);
    growing->text = g_strdup(text);
    return growing;
}

static void grow(struct fm_server *server, const char *path, const char *text, bool running,
                 const char *finished)
{
    struct fm_growing *growing = with_text(server, path, text);
    growing->generation++;
    growing->running = running;
    growing->asked = false;
    g_free(growing->finished);
    growing->finished = g_strdup(finished);
    struct page *page;
    for (unsigned i = 0; (page = page_at(server, i)) != NULL; i++)
        if (page->growing == growing) {
            tell(page);
            look(page);
        }
}

void fm_server_grow(struct fm_server *server, const char *path, const char *text, bool running)
{
    g_return_if_fail(path != NULL && text != NULL);
    grow(server, path, text, running, NULL);
}

void fm_server_promise(struct fm_server *server, const char *path, const char *text)
{
    g_return_if_fail(path != NULL && text != NULL);
    struct fm_growing *growing = with_text(server, path, text);
    g_return_if_fail(!fm_growing_is_there(growing));
    growing->running = true;
}

void fm_server_grown(struct fm_server *server, const char *path, const char *text,
                     const char *finished)
{
    g_return_if_fail(path != NULL && text != NULL && finished != NULL);
    grow(server, path, text, false, finished);
}

void fm_server_await(struct fm_server *server, const char *text)
{
    g_return_if_fail(text != NULL);
    g_free(server->awaited);
    server->awaited = g_strdup(text);
}

bool fm_server_is_growth_wanted(const struct fm_server *server, const char *path)
{
    const struct fm_growing *growing = fm_growing_find(server, path);
    const struct page *page;
    for (unsigned i = 0; growing != NULL && (page = page_at(server, i)) != NULL; i++)
        if (page->growing == growing)
            return true;
    return growing != NULL && growing->asked;
}

void fm_growing_answer(struct fm_server *server, const struct fm_request *request,
                       fm_growing_page_function *answer, struct fm_response *ret)
{
    GError *error = NULL;
    struct fm_deep_query asked;
    struct fm_stream *stream;
    if (!fm_deep_query_split(request->query == NULL ? "" : request->query, &asked, &error)) {
        fm_response_error(request, error, ret);
        return;
    }
    const struct fm_growing *growing = fm_growing_of(server, asked.file);
    if (growing == NULL) {
        fm_response_message(request, 404, "that is no profile of a program that runs", ret);
    } else if ((stream = fm_live_stream(server, request, ret)) != NULL) {
        struct page *page = g_new0(struct page, 1);
        fm_live_begin(&page->live, &page_class, server, stream, ret);
        page->growing = growing;
        page->answer = answer;
        page->query = g_strdup(request->query);
        tell(page);
        look(page);
    }
    fm_deep_query_done(&asked);
}

/* --- moments --- */

void fm_server_on_moment(struct fm_server *server, fm_moment_function function, void *user)
{
    g_return_if_fail(function != NULL);
    server->moment = function;
    server->moment_user = user;
}

/* Pages of a function or context are addressed by numbers, which belong to one profile. */
static const char *general_command(const char *text)
{
    struct fm_command command;
    bool general = text != NULL && fm_command_parse(text, &command, NULL);
    if (!general)
        return "menu";
    general = command.number == 0 && (command.name == NULL || strcmp(command.name, "all") == 0);
    fm_command_done(&command);
    return general ? text : "menu";
}

static void answer_page(const struct fm_deep_query *asked, const char *profile,
                        struct fm_response *ret)
{
    g_autoptr(GString) page = g_string_new("deep?");
    fm_query_append_part(page, general_command(asked->command));
    g_string_append_c(page, '&');
    fm_query_append_part(page, profile);
    GString *body = g_string_new(NULL);
    struct fm_json json;
    fm_json_init(&json, body);
    fm_json_object(&json, NULL);
    fm_json_text(&json, "page", page->str);
    fm_json_end(&json);
    *ret = (struct fm_response){.status = 200,
                                .content_type = "application/json; charset=utf-8",
                                .body = g_string_free_to_bytes(body)};
}

void fm_growing_answer_moment(struct fm_server *server, const struct fm_request *request,
                              struct fm_response *ret)
{
    GError *error = NULL;
    struct fm_deep_query asked;
    if (strcmp(request->method, "POST") != 0) {
        fm_response_message(request, 405, "expected the method POST", ret);
        return;
    }
    if (request->foreign) {
        fm_response_message(request, 403, "only a page of this server may set a moment", ret);
        return;
    }
    if (!fm_deep_query_split(request->query == NULL ? "" : request->query, &asked, &error)) {
        fm_response_error(request, error, ret);
        return;
    }
    const struct fm_growing *growing = fm_growing_find(server, asked.file);
    g_autofree char *profile = NULL;
    if (growing == NULL || !growing->running || server->moment == NULL)
        fm_response_message(request, 404, "that is no profile of a program that runs", ret);
    else if ((profile = server->moment(server->moment_user, asked.file, &error)) == NULL)
        fm_response_error(request, error, ret);
    else
        answer_page(&asked, profile, ret);
    fm_deep_query_done(&asked);
}
