/* SPDX-License-Identifier: Apache-2.0 */
/* Which traces may be named, and a reference to each that was. */
#include "serve/traces.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schedule/trace_modules.h"
#include "viewers/viewers.h"

#define FILES_FOUND_MAX 8 /* of those below roots, the least used is closed */

static bool is_address(const char *path)
{
    return g_str_has_prefix(path, "unix:") || g_str_has_prefix(path, "tcp:");
}

static void trace_file_free(struct fm_server *server, struct trace_file *file)
{
    if (file->trace != NULL)
        fm_engine_close(server->engine, file->trace);
    g_free(file->name);
    g_free(file->real);
    g_free(file);
}

void fm_trace_files_clear(struct fm_server *server)
{
    for (unsigned i = 0; i < server->traces->len; i++)
        trace_file_free(server, server->traces->pdata[i]);
    g_ptr_array_set_size(server->traces, 0);
}

static struct trace_file *find(struct fm_server *server, const char *name)
{
    for (unsigned i = 0; i < server->traces->len; i++) {
        struct trace_file *file = server->traces->pdata[i];
        if (strcmp(file->name, name) == 0 || strcmp(file->real, name) == 0)
            return file;
    }
    return NULL;
}

/* Opens and adds it, unless another name of the same trace is there. */
static struct trace_file *add(struct fm_server *server, const char *name, const char *real,
                              bool added, GError **error)
{
    struct fm_trace *trace = fm_engine_open(server->engine, real, error);
    if (trace == NULL)
        return NULL;
    for (unsigned i = 0; i < server->traces->len; i++) {
        struct trace_file *other = server->traces->pdata[i];
        if (other->trace == trace) {
            fm_engine_close(server->engine, trace);
            other->added |= added;
            return other;
        }
    }
    fm_trace_load_states(trace); /* before anything of it is read */
    struct trace_file *file = g_new0(struct trace_file, 1);
    *file = (struct trace_file){g_strdup(name), g_strdup(real), added, 0, trace};
    g_ptr_array_add(server->traces, file);
    return file;
}

bool fm_trace_files_add(struct fm_server *server, const char *path, GError **error)
{
    g_autofree char *real = is_address(path) ? g_strdup(path) : realpath(path, NULL);
    g_hash_table_add(server->given, g_strdup(real == NULL ? path : real));
    return find(server, path) != NULL ||
           add(server, path, real == NULL ? path : real, true, error) != NULL;
}

static void close_least_used(struct fm_server *server, const struct trace_file *keep)
{
    for (;;) {
        struct trace_file *oldest = NULL;
        unsigned found = 0;
        for (unsigned i = 0; i < server->traces->len; i++) {
            struct trace_file *file = server->traces->pdata[i];
            if (file->added)
                continue;
            found++;
            if (file != keep && (oldest == NULL || file->last_used < oldest->last_used))
                oldest = file;
        }
        if (found <= FILES_FOUND_MAX || oldest == NULL)
            return;
        g_ptr_array_remove(server->traces, oldest);
        trace_file_free(server, oldest);
    }
}

const char *fm_trace_files_resolve(struct fm_server *server, const char *name, GError **error)
{
    struct trace_file *file = find(server, name);
    if (file == NULL) {
        g_autofree char *real = is_address(name) ? NULL : fm_resolve_below_roots(server, name);
        if (real == NULL || !fm_trace_recognise_below(server->roots, real)) {
            g_set_error(
                error, FM_ERROR, FM_ERROR_NOT_FOUND, "%s: not one of the opened traces%s", name,
                fm_roots_count(server->roots) > 0 ? ", and no trace below the served folders" : "");
            return NULL;
        }
        file = add(server, real, real, false, error);
        if (file == NULL)
            return NULL;
        close_least_used(server, file);
    }
    file->last_used = ++server->clock;
    return file->real;
}

struct trace_file *trace_file_of(const struct fm_server *server, const struct fm_trace *trace)
{
    for (unsigned i = 0; i < server->traces->len; i++) {
        struct trace_file *file = server->traces->pdata[i];
        if (file->trace == trace)
            return file;
    }
    return NULL;
}

uint64_t trace_file_unread(const struct fm_server *server, const struct fm_trace *trace)
{
    const struct trace_file *file = trace_file_of(server, trace);
    return file == NULL ? 0 : file->unread + fm_trace_pending(trace);
}

unsigned fm_trace_files_count(const struct fm_server *server)
{
    return server->traces->len;
}

void fm_trace_files_describe(const struct fm_server *server, unsigned index,
                             struct fm_trace_file_info *ret)
{
    const struct trace_file *file = server->traces->pdata[index];
    g_autofree char *damage = fm_trace_damage(file->trace);
    *ret = (struct fm_trace_file_info){
        .name = file->name,
        .format = fm_trace_format(file->trace),
        .duration_ns = file->trace->end_time - MIN(file->trace->start_time, file->trace->end_time),
        .streams = file->trace->tracefiles->len,
        .grows = fm_trace_grows(file->trace),
        .damaged = damage != NULL && damage[0] != '\0',
    };
}

char *fm_trace_page_url(const char *name)
{
    GString *url = g_string_new("trace?file=");
    fm_query_append_part(url, name);
    return g_string_free(url, FALSE);
}

char *fm_trace_files_url(const struct fm_server *server)
{
    GString *url = g_string_new("trace?");
    unsigned count = 0;
    for (unsigned i = 0; i < server->traces->len; i++) {
        const struct trace_file *file = server->traces->pdata[i];
        if (!file->added || count++ >= FM_TRACE_FILES_MAX)
            continue;
        g_string_append(url, count > 1 ? "&file=" : "file=");
        fm_query_append_part(url, file->name);
    }
    return g_string_free(url, FALSE);
}
