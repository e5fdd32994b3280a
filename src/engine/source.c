/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/source.h"

#include "engine/internal.h"

struct engine_source {
    GSource source;
    struct fm_engine *engine;
};

static bool is_ready(const struct engine_source *source)
{
    return source->engine->disabled == 0 && fm_engine_has_work(source->engine);
}

static gboolean prepare(GSource *source, gint *timeout_ms)
{
    *timeout_ms = -1;
    return is_ready((struct engine_source *)source);
}

static gboolean check(GSource *source)
{
    return is_ready((struct engine_source *)source);
}

/* Halves the chunk when a step took more than half a turn; doubles it when it took less than an
 * eighth. */
static void fit_chunk(struct fm_engine *engine, gint64 took_us)
{
    if (took_us > FM_ENGINE_TURN_US / 2)
        engine->chunk = MAX(engine->chunk / 2, MIN(FM_CHUNK_MIN, engine->chunk_max));
    else if (took_us < FM_ENGINE_TURN_US / 8)
        engine->chunk = MIN(engine->chunk * 2, engine->chunk_max);
}

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer user)
{
    struct fm_engine *engine = ((struct engine_source *)source)->engine;
    (void)callback;
    (void)user;
    gint64 begun = g_get_monotonic_time(), before = begun, now = begun;
    bool more = true;
    /* Does another step only if one as long as the last still fits into the turn. */
    while (more && now + (now - before) - begun < FM_ENGINE_TURN_US &&
           !g_source_is_destroyed(source)) {
        before = now;
        more = fm_engine_step(engine);
        now = g_get_monotonic_time();
        fit_chunk(engine, now - before);
    }
    return G_SOURCE_CONTINUE;
}

GSource *fm_engine_source_new(struct fm_engine *engine)
{
    static GSourceFuncs functions = {.prepare = prepare, .check = check, .dispatch = dispatch};
    GSource *source = g_source_new(&functions, sizeof(struct engine_source));
    ((struct engine_source *)source)->engine = engine;
    g_source_set_name(source, "fathom engine");
    g_source_set_priority(source, FM_ENGINE_PRIORITY);
    return source;
}
