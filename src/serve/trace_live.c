/* SPDX-License-Identifier: Apache-2.0 */
/* Pages with a stream of events. The script asks for viewers' answers one by one; each is sent as
 * it becomes known, and again when a pass over the trace makes it better. What the script asks
 * next for the same viewer takes the place of what it asked before. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "serve/stream.h"
#include "pages/trace/page.h"
#include "serve/traces.h"

#define TICK_MS 100
#define GROW_MS 250
#define SEARCH_MS 30
#define GROW_WORK_US 10000
#define OWNERS_MAX 16u
#define BACKLOG_MAX (512u * 1024)
/* A trace that has grown by this part of what was read is read again for state and summary. */
#define REREAD_SHARE 0.5
/* And so is one that has grown by less, when it has not grown for so long. */
#define QUIET_US G_USEC_PER_SEC
/* And a small one always. */
#define SMALL_BYTES (1u << 20)

struct owner { /* one viewer of a page */
    struct trace_page *page;
    char *name;
    guint64 serial;
    enum fm_trace_view view;
    struct fm_trace_query query;
    struct trace_job *job; /* NULL: withdrawn, or the trace could not be asked */
    bool redraw;           /* begin again when the engine has stopped stepping */
};

struct trace_page {
    struct fm_server *server;
    struct trace_set *set;
    struct fm_stream *stream;
    GPtrArray *owners; /* struct owner */
    guint tick;
    double told_progress;
    bool all_ready, notified;
};

static void page_gone(struct fm_stream *stream, void *user);
static gboolean on_tick(gpointer user);

/* --- answers --- */

static void send_answer(struct owner *owner)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(
        text, "{\"owner\": \"%s\", \"serial\": %" G_GUINT64_FORMAT ", \"answer\": ", owner->name,
        owner->serial);
    trace_job_write_json(owner->job, text);
    g_string_append_c(text, '}');
    fm_stream_send(owner->page->stream, "answer", text->str);
}

static void on_progressed(struct trace_job *job, void *user)
{
    struct owner *owner = user;
    job->wants_picture = false;
    if (owner->job == job) /* else it is being made, and is sent then */
        send_answer(owner);
}

static void withdraw(struct owner *owner)
{
    if (owner->job != NULL && !trace_job_is_done(owner->job))
        owner->page->server->trace_cancelled++;
    g_clear_pointer(&owner->job, trace_job_free);
}

static bool begin_owner(struct owner *owner, GError **error)
{
    struct trace_page *page = owner->page;
    struct trace_job *job;
    withdraw(owner);
    owner->redraw = false;
    if (!trace_job_new(trace_viewer_of(owner->view), page->set, &owner->query, &job, error))
        return false;
    job->progressed = on_progressed;
    job->user = owner;
    job->wants_picture = true; /* the first one at once */
    owner->job = job;
    if (trace_job_is_done(job))
        send_answer(owner);
    return true;
}

static void owner_free(gpointer data)
{
    struct owner *owner = data;
    withdraw(owner);
    fm_trace_query_clear(&owner->query);
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
    g_string_append_printf(text, "{\"stream\": \"%s\", \"set\": ", fm_stream_id(page->stream));
    trace_set_write_json(page->set, text);
    g_string_append_c(text, '}');
    fm_stream_send(page->stream, event, text->str);
}

static void renew_owners(struct trace_page *page, bool all)
{
    for (unsigned i = 0; i < page->owners->len; i++) {
        struct owner *owner = page->owners->pdata[i];
        if (owner->job != NULL &&
            (all || trace_job_is_incomplete(owner->job) || owner->view == FM_TRACE_VIEW_OVERVIEW))
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

/* Asks for the passes; what they make better is drawn again when they are ready. */
static void look_at_passes(struct trace_page *page)
{
    bool ready = trace_set_precompute(page->set);
    double progress = trace_set_progress(page->set);
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
    if (!page->all_ready || trace_set_is_behind(page->set))
        look_at_passes(page);
    redraw_owners(page);
    bool can_send = fm_stream_backlog(page->stream) < BACKLOG_MAX;
    for (unsigned i = 0; i < page->owners->len; i++) {
        struct owner *owner = page->owners->pdata[i];
        if (owner->job != NULL && !trace_job_is_done(owner->job))
            owner->job->wants_picture = can_send;
    }
    return G_SOURCE_CONTINUE;
}

static void page_gone(struct fm_stream *stream, void *user)
{
    struct trace_page *page = user;
    (void)stream;
    g_ptr_array_remove(page->server->trace_pages, page);
    g_source_remove(page->tick);
    g_ptr_array_unref(page->owners);
    trace_set_free(page->set);
    g_free(page);
}

/* Something is there to be found: more often. */
static bool is_searched(const struct fm_server *server)
{
    for (unsigned i = 0; i < server->traces->len; i++) {
        const struct trace_file *file = server->traces->pdata[i];
        enum fm_trace_growth growth = fm_trace_growth(file->trace);
        if (growth == FM_TRACE_SEARCHED || growth == FM_TRACE_ARRIVING)
            return true;
    }
    return false;
}

static gboolean on_grow(gpointer user)
{
    struct fm_server *server = user;
    server->trace_tick = 0;
    if (server->trace_pages->len == 0)
        return G_SOURCE_REMOVE;
    trace_live_grow(server);
    server->trace_tick = g_timeout_add(is_searched(server) ? SEARCH_MS : GROW_MS, on_grow, server);
    return G_SOURCE_REMOVE;
}

static struct fm_stream *new_stream(struct fm_server *server, const struct fm_request *request,
                                    struct fm_response *ret)
{
    struct fm_stream *stream = NULL;
    if (strcmp(request->method, "GET") != 0)
        fm_response_message(request, 405, "expected the method GET", ret);
    else if (!request->can_stream)
        fm_response_message(request, 406, "events cannot be sent through this door", ret);
    else if (request->foreign)
        fm_response_message(request, 403, "only a page of this server may ask for its events", ret);
    else if ((stream = fm_stream_new(server)) == NULL)
        fm_response_message(request, 503, "too many pages wait for events", ret);
    return stream;
}

void trace_live_stream(struct fm_server *server, const struct fm_request *request,
                       struct fm_response *ret)
{
    g_autoptr(GError) error = NULL;
    struct fm_trace_query query;
    struct trace_set *set;
    if (!fm_trace_query_parse(request->query, &query, &error)) {
        fm_response_error(request, g_steal_pointer(&error), ret);
        return;
    }
    if (!trace_set_open(server, &query, &set, &error)) {
        fm_response_error(request, g_steal_pointer(&error), ret);
        fm_trace_query_clear(&query);
        return;
    }
    struct fm_stream *stream = new_stream(server, request, ret);
    if (stream == NULL) {
        trace_set_free(set);
        fm_trace_query_clear(&query);
        return;
    }
    trace_set_keep_names(set);
    fm_trace_query_clear(&query);
    struct trace_page *page = g_new0(struct trace_page, 1);
    *page = (struct trace_page){
        .server = server,
        .set = set,
        .stream = stream,
        .owners = g_ptr_array_new_with_free_func(owner_free),
        .told_progress = -1,
    };
    g_ptr_array_add(server->trace_pages, page);
    fm_stream_on_end(stream, page_gone, page);
    page->all_ready = trace_set_precompute(set);
    send_set(page, "hello");
    page->tick = g_timeout_add(TICK_MS, on_tick, page);
    if (server->trace_tick == 0)
        server->trace_tick = g_timeout_add(GROW_MS, on_grow, server);
    *ret = fm_stream_response(stream);
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
    struct fm_stream *stream = id == NULL ? NULL : fm_server_stream(server, id);
    for (unsigned i = 0; stream != NULL && i < server->trace_pages->len; i++) {
        struct trace_page *page = server->trace_pages->pdata[i];
        if (page->stream == stream)
            return page;
    }
    return NULL;
}

static void take_query(struct owner *owner, struct fm_trace_query *query, guint64 serial)
{
    fm_trace_query_clear(&owner->query);
    owner->query = *query;
    owner->view = query->view;
    owner->serial = serial;
}

void trace_live_ask(struct fm_server *server, const struct fm_request *request,
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
        fm_response_clear(ret);
        fm_response_message(request, 503, "the page has too many viewers", ret);
        return;
    }
    guint64 number = serial == NULL ? 0 : g_ascii_strtoull(serial, NULL, 10);
    if (number < owner->serial) /* overtaken on the way */
        return;
    bool good = fm_trace_query_parse(request->query, &query, &error);
    if (good && trace_viewer_of(query.view) == NULL) {
        g_set_error(&error, FM_ERROR, FM_ERROR_USAGE, "there is no viewer of that name");
        fm_trace_query_clear(&query);
        good = false;
    }
    if (good) {
        take_query(owner, &query, number);
        good = begin_owner(owner, &error);
    }
    if (!good) {
        fm_response_clear(ret);
        fm_response_error(request, g_steal_pointer(&error), ret);
    }
}

/* What is going on, for tests and the curious. */
void trace_live_status(struct fm_server *server, const struct fm_request *request,
                       struct fm_response *ret)
{
    (void)request;
    unsigned requests = 0;
    for (unsigned i = 0; i < server->trace_pages->len; i++) {
        const struct trace_page *page = server->trace_pages->pdata[i];
        for (unsigned j = 0; j < page->owners->len; j++) {
            const struct owner *owner = page->owners->pdata[j];
            requests += owner->job == NULL ? 0 : fm_trace_reader_pending(owner->job->set->reader);
        }
    }
    char *text = g_strdup_printf(
        "{\"pages\": %u, \"requests\": %u, \"cancelled\": %" PRIu64 ", \"traces\": %u}\n",
        server->trace_pages->len, requests, server->trace_cancelled, server->traces->len);
    *ret = (struct fm_response){.status = 200,
                                .content_type = "application/json",
                                .body = g_bytes_new_take(text, strlen(text))};
}

/* --- growth --- */

static bool shows(const struct trace_page *page, const struct fm_trace *trace)
{
    for (unsigned i = 0; i < page->set->count; i++) {
        if (page->set->parts[i].trace == trace)
            return true;
    }
    return false;
}

void trace_live_changed(struct fm_server *server, const struct fm_trace *trace)
{
    for (unsigned i = 0; i < server->trace_pages->len; i++) {
        struct trace_page *page = server->trace_pages->pdata[i];
        if (!shows(page, trace))
            continue;
        trace_set_renew(page->set);
        page->all_ready = false;
        renew_owners(page, false);             /* those that were being read */
        (void)trace_set_precompute(page->set); /* so that it is told how far they are */
        send_set(page, "grown");
    }
}

/* Now it may tell the wall clock. */
static void align_pages(struct fm_server *server, const struct fm_trace *trace)
{
    for (unsigned i = 0; i < server->trace_pages->len; i++) {
        struct trace_page *page = server->trace_pages->pdata[i];
        if (shows(page, trace))
            trace_set_align(page->set);
    }
}

/* One call finds so much as some milliseconds allow. */
static bool grow(struct trace_file *file, bool *ret_ended)
{
    int64_t end = g_get_monotonic_time() + GROW_WORK_US;
    bool grown = false;
    *ret_ended = false;
    while (fm_trace_grows(file->trace) && !*ret_ended &&
           fm_trace_grow(file->trace, ret_ended, NULL)) {
        grown = true;
        if (g_get_monotonic_time() > end)
            break;
    }
    return grown;
}

/* Times tell nothing of how much is new: blocks of one time stand one after the other in the file,
 * by capability. A pass that waits for an import goes on with what is new. */
static bool is_read_again(const struct trace_file *file, bool ended)
{
    uint64_t extent = fm_trace_extent(file->trace);
    bool quiet = g_get_monotonic_time() - file->grown_us > QUIET_US;
    return file->unread > 0 && (ended || quiet || extent <= SMALL_BYTES ||
                                (double)file->unread > REREAD_SHARE * (double)extent);
}

static void look_at(struct fm_server *server, struct trace_file *file)
{
    struct fm_trace *trace = file->trace;
    uint64_t old_end = trace->end_time, old_extent = fm_trace_extent(trace);
    unsigned generation = trace->generation;
    bool was_live = fm_trace_growth(trace) == FM_TRACE_LIVE;
    bool ended, grown = grow(file, &ended), replaced = trace->generation != generation;
    bool again = is_read_again(file, ended);
    if (!grown && !ended && !replaced && !again)
        return;
    if (grown)
        file->grown_us = g_get_monotonic_time();
    if (was_live) { /* what was held back and is now shown has no bytes of its own */
        uint64_t added = fm_trace_extent(trace) - MIN(old_extent, fm_trace_extent(trace));
        file->unread += MAX(added, trace->end_time > old_end ? 1 : 0);
    }
    fm_engine_trace_grown(server->engine, trace, replaced ? FM_TIME_INF : old_end);
    if (replaced || is_read_again(file, ended)) {
        fm_background_discard(server->engine, trace);
        file->unread = 0;
    }
    if (replaced)
        align_pages(server, trace);
    trace_live_changed(server, trace);
}

void trace_live_grow(struct fm_server *server)
{
    for (unsigned i = 0; i < server->traces->len; i++) {
        struct trace_file *file = server->traces->pdata[i];
        if ((fm_trace_grows(file->trace) || file->unread > 0) && !file->trace->locked)
            look_at(server, file);
    }
}
