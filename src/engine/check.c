/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/internal.h"

/* Work in steps must run alone, after the computations that it needs. */
static const char *check_work(const struct background *background)
{
    GPtrArray *lists[] = {background->list_in, background->list_out};
    for (unsigned l = 0; l < 2; l++) {
        for (unsigned i = 0; i < lists[l]->len; i++) {
            const struct background_request *request = g_ptr_array_index(lists[l], i);
            const struct fm_computation *hooks = &request->computation->hooks;
            if (l == 0 && hooks->work.step != NULL && lists[l]->len > 1)
                return "I10: work in steps is alone in its pass";
            if (fm_background_error(background->trace, request->computation->name) != NULL)
                return "I11: what has failed is in neither list";
            for (const char *const *need = hooks->needs; need != NULL && *need != NULL; need++) {
                unsigned at;
                bool before =
                    fm_background_find_request(lists[0], *need, &at) != NULL ||
                    (l == 1 && fm_background_find_request(lists[1], *need, &at) != NULL && at < i);
                if (!before && !fm_background_is_ready(background->trace, *need))
                    return "I12: what a module needs is ready or stands before it";
            }
        }
    }
    return NULL;
}

static const char *check_flags(const struct background *background)
{
    GHashTableIter iter;
    void *name;
    unsigned index;
    g_hash_table_iter_init(&iter, background->engine->computations);
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        bool in_progress = fm_background_is_in_progress(background->trace, name);
        bool ready = fm_background_is_ready(background->trace, name);
        bool failed = fm_background_error(background->trace, name) != NULL;
        if (in_progress && fm_background_find_request(background->list_in, name, &index) == NULL)
            return "I2: in_progress is being in list_in";
        if (in_progress + ready + failed > 1)
            return "I3: in progress, ready and failed exclude each other";
    }
    return NULL;
}

static const char *check_background(const struct background *background)
{
    GPtrArray *lists[] = {background->list_in, background->list_out};
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (unsigned l = 0; l < 2; l++) {
        for (unsigned i = 0; i < lists[l]->len; i++) {
            const struct background_request *request = g_ptr_array_index(lists[l], i);
            const char *name = request->computation->name;
            if (request->attached)
                return "I1: between steps no request is in the context";
            if (!g_hash_table_add(seen, request->computation->name))
                return "I1: a module stands at most once in list_in and list_out";
            bool follows = l == 0 && background->following;
            if (fm_background_is_in_progress(background->trace, name) != (l == 0 && !follows))
                return "I2: in_progress is being in list_in, unless it follows";
            if (fm_background_is_ready(background->trace, name) != follows)
                return "I3: what is ready is in neither list, unless it follows";
        }
    }
    const char *broken = check_work(background);
    if (broken == NULL)
        broken = check_flags(background);
    if (broken != NULL)
        return broken;
    const struct fm_trace_context *trace = &background->context->traces[0];
    for (unsigned i = 0; i < trace->tracefile_count; i++) {
        if (background->list_in->len == 0 && fm_hooks_count(trace->tracefiles[i].event_hooks) > 0)
            return "I4: no hook stays in the private context without a pass";
    }
    if (background->list_in->len == 0 && background->notify_in->len > 0)
        return "I5: notify_in is empty unless a pass runs";
    return background->trace->locked ? "between steps no trace is locked" : NULL;
}

const char *fm_engine_check(const struct fm_engine *engine)
{
    for (unsigned i = 0; i < engine->backgrounds->len; i++) {
        const char *broken = check_background(g_ptr_array_index(engine->backgrounds, i));
        if (broken != NULL)
            return broken;
    }
    for (unsigned i = 0; i < engine->readers->len; i++) {
        const char *broken = fm_engine_reader_check(g_ptr_array_index(engine->readers, i));
        if (broken != NULL)
            return broken;
    }
    return NULL;
}
