/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the class of a recording: a file that is recognised as a trace, otherwise a
 * profile. */
#include <stdlib.h>

#include "open/internal.h"
#include "open/prepared.h"
#include "open/profile.h"
#include "engine/trace_modules.h"
#include "trace/format/open.h"

#define PROFILES_MAX_DEFAULT 16

/* Opens a recording by name, for the engine. */
static struct fm_trace *open_recording(const char *path, const char *identity, void *user,
                                       GError **error)
{
    const struct fm_open_files *all = user;
    struct fm_roots *roots = g_hash_table_contains(all->given, path) ? NULL : all->roots;
    if (roots == NULL ? fm_trace_recognise(path) : fm_trace_recognise_below(roots, path))
        return fm_trace_open_below(roots, path, identity, error);
    return fm_profile_open(path, identity, roots, error);
}

struct fm_open_files *fm_open_files_new(const struct fm_open_files_options *options)
{
    struct fm_open_files *all = g_new0(struct fm_open_files, 1);
    all->options = *options;
    if (all->options.profiles_max == 0)
        all->options.profiles_max = PROFILES_MAX_DEFAULT;
    all->list = g_ptr_array_new();
    all->roots = fm_roots_new();
    all->given = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    all->prepared =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, fm_prepared_profile_free);
    all->engine = fm_engine_new(open_recording, all);
    fm_engine_follow(all->engine);
    fm_profile_register(all->engine);
    if (!fm_engine_modules_load(all->engine, NULL))
        g_warn_if_reached(); /* their names are taken */
    return all;
}

void fm_open_files_free(struct fm_open_files *all)
{
    if (all == NULL)
        return;
    while (all->list->len > 0)
        fm_open_file_free(g_ptr_array_steal_index(all->list, 0));
    g_ptr_array_unref(all->list);
    fm_engine_free(all->engine);
    g_hash_table_unref(all->prepared);
    fm_roots_unref(all->roots);
    g_hash_table_unref(all->given);
    g_free(all);
}

struct fm_engine *fm_open_files_engine(const struct fm_open_files *all)
{
    return all->engine;
}

struct fm_roots *fm_open_files_roots(const struct fm_open_files *all)
{
    return all->roots;
}

bool fm_open_files_add(struct fm_open_files *all, const char *path, GError **error)
{
    g_return_val_if_fail(path != NULL && path[0] != '\0', false);
    g_autofree char *found = fm_open_files_is_address(path) ? NULL : realpath(path, NULL);
    /* A path without real path cannot be opened; reading it gives the usual error. */
    const char *real = found != NULL ? found : path;
    g_hash_table_add(all->given, g_strdup(path));
    g_hash_table_add(all->given, g_strdup(real));
    return fm_trace_recognise(path) ? fm_open_files_add_trace(all, path, real, error)
                                    : fm_open_files_add_profile(all, path, real, error);
}
