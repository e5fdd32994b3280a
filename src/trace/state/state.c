/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes with their stacks. Which event changes what is in the models: eventlog_state*.c,
 * kernel_state.c. */
#include <string.h>

#include "trace/state/state_internal.h"

enum { POP_SEARCH_MAX = 256, FIRST_TABLE_SLOTS = 64 };

/* --- the table of living lanes --- */

static uint32_t slot_of(const struct fm_state *state, enum fm_lane_kind kind, uint64_t key)
{
    uint64_t mixed = (key + ((uint64_t)kind << 56) + kind) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 32) & state->table_mask;
}

static void table_insert(struct fm_state *state, const struct fm_lane *lane)
{
    uint32_t slot = slot_of(state, lane->kind, lane->key);
    while (state->table[slot] != 0)
        slot = (slot + 1) & state->table_mask;
    state->table[slot] = lane->index + 1;
    state->table_used++;
}

static void table_new(struct fm_state *state, uint32_t slots)
{
    state->table = g_new0(uint32_t, slots);
    state->table_mask = slots - 1;
    state->table_used = 0;
}

static void table_add(struct fm_state *state, const struct fm_lane *lane)
{
    if (state->table_used >= state->table_mask / 2) {
        uint32_t *old = state->table;
        uint32_t old_slots = state->table_mask + 1;
        table_new(state, old_slots * 2);
        for (uint32_t i = 0; i < old_slots; i++) {
            if (old[i] != 0)
                table_insert(state, fm_state_lane_fast(state, old[i] - 1));
        }
        g_free(old);
    }
    table_insert(state, lane);
}

static uint32_t table_find(const struct fm_state *state, enum fm_lane_kind kind, uint64_t key)
{
    uint32_t slot = slot_of(state, kind, key);
    for (; state->table[slot] != 0; slot = (slot + 1) & state->table_mask) {
        const struct fm_lane *lane = fm_state_lane_fast(state, state->table[slot] - 1);
        if (lane->key == key && lane->kind == kind)
            return slot;
    }
    return UINT32_MAX;
}

/* Without tombstones: what follows the hole moves into it unless it stands at or after its own
 * slot. */
static void table_remove(struct fm_state *state, const struct fm_lane *lane)
{
    uint32_t hole = table_find(state, lane->kind, lane->key);
    if (hole == UINT32_MAX)
        return;
    uint32_t mask = state->table_mask;
    for (uint32_t at = (hole + 1) & mask; state->table[at] != 0; at = (at + 1) & mask) {
        const struct fm_lane *other = fm_state_lane_fast(state, state->table[at] - 1);
        uint32_t home = slot_of(state, other->kind, other->key);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            state->table[hole] = state->table[at];
            hole = at;
        }
    }
    state->table[hole] = 0;
    g_assert(state->table_used > 0);
    state->table_used--;
}

/* --- making and clearing --- */

struct fm_state *fm_state_new(struct fm_trace *trace)
{
    g_assert(trace->state_model != NULL);
    struct fm_state *state = g_new0(struct fm_state, 1);
    state->trace = trace;
    state->model = trace->state_model;
    state->slabs = g_ptr_array_new_with_free_func(g_free);
    state->observers = g_ptr_array_new();
    state->changes = g_array_new(false, false, sizeof(uint32_t));
    state->event_lane = FM_LANE_NONE;
    state->epoch = 1;
    state->origin = trace->start_time;
    state->complete = true;
    table_new(state, FIRST_TABLE_SLOTS);
    state->model_data = state->model->model_new(state);
    return state;
}

static void free_lanes(struct fm_state *state)
{
    for (uint32_t i = 0; i < state->lane_count; i++)
        g_free(fm_state_lane_fast(state, i)->stack);
    g_assert(state->slabs->len == (state->lane_count + FM_LANE_SLAB - 1) / FM_LANE_SLAB);
    g_ptr_array_set_size(state->slabs, 0);
    state->lane_count = 0;
    g_free(state->table);
    table_new(state, FIRST_TABLE_SLOTS);
    state->event_lane = FM_LANE_NONE;
}

void fm_state_free(struct fm_state *state)
{
    if (state == NULL)
        return;
    state->model->model_free(state->model_data);
    free_lanes(state);
    g_free(state->table);
    g_ptr_array_unref(state->slabs);
    g_ptr_array_unref(state->observers);
    g_array_unref(state->changes);
    g_free(state);
}

struct fm_trace *fm_state_trace(const struct fm_state *state)
{
    return state->trace;
}

uint64_t fm_state_inconsistent(const struct fm_state *state)
{
    return state->inconsistent;
}

uint64_t fm_state_hidden(const struct fm_state *state)
{
    return state->hidden;
}

uint64_t fm_state_origin(const struct fm_state *state)
{
    return state->origin;
}

bool fm_state_is_complete(const struct fm_state *state)
{
    return state->complete;
}

void fm_state_forget_changes(struct fm_state *state)
{
    g_array_set_size(state->changes, 0);
    if (++state->epoch == 0) { /* all marks of old epochs would come to life again */
        for (uint32_t i = 0; i < state->lane_count; i++)
            fm_state_lane_fast(state, i)->changed = 0;
        state->epoch = 1;
    }
}

void fm_state_begin_restore(struct fm_state *state, void *model_data, uint64_t time)
{
    state->model->model_free(state->model_data);
    state->model_data = model_data;
    free_lanes(state);
    fm_state_forget_changes(state);
    state->inconsistent = state->hidden = 0;
    state->origin = time;
    state->complete = true;
}

void fm_state_clear(struct fm_state *state, uint64_t time)
{
    free_lanes(state);
    state->model->model_free(state->model_data);
    fm_state_forget_changes(state);
    state->inconsistent = state->hidden = 0;
    state->origin = time;
    state->complete = time <= state->trace->start_time;
    state->model_data = state->model->model_new(state);
}

/* --- observers --- */

void fm_state_add_observer(struct fm_state *state, const struct fm_state_observer *observer)
{
    g_ptr_array_add(state->observers, (void *)(uintptr_t)observer);
}

void fm_state_remove_observer(struct fm_state *state, const struct fm_state_observer *observer)
{
    g_ptr_array_remove(state->observers, (void *)(uintptr_t)observer);
}

#define EACH_OBSERVER(state, function, ...)                                           \
    for (guint each_ = 0; each_ < (state)->observers->len; each_++) {                 \
        const struct fm_state_observer *observer_ = (state)->observers->pdata[each_]; \
        if (observer_->function != NULL)                                              \
            observer_->function(observer_->user, __VA_ARGS__);                        \
    }

void fm_state_flush(struct fm_state *state, uint64_t time, const struct fm_state_observer *observer)
{
    for (uint32_t i = 0; observer->segment != NULL && i < state->lane_count; i++) {
        const struct fm_lane *lane = fm_state_lane_fast(state, i);
        uint64_t above = 0;
        g_assert(lane->depth <= FM_STATE_DEPTH_MAX && (!lane->ended || lane->depth == 0));
        for (uint32_t depth = lane->depth; depth-- > 0;) {
            struct fm_state_entry entry = lane->stack[depth];
            uint64_t end = MAX(time, entry.since);
            entry.nested += above;
            above = end - entry.since;
            observer->segment(observer->user, lane, depth, &entry, end);
        }
    }
}

bool fm_state_hook(void *hook_data, void *call_data)
{
    struct fm_state *state = hook_data;
    const struct fm_tracefile_context *at = call_data;
    if (at->tracefile->trace != state->trace)
        return false;
    state->event_lane = FM_LANE_NONE;
    state->model->event(state, state->model_data, at);
    return false;
}

const struct fm_lane *fm_state_event_lane(const struct fm_state *state)
{
    return state->event_lane == FM_LANE_NONE ? NULL : fm_state_lane_fast(state, state->event_lane);
}

void fm_state_set_event_lane(struct fm_state *state, struct fm_lane *lane)
{
    g_assert(lane == NULL || lane->index < state->lane_count);
    state->event_lane = lane == NULL ? FM_LANE_NONE : lane->index;
}

void fm_state_count_inconsistent(struct fm_state *state)
{
    state->inconsistent++;
}

/* --- lanes --- */

static void touch(struct fm_state *state, struct fm_lane *lane)
{
    if (lane->changed != state->epoch) {
        lane->changed = state->epoch;
        g_array_append_val(state->changes, lane->index);
    }
}

void fm_state_lane_changed(struct fm_state *state, struct fm_lane *lane)
{
    touch(state, lane);
}

uint32_t fm_state_lane_count(const struct fm_state *state)
{
    return state->lane_count;
}

const struct fm_lane *fm_state_lane(const struct fm_state *state, uint32_t index)
{
    return index < state->lane_count ? fm_state_lane_fast(state, index) : NULL;
}

struct fm_lane *fm_state_lane_at(struct fm_state *state, uint32_t index)
{
    return index < state->lane_count ? fm_state_lane_fast(state, index) : NULL;
}

struct fm_lane *fm_state_lane_find(struct fm_state *state, enum fm_lane_kind kind, uint64_t key)
{
    uint32_t slot = table_find(state, kind, key);
    return slot == UINT32_MAX ? NULL : fm_state_lane_fast(state, state->table[slot] - 1);
}

const struct fm_lane *fm_state_find_lane(const struct fm_state *state, enum fm_lane_kind kind,
                                         uint64_t key)
{
    uint32_t slot = table_find(state, kind, key);
    return slot == UINT32_MAX ? NULL : fm_state_lane_fast(state, state->table[slot] - 1);
}

static struct fm_lane *append_lane(struct fm_state *state)
{
    uint32_t index = state->lane_count;
    if (index % FM_LANE_SLAB == 0)
        g_ptr_array_add(state->slabs, g_new0(struct fm_lane, FM_LANE_SLAB));
    state->lane_count++;
    return fm_state_lane_fast(state, index);
}

struct fm_lane *fm_state_add_restored(struct fm_state *state, const struct fm_lane *given)
{
    uint32_t index = state->lane_count;
    struct fm_lane *lane = append_lane(state);
    *lane = *given;
    lane->index = index;
    lane->changed = 0;
    lane->depth = lane->capacity = 0;
    lane->stack = NULL;
    if (!lane->ended)
        table_add(state, lane);
    return lane;
}

struct fm_lane *fm_state_lane_new(struct fm_state *state, enum fm_lane_kind kind, uint64_t key,
                                  uint32_t parent, uint64_t time, const char *name)
{
    uint32_t index = state->lane_count;
    g_assert((unsigned)kind < FM_LANE_KIND_COUNT && (parent == FM_LANE_NONE || parent < index));
    struct fm_lane *lane = append_lane(state);
    lane->index = index;
    lane->kind = kind;
    lane->key = key;
    lane->parent = parent;
    lane->born = time;
    lane->name_value = fm_trace_value(state->trace, name, FM_STATE_UNKNOWN);
    lane->name = fm_trace_value_name(state->trace, lane->name_value);
    table_add(state, lane);
    touch(state, lane);
    EACH_OBSERVER(state, lane_added, lane);
    return lane;
}

struct fm_lane *fm_state_lane_get(struct fm_state *state, enum fm_lane_kind kind, uint64_t key,
                                  uint32_t parent, uint64_t time)
{
    struct fm_lane *lane = fm_state_lane_find(state, kind, key);
    if (lane != NULL)
        return lane;
    char name[64];
    if (kind == FM_LANE_LOCK)
        g_snprintf(name, sizeof name, "lock 0x%" G_GINT64_MODIFIER "x", key);
    else
        g_snprintf(name, sizeof name, "%s %" G_GUINT64_FORMAT, fm_lane_kind_name(kind), key);
    return fm_state_lane_new(state, kind, key, parent, time, name);
}

void fm_state_lane_rename(struct fm_state *state, struct fm_lane *lane, const char *name)
{
    lane->name_value = fm_trace_value(state->trace, name, FM_STATE_UNKNOWN);
    lane->name = fm_trace_value_name(state->trace, lane->name_value);
    touch(state, lane);
    EACH_OBSERVER(state, lane_named, lane);
}

void fm_state_lane_set_parent(struct fm_state *state, struct fm_lane *lane, uint32_t parent)
{
    g_assert(parent == FM_LANE_NONE || (parent < state->lane_count && parent != lane->index));
    lane->parent = parent;
    touch(state, lane);
    EACH_OBSERVER(state, lane_named, lane);
}

void fm_state_lane_end(struct fm_state *state, struct fm_lane *lane, uint64_t time)
{
    if (lane->ended)
        return;
    fm_state_empty(state, lane, time);
    g_assert(lane->depth == 0 && lane->hidden == 0);
    table_remove(state, lane);
    lane->ended = true;
    memset(lane->model, 0, sizeof lane->model);
    touch(state, lane);
    g_free(lane->stack);
    lane->stack = NULL;
    lane->capacity = 0;
}

/* --- stacks --- */

void fm_state_reserve_stack(struct fm_lane *lane, uint32_t depth)
{
    if (depth > lane->capacity) {
        lane->capacity = MAX(depth, lane->capacity == 0 ? 2 : 2 * lane->capacity);
        lane->stack = g_renew(struct fm_state_entry, lane->stack, lane->capacity);
    }
}

static void end_top(struct fm_state *state, struct fm_lane *lane, uint64_t time)
{
    g_assert(lane->depth > 0);
    uint32_t depth = --lane->depth;
    const struct fm_state_entry *ended = &lane->stack[depth]; /* observers change no stack */
    uint64_t end = MAX(time, ended->since);
    if (depth > 0)
        lane->stack[depth - 1].nested += end - ended->since;
    EACH_OBSERVER(state, segment, lane, depth, ended, end);
}

void fm_state_push(struct fm_state *state, struct fm_lane *lane, uint32_t value, uint64_t detail,
                   uint64_t time)
{
    if (lane->ended) {
        state->inconsistent++;
        return;
    }
    touch(state, lane);
    if (lane->depth >= FM_STATE_DEPTH_MAX) {
        lane->hidden++;
        state->hidden++;
        return;
    }
    if (lane->depth == lane->capacity)
        fm_state_reserve_stack(lane, lane->depth + 1);
    /* A level does not begin before the one below it. */
    uint64_t least = lane->depth == 0 ? 0 : lane->stack[lane->depth - 1].since;
    lane->had_state = true;
    struct fm_state_entry *entry = &lane->stack[lane->depth++];
    *entry = (struct fm_state_entry){.value = value, .since = MAX(time, least), .detail = detail};
    EACH_OBSERVER(state, begun, lane, entry);
}

bool fm_state_pop(struct fm_state *state, struct fm_lane *lane, uint64_t time)
{
    if (lane->hidden > 0) {
        lane->hidden--;
        touch(state, lane);
        return true;
    }
    if (lane->depth == 0) {
        state->inconsistent++;
        return false;
    }
    touch(state, lane);
    end_top(state, lane, time);
    return true;
}

bool fm_state_pop_value(struct fm_state *state, struct fm_lane *lane, uint32_t value, uint64_t time)
{
    if (lane->hidden > 0)
        return fm_state_pop(state, lane, time);
    uint32_t depth = lane->depth;
    uint32_t least = depth > POP_SEARCH_MAX ? depth - POP_SEARCH_MAX : 0;
    while (depth > least && lane->stack[depth - 1].value != value)
        depth--;
    if (depth == least) {
        state->inconsistent++;
        return false;
    }
    touch(state, lane);
    state->inconsistent += lane->depth - depth;
    while (lane->depth >= depth)
        end_top(state, lane, time);
    return true;
}

void fm_state_replace(struct fm_state *state, struct fm_lane *lane, uint32_t depth, uint32_t value,
                      uint64_t detail, uint64_t time)
{
    lane->hidden = 0;
    while (lane->depth > depth)
        end_top(state, lane, time);
    g_assert(lane->depth <= depth);
    fm_state_push(state, lane, value, detail, time);
}

void fm_state_set(struct fm_state *state, struct fm_lane *lane, uint32_t value, uint64_t detail,
                  uint64_t time)
{
    fm_state_replace(state, lane, 0, value, detail, time);
}

void fm_state_empty(struct fm_state *state, struct fm_lane *lane, uint64_t time)
{
    if (lane->depth == 0 && lane->hidden == 0)
        return;
    touch(state, lane);
    lane->hidden = 0;
    while (lane->depth > 0)
        end_top(state, lane, time);
}

void fm_state_number(struct fm_state *state, struct fm_lane *lane, double value, uint64_t time)
{
    touch(state, lane);
    lane->number = value;
    lane->has_number = true;
    EACH_OBSERVER(state, number, lane, time, value);
}

void fm_state_mark(struct fm_state *state, struct fm_lane *lane, uint32_t value, uint64_t time)
{
    g_assert(value < fm_trace_value_count(state->trace));
    EACH_OBSERVER(state, mark, lane, time, value);
}

void fm_state_arrow(struct fm_state *state, struct fm_lane *from, uint64_t from_time,
                    struct fm_lane *to, uint64_t to_time)
{
    EACH_OBSERVER(state, arrow, from, from_time, to, to_time);
}

char *fm_state_lane_label(const struct fm_state *state, const struct fm_lane *lane)
{
    const struct fm_state_model *model = state->model;
    return model->label != NULL ? model->label(state, lane) : g_strdup(lane->name);
}
