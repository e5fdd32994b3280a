/* SPDX-License-Identifier: Apache-2.0 */
/* Names that event logs define once and use by number or address. */
#include <string.h>

#include "trace/model/eventlog_state.h"

enum { NEAR_TEXTS = 65536, FIRST_FUNCTION_SLOTS = 256 };

/* A foreign call is a wait: the thread has left its capability, and what it does elsewhere, if it
 * does not wait there as well, is not recorded. */
static const enum fm_state_class stop_classes[STOP_STATUSES] = {
    [1] = FM_STATE_READY,    [2] = FM_STATE_READY,    [3] = FM_STATE_READY,
    [4] = FM_STATE_WAITING,  [5] = FM_STATE_FINISHED, [6] = FM_STATE_WAITING,
    [7] = FM_STATE_WAITING,  [8] = FM_STATE_WAITING,  [9] = FM_STATE_WAITING,
    [10] = FM_STATE_WAITING, [11] = FM_STATE_WAITING, [12] = FM_STATE_WAITING,
    [13] = FM_STATE_WAITING, [14] = FM_STATE_WAITING, [15] = FM_STATE_WAITING,
    [16] = FM_STATE_WAITING, [17] = FM_STATE_WAITING, [18] = FM_STATE_WAITING,
    [19] = FM_STATE_READY,   [20] = FM_STATE_WAITING,
};

static void name_states(struct eventlog_names *names)
{
    struct fm_trace *trace = names->trace;
    names->running = fm_trace_value(trace, "running", FM_STATE_RUNNING);
    names->runnable = fm_trace_value(trace, "runnable", FM_STATE_READY);
    names->created = fm_trace_value(trace, "created", FM_STATE_CREATED);
    names->idle = fm_trace_value(trace, "idle", FM_STATE_IDLE);
    names->disabled = fm_trace_value(trace, "disabled", FM_STATE_IDLE);
    names->collecting = fm_trace_value(trace, "collection", FM_STATE_COLLECTING);
    names->gc_work = fm_trace_value(trace, "GC work", FM_STATE_COLLECTING);
    names->gc_idle = fm_trace_value(trace, "GC idle", FM_STATE_IDLE);
    names->gc_done = fm_trace_value(trace, "GC done", FM_STATE_WAITING);
    names->held = fm_trace_value(trace, "held", FM_STATE_RUNNING);
    names->message = fm_trace_value(trace, "message", FM_STATE_SPAN);
    names->missing = fm_trace_value(trace, "missing events", FM_STATE_UNKNOWN);
    /* A task's whole life: whether it works is not recorded. */
    names->serving = fm_trace_value(trace, "serving", FM_STATE_UNKNOWN);
    names->mark = fm_trace_value(trace, "concurrent mark", FM_STATE_COLLECTING);
    names->sync = fm_trace_value(trace, "concurrent sync", FM_STATE_COLLECTING);
    names->sweep = fm_trace_value(trace, "concurrent sweep", FM_STATE_COLLECTING);
    names->sequential = fm_trace_value(trace, "sequential collection asked for", FM_STATE_SPAN);
    names->parallel = fm_trace_value(trace, "parallel collection asked for", FM_STATE_SPAN);
    names->stopped = fm_trace_value(trace, "all capabilities stopped", FM_STATE_SPAN);
    names->shutdown = fm_trace_value(trace, "shutdown", FM_STATE_SPAN);
    for (unsigned i = 0; i < GENERATIONS; i++) {
        char generation[24];
        g_snprintf(generation, sizeof generation, "generation %u", i);
        names->generations[i] = fm_trace_value(trace, generation, FM_STATE_COLLECTING);
    }
    static const char *const sparks[SPARK_NUMBERS] = {
        "spark created", "spark dud",     "spark overflowed", "spark run",
        "spark stolen",  "spark fizzled", "spark collected",
    };
    for (unsigned i = 0; i < SPARK_NUMBERS; i++)
        names->sparks[i] = fm_trace_value(trace, sparks[i], FM_STATE_SPAN);
    for (unsigned i = 0; i < STOP_STATUSES; i++) {
        const char *word = fm_eventlog_enum_name(FM_EVENTLOG_UNIT_STOP_STATUS, i);
        char number[24];
        g_snprintf(number, sizeof number, "stopped (%u)", i);
        names->stops[i] = fm_trace_value(trace, word == NULL ? number : word, stop_classes[i]);
    }
}

static void *make_names(struct fm_trace *trace)
{
    struct eventlog_names *names = g_new0(struct eventlog_names, 1);
    names->trace = trace;
    names->far_texts = g_hash_table_new(NULL, NULL);
    names->cost_centres = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    names->symbols = fm_symbols_new();
    names->function_mask = FIRST_FUNCTION_SLOTS - 1;
    names->function_addresses = g_new0(uint64_t, FIRST_FUNCTION_SLOTS);
    names->function_values = g_new0(uint32_t, FIRST_FUNCTION_SLOTS);
    name_states(names);
    return names;
}

static void free_names(void *data)
{
    struct eventlog_names *names = data;
    g_free(names->texts);
    g_hash_table_unref(names->far_texts);
    g_hash_table_unref(names->cost_centres);
    fm_symbols_free(names->symbols);
    g_free(names->function_addresses);
    g_free(names->function_values);
    g_free(names);
}

struct eventlog_names *fm_eventlog_names(struct fm_trace *trace)
{
    return fm_trace_model_names(trace, make_names, free_names);
}

void fm_eventlog_set_text_value(struct eventlog_names *names, uint32_t id, uint32_t value)
{
    if (id >= NEAR_TEXTS) {
        g_hash_table_insert(names->far_texts, GUINT_TO_POINTER(id), GUINT_TO_POINTER(value));
        return;
    }
    if (id >= names->text_slots) {
        uint32_t slots = MAX(id + 1, names->text_slots * 2);
        names->texts = g_renew(uint32_t, names->texts, slots);
        memset(names->texts + names->text_slots, 0,
               (slots - names->text_slots) * sizeof *names->texts);
        names->text_slots = slots;
    }
    g_assert(id < names->text_slots && names->text_slots <= 2 * NEAR_TEXTS);
    names->texts[id] = value;
}

void fm_eventlog_set_text(struct eventlog_names *names, uint32_t id, const char *text,
                          size_t length)
{
    fm_eventlog_set_text_value(names, id,
                               fm_trace_value_bytes(names->trace, text, length, FM_STATE_SPAN));
}

uint32_t fm_eventlog_text_value(struct eventlog_names *names, uint32_t id)
{
    if (id < names->text_slots && names->texts[id] != 0)
        return names->texts[id];
    uint32_t value = 0;
    if (id >= NEAR_TEXTS)
        value = GPOINTER_TO_UINT(g_hash_table_lookup(names->far_texts, GUINT_TO_POINTER(id)));
    if (value == 0) {
        char unknown[24];
        g_snprintf(unknown, sizeof unknown, "name %u", id);
        value = fm_trace_value(names->trace, unknown, FM_STATE_SPAN);
        fm_eventlog_set_text_value(names, id,
                                   value); /* its definition, should it come, replaces it */
    }
    return value;
}

uint32_t fm_eventlog_message_value(struct eventlog_names *names, const char *text, size_t length)
{
    if (names->message_values >= MESSAGE_VALUES_MAX)
        return names->message;
    uint32_t before = fm_trace_value_count(names->trace);
    uint32_t value = fm_trace_value_bytes(names->trace, text, length, FM_STATE_SPAN);
    names->message_values += value >= before;
    g_assert(names->message_values <= MESSAGE_VALUES_MAX);
    return value;
}

void fm_eventlog_set_cost_centre(struct eventlog_names *names, uint32_t id, const char *name)
{
    g_hash_table_replace(names->cost_centres, GUINT_TO_POINTER(id), g_strdup(name));
}

/* --- functions --- */

static uint32_t function_slot(const struct eventlog_names *names, uint64_t address)
{
    uint32_t slot = (uint32_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
    slot &= names->function_mask;
    while (names->function_values[slot] != 0 && names->function_addresses[slot] != address)
        slot = (slot + 1) & names->function_mask;
    g_assert(slot <= names->function_mask);
    return slot;
}

static void grow_functions(struct eventlog_names *names)
{
    uint64_t *addresses = names->function_addresses;
    uint32_t *values = names->function_values;
    uint32_t slots = names->function_mask + 1;
    g_assert((slots & (slots - 1)) == 0);
    names->function_mask = 2 * slots - 1;
    names->function_addresses = g_new0(uint64_t, 2 * slots);
    names->function_values = g_new0(uint32_t, 2 * slots);
    for (uint32_t i = 0; i < slots; i++) {
        if (values[i] != 0) {
            uint32_t slot = function_slot(names, addresses[i]);
            names->function_addresses[slot] = addresses[i];
            names->function_values[slot] = values[i];
        }
    }
    g_free(addresses);
    g_free(values);
}

void fm_eventlog_set_function(struct eventlog_names *names, uint64_t address, uint32_t value)
{
    g_assert(value != 0); /* 0 marks a free slot */
    if (names->function_used >= names->function_mask / 2)
        grow_functions(names);
    uint32_t slot = function_slot(names, address);
    names->function_used += names->function_values[slot] == 0;
    names->function_addresses[slot] = address;
    names->function_values[slot] = value;
    g_assert(names->function_used <= names->function_mask); /* searches end at a free slot */
}

uint32_t fm_eventlog_function_value(struct eventlog_names *names, uint64_t address)
{
    uint32_t value = names->function_values[function_slot(names, address)];
    if (value == 0) {
        char *name = fm_symbols_name(names->symbols, address);
        value = fm_trace_value(names->trace, name, FM_STATE_SPAN);
        g_free(name);
        fm_eventlog_set_function(names, address, value);
    }
    return value;
}
