/* SPDX-License-Identifier: Apache-2.0 */
/* Which files may be named, and the recordings read from them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/build_id.h"
#include "base/error.h"
#include "serve/serve_internal.h"
#include "serve/traces.h"
#include "schedule/trace_modules.h"
#include "trace/format/open.h"

#define RECORDINGS_MAX_DEFAULT 16

static void close_entry(struct entry *entry)
{
    if (entry->trace != NULL) {
        fm_events_forget(entry->server, entry->trace);
        fm_background_notify_remove(entry->server->engine, entry);
        fm_engine_close(entry->server->engine, entry->trace);
    }
    entry->trace = NULL;
}

void fm_entry_free(struct entry *entry)
{
    if (entry == NULL)
        return;
    close_entry(entry);
    g_free(entry->name);
    g_free(entry->real);
    g_free(entry);
}

static void free_entry(gpointer entry)
{
    fm_entry_free(entry);
}

/* How the engine opens what is named to it: the kinds of recordings that there are. */
static struct fm_trace *open_recording(const char *path, const char *identity, void *user,
                                       GError **error)
{
    const struct fm_server *server = user;
    struct fm_roots *roots = g_hash_table_contains(server->given, path) ? NULL : server->roots;
    if (roots == NULL ? fm_trace_recognise(path) : fm_trace_recognise_below(roots, path))
        return fm_trace_open_below(roots, path, identity, error);
    return fm_profile_open(path, identity, roots, error);
}

struct fm_engine *fm_server_engine(struct fm_server *server)
{
    return server->engine;
}

struct fm_server *fm_server_new(const struct fm_server_options *options)
{
    struct fm_server *server = g_new0(struct fm_server, 1);
    if (options != NULL)
        server->options = *options;
    if (server->options.recordings_max == 0)
        server->options.recordings_max = RECORDINGS_MAX_DEFAULT;
    server->build_id = fm_program_build_id();
    server->entries = g_ptr_array_new_with_free_func(free_entry);
    server->roots = fm_roots_new();
    server->given = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    server->streams = g_ptr_array_new();
    server->pages = g_ptr_array_new();
    server->traces = g_ptr_array_new();
    server->trace_pages = g_ptr_array_new();
    server->engine = fm_engine_new(open_recording, server);
    fm_profile_register(server->engine);
    if (!fm_trace_modules_load(server->engine, NULL))
        g_warn_if_reached(); /* their names are taken */
    return server;
}

void fm_server_free(struct fm_server *server)
{
    if (server == NULL)
        return;
    fm_streams_end_all(server);
    fm_trace_files_clear(server);
    g_ptr_array_unref(server->traces);
    g_ptr_array_unref(server->trace_pages);
    if (server->trace_tick != 0)
        g_source_remove(server->trace_tick);
    g_ptr_array_unref(server->entries);
    g_ptr_array_unref(server->streams);
    g_ptr_array_unref(server->pages);
    fm_engine_free(server->engine);
    fm_roots_unref(server->roots);
    g_hash_table_unref(server->given);
    g_free(server);
}

static void take_identity(const char *path, struct identity *ret)
{
    struct stat status;
    *ret = (struct identity){0};
    if (stat(path, &status) != 0)
        return;
    *ret = (struct identity){
        .there = true,
        .device = status.st_dev,
        .inode = status.st_ino,
        .size = status.st_size,
        .modified = status.st_mtim,
        .changed = status.st_ctim,
    };
}

static bool same_file(const struct identity *a, const struct identity *b)
{
    return a->there && b->there && a->device == b->device && a->inode == b->inode;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_content(const struct identity *a, const struct identity *b)
{
    if (!a->there || !b->there)
        return a->there == b->there;
    return same_file(a, b) && a->size == b->size && same_time(a->modified, b->modified) &&
           same_time(a->changed, b->changed);
}

/* The file beside a data file: "X.data" -> "X" + suffix. */
static char *beside(const char *path, const char *suffix)
{
    size_t size = strlen(path);
    if (g_str_has_suffix(path, ".data"))
        size -= strlen(".data");
    return g_strdup_printf("%.*s%s", (int)MIN(size, G_MAXINT), path, suffix);
}

static void take_identities(const char *path, struct identity *ret_data,
                            struct identity *ret_contour, struct identity *ret_procrep,
                            struct identity *ret_lines)
{
    g_autofree char *lines = beside(path, ".lines");
    g_autofree char *contour = beside(path, ".contour");
    g_autofree char *procrep = beside(path, ".procrep");
    take_identity(path, ret_data);
    take_identity(contour, ret_contour);
    take_identity(procrep, ret_procrep);
    take_identity(lines, ret_lines);
}

static void wait_for_failure(struct entry *entry);

static bool on_pass_end(void *hook_data, void *call_data)
{
    struct entry *entry = hook_data;
    const GError *error = fm_profile_error(entry->trace);
    (void)call_data;
    if (error != NULL)
        entry->server->options.failed(entry->server->options.failed_user, error);
    else if (!fm_background_is_ready(entry->trace, FM_PROFILE_LAST_MODULE))
        wait_for_failure(entry);
    return false;
}

static void wait_for_failure(struct entry *entry)
{
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, on_pass_end, entry, FM_HOOK_DEFAULT);
    fm_background_notify_queue(entry->server->engine, entry, entry->trace, FM_TIME_INF, NULL,
                               hooks);
}

/* Begins to read it, again if it was read before. The identities are taken first: a change while
 * reading is noticed at the next use. What is known of the same file is forgotten; another file of
 * that name is another recording. */
static bool begin_reading(struct entry *entry, GError **error)
{
    struct identity before = entry->data;
    take_identities(entry->real, &entry->data, &entry->contour, &entry->procrep, &entry->lines);
    if (entry->trace != NULL && same_file(&before, &entry->data)) {
        fm_background_discard(entry->server->engine, entry->trace);
    } else {
        close_entry(entry);
        entry->trace = fm_engine_open(entry->server->engine, entry->real, error);
        if (entry->trace == NULL)
            return false;
        if (!fm_trace_is_profile(entry->trace)) {
            g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: not a deep profile", entry->real);
            close_entry(entry);
            return false;
        }
    }
    fm_background_request(entry->server->engine, entry->trace, FM_PROFILE_LAST_MODULE);
    if (entry->server->options.background && entry->server->options.failed != NULL) {
        fm_background_notify_remove(entry->server->engine, entry);
        wait_for_failure(entry);
    }
    return true;
}

/* What may be shown of it: all of it, unless the server works in the background. */
static bool give_recording(const struct fm_server *server, struct entry *entry,
                           const struct fm_progress *progress, GError **error)
{
    entry->recording = NULL;
    if (!server->options.background) {
        if (!fm_background_run(server->engine, entry->trace, FM_PROFILE_LAST_MODULE, progress,
                               error))
            return false;
    } else {
        const GError *failed = fm_profile_error(entry->trace);
        if (failed == NULL && fm_profile_recording(entry->trace) == NULL) {
            /* It could not be opened again: its first step tells why. */
            fm_background_step(server->engine, entry->trace);
            failed = fm_profile_error(entry->trace);
        }
        if (failed != NULL) {
            if (error != NULL)
                *error = g_error_copy(failed);
            return false;
        }
    }
    entry->recording = fm_profile_recording(entry->trace);
    return true;
}

static struct entry *find(const struct fm_server *server, const char *path,
                          const struct identity *identity)
{
    for (unsigned i = 0; i < server->entries->len; i++) {
        struct entry *entry = server->entries->pdata[i];
        if (strcmp(entry->name, path) == 0 || strcmp(entry->real, path) == 0)
            return entry;
    }
    for (unsigned i = 0; identity != NULL && i < server->entries->len; i++) {
        struct entry *entry = server->entries->pdata[i];
        if (same_file(&entry->data, identity))
            return entry;
    }
    return NULL;
}

static struct entry *entry_new(struct fm_server *server, const char *name, char *real)
{
    struct entry *entry = g_new0(struct entry, 1);
    entry->server = server;
    entry->name = g_strdup(name);
    entry->real = real;
    return entry;
}

bool fm_server_add(struct fm_server *server, const char *path, const struct fm_progress *progress,
                   GError **error)
{
    g_autofree char *real = realpath(path, NULL);
    struct identity identity;
    g_hash_table_add(server->given, g_strdup(path));
    g_hash_table_add(server->given, g_strdup(real != NULL ? real : path));
    if (fm_trace_recognise(path))
        return fm_trace_files_add(server, path, error);
    take_identity(path, &identity);
    if (find(server, path, &identity) != NULL)
        return true;
    /* A path without a real one cannot be opened: reading tells why, in the usual words. */
    struct entry *entry = entry_new(server, path, g_strdup(real != NULL ? real : path));
    entry->added = true;
    if (!begin_reading(entry, error) || !give_recording(server, entry, progress, error)) {
        fm_entry_free(entry);
        return false;
    }
    g_ptr_array_add(server->entries, entry);
    return true;
}

bool fm_server_add_root(struct fm_server *server, const char *folder, GError **error)
{
    return fm_roots_add(server->roots, folder, error);
}

/* The answer is the same for what is not there and for what lies elsewhere, so nothing is told
 * about files outside. */
char *fm_resolve_below_roots(const struct fm_server *server, const char *file)
{
    struct stat status;
    g_autofree char *real = fm_roots_find(server->roots, file);
    int fd = real == NULL ? -1 : fm_roots_open(server->roots, real, 0, NULL);
    if (fd < 0)
        return NULL;
    bool there = fstat(fd, &status) == 0;
    close(fd);
    if (there && (S_ISREG(status.st_mode) ||
                  (S_ISDIR(status.st_mode) && fm_trace_recognise_below(server->roots, real))))
        return g_steal_pointer(&real);
    return NULL;
}

/* Closes the least used recordings that were found below roots, but not keep. */
static void close_least_used(struct fm_server *server, const struct entry *keep)
{
    for (;;) {
        unsigned found = 0, oldest = 0;
        for (unsigned i = 0; i < server->entries->len; i++) {
            const struct entry *entry = server->entries->pdata[i];
            if (entry->added)
                continue;
            const struct entry *other = server->entries->pdata[oldest];
            if (entry != keep && (found == 0 || other->added || other == keep ||
                                  entry->last_used < other->last_used))
                oldest = i;
            found++;
        }
        if (found <= server->options.recordings_max || found <= 1)
            return;
        g_ptr_array_remove_index(server->entries, oldest);
    }
}

static bool open_below_roots(struct fm_server *server, const char *file, struct entry **ret,
                             GError **error)
{
    g_autofree char *real = fm_resolve_below_roots(server, file);
    if (real == NULL) {
        g_set_error(
            error, FM_ERROR, FM_ERROR_NOT_FOUND, "%s: not one of the opened recordings%s", file,
            fm_roots_count(server->roots) > 0 ? ", and no file below the served folders" : "");
        return false;
    }
    struct identity identity;
    take_identity(real, &identity);
    struct entry *entry = find(server, real, &identity);
    if (entry == NULL) {
        entry = entry_new(server, real, g_strdup(real));
        if (!begin_reading(entry, error) || !give_recording(server, entry, NULL, error)) {
            fm_entry_free(entry);
            return false;
        }
        g_ptr_array_add(server->entries, entry);
        close_least_used(server, entry);
    }
    *ret = entry;
    return true;
}

bool fm_registry_restart(struct fm_server *server, struct entry *entry, GError **error)
{
    entry->reread++;
    return begin_reading(entry, error) && give_recording(server, entry, NULL, error);
}

bool fm_registry_get(struct fm_server *server, const char *file, struct entry **ret,
                     char **ret_notice, GError **error)
{
    *ret_notice = NULL;
    if (strlen(file) > FM_FILE_NAME_BYTES_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "the file name is longer than %d bytes",
                    FM_FILE_NAME_BYTES_MAX);
        return false;
    }
    struct entry *entry = find(server, file, NULL);
    if (entry == NULL && !open_below_roots(server, file, &entry, error))
        return false;
    struct identity data, contour, procrep, lines;
    take_identities(entry->real, &data, &contour, &procrep, &lines);
    bool changed = !same_content(&data, &entry->data) || !same_content(&contour, &entry->contour) ||
                   !same_content(&procrep, &entry->procrep) || !same_content(&lines, &entry->lines);
    /* In the background a failure stands until the file changes; else each request tries again. */
    bool failed = entry->trace == NULL ||
                  (!server->options.background && fm_profile_error(entry->trace) != NULL);
    if (!failed && !data.there) {
        *ret_notice = g_strdup("The file is gone; this is what was read from it before.");
    } else if (failed || changed) {
        entry->reread++;
        entry->recording = NULL;
        if (!begin_reading(entry, error))
            return false;
    }
    if (!give_recording(server, entry, NULL, error)) {
        g_clear_pointer(ret_notice, g_free);
        return false;
    }
    entry->last_used = ++server->clock;
    *ret = entry;
    return true;
}

bool fm_server_open(struct fm_server *server, const char *file, GError **error)
{
    struct entry *entry;
    g_autofree char *notice = NULL;
    return fm_registry_get(server, file, &entry, &notice, error);
}

void fm_entry_append_identity(const struct entry *entry, GString *out)
{
    const struct identity *all[] = {&entry->data, &entry->contour, &entry->procrep, &entry->lines};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        g_string_append_printf(
            out, "%d.%lx.%lx.%lx.%lx.%lx.%lx.%lx/", all[i]->there, (unsigned long)all[i]->device,
            (unsigned long)all[i]->inode, (unsigned long)all[i]->size,
            (unsigned long)all[i]->modified.tv_sec, (unsigned long)all[i]->modified.tv_nsec,
            (unsigned long)all[i]->changed.tv_sec, (unsigned long)all[i]->changed.tv_nsec);
}

unsigned fm_server_count(const struct fm_server *server)
{
    return server->entries->len;
}

const char *fm_server_path(const struct fm_server *server, unsigned index)
{
    return ((const struct entry *)server->entries->pdata[index])->name;
}

char *fm_server_menu_url(const char *path)
{
    GString *url = g_string_new("deep?menu&");
    fm_query_append_part(url, path);
    return g_string_free(url, FALSE);
}
