/* SPDX-License-Identifier: Apache-2.0 */
/* /events: the progress of reading a page's recording.
 *
 *   event: state   {"stage":2,"complete":false,"module":"cliques","fraction":0.41,"whole":0.36,
 *                   "text":"Not all is known yet: ..."}
 *   event: ready   nothing more will come: the page is complete, or reading failed
 *
 * The page contains the stage at which it was made; at a later stage it is requested again. */
#include <math.h>

#include "base/text/json.h"
#include "open/profile.h"
#include "pages/report.h"
#include "serve/live.h"
#include "serve/profile_live.h"
#include "serve/serve_internal.h"

#define PROGRESS_EVERY_US 100000

struct page {
    struct fm_live_page live;
    struct fm_trace *trace;
    struct fm_query query;
    gint64 told_us; /* time of the last event */
};

/* --- content of events --- */

static char *say(const struct fm_profile_progress *progress)
{
    if (progress->module == NULL)
        return g_strdup("Not all is known yet.");
    return g_strdup_printf("Not all is known yet: %s (%.0f %%). The page is shown again when more "
                           "is known.",
                           progress->doing, progress->fraction * 100);
}

void fm_how_far_get(struct fm_engine *engine, struct fm_trace *trace, const struct fm_query *query,
                    struct fm_how_far *ret)
{
    struct fm_profile_progress progress;
    const GError *error = fm_profile_error(trace);
    const struct fm_open_profile *recording = fm_open_profile_of(trace);
    fm_profile_progress(engine, trace, &progress);
    *ret = (struct fm_how_far){
        .complete = recording != NULL && fm_pages_is_complete(recording, query),
        .failed = error != NULL,
        .stage = error != NULL || recording == NULL ? 0 : (unsigned)recording->known,
        .module = progress.module,
        .fraction = progress.fraction,
        .whole = progress.whole,
        .text = error != NULL ? g_strdup(error->message) : say(&progress),
    };
}

static struct fm_engine *engine_of(const struct page *page)
{
    return fm_open_files_engine(page->live.server->recordings);
}

/* Sends how far it is. True when nothing more will change the page. */
static bool tell(struct page *page)
{
    struct fm_how_far far;
    fm_how_far_get(engine_of(page), page->trace, &page->query, &far);
    g_autoptr(GString) out = g_string_new(NULL);
    struct fm_json json;
    fm_json_init(&json, out);
    fm_json_object(&json, NULL);
    fm_json_uint(&json, "stage", far.stage);
    fm_json_bool(&json, "complete", far.complete && !far.failed);
    fm_json_bool(&json, "failed", far.failed);
    fm_json_text(&json, "module", far.module);
    fm_json_double(&json, "fraction", round(far.fraction * 1000) / 1000);
    fm_json_double(&json, "whole", round(far.whole * 1000) / 1000);
    fm_json_text(&json, "text", far.text);
    fm_json_end(&json);
    fm_stream_send(page->live.stream, "state", out->str);
    page->told_us = g_get_monotonic_time();
    g_free(far.text);
    return far.complete || far.failed;
}

/* --- times of events --- */

static bool on_pass_end(void *hook_data, void *call_data);

static struct fm_hooks *one_hook(fm_hook_function *function, void *data)
{
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, function, data, FM_HOOK_DEFAULT);
    return hooks;
}

/* Waits for the end of the running pass, or of the next one. */
static void wait_for_pass(struct page *page)
{
    struct fm_engine *engine = engine_of(page);
    if (!fm_background_notify_current(engine, page, page->trace, FM_TIME_INF, NULL,
                                      one_hook(on_pass_end, page)))
        fm_background_notify_queue(engine, page, page->trace, FM_TIME_INF, NULL,
                                   one_hook(on_pass_end, page));
}

/* Ends the stream, which frees the page. */
static void say_good_bye(struct page *page)
{
    fm_stream_send(page->live.stream, "ready", "{}");
    fm_stream_end(page->live.stream);
}

static bool on_pass_end(void *hook_data, void *call_data)
{
    struct page *page = hook_data;
    (void)call_data;
    if (tell(page))
        say_good_bye(page);
    else
        wait_for_pass(page);
    return false;
}

static bool on_step(void *hook_data, void *call_data)
{
    struct page *page = hook_data;
    (void)call_data;
    if (g_get_monotonic_time() - page->told_us >= PROGRESS_EVERY_US)
        tell(page);
    return false;
}

static void free_page(struct fm_live_page *live)
{
    struct page *page = (struct page *)live;
    fm_background_notify_remove(engine_of(page), page);
    fm_query_done(&page->query);
    g_free(page);
}

static bool shows(const struct fm_live_page *live, const struct fm_trace *trace)
{
    return ((const struct page *)live)->trace == trace;
}

static const struct fm_live_class page_class = {
    .shows = shows, .ends_with_recording = true, .free = free_page};

/* --- the request --- */

/* The query of the page that would be shown: the menu when the command cannot be parsed. */
static void page_query(const struct fm_deep_query *asked, struct fm_query *ret)
{
    *ret = (struct fm_query){.command = {.id = FM_CMD_MENU}};
    if (asked->command != NULL && !fm_command_parse(asked->command, &ret->command, NULL))
        ret->command = (struct fm_command){.id = FM_CMD_MENU};
}

static void begin(struct page *page)
{
    g_assert(page->trace != NULL && page->live.stream != NULL);
    if (tell(page)) {
        say_good_bye(page);
    } else {
        wait_for_pass(page);
        fm_background_watch(engine_of(page), page, page->trace, one_hook(on_step, page));
    }
}

void fm_profile_live_answer(struct fm_server *server, const struct fm_request *request,
                            struct fm_response *ret)
{
    GError *error = NULL;
    struct fm_deep_query asked;
    struct fm_profile_entry *profile;
    struct fm_stream *stream;
    g_autofree char *told = NULL;
    if (!fm_deep_query_split(request->query == NULL ? "" : request->query, &asked, &error)) {
        fm_response_error(request, error, ret);
        return;
    }
    if (!fm_open_files_get_profile(server->recordings, asked.file, &profile, &told, &error)) {
        fm_response_error(request, error, ret);
    } else if ((stream = fm_live_stream(server, request, ret)) != NULL) {
        struct page *page = g_new0(struct page, 1);
        fm_live_begin(&page->live, &page_class, server, stream, ret);
        page->trace = profile->base.trace;
        page_query(&asked, &page->query);
        begin(page);
    }
    fm_deep_query_done(&asked);
}
