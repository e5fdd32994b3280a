/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/reader_states.h"

#include "engine/trace_modules.h"

struct fm_reader_states {
    GPtrArray *states; /* holds struct fm_state, by the index of the trace in the context */
    struct fm_chunk_hooks hooks;
};

static void free_state(void *state)
{
    fm_state_free(state);
}

/* A new context is at the beginning of its traces. */
static bool begin_context(void *hook_data, void *call_data)
{
    struct fm_reader_states *states = hook_data;
    const struct fm_context *context = call_data;
    g_ptr_array_set_size(states->states, 0);
    for (unsigned i = 0; i < context->trace_count; i++) {
        fm_engine_load_states(context->traces[i].trace);
        g_ptr_array_add(states->states, fm_state_new(context->traces[i].trace));
    }
    return false;
}

static bool keep_state(void *hook_data, void *call_data)
{
    const struct fm_reader_states *states = hook_data;
    const struct fm_tracefile_context *at = call_data;
    return fm_state_hook(g_ptr_array_index(states->states, at->trace_context->index), call_data);
}

static void restore(struct fm_context *context, uint64_t time, void *user)
{
    const struct fm_reader_states *states = user;
    for (unsigned i = 0; i < context->trace_count; i++) {
        struct fm_trace *trace = context->traces[i].trace;
        struct fm_state *state = g_ptr_array_index(states->states, i);
        struct fm_checkpoints *checkpoints =
            fm_attributes_get(trace->attributes, "state/checkpoints");
        if (checkpoints != NULL) {
            fm_checkpoints_restore(checkpoints, context, time, state);
            continue;
        }
        uint64_t from = MAX(time, trace->start_time);
        fm_state_clear(state, from);
        fm_context_seek_trace(context, trace, NULL, from);
    }
}

struct fm_reader_states *fm_reader_states_new(struct fm_engine_reader *reader)
{
    struct fm_reader_states *states = g_new0(struct fm_reader_states, 1);
    states->states = g_ptr_array_new_with_free_func(free_state);
    states->hooks.before_traceset = fm_hooks_new();
    states->hooks.event = fm_hooks_new();
    fm_hooks_add(states->hooks.before_traceset, begin_context, states, FM_HOOK_STATE);
    fm_hooks_add(states->hooks.event, keep_state, states, FM_HOOK_STATE);
    fm_engine_reader_set_state(reader, restore, states);
    fm_engine_reader_set_permanent_hooks(reader, &states->hooks);
    return states;
}

void fm_reader_states_free(struct fm_reader_states *states)
{
    if (states == NULL)
        return;
    g_ptr_array_unref(states->states);
    fm_hooks_free(states->hooks.before_traceset);
    fm_hooks_free(states->hooks.event);
    g_free(states);
}

struct fm_state *fm_reader_states_of(const struct fm_reader_states *states,
                                     const struct fm_trace *trace)
{
    for (guint i = 0; i < states->states->len; i++) {
        struct fm_state *state = g_ptr_array_index(states->states, i);
        if (fm_state_trace(state) == trace)
            return state;
    }
    return NULL;
}
