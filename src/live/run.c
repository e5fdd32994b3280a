/* SPDX-License-Identifier: Apache-2.0 */
#include "live/run.h"

#include <stdio.h>
#include <string.h>

#include "live/address.h"
#include "live/growing.h"
#include "base/console/notices.h"
#include "live/token.h"
#include "record/raw/of_run.h"
#include "record/raw/recording.h"
#include "serve/http/http.h"

#define LOOK_MS 100
#define FOLLOWED_MAX 16u /* processes; the profiles of all are there in the end */

struct fm_live_run {
    const char *base;
    GPtrArray *known; /* recordings (char *) that are followed, or not of this run */
    bool no_open;
    struct fm_server *server;
    struct fm_http *http;
    struct fm_live_growing *growing;
    unsigned followed;
    bool ended, quit;
    int status;            /* exit status of the program */
    int (*finish)(void *); /* in a thread */
    void *finish_user;
    GHashTable *profiles; /* that it made */
    GThread *finishing;
    int result;
};

static void tell_failure(void *user, const GError *error)
{
    (void)user;
    fm_console_notice("record", error->message);
}

static void *copy_text(const void *text, void *user)
{
    (void)user;
    return g_strdup(text);
}

bool fm_live_run_new(const struct fm_live_options *options, const char *base, GPtrArray *before,
                     struct fm_live_run **ret, GError **error)
{
    g_return_val_if_fail(base != NULL && before != NULL && ret != NULL, false);
    const struct fm_server_options server_options = {.background = true, .failed = tell_failure};
    g_autofree char *token = g_strdup(options->token);
    if (!fm_live_token_find(&token, options->token_file, error))
        return false;
    const struct fm_http_options http_options = {
        .port = (uint16_t)options->port, .listen = options->listen, .token = token};
    struct fm_live_run *run = g_new0(struct fm_live_run, 1);
    run->base = base;
    run->known = g_ptr_array_copy(before, copy_text, NULL);
    g_ptr_array_set_free_func(run->known, g_free);
    run->no_open = options->no_open;
    run->server = fm_server_new(&server_options);
    run->growing = fm_live_growing_new();
    if (!fm_http_new(run->server, &http_options, &run->http, error)) {
        fm_live_run_free(run);
        return false;
    }
    *ret = run;
    return true;
}

void fm_live_run_free(struct fm_live_run *run)
{
    if (run == NULL)
        return;
    fm_http_free(run->http);
    fm_server_free(run->server);
    fm_live_growing_free(run->growing);
    g_ptr_array_unref(run->known);
    g_free(run);
}

/* --- while it runs --- */

/* Looks for recordings that were created since the last look. */
static void look_for_more(struct fm_live_run *run, unsigned max)
{
    g_autoptr(GPtrArray) found = fm_raw_recordings_of_run(run->base, run->known);
    for (guint i = 0; i < found->len && run->followed < max; i++) {
        const char *path = found->pdata[i];
        g_autoptr(GError) error = NULL;
        if (!fm_raw_recording_has_header(path))
            continue;
        g_ptr_array_add(run->known, g_strdup(path));
        if (fm_live_growing_follow(run->growing, path, &error))
            run->followed++;
        else
            fm_console_notice("record", error->message);
    }
}

static gboolean on_look(void *data)
{
    look_for_more(data, FOLLOWED_MAX);
    return G_SOURCE_CONTINUE;
}

static void on_exit_of_program(GPid pid, int status, void *data)
{
    struct fm_live_run *run = data;
    (void)pid;
    run->ended = true;
    run->status = status;
    fm_http_stop(run->http);
}

bool fm_live_run_watch(struct fm_live_run *run, pid_t program, int *ret_status)
{
    g_return_val_if_fail(program > 0 && ret_status != NULL, false);
    fm_server_await(run->server, "The program has been started, and has recorded nothing yet.");
    fm_live_growing_serve(run->growing, run->server);
    fm_live_show_address(fm_http_url(run->http), !run->no_open,
                         "Open it in a browser on this machine, now or when the program has ended.",
                         stderr);
    guint watch = g_child_watch_add(program, on_exit_of_program, run);
    guint look = g_timeout_add(LOOK_MS, on_look, run);
    run->quit = !fm_http_run_until_stopped(run->http);
    g_source_remove(look);
    fm_live_growing_end(run->growing);
    if (run->ended)
        *ret_status = run->status;
    else
        g_source_remove(watch);
    return run->ended;
}

/* --- afterwards --- */

void fm_live_run_quit(struct fm_live_run *run)
{
    run->quit = true;
}

static gboolean on_finished(void *data)
{
    struct fm_live_run *run = data;
    g_thread_join(g_steal_pointer(&run->finishing));
    if (!fm_live_growing_finish(run->growing, run->profiles))
        fm_http_stop(run->http); /* there is nothing to show */
    else
        fprintf(stderr, "fathom: still serving %s; Ctrl-C ends\n", fm_http_url(run->http));
    return G_SOURCE_REMOVE;
}

static void *work(void *data)
{
    struct fm_live_run *run = data;
    fm_live_growing_end_phases(run->growing);
    run->result = run->finish(run->finish_user);
    g_idle_add(on_finished, run);
    return NULL;
}

int fm_live_run_finish(struct fm_live_run *run, int (*finish)(void *user), void *user,
                       GHashTable *profiles)
{
    g_return_val_if_fail(finish != NULL && profiles != NULL, 1);
    if (run->quit)
        return finish(user);
    look_for_more(run, UINT32_MAX); /* also those of short-lived processes */
    run->finish = finish;
    run->finish_user = user;
    run->profiles = profiles;
    run->finishing = g_thread_new("finish", work, run);
    fm_http_run(run->http);
    if (run->finishing != NULL) {
        g_thread_join(g_steal_pointer(&run->finishing));
        g_idle_remove_by_data(run);
    }
    return run->result;
}
