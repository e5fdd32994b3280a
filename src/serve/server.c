/* SPDX-License-Identifier: Apache-2.0 */
/* A server: its recordings, streams and pages. */
#include "base/files/build_id.h"
#include "serve/growing/growing.h"
#include "serve/live.h"
#include "serve/serve_internal.h"

static void on_closing(void *user, const struct fm_open_file *recording)
{
    fm_live_closing(user, recording->trace);
}

static void on_changed(void *user, const struct fm_trace *trace, bool replaced)
{
    fm_live_changed(user, trace, replaced);
}

struct fm_server *fm_server_new(const struct fm_server_options *options)
{
    struct fm_server *server = g_new0(struct fm_server, 1);
    if (options != NULL)
        server->options = *options;
    const struct fm_open_files_options of_recordings = {
        .profiles_max = server->options.recordings_max,
        .background = server->options.background,
        .failed = server->options.failed,
        .failed_user = server->options.failed_user,
        .closing = on_closing,
        .changed = on_changed,
        .user = server,
    };
    server->build_id = fm_program_build_id();
    server->streams = g_ptr_array_new();
    server->pages = g_ptr_array_new();
    server->growing = g_ptr_array_new_with_free_func(fm_growing_free);
    server->recordings = fm_open_files_new(&of_recordings);
    return server;
}

void fm_server_free(struct fm_server *server)
{
    if (server == NULL)
        return;
    fm_streams_end_all(server);
    g_assert(server->streams->len == 0 && server->pages->len == 0);
    fm_compared_free(server->compared);
    fm_open_files_free(server->recordings);
    if (server->growth_source != 0)
        g_source_remove(server->growth_source);
    g_ptr_array_unref(server->streams);
    g_ptr_array_unref(server->pages);
    g_ptr_array_unref(server->growing);
    g_free(server->awaited);
    g_free(server);
}

struct fm_engine *fm_server_engine(struct fm_server *server)
{
    return fm_open_files_engine(server->recordings);
}

bool fm_server_add(struct fm_server *server, const char *path, GError **error)
{
    g_return_val_if_fail(path != NULL, false);
    return fm_open_files_add(server->recordings, path, error);
}

void fm_server_offer(struct fm_server *server, struct fm_prepared_profile *prepared)
{
    g_return_if_fail(prepared != NULL);
    fm_open_files_offer(server->recordings, prepared);
}

bool fm_server_add_root(struct fm_server *server, const char *folder, GError **error)
{
    g_return_val_if_fail(folder != NULL, false);
    return fm_roots_add(fm_open_files_roots(server->recordings), folder, error);
}

bool fm_server_open(struct fm_server *server, const char *file, GError **error)
{
    struct fm_profile_entry *profile;
    g_autofree char *notice = NULL;
    return fm_open_files_get_profile(server->recordings, file, &profile, &notice, error);
}

unsigned fm_server_count(const struct fm_server *server)
{
    return fm_open_files_count(server->recordings, &fm_profile_entry_class);
}

const char *fm_server_path(const struct fm_server *server, unsigned index)
{
    return fm_open_files_at(server->recordings, &fm_profile_entry_class, index)->name;
}

unsigned fm_server_trace_count(const struct fm_server *server)
{
    return fm_open_files_count(server->recordings, &fm_trace_entry_class);
}
