/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is; and the registry: one instance of each trace. */
#include <errno.h>
#include <sys/stat.h>

#include "base/error.h"
#include "schedule/internal.h"

static void unref_computation(void *computation)
{
    fm_computation_unref(computation);
}

struct fm_engine *fm_engine_new(fm_trace_opener *open, void *user)
{
    struct fm_engine *engine = g_new0(struct fm_engine, 1);
    engine->open = open;
    engine->user = user;
    engine->backgrounds = g_ptr_array_new();
    engine->computations = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, unref_computation);
    engine->tabs = g_ptr_array_new();
    engine->libraries = g_ptr_array_new();
    engine->chunk = engine->chunk_max = FM_CHUNK_DEFAULT;
    return engine;
}

static void close_background(struct fm_engine *engine, struct background *background)
{
    g_ptr_array_remove(engine->backgrounds, background);
    fm_background_close(background);
}

void fm_engine_free(struct fm_engine *engine)
{
    if (engine == NULL)
        return;
    while (engine->tabs->len > 0)
        fm_tab_free(g_ptr_array_index(engine->tabs, 0));
    while (engine->backgrounds->len > 0)
        close_background(engine, g_ptr_array_index(engine->backgrounds, 0));
    fm_libraries_free(engine->libraries);
    g_hash_table_unref(engine->computations);
    g_ptr_array_unref(engine->backgrounds);
    g_ptr_array_unref(engine->tabs);
    g_free(engine);
}

void fm_engine_set_chunk(struct fm_engine *engine, uint64_t events)
{
    g_return_if_fail(events > 0);
    engine->chunk = engine->chunk_max = events;
}

void fm_engine_set_background_share(struct fm_engine *engine, unsigned foreground_steps)
{
    engine->share = foreground_steps;
}

void fm_engine_disable(struct fm_engine *engine)
{
    engine->disabled++;
}

void fm_engine_enable(struct fm_engine *engine)
{
    g_return_if_fail(engine->disabled > 0);
    engine->disabled--;
}

/* --- registry --- */

struct background *fm_engine_background(const struct fm_engine *engine,
                                        const struct fm_trace *trace)
{
    for (unsigned i = 0; i < engine->backgrounds->len; i++) {
        struct background *background = g_ptr_array_index(engine->backgrounds, i);
        if (background->trace == trace)
            return background;
    }
    return NULL;
}

/* A trace whose file was replaced has another identity than when it was opened. */
static struct background *find_identity(const struct fm_engine *engine, const char *identity)
{
    for (unsigned i = 0; i < engine->backgrounds->len; i++) {
        struct background *background = g_ptr_array_index(engine->backgrounds, i);
        if (strcmp(background->trace->identity, identity) == 0)
            return background;
    }
    return NULL;
}

/* By the identity that the opener gave it: the name may have led elsewhere in the meantime, to what
 * is open already. */
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
    struct stat status;
    g_autofree char *identity = NULL;
    if (stat(path, &status) == 0) {
        identity = g_strdup_printf("%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    } else if (g_str_has_prefix(path, "unix:") || g_str_has_prefix(path, "tcp:")) {
        identity = g_strdup(path); /* a live address is its own identity */
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
    return found->trace;
}

void fm_engine_close(struct fm_engine *engine, struct fm_trace *trace)
{
    struct background *background = fm_engine_background(engine, trace);
    g_return_if_fail(background != NULL && !background->stepping);
    if (--background->references == 0)
        close_background(engine, background);
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
    for (unsigned i = 0; i < engine->tabs->len; i++) {
        struct fm_tab *tab = g_ptr_array_index(engine->tabs, i);
        if (g_ptr_array_find(tab->traces, trace, NULL))
            fm_context_renew(tab->context, trace, old_end_time);
    }
}

/* --- turns --- */

bool fm_engine_has_foreground(const struct fm_engine *engine)
{
    for (unsigned i = 0; i < engine->tabs->len; i++) {
        if (fm_tab_is_registered(g_ptr_array_index(engine->tabs, i)))
            return true;
    }
    return false;
}

static bool has_background(const struct fm_engine *engine)
{
    for (unsigned i = 0; i < engine->backgrounds->len; i++) {
        if (fm_background_has_work(g_ptr_array_index(engine->backgrounds, i)))
            return true;
    }
    return false;
}

bool fm_engine_has_work(const struct fm_engine *engine)
{
    return fm_engine_has_foreground(engine) || has_background(engine);
}

static void step_foreground(struct fm_engine *engine)
{
    for (unsigned tried = 0; tried < engine->tabs->len; tried++) {
        unsigned index = engine->next_tab++ % engine->tabs->len;
        struct fm_tab *tab = g_ptr_array_index(engine->tabs, index);
        if (fm_tab_is_registered(tab)) {
            engine->next_tab = index + 1;
            fm_foreground_step(tab);
            return;
        }
    }
}

static void step_background(struct fm_engine *engine)
{
    for (unsigned tried = 0; tried < engine->backgrounds->len; tried++) {
        unsigned index = engine->next_background++ % engine->backgrounds->len;
        struct background *background = g_ptr_array_index(engine->backgrounds, index);
        if (fm_background_has_work(background)) {
            engine->next_background = index + 1;
            fm_background_step(engine, background->trace);
            return;
        }
    }
}

bool fm_engine_step(struct fm_engine *engine)
{
    if (!fm_engine_has_work(engine))
        return false;
    if (engine->disabled > 0)
        return true;
    bool foreground = fm_engine_has_foreground(engine);
    if (foreground && engine->share > 0 && engine->foreground_steps >= engine->share &&
        has_background(engine))
        foreground = false;
    if (foreground) {
        engine->foreground_steps++;
        step_foreground(engine);
    } else {
        engine->foreground_steps = 0;
        step_background(engine);
    }
    return fm_engine_has_work(engine);
}

const char *fm_engine_check(const struct fm_engine *engine)
{
    for (unsigned i = 0; i < engine->backgrounds->len; i++) {
        const char *broken = fm_background_check(g_ptr_array_index(engine->backgrounds, i));
        if (broken != NULL)
            return broken;
    }
    for (unsigned i = 0; i < engine->tabs->len; i++) {
        const char *broken = fm_tab_check(g_ptr_array_index(engine->tabs, i));
        if (broken != NULL)
            return broken;
    }
    return NULL;
}
