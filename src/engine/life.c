/* SPDX-License-Identifier: Apache-2.0 */
/* Closes and discards passes on request; reports progress. */
#include <string.h>

#include "engine/internal.h"

/* --- progress --- */

double fm_background_progress(struct fm_engine *engine, struct fm_trace *trace)
{
    const struct background *background = fm_engine_background(engine, trace);
    if (background == NULL || background->list_in->len == 0 || background->following)
        return -1;
    const struct fm_step_work *work = fm_background_work(background->list_in, 0);
    if (work->step != NULL)
        return work->fraction != NULL ? work->fraction(trace, work->user) : 0;
    uint64_t span = trace->end_time - trace->start_time;
    uint64_t now = background->context->sync != NULL ? background->context->sync->time : 0;
    if (span == 0 || now == FM_TIME_INF)
        return 1;
    return now <= trace->start_time ? 0 : (double)(now - trace->start_time) / (double)span;
}

const char *fm_background_current(struct fm_engine *engine, struct fm_trace *trace)
{
    const struct background *background = fm_engine_background(engine, trace);
    if (background == NULL || background->list_in->len == 0 || background->following)
        return NULL;
    const struct background_request *request = g_ptr_array_index(background->list_in, 0);
    return request->computation->name;
}

/* --- closing and discarding --- */

static GPtrArray *names_of_requests(const struct background *background)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GPtrArray *lists[] = {background->list_in, background->list_out};
    for (unsigned l = 0; l < G_N_ELEMENTS(lists); l++) {
        for (unsigned i = 0; i < lists[l]->len; i++) {
            const struct background_request *request = g_ptr_array_index(lists[l], i);
            g_ptr_array_add(names, g_strdup(request->computation->name));
        }
    }
    return names;
}

void fm_background_discard(struct fm_engine *engine, struct fm_trace *trace)
{
    struct background *background = fm_engine_background(engine, trace);
    g_return_if_fail(background != NULL && !background->stepping);
    g_autoptr(GPtrArray) again = names_of_requests(background);
    bool running = background->list_in->len > 0;
    background->closing = true; /* hooks may make no requests */
    fm_background_break_off(background);
    background->closing = false;
    g_ptr_array_set_size(background->list_out, 0);
    background->waiting = false;
    if (running)
        fm_background_abandon_pass(background);
    GHashTableIter iter;
    struct computation *computation;
    g_hash_table_iter_init(&iter, engine->computations);
    while (g_hash_table_iter_next(&iter, NULL, (void **)&computation)) {
        fm_background_set_flag(trace, computation->name, "ready", false);
        fm_background_set_flag(trace, computation->name, "failed", false);
        if (computation->hooks.work.discard != NULL)
            computation->hooks.work.discard(trace, computation->hooks.work.user);
    }
    for (unsigned i = 0; i < again->len; i++)
        fm_background_request(engine, trace, g_ptr_array_index(again, i));
}

void fm_background_close(struct background *background)
{
    background->closing = true;
    fm_background_break_off(background);
    g_ptr_array_unref(background->watches);
    g_ptr_array_unref(background->list_in);
    g_ptr_array_unref(background->list_out);
    g_ptr_array_unref(background->notify_in);
    g_ptr_array_unref(background->notify_out);
    fm_context_free(background->context);
    fm_trace_free(background->trace);
    g_free(background);
}
