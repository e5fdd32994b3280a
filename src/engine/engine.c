/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses whose step is next. */
#include "base/error.h"
#include "engine/hold.h"
#include "engine/internal.h"

void fm_engine_free(struct fm_engine *engine)
{
    if (engine == NULL)
        return;
    while (engine->readers->len > 0)
        fm_engine_reader_free(g_ptr_array_index(engine->readers, 0));
    while (engine->backgrounds->len > 0)
        fm_engine_close_background(engine, g_ptr_array_index(engine->backgrounds, 0));
    g_array_unref(engine->modules);
    g_hash_table_unref(engine->computations);
    g_ptr_array_unref(engine->backgrounds);
    g_ptr_array_unref(engine->readers);
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

void fm_engine_follow(struct fm_engine *engine)
{
    engine->follows = true;
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

/* --- turns --- */

bool fm_engine_has_foreground(const struct fm_engine *engine)
{
    for (unsigned i = 0; i < engine->readers->len; i++) {
        if (fm_engine_reader_is_registered(g_ptr_array_index(engine->readers, i)))
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
    if (fm_schedule_is_held("foreground"))
        return;
    for (unsigned tried = 0; tried < engine->readers->len; tried++) {
        unsigned index = engine->next_reader++ % engine->readers->len;
        struct fm_engine_reader *reader = g_ptr_array_index(engine->readers, index);
        if (fm_engine_reader_is_registered(reader)) {
            engine->next_reader = index + 1;
            fm_foreground_step(reader);
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

static bool is_cancelled(struct fm_engine *engine, struct fm_trace *trace,
                         const struct fm_progress *progress)
{
    const char *current = fm_background_current(engine, trace);
    if (progress == NULL || progress->report == NULL || current == NULL)
        return false;
    double fraction = fm_background_progress(engine, trace);
    return !progress->report(progress->user, current, (uint64_t)(fraction * 1000), 1000);
}

bool fm_background_run(struct fm_engine *engine, struct fm_trace *trace, const char *module,
                       const struct fm_progress *progress, GError **error)
{
    g_assert(engine != NULL && trace != NULL && module != NULL);
    if (fm_background_request(engine, trace, module) == FM_REQUEST_NO_MODULE) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND, "there is no computation %s", module);
        return false;
    }
    while (!fm_background_is_ready(trace, module)) {
        const GError *failed = fm_background_error(trace, module);
        if (failed != NULL) {
            if (error != NULL)
                *error = g_error_copy(failed);
            return false;
        }
        if (engine->disabled > 0 || is_cancelled(engine, trace, progress) ||
            !fm_engine_has_work(engine)) {
            g_set_error(error, FM_ERROR, FM_ERROR_CANCELLED, "%s: %s was cancelled", trace->path,
                        module);
            return false;
        }
        fm_engine_step(engine);
    }
    return true;
}
