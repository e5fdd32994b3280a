/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to passes from outside: closing, unloading, discarding; how far they are. */
#include <string.h>

#include "schedule/internal.h"

/* --- how far --- */

double fm_background_progress(struct fm_engine *engine, struct fm_trace *trace)
{
    const struct background *background = fm_engine_background(engine, trace);
    if (background == NULL || background->list_in->len == 0)
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
    if (background == NULL || background->list_in->len == 0)
        return NULL;
    const struct background_request *request = g_ptr_array_index(background->list_in, 0);
    return request->computation->name;
}

/* --- unloading and closing --- */

static bool needs(const struct background_request *request, const char *module)
{
    for (const char *const *need = request->computation->hooks.needs; need != NULL && *need != NULL;
         need++)
        if (strcmp(*need, module) == 0)
            return true;
    return false;
}

static void withdraw(struct background *background, const char *module)
{
    unsigned index;
    if (fm_background_find_request(background->list_out, module, &index) != NULL)
        g_ptr_array_remove_index(background->list_out, index);
    for (unsigned i = 0; i < background->list_out->len;) {
        const struct background_request *request = g_ptr_array_index(background->list_out, i);
        if (needs(request, module)) {
            withdraw(background, request->computation->name);
            i = 0;
        } else {
            i++;
        }
    }
}

static void unregister_requests(struct background *background, const char *module)
{
    unsigned index;
    withdraw(background, module);
    struct background_request *request =
        fm_background_find_request(background->list_in, module, &index);
    if (request == NULL)
        return;
    fm_background_set_flag(background->trace, module, "in_progress", false);
    request->withdrawn = true;
    if (!background->stepping) {
        fm_background_drop_withdrawn(background);
        return;
    }
    const struct fm_computation *hooks = &request->computation->hooks;
    fm_background_detach(background, request);
    if (background->once != NULL)
        fm_hooks_remove_list(background->once,
                             background->once_adders ? hooks->adder : hooks->remover);
}

void fm_engine_unregister_computation(struct fm_engine *engine, const char *module)
{
    struct computation *computation = g_hash_table_lookup(engine->computations, module);
    if (computation == NULL)
        return;
    for (unsigned i = 0; i < engine->backgrounds->len; i++)
        unregister_requests(g_ptr_array_index(engine->backgrounds, i), computation->name);
    g_hash_table_remove(engine->computations, module);
}

/* Ends the requests of a pass without their being ready. */
static void break_off(struct background *background)
{
    while (background->list_in->len > 0) {
        struct background_request *request = g_ptr_array_index(background->list_in, 0);
        fm_background_set_flag(background->trace, request->computation->name, "in_progress", false);
        fm_hooks_call(request->computation->hooks.after_request, background->context);
        g_ptr_array_remove(background->list_in, request);
    }
}

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
    background->closing = true; /* nothing may be asked for from inside */
    break_off(background);
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
    break_off(background);
    g_ptr_array_unref(background->watches);
    g_ptr_array_unref(background->list_in);
    g_ptr_array_unref(background->list_out);
    g_ptr_array_unref(background->notify_in);
    g_ptr_array_unref(background->notify_out);
    fm_context_free(background->context);
    fm_trace_free(background->trace);
    g_free(background);
}
