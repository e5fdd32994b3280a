/* SPDX-License-Identifier: Apache-2.0 */
/* Pages with an event stream. The script requests viewers' answers one by one. Each is sent when it
 * is known, and again when a pass over the trace improves it. A later request for the same viewer
 * replaces the earlier one. */
#include <string.h>

#include "base/error.h"
#include "base/text/json.h"
#include "pages/trace/json.h"
#include "pages/trace/page.h"
#include "serve/live.h"
#include "serve/serve_internal.h"
#include "serve/trace_live.h"

#define TICK_MS 100
#define GROW_MS 250
#define SEARCH_MS 30
#define OWNERS_MAX 16u
#define BACKLOG_MAX (512UL * 1024)

struct owner { /* one viewer of a page */
    struct trace_page *page;
    char *name;
    guint64 serial;
    enum fm_trace_view view;
    struct fm_trace_query query;
    struct fm_viewer_job *job; /* NULL: withdrawn, or the request could not be made */
    bool redraw;               /* restart when the engine has finished its step */
    bool held;                 /* an answer waits until the reader has read what was sent */
};

struct trace_page {
    struct fm_live_page live;
    struct fm_viewer_set *set;
    GPtrArray *owners; /* struct owner */
    guint tick;
    double told_progress;
    bool all_ready;
};

/* --- answers --- */

static void send_answer(struct owner *owner)
{
    g_autoptr(GString) text = g_string_new(NULL);
    struct fm_json json;
    fm_json_init(&json, text);
    json.spaced = true;
    fm_json_object(&json, NULL);
    fm_json_text(&json, "owner", owner->name);
    fm_json_uint(&json, "serial", owner->serial);
    fm_trace_page_json_job(&json, "answer", owner->job);
    fm_json_end(&json);
    fm_stream_send(owner->page->live.stream, "answer", text->str);
}

/* A slow reader gets only the answer that is current when it reads again. */
static void answer(struct owner *owner)
{
    owner->held = fm_stream_backlog(owner->page->live.stream) >= BACKLOG_MAX;
    if (!owner->held)
        send_answer(owner);
}

static void on_progressed(struct fm_viewer_job *job, void *user)
{
    struct owner *owner = user;
    job->wants_picture = false;
    if (owner->job == job) /* otherwise it is being made, and will be sent */
        answer(owner);
}

static void withdraw(struct owner *owner)
{
    if (owner->job != NULL && !fm_viewer_job_is_done(owner->job))
        owner->page->live.server->cancelled_answers++;
    g_clear_pointer(&owner->job, fm_viewer_job_free);
    owner->held = false;
}

static bool begin_owner(struct owner *owner, GError **error)
{
    struct trace_page *page = owner->page;
    struct fm_viewer_job *job;
    withdraw(owner);
    owner->redraw = false;
    if (!fm_viewer_job_new(fm_trace_page_viewer_of(owner->view), page->set, &owner->query, &job,
                           error))
        return false;
    job->progressed = on_progressed;
    job->user = owner;
    job->wants_picture = true; /* the first answer is made at once */
    owner->job = job;
    if (fm_viewer_job_is_done(job))
        answer(owner);
    return true;
}

static void owner_free(gpointer data)
{
    struct owner *owner = data;
    withdraw(owner);
    fm_trace_query_done(&owner->query);
    g_free(owner->name);
    g_free(owner);
}

static struct owner *find_owner(struct trace_page *page, const char *name, bool make)
{
    for (unsigned i = 0; i < page->owners->len; i++) {
        struct owner *owner = page->owners->pdata[i];
        if (strcmp(owner->name, name) == 0)
            return owner;
    }
    if (!make || page->owners->len >= OWNERS_MAX)
        return NULL;
    struct owner *owner = g_new0(struct owner, 1);
    owner->page = page;
    owner->name = g_strdup(name);
    fm_trace_query_init(&owner->query);
    g_ptr_array_add(page->owners, owner);
    return owner;
}

/* --- progress of the passes --- */

static void send_set(struct trace_page *page, const char *event)
{
    g_autoptr(GString) text = g_string_new(NULL);
    struct fm_json json;
    fm_json_init(&json, text);
    json.spaced = true;
    fm_json_object(&json, NULL);
    fm_json_text(&json, "stream", fm_stream_id(page->live.stream));
    fm_trace_page_json_set(&json, "set", page->set);
    fm_json_end(&json);
    fm_stream_send(page->live.stream, event, text->str);
}

static void renew_owners(struct trace_page *page, bool all)
{
    for (unsigned i = 0; i < page->owners->len; i++) {
        struct owner *owner = page->owners->pdata[i];
        if (owner->job != NULL && (all || fm_viewer_job_is_incomplete(owner->job) ||
                                   owner->view == FM_TRACE_VIEW_OVERVIEW))
            owner->redraw = true;
    }
}

static void redraw_owners(struct trace_page *page)
{
    for (unsigned i = 0; i < page->owners->len; i++) {
        struct owner *owner = page->owners->pdata[i];
        if (owner->redraw && !begin_owner(owner, NULL))
            owner->redraw = false;
    }
}

/* Requests the passes; what they improve is redrawn when they are ready. */
static void look_at_passes(struct trace_page *page)
{
    bool ready = fm_viewer_set_precompute(page->set);
    double progress = fm_viewer_set_progress(page->set);
    if (ready && !page->all_ready) {
        renew_owners(page, false);
        send_set(page, "ready");
        page->told_progress = 1;
    } else if (!ready &&
               (progress < page->told_progress || progress > page->told_progress + 0.01)) {
        send_set(page, "progress");
        page->told_progress = progress;
    }
    page->all_ready = ready;
}

/* --- the stream --- */

static gboolean on_tick(gpointer user)
{
    struct trace_page *page = user;
    if (!page->all_ready || fm_viewer_set_is_behind(page->set))
        look_at_passes(page);
    redraw_owners(page);
    bool can_send = fm_stream_backlog(page->live.stream) < BACKLOG_MAX;
    for (unsigned i = 0; i < page->owners->len; i++) {
        struct owner *owner = page->owners->pdata[i];
        if (owner->job != NULL && !fm_viewer_job_is_done(owner->job))
            owner->job->wants_picture = can_send;
        if (can_send && owner->held)
            answer(owner);
    }
    return G_SOURCE_CONTINUE;
}

static void free_page(struct fm_live_page *live)
{
    struct trace_page *page = (struct trace_page *)live;
    g_source_remove(page->tick);
    g_ptr_array_unref(page->owners);
    fm_viewer_set_free(page->set);
    g_free(page);
}

static bool shows(const struct fm_live_page *live, const struct fm_trace *trace)
{
    const struct fm_viewer_set *set = ((const struct trace_page *)live)->set;
    for (unsigned i = 0; i < set->count; i++) {
        if (set->parts[i].trace == trace)
            return true;
    }
    return false;
}

/* The wall clock may be known now. */
static void on_replaced(struct fm_live_page *live)
{
    fm_viewer_set_align(((struct trace_page *)live)->set);
}

static void on_changed(struct fm_live_page *live)
{
    struct trace_page *page = (struct trace_page *)live;
    fm_viewer_set_renew(page->set);
    page->all_ready = false;
    renew_owners(page, false);                 /* owners whose traces were being read */
    (void)fm_viewer_set_precompute(page->set); /* so that their progress is reported */
    send_set(page, "grown");
}

static const struct fm_live_class page_class = {
    .shows = shows, .replaced = on_replaced, .changed = on_changed, .free = free_page};

static gboolean on_grow(gpointer user)
{
    struct fm_server *server = user;
    server->growth_source = 0;
    if (fm_live_page_at(server, &page_class, 0) == NULL)
        return G_SOURCE_REMOVE;
    fm_open_files_grow(server->recordings);
    unsigned wait_ms = fm_open_files_are_searched(server->recordings) ? SEARCH_MS : GROW_MS;
    server->growth_source = g_timeout_add(wait_ms, on_grow, server);
    return G_SOURCE_REMOVE;
}

void fm_trace_live_stream(struct fm_server *server, const struct fm_request *request,
                          struct fm_response *ret)
{
    g_autoptr(GError) error = NULL;
    struct fm_trace_query query;
    struct fm_viewer_set *set;
    if (!fm_trace_query_parse(request->query, &query, &error)) {
        fm_response_error(request, g_steal_pointer(&error), ret);
        return;
    }
    if (!fm_viewer_set_open(server->recordings, &query, &set, &error)) {
        fm_response_error(request, g_steal_pointer(&error), ret);
        fm_trace_query_done(&query);
        return;
    }
    struct fm_stream *stream = fm_live_stream(server, request, ret);
    if (stream == NULL) {
        fm_viewer_set_free(set);
        fm_trace_query_done(&query);
        return;
    }
    fm_viewer_set_keep_names(set);
    fm_trace_query_done(&query);
    struct trace_page *page = g_new0(struct trace_page, 1);
    page->set = set;
    page->owners = g_ptr_array_new_with_free_func(owner_free);
    page->told_progress = -1;
    fm_live_begin(&page->live, &page_class, server, stream, ret);
    page->all_ready = fm_viewer_set_precompute(set);
    send_set(page, "hello");
    page->tick = g_timeout_add(TICK_MS, on_tick, page);
    if (server->growth_source == 0)
        server->growth_source = g_timeout_add(GROW_MS, on_grow, server);
}

/* --- requests of the script --- */

/* The value of a key that begins with "_"; caller frees. */
static char *own_value(const char *query, const char *name)
{
    g_auto(GStrv) pairs = g_strsplit(query == NULL ? "" : query, "&", 0);
    size_t size = strlen(name);
    for (char **pair = pairs; *pair != NULL; pair++) {
        if (strncmp(*pair, name, size) == 0 && (*pair)[size] == '=')
            return fm_query_percent_decode(*pair + size + 1, NULL);
    }
    return NULL;
}

static bool is_owner_name(const char *name)
{
    return name != NULL && name[0] != '\0' && strlen(name) <= 32 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz-") == strlen(name);
}

static struct trace_page *page_of(struct fm_server *server, const char *id)
{
    const struct fm_stream *stream = id == NULL ? NULL : fm_server_stream(server, id);
    struct fm_live_page *live;
    for (unsigned i = 0; (live = fm_live_page_at(server, &page_class, i)) != NULL; i++) {
        if (live->stream == stream)
            return (struct trace_page *)live;
    }
    return NULL;
}

static void take_query(struct owner *owner, struct fm_trace_query *query, guint64 serial)
{
    fm_trace_query_done(&owner->query);
    owner->query = *query;
    owner->view = query->view;
    owner->serial = serial;
}

void fm_trace_live_ask(struct fm_server *server, const struct fm_request *request,
                       struct fm_response *ret)
{
    g_autofree char *id = own_value(request->query, "_stream");
    g_autofree char *name = own_value(request->query, "_owner");
    g_autofree char *serial = own_value(request->query, "_serial");
    g_autofree char *cancel = own_value(request->query, "_cancel");
    g_autoptr(GError) error = NULL;
    struct trace_page *page = page_of(server, id);
    struct fm_trace_query query;
    if (page == NULL || !is_owner_name(name)) {
        fm_response_message(request, 404, "there is no such page; load it again", ret);
        return;
    }
    struct owner *owner = find_owner(page, name, cancel == NULL);
    *ret = (struct fm_response){.status = 204, .body = g_bytes_new_static("", 0)};
    if (cancel != NULL) {
        if (owner != NULL)
            withdraw(owner);
        return;
    }
    if (owner == NULL) {
        fm_response_done(ret);
        fm_response_message(request, 503, "the page has too many viewers", ret);
        return;
    }
    guint64 number = serial == NULL ? 0 : g_ascii_strtoull(serial, NULL, 10);
    if (number < owner->serial) /* overtaken by a later request */
        return;
    bool good = fm_trace_query_parse(request->query, &query, &error);
    if (good && fm_trace_page_viewer_of(query.view) == NULL) {
        g_set_error(&error, FM_ERROR, FM_ERROR_USAGE, "there is no viewer of that name");
        fm_trace_query_done(&query);
        good = false;
    }
    if (good) {
        take_query(owner, &query, number);
        good = begin_owner(owner, &error);
    }
    if (!good) {
        fm_response_done(ret);
        fm_response_error(request, g_steal_pointer(&error), ret);
    }
}

/* Current state, for tests and debugging. */
void fm_trace_live_status(struct fm_server *server, struct fm_response *ret)
{
    const struct fm_live_page *live;
    unsigned requests = 0, pages = 0;
    for (; (live = fm_live_page_at(server, &page_class, pages)) != NULL; pages++) {
        const struct trace_page *page = (const struct trace_page *)live;
        for (unsigned i = 0; i < page->owners->len; i++) {
            const struct owner *owner = page->owners->pdata[i];
            requests += owner->job == NULL ? 0 : fm_engine_reader_pending(owner->job->set->reader);
        }
    }
    GString *text = g_string_new(NULL);
    struct fm_json json;
    fm_json_init(&json, text);
    json.spaced = true;
    fm_json_object(&json, NULL);
    fm_json_uint(&json, "pages", pages);
    fm_json_uint(&json, "requests", requests);
    fm_json_uint(&json, "cancelled", server->cancelled_answers);
    fm_json_uint(&json, "traces", fm_server_trace_count(server));
    fm_json_end(&json);
    g_string_append_c(text, '\n');
    *ret = (struct fm_response){
        .status = 200, .content_type = "application/json", .body = g_string_free_to_bytes(text)};
}
