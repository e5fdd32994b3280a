/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an event log beside its lanes, as bytes. */
#include "trace/model/eventlog_state.h"
#include "trace/state/pack.h"

/* --- the model: differs from one checkpoint to the next --- */

static bool is_empty(const struct capability *capability)
{
    static const struct capability empty = {
        .lane = FM_LANE_NONE, .owner = FM_LANE_NONE, .running = FM_LANE_NONE};
    return capability->lane == empty.lane && capability->owner == empty.owner &&
           capability->running == empty.running && capability->in_gc == GC_NONE &&
           capability->kernel_thread == 0 && capability->allocated == 0 &&
           memcmp(capability->sparks, empty.sparks, sizeof empty.sparks) == 0;
}

static void pack_lane(GByteArray *to, uint32_t lane)
{
    fm_pack(to, lane == FM_LANE_NONE ? 0 : lane + UINT64_C(1));
}

static uint32_t unpack_lane(struct fm_unpack *from, uint32_t lanes)
{
    uint32_t lane = fm_unpack_max(from, lanes);
    return lane == 0 ? FM_LANE_NONE : lane - 1;
}

void fm_eventlog_model_write(const void *data, GByteArray *to)
{
    const struct eventlog_model *model = data;
    pack_lane(to, model->process);
    pack_lane(to, model->collector);
    pack_lane(to, model->sweeper);
    fm_pack(to, model->process_name);
    fm_pack(to, model->native);
    fm_pack(to, model->missing);
    fm_pack_real(to, model->sampled_ever);
    fm_pack(to, model->heap_sample);
    fm_pack(to, model->heap_sampling);
    fm_pack(to, model->pause.asked);
    fm_pack(to, model->pause.leads);
    fm_pack(to, model->pause.generation);
    fm_pack(to, model->pause.until);
    fm_pack(to, model->tasks);
    uint32_t used = 0;
    for (uint32_t i = 0; i < model->capability_count; i++)
        used += !is_empty(&model->capabilities[i]);
    fm_pack(to, used);
    for (uint32_t i = 0; i < model->capability_count; i++) {
        const struct capability *capability = &model->capabilities[i];
        if (is_empty(capability))
            continue;
        fm_pack(to, i);
        pack_lane(to, capability->lane);
        pack_lane(to, capability->owner);
        pack_lane(to, capability->running);
        fm_pack(to, capability->in_gc);
        fm_pack(to, capability->kernel_thread);
        fm_pack(to, capability->allocated);
        for (unsigned j = 0; j < SPARK_NUMBERS; j++)
            fm_pack(to, capability->sparks[j]);
    }
    fm_pack(to, model->heap_bands->len);
    for (guint i = 0; i < model->heap_bands->len; i++)
        fm_pack(to, g_array_index(model->heap_bands, uint32_t, i));
    fm_pack(to, model->sample_count);
    for (uint32_t i = 0; model->samples != NULL && i <= model->sample_mask; i++) {
        if (model->samples[i].address == 0)
            continue;
        fm_pack(to, model->samples[i].address);
        fm_pack(to, model->samples[i].weight);
        fm_pack(to, model->samples[i].site);
    }
}

static void read_capabilities(struct eventlog_model *model, struct fm_unpack *from, uint32_t lanes)
{
    uint32_t used = fm_unpack_count(from);
    for (uint32_t i = 0; i < used && !from->bad; i++) {
        struct capability *capability =
            fm_eventlog_capability(model, fm_unpack_max(from, CAPABILITIES_MAX - 1));
        g_assert(capability != NULL); /* numbers are below the most that there may be */
        capability->lane = unpack_lane(from, lanes);
        capability->owner = unpack_lane(from, lanes);
        capability->running = unpack_lane(from, lanes);
        capability->in_gc = (enum gc_part)fm_unpack_max(from, GC_OVER);
        capability->kernel_thread = fm_unpack(from);
        capability->allocated = fm_unpack(from);
        model->allocated += capability->allocated;
        for (unsigned j = 0; j < SPARK_NUMBERS; j++) {
            capability->sparks[j] = fm_unpack(from);
            model->sparks[j] += capability->sparks[j];
        }
    }
}

void *fm_eventlog_model_read(struct fm_state *state, const uint8_t *bytes, size_t length,
                             uint32_t lanes)
{
    struct fm_unpack from = {.at = bytes, .end = bytes + length};
    struct eventlog_model *model = state->model->model_new(state);
    model->process = unpack_lane(&from, lanes);
    model->collector = unpack_lane(&from, lanes);
    model->sweeper = unpack_lane(&from, lanes);
    model->process_name = fm_unpack_max(&from, UINT32_MAX);
    model->native = fm_unpack(&from) != 0;
    model->missing = fm_unpack(&from);
    model->sampled_ever = fm_unpack_real(&from);
    model->heap_sample = fm_unpack(&from);
    model->heap_sampling = fm_unpack(&from) != 0;
    model->pause.asked = fm_unpack_max(&from, CAPABILITIES_MAX);
    model->pause.leads = fm_unpack_max(&from, CAPABILITIES_MAX);
    model->pause.generation = fm_unpack_max(&from, GENERATIONS);
    model->pause.until = fm_unpack(&from);
    model->tasks = fm_unpack_max(&from, UINT32_MAX);
    read_capabilities(model, &from, lanes);
    uint32_t bands = fm_unpack_count(&from);
    for (uint32_t i = 0; i < bands && !from.bad; i++) {
        uint32_t lane = lanes == 0 ? 0 : fm_unpack_max(&from, lanes - 1);
        g_array_append_val(model->heap_bands, lane);
    }
    uint32_t samples = fm_unpack_count(&from);
    for (uint32_t i = 0; i < samples && !from.bad; i++) {
        uint64_t address = fm_unpack(&from), weight = fm_unpack(&from);
        uint32_t site = fm_unpack_max(&from, UINT32_MAX);
        if (address == 0) {
            from.bad = true;
            break;
        }
        fm_eventlog_sample_add(model, address, weight, site);
        model->sampled_live += (double)weight;
    }
    g_assert(from.at <= from.end);
    if (from.bad || from.at != from.end || (bands > 0 && lanes == 0)) {
        state->model->model_free(model);
        return NULL;
    }
    return model;
}

void fm_eventlog_model_restored(struct fm_state *state, void *data)
{
    struct eventlog_model *model = data;
    for (uint32_t i = 0; i < state->lane_count; i++) {
        const struct fm_lane *lane = fm_state_lane_fast(state, i);
        if (lane->kind == FM_LANE_ASYNC && lane->depth > 0)
            fm_eventlog_asynchronous_add(model, (uint32_t)(lane->key >> 32), lane->stack[0].detail,
                                         i);
    }
}

/* --- names: once for a trace --- */

static void pack_text(GByteArray *to, uint32_t id, uint32_t value)
{
    fm_pack(to, id);
    fm_pack(to, value);
}

void fm_eventlog_names_write(struct fm_trace *trace, GByteArray *to)
{
    const struct eventlog_names *names = fm_eventlog_names(trace);
    GHashTableIter iterator;
    void *key, *value;
    uint32_t used = g_hash_table_size(names->far_texts);
    for (uint32_t i = 0; i < names->text_slots; i++)
        used += names->texts[i] != 0;
    fm_pack(to, names->native);
    fm_pack(to, names->message_values);
    fm_pack(to, used);
    for (uint32_t i = 0; i < names->text_slots; i++) {
        if (names->texts[i] != 0)
            pack_text(to, i, names->texts[i]);
    }
    g_hash_table_iter_init(&iterator, names->far_texts);
    while (g_hash_table_iter_next(&iterator, &key, &value))
        pack_text(to, GPOINTER_TO_UINT(key), GPOINTER_TO_UINT(value));
    fm_pack(to, g_hash_table_size(names->cost_centres));
    g_hash_table_iter_init(&iterator, names->cost_centres);
    while (g_hash_table_iter_next(&iterator, &key, &value)) {
        fm_pack(to, GPOINTER_TO_UINT(key));
        fm_pack_bytes(to, value, strlen(value));
    }
    fm_pack(to, names->function_used);
    for (uint32_t i = 0; i <= names->function_mask; i++) {
        if (names->function_values[i] == 0)
            continue;
        fm_pack(to, names->function_addresses[i]);
        fm_pack(to, names->function_values[i]);
    }
    fm_symbols_write(names->symbols, to);
}

bool fm_eventlog_names_read(struct fm_trace *trace, const uint8_t *bytes, size_t length)
{
    struct fm_unpack from = {.at = bytes, .end = bytes + length};
    struct eventlog_names *names = fm_eventlog_names(trace);
    uint32_t last = fm_trace_value_count(trace) - 1;
    g_assert(last < UINT32_MAX); /* a trace has values from its begin */
    names->native |= fm_unpack(&from) != 0;
    names->message_values = fm_unpack_max(&from, MESSAGE_VALUES_MAX);
    uint32_t texts = fm_unpack_count(&from);
    for (uint32_t i = 0; i < texts && !from.bad; i++) {
        uint32_t id = fm_unpack_max(&from, UINT32_MAX), value = fm_unpack_max(&from, last);
        if (!from.bad)
            fm_eventlog_set_text_value(names, id, value);
    }
    uint32_t centres = fm_unpack_count(&from);
    for (uint32_t i = 0; i < centres && !from.bad; i++) {
        uint32_t size, id = fm_unpack_max(&from, UINT32_MAX);
        const char *name = (const char *)fm_unpack_bytes(&from, &size);
        char *text = g_strndup(name, size);
        if (!from.bad)
            fm_eventlog_set_cost_centre(names, id, text);
        g_free(text);
    }
    uint32_t functions = fm_unpack_count(&from);
    for (uint32_t i = 0; i < functions && !from.bad; i++) {
        uint64_t address = fm_unpack(&from);
        uint32_t value = fm_unpack_max(&from, last);
        if (!from.bad && value != 0)
            fm_eventlog_set_function(names, address, value);
    }
    return fm_symbols_read(names->symbols, &from) && !from.bad && from.at == from.end;
}
