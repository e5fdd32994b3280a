/* SPDX-License-Identifier: Apache-2.0 */
/* Opens traces, one instance of each. */
#include <errno.h>
#include <sys/stat.h>

#include "base/error.h"
#include "engine/internal.h"

static void free_computation(void *computation)
{
    fm_computation_free(computation);
}

struct fm_engine *fm_engine_new(fm_engine_opener *open, void *user)
{
    struct fm_engine *engine = g_new0(struct fm_engine, 1);
    engine->open = open;
    engine->user = user;
    engine->backgrounds = g_ptr_array_new();
    engine->computations = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_computation);
    engine->readers = g_ptr_array_new();
    engine->modules = fm_modules_new();
    engine->chunk = engine->chunk_max = FM_CHUNK_DEFAULT;
    return engine;
}

void fm_engine_close_background(struct fm_engine *engine, struct background *background)
{
    g_ptr_array_remove(engine->backgrounds, background);
    fm_background_close(background);
}

/* The identity of a trace is that of the file that was opened, so a replaced file is another
 * trace. */
static struct background *find_identity(const struct fm_engine *engine, const char *identity)
{
    for (unsigned i = 0; i < engine->backgrounds->len; i++) {
        struct background *background = g_ptr_array_index(engine->backgrounds, i);
        if (strcmp(background->trace->identity, identity) == 0)
            return background;
    }
    return NULL;
}

/* Looks for an instance by the identity of the file that was really opened: the path may have
 * changed meanwhile to a trace that is open already. */
static struct background *take_opened(struct fm_engine *engine, struct fm_trace *trace)
{
    struct background *found = find_identity(engine, trace->identity);
    if (found != NULL) {
        fm_trace_free(trace);
        return found;
    }
    found = fm_background_new(engine, trace);
    g_ptr_array_add(engine->backgrounds, found);
    return found;
}

struct fm_trace *fm_engine_open(struct fm_engine *engine, const char *path, GError **error)
{
    g_assert(engine != NULL && path != NULL);
    struct stat status;
    g_autofree char *identity = NULL;
    if (stat(path, &status) == 0) {
        identity = g_strdup_printf("%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    } else if (g_str_has_prefix(path, "unix:") || g_str_has_prefix(path, "tcp:")) {
        identity = g_strdup(path); /* the address of a live trace is its identity */
    } else {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return NULL;
    }
    struct background *found = find_identity(engine, identity);
    if (found == NULL) {
        struct fm_trace *trace = engine->open(path, identity, engine->user, error);
        if (trace == NULL)
            return NULL;
        found = take_opened(engine, trace);
    }
    found->references++;
    g_assert(fm_engine_background(engine, found->trace) == found);
    return found->trace;
}

void fm_engine_close(struct fm_engine *engine, struct fm_trace *trace)
{
    struct background *background = fm_engine_background(engine, trace);
    g_return_if_fail(background != NULL && !background->stepping);
    if (--background->references == 0)
        fm_engine_close_background(engine, background);
}

unsigned fm_engine_references(const struct fm_engine *engine, const struct fm_trace *trace)
{
    const struct background *background = fm_engine_background(engine, trace);
    return background == NULL ? 0 : background->references;
}

void fm_engine_trace_grown(struct fm_engine *engine, const struct fm_trace *trace,
                           uint64_t old_end_time)
{
    struct background *background = fm_engine_background(engine, trace);
    g_return_if_fail(background != NULL && !background->stepping);
    fm_context_renew(background->context, trace, old_end_time);
    background->waiting = false;
    for (unsigned i = 0; i < engine->readers->len; i++) {
        struct fm_engine_reader *reader = g_ptr_array_index(engine->readers, i);
        if (g_ptr_array_find(reader->traces, trace, NULL))
            fm_context_renew(reader->context, trace, old_end_time);
    }
}
