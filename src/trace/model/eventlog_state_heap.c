/* SPDX-License-Identifier: Apache-2.0 */
/* Heap profiles: a band is a number lane; what a sample does not name is zero in it. Time profile:
 * marks. */
#include <string.h>

#include "trace/model/eventlog_state_haskell.h"

void fm_eventlog_cost_centre(struct happening *at)
{
    const char *end = text_at(at, at->event->payload_size);
    const char *label = text_at(at, 4);
    size_t label_length = strnlen(label, (size_t)(end - label));
    const char *module = label + label_length + (label + label_length < end);
    size_t module_length = strnlen(module, (size_t)(end - module));
    char *name = module_length == 0 ? g_strndup(label, label_length)
                                    : g_strdup_printf("%.*s.%.*s", (int)module_length, module,
                                                      (int)label_length, label);
    fm_eventlog_set_cost_centre(at->names, u32_at(at, 0), name);
    g_free(name);
}

/* Names the innermost cost centres of a stack: "Main.f < Main.main". */
static uint32_t stack_value(struct happening *at, uint32_t offset, uint32_t depth,
                            enum fm_state_class state_class)
{
    enum { SHOWN = 4 };
    GString *name = g_string_new(depth == 0 ? "MAIN" : NULL);
    for (uint32_t i = 0; i < MIN(depth, SHOWN); i++) {
        if (i > 0)
            g_string_append(name, " < ");
        uint32_t id = u32_at(at, offset + 4 * i);
        const char *known = g_hash_table_lookup(at->names->cost_centres, GUINT_TO_POINTER(id));
        if (known != NULL)
            g_string_append(name, known);
        else
            g_string_append_printf(name, "cost centre %u", id);
    }
    uint32_t value = fm_trace_value(at->state->trace, name->str, state_class);
    g_string_free(name, true);
    return value;
}

static void close_sample(struct happening *at)
{
    struct eventlog_model *model = at->model;
    guint kept = 0;
    for (guint i = 0; i < model->heap_bands->len; i++) {
        uint32_t index = g_array_index(model->heap_bands, uint32_t, i);
        struct fm_lane *lane = fm_state_lane_at(at->state, index);
        g_assert(index < fm_state_lane_count(at->state));
        if (lane->model[0] == model->heap_sample) {
            g_array_index(model->heap_bands, uint32_t, kept++) = index;
            continue;
        }
        lane->model[1] = 0;
        fm_state_number(at->state, lane, 0, at->time);
    }
    g_assert(kept <= model->heap_bands->len);
    g_array_set_size(model->heap_bands, kept);
    model->heap_sampling = false;
}

/* 162, or 166 for a biographical profile: all of those stand at the end of the log, so what is
 * shown is one sample after the other there. Older producers do not mark the end of a sample. */
void fm_eventlog_heap_begin(struct happening *at)
{
    if (at->model->heap_sampling)
        close_sample(at);
    at->model->heap_sampling = true;
    at->model->heap_sample++;
}

void fm_eventlog_heap_end(struct happening *at)
{
    if (at->model->heap_sampling)
        close_sample(at);
    else
        fm_state_count_inconsistent(at->state);
}

/* model[0]: the sample that named it last; model[1]: whether it is in the list of bands. */
static void add_band(struct happening *at, uint32_t value, uint64_t bytes)
{
    struct eventlog_model *model = at->model;
    struct fm_lane *lane = fm_eventlog_number_lane(at, FM_LANE_HEAP, HEAP_BAND_KEY | value,
                                                   fm_trace_value_name(at->state->trace, value));
    double before = lane->model[0] == model->heap_sample ? lane->number : 0;
    lane->model[0] = model->heap_sample;
    if (lane->model[1] == 0) {
        lane->model[1] = 1;
        g_array_append_val(model->heap_bands, lane->index);
    }
    fm_state_number(at->state, lane, before + (double)bytes, at->time);
}

void fm_eventlog_heap_string(struct happening *at)
{
    g_assert(at->event->payload_size >= 9);
    uint32_t length = at->event->payload_size - 9;
    const char *label = text_at(at, 9);
    uint32_t value =
        fm_trace_value_bytes(at->state->trace, label, strnlen(label, length), FM_STATE_UNKNOWN);
    add_band(at, value, u64_at(at, 1));
}

void fm_eventlog_heap_cost_centre(struct happening *at)
{
    g_assert(at->event->payload_size >= 10);
    uint32_t depth = at->event->payload[9];
    if (at->event->payload_size < 10 + 4 * depth) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    add_band(at, stack_value(at, 10, depth, FM_STATE_UNKNOWN), u64_at(at, 1));
}

/* 167 stands in the global buffer and names its capability. */
void fm_eventlog_time_sample(struct happening *at)
{
    g_assert(at->event->payload_size >= 13);
    uint32_t number = u32_at(at, 0), depth = at->event->payload[12];
    const struct capability *capability = fm_eventlog_capability(at->model, number);
    if (capability == NULL || at->event->payload_size < 13 + 4 * depth) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    struct fm_lane *lane = fm_state_lane_at(at->state, capability->running);
    if (lane == NULL)
        lane = fm_eventlog_capability_lane(at, number);
    set_event_lane(at, lane);
    fm_state_mark(at->state, lane, stack_value(at, 13, depth, FM_STATE_SPAN), at->time);
}
