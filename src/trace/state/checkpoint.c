/* SPDX-License-Identifier: Apache-2.0 */
/* Saved states along a trace. A lane's record is written only when the lane has changed since the
 * last full checkpoint, so a checkpoint costs what has happened, not how much there is. */
#include "trace/state/checkpoint_internal.h"

/* --- records of lanes --- */

enum record_flags { HAS_NUMBER = 1, HAS_HIDDEN = 2, HAS_MODEL = 4, HAD_STATE = 8 };

static void pack_body(GByteArray *to, const struct fm_lane *lane)
{
    bool has_model = (lane->model[0] | lane->model[1] | lane->model[2] | lane->model[3]) != 0;
    fm_pack(to, (lane->has_number ? HAS_NUMBER : 0) | (lane->hidden > 0 ? HAS_HIDDEN : 0) |
                    (has_model ? HAS_MODEL : 0) | (lane->had_state ? HAD_STATE : 0));
    fm_pack(to, lane->parent == FM_LANE_NONE ? 0 : lane->parent + UINT64_C(1));
    fm_pack(to, lane->name_value);
    if (lane->has_number)
        fm_pack_real(to, lane->number);
    if (lane->hidden > 0)
        fm_pack(to, lane->hidden);
    for (unsigned i = 0; has_model && i < G_N_ELEMENTS(lane->model); i++)
        fm_pack(to, lane->model[i]);
    fm_pack(to, lane->depth);
    uint64_t before = lane->born;
    for (uint32_t i = 0; i < lane->depth; i++) {
        const struct fm_state_entry *entry = &lane->stack[i];
        fm_pack(to, entry->value);
        fm_pack(to, entry->since - before); /* modulo 2^64: it may lie before the birth */
        fm_pack(to, entry->detail);
        fm_pack(to, entry->nested);
        before = entry->since;
    }
}

static void pack_lane_record(GByteArray *to, GByteArray *scratch, const struct fm_lane *lane)
{
    g_byte_array_set_size(scratch, 0);
    pack_body(scratch, lane);
    fm_pack(to, lane->index);
    fm_pack_bytes(to, scratch->data, scratch->len);
}

static bool next_record(struct fm_unpack *from, struct lane_record *ret)
{
    if (from->at == from->end)
        return false;
    ret->begin = from->at;
    ret->index = fm_unpack_max(from, UINT32_MAX - 1);
    uint32_t length;
    ret->body = fm_unpack_bytes(from, &length);
    ret->end = ret->body + length;
    return !from->bad;
}

static bool unpack_body(struct fm_state *state, const struct lane_record *record,
                        struct fm_lane *lane, uint32_t lane_count)
{
    struct fm_unpack from = {.at = record->body, .end = record->end};
    uint32_t values = fm_trace_value_count(state->trace);
    uint32_t flags = fm_unpack_max(&from, HAS_NUMBER | HAS_HIDDEN | HAS_MODEL | HAD_STATE);
    uint32_t parent = fm_unpack_max(&from, lane_count);
    lane->parent = parent == 0 ? FM_LANE_NONE : parent - 1;
    lane->name_value = fm_unpack_max(&from, values - 1);
    lane->name = fm_trace_value_name(state->trace, lane->name_value);
    lane->has_number = (flags & HAS_NUMBER) != 0;
    lane->number = lane->has_number ? fm_unpack_real(&from) : 0;
    lane->had_state = (flags & HAD_STATE) != 0;
    lane->hidden = flags & HAS_HIDDEN ? fm_unpack_max(&from, UINT32_MAX) : 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(lane->model); i++)
        lane->model[i] = flags & HAS_MODEL ? fm_unpack(&from) : 0;
    uint32_t depth = fm_unpack_max(&from, FM_STATE_DEPTH_MAX);
    if (depth > (size_t)(from.end - from.at) / 4) /* an entry takes four bytes at least */
        return false;
    fm_state_reserve_stack(lane, depth);
    uint64_t before = lane->born;
    for (uint32_t i = 0; i < depth; i++) {
        struct fm_state_entry *entry = &lane->stack[i];
        entry->value = fm_unpack_max(&from, values - 1);
        entry->since = before + fm_unpack(&from);
        entry->detail = fm_unpack(&from);
        entry->nested = fm_unpack(&from);
        before = entry->since;
    }
    lane->depth = depth;
    return !from.bad && from.at == from.end;
}

/* --- models: blocks that differ --- */

/* The difference of the second model from the first, and back. False when damaged. */
static void diff_model(const GByteArray *base, const GByteArray *now, GByteArray *ret)
{
    fm_pack(ret, now->len);
    uint32_t after = 0; /* the last block written + 1 */
    for (guint at = 0; at < now->len; at += CHECKPOINT_BLOCK) {
        guint length = MIN(CHECKPOINT_BLOCK, now->len - at);
        if (at + length <= base->len && memcmp(base->data + at, now->data + at, length) == 0)
            continue;
        uint32_t block = at / CHECKPOINT_BLOCK;
        fm_pack(ret, block - after);
        g_byte_array_append(ret, now->data + at, length);
        after = block + 1;
    }
}

static bool patch_model(const GByteArray *base, const GByteArray *diff, GByteArray *ret)
{
    struct fm_unpack from = fm_unpack_from(diff);
    uint64_t length = fm_unpack(&from);
    if (length > (uint64_t)base->len + diff->len)
        return false;
    g_byte_array_set_size(ret, (guint)length);
    guint common = (guint)MIN(length, base->len);
    if (common > 0)
        memcpy(ret->data, base->data, common);
    if (length > common)
        memset(ret->data + common, 0, length - common);
    uint64_t block = 0;
    while (from.at < from.end && !from.bad) {
        block += fm_unpack(&from);
        if (block > length / CHECKPOINT_BLOCK)
            return false;
        uint64_t at = block * CHECKPOINT_BLOCK;
        uint64_t count = MIN(CHECKPOINT_BLOCK, length - at);
        if (count == 0 || count > (uint64_t)(from.end - from.at))
            return false;
        g_assert(at + count <= ret->len);
        memcpy(ret->data + at, from.at, count);
        from.at += count;
        block++;
    }
    return !from.bad;
}

/* --- making --- */

static void checkpoint_free(void *data)
{
    struct checkpoint *checkpoint = data;
    g_free(checkpoint->places);
    g_byte_array_unref(checkpoint->lanes);
    g_byte_array_unref(checkpoint->model);
    g_free(checkpoint);
}

size_t fm_checkpoint_memory(const struct checkpoint *checkpoint)
{
    return sizeof *checkpoint + checkpoint->lanes->len + checkpoint->model->len + 128;
}

struct fm_checkpoints *fm_checkpoints_new(struct fm_trace *trace, size_t memory_budget)
{
    struct fm_checkpoints *checkpoints = g_new0(struct fm_checkpoints, 1);
    checkpoints->trace = trace;
    checkpoints->budget = memory_budget;
    checkpoints->tracefile_count = trace->tracefiles->len;
    checkpoints->facts = g_array_new(false, false, sizeof(struct lane_fact));
    checkpoints->list = g_ptr_array_new_with_free_func(checkpoint_free);
    checkpoints->full_model = g_byte_array_new();
    checkpoints->interval = CHECKPOINT_INTERVAL;
    checkpoints->known_until = trace->start_time;
    return checkpoints;
}

void fm_checkpoints_free(struct fm_checkpoints *checkpoints)
{
    if (checkpoints == NULL)
        return;
    g_array_unref(checkpoints->facts);
    g_ptr_array_unref(checkpoints->list);
    g_byte_array_unref(checkpoints->full_model);
    g_free(checkpoints);
}

size_t fm_checkpoints_memory(const struct fm_checkpoints *checkpoints)
{
    return checkpoints->memory + checkpoints->facts->len * sizeof(struct lane_fact) +
           checkpoints->full_model->len;
}

unsigned fm_checkpoints_count(const struct fm_checkpoints *checkpoints)
{
    return checkpoints->list->len;
}

uint64_t fm_checkpoints_interval(const struct fm_checkpoints *checkpoints)
{
    return checkpoints->interval;
}

void fm_checkpoints_set_interval(struct fm_checkpoints *checkpoints, uint64_t events)
{
    checkpoints->interval = MAX(events, 1);
}

void fm_checkpoints_end(struct fm_checkpoints *checkpoints, uint64_t time)
{
    g_assert(time >= checkpoints->trace->start_time);
    checkpoints->known_until = time;
    checkpoints->complete = true;
}

bool fm_checkpoints_is_complete(const struct fm_checkpoints *checkpoints)
{
    return checkpoints->complete;
}

/* Notes what is told of lanes once: new ones, and those that have ended since the last time. */
static void note_facts(struct fm_checkpoints *checkpoints, const struct fm_state *state)
{
    for (uint32_t i = checkpoints->facts->len; i < state->lane_count; i++) {
        const struct fm_lane *lane = fm_state_lane_fast(state, i);
        struct lane_fact fact = {.key = lane->key, .born = lane->born, .kind = (uint8_t)lane->kind};
        g_array_append_val(checkpoints->facts, fact);
    }
    for (guint i = 0; i < state->changes->len; i++) {
        uint32_t index = g_array_index(state->changes, uint32_t, i);
        const struct fm_lane *lane = fm_state_lane_fast(state, index);
        g_assert(index < checkpoints->facts->len);
        struct lane_fact *fact = &g_array_index(checkpoints->facts, struct lane_fact, index);
        if (!lane->ended || fact->ended != 0)
            continue;
        fact->ended = checkpoints->sequence;
        fact->parent = lane->parent;
        fact->name_value = lane->name_value;
        fact->number = lane->number;
        fact->has_number = lane->has_number;
    }
}

static int by_index(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void pack_lanes(struct checkpoint *checkpoint, const struct fm_state *state)
{
    GByteArray *scratch = g_byte_array_new();
    if (checkpoint->full) {
        for (uint32_t i = 0; i < state->lane_count; i++) {
            const struct fm_lane *lane = fm_state_lane_fast(state, i);
            if (!lane->ended)
                pack_lane_record(checkpoint->lanes, scratch, lane);
        }
    } else {
        g_array_sort(state->changes, by_index);
        for (guint i = 0; i < state->changes->len; i++) {
            uint32_t index = g_array_index(state->changes, uint32_t, i);
            const struct fm_lane *lane = fm_state_lane_fast(state, index);
            if (!lane->ended)
                pack_lane_record(checkpoint->lanes, scratch, lane);
        }
    }
    g_byte_array_unref(scratch);
}

static struct fm_place *copy_places(const struct fm_context *context, const struct fm_trace *trace)
{
    struct fm_position *position = fm_context_save_position(context);
    struct fm_place *places = NULL;
    unsigned at = 0;
    for (unsigned i = 0; i < context->trace_count; i++) {
        const struct fm_trace_context *here = &context->traces[i];
        if (here->trace == trace)
            places = g_memdup2(&position->places[at], here->tracefile_count * sizeof *places);
        at += here->tracefile_count;
    }
    fm_position_free(position);
    return places;
}

/* As above on request: the state before the event at the context's position. Times ascend. */
static void save(struct fm_checkpoints *checkpoints, struct fm_context *context,
                 struct fm_state *state)
{
    struct checkpoint *checkpoint = g_new0(struct checkpoint, 1);
    checkpoint->time = fm_context_time(context);
    checkpoint->sequence = ++checkpoints->sequence;
    checkpoint->places = copy_places(context, checkpoints->trace);
    checkpoint->lane_count = state->lane_count;
    checkpoint->inconsistent = state->inconsistent;
    checkpoint->hidden = state->hidden;
    checkpoint->full =
        checkpoints->list->len == 0 || checkpoints->since_full + 1 >= CHECKPOINT_FULL_EVERY;
    checkpoints->since_full = checkpoint->full ? 0 : checkpoints->since_full + 1;
    checkpoint->lanes = g_byte_array_new();
    note_facts(checkpoints, state);
    pack_lanes(checkpoint, state);
    GByteArray *model = g_byte_array_new();
    state->model->model_write(state->model_data, model);
    if (checkpoint->full) {
        fm_state_forget_changes(state);
        g_byte_array_unref(checkpoints->full_model);
        checkpoints->full_model = g_byte_array_ref(model);
        checkpoint->model = model;
    } else {
        checkpoint->model = g_byte_array_new();
        diff_model(checkpoints->full_model, model, checkpoint->model);
        g_byte_array_unref(model);
    }
    g_ptr_array_add(checkpoints->list, checkpoint);
    checkpoints->memory += fm_checkpoint_memory(checkpoint);
    checkpoints->known_until = MAX(checkpoints->known_until, checkpoint->time);
    g_assert(checkpoints->facts->len == state->lane_count);
    while (checkpoints->memory > checkpoints->budget && checkpoints->list->len > 1)
        fm_checkpoints_thin(checkpoints);
}

void fm_checkpoints_record(struct fm_checkpoints *checkpoints, struct fm_state *state)
{
    checkpoints->state = state;
    checkpoints->unsaved = 0;
}

void fm_checkpoints_follow(struct fm_checkpoints *checkpoints, bool follows)
{
    checkpoints->follows = follows;
}

bool fm_checkpoints_hook(void *hook_data, void *call_data)
{
    struct fm_checkpoints *checkpoints = hook_data;
    const struct fm_tracefile_context *at = call_data;
    if (checkpoints->unsaved++ < checkpoints->interval || checkpoints->state == NULL)
        return false;
    checkpoints->unsaved = 1;
    save(checkpoints, at->context, checkpoints->state);
    return false;
}

/* --- restoring --- */

/* The list without what ended: full and later records side by side, the later one counts. */
struct merged {
    struct fm_unpack full, later;
    struct lane_record full_record, later_record;
    bool has_full, has_later;
};

static void merge_begin(struct merged *merged, const GByteArray *full, const GByteArray *later)
{
    *merged = (struct merged){.full = fm_unpack_from(full)};
    if (later != NULL)
        merged->later = fm_unpack_from(later);
    merged->has_full = next_record(&merged->full, &merged->full_record);
    merged->has_later = later != NULL && next_record(&merged->later, &merged->later_record);
}

static bool merge_next(struct merged *merged, struct lane_record *ret)
{
    if (!merged->has_full && !merged->has_later)
        return false;
    bool take_later = merged->has_later && (!merged->has_full || merged->later_record.index <=
                                                                     merged->full_record.index);
    *ret = take_later ? merged->later_record : merged->full_record;
    if (merged->has_full && merged->full_record.index == ret->index)
        merged->has_full = next_record(&merged->full, &merged->full_record);
    if (take_later)
        merged->has_later = next_record(&merged->later, &merged->later_record);
    return true;
}

/* The last full one at or before index. */
static const struct checkpoint *base_of(const struct fm_checkpoints *checkpoints, guint index)
{
    for (;; index--) {
        const struct checkpoint *checkpoint = g_ptr_array_index(checkpoints->list, index);
        if (checkpoint->full)
            return checkpoint;
        if (index == 0)
            return NULL;
    }
}

static bool restore_lanes(struct fm_state *state, const struct fm_checkpoints *checkpoints,
                          const struct checkpoint *base, const struct checkpoint *checkpoint)
{
    struct merged merged;
    struct lane_record record;
    merge_begin(&merged, base->lanes, checkpoint == base ? NULL : checkpoint->lanes);
    bool has_record = merge_next(&merged, &record);
    for (uint32_t i = 0; i < checkpoint->lane_count; i++) {
        const struct lane_fact *fact = &g_array_index(checkpoints->facts, struct lane_fact, i);
        struct fm_lane given = {
            .key = fact->key,
            .born = fact->born,
            .kind = fact->kind,
            .ended = fact->ended != 0 && fact->ended <= checkpoint->sequence,
        };
        if (given.ended) {
            given.parent = fact->parent;
            given.name_value = fact->name_value;
            given.name = fm_trace_value_name(state->trace, fact->name_value);
            given.number = fact->number;
            given.has_number = fact->has_number;
        }
        struct fm_lane *lane = fm_state_add_restored(state, &given);
        if (has_record && record.index == i) {
            if (!given.ended && !unpack_body(state, &record, lane, checkpoint->lane_count))
                return false;
            has_record = merge_next(&merged, &record);
        } else if (!given.ended) {
            return false;
        }
    }
    return !has_record && !merged.full.bad && !merged.later.bad;
}

static bool restore_state(const struct fm_checkpoints *checkpoints, guint index,
                          struct fm_state *state)
{
    const struct checkpoint *checkpoint = g_ptr_array_index(checkpoints->list, index);
    const struct checkpoint *base = base_of(checkpoints, index);
    if (base == NULL || checkpoint->lane_count > checkpoints->facts->len)
        return false;
    GByteArray *bytes = g_byte_array_new();
    void *model = NULL;
    if (checkpoint == base)
        model = state->model->model_read(state, base->model->data, base->model->len,
                                         checkpoint->lane_count);
    else if (patch_model(base->model, checkpoint->model, bytes))
        model = state->model->model_read(state, bytes->data, bytes->len, checkpoint->lane_count);
    g_byte_array_unref(bytes);
    if (model == NULL)
        return false;
    fm_state_begin_restore(state, model, checkpoint->time);
    if (!restore_lanes(state, checkpoints, base, checkpoint))
        return false;
    state->inconsistent = checkpoint->inconsistent;
    state->hidden = checkpoint->hidden;
    if (state->model->model_restored != NULL)
        state->model->model_restored(state, model);
    return true;
}

/* How many have a time before the given one. */
static guint count_before(const struct fm_checkpoints *checkpoints, uint64_t time)
{
    guint low = 0, high = checkpoints->list->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const struct checkpoint *checkpoint = g_ptr_array_index(checkpoints->list, middle);
        if (checkpoint->time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool fm_checkpoints_restore(struct fm_checkpoints *checkpoints, struct fm_context *context,
                            uint64_t time, struct fm_state *state)
{
    struct fm_trace *trace = checkpoints->trace;
    bool known = checkpoints->follows || time <= checkpoints->known_until ||
                 time <= trace->start_time ||
                 (checkpoints->complete && trace->end_time <= checkpoints->known_until);
    guint before = known ? count_before(checkpoints, time) : 0;
    if (before > 0 && checkpoints->tracefile_count == trace->tracefiles->len &&
        restore_state(checkpoints, before - 1, state)) {
        const struct checkpoint *checkpoint = g_ptr_array_index(checkpoints->list, before - 1);
        fm_context_seek_trace(context, trace, checkpoint->places, 0);
        return true;
    }
    /* Nearer to the begin than to any of them, or nothing is known there. */
    uint64_t from = known && before == 0 ? trace->start_time : time;
    fm_state_clear(state, from);
    fm_context_seek_trace(context, trace, NULL, from);
    return false;
}

/* --- thinning --- */

/* The records of a checkpoint that differ from those of a full one. */
static GByteArray *diff_lanes(const GByteArray *full, const GByteArray *base,
                              const GByteArray *later)
{
    GByteArray *diff = g_byte_array_new();
    struct merged merged;
    struct lane_record record;
    struct fm_unpack from = fm_unpack_from(full);
    struct lane_record old;
    bool has_old = next_record(&from, &old);
    merge_begin(&merged, base, later);
    while (merge_next(&merged, &record)) {
        while (has_old && old.index < record.index)
            has_old = next_record(&from, &old);
        size_t length = (size_t)(record.end - record.begin);
        bool same = has_old && old.index == record.index &&
                    (size_t)(old.end - old.begin) == length &&
                    memcmp(old.begin, record.begin, length) == 0;
        if (!same)
            g_byte_array_append(diff, record.begin, (guint)length);
    }
    return diff;
}

/* All records of the checkpoint. */
static GByteArray *join_lanes(const GByteArray *base, const GByteArray *later)
{
    GByteArray *all = g_byte_array_new();
    struct merged merged;
    struct lane_record record;
    merge_begin(&merged, base, later);
    while (merge_next(&merged, &record))
        g_byte_array_append(all, record.begin, (guint)(record.end - record.begin));
    return all;
}

/* base: what it is told by now, itself when it is full; full: what it shall be told by, NULL = it
 * becomes a full one. */
static void rebase(struct checkpoint *checkpoint, GByteArray *base_lanes, GByteArray *base_model,
                   const struct checkpoint *full)
{
    GByteArray *later = checkpoint->full ? NULL : checkpoint->lanes;
    GByteArray *lanes =
        full == NULL ? join_lanes(base_lanes, later) : diff_lanes(full->lanes, base_lanes, later);
    GByteArray *model = g_byte_array_new();
    if (checkpoint->full)
        g_byte_array_append(model, base_model->data, base_model->len);
    else
        patch_model(base_model, checkpoint->model, model);
    if (full != NULL) {
        GByteArray *diff = g_byte_array_new();
        diff_model(full->model, model, diff);
        g_byte_array_unref(model);
        model = diff;
    }
    g_byte_array_unref(checkpoint->lanes);
    g_byte_array_unref(checkpoint->model);
    checkpoint->lanes = lanes;
    checkpoint->model = model;
    checkpoint->full = full == NULL;
}

void fm_checkpoints_thin(struct fm_checkpoints *checkpoints)
{
    GPtrArray *kept = g_ptr_array_new_with_free_func(checkpoint_free);
    GPtrArray *old = checkpoints->list;
    GByteArray *base_lanes = g_byte_array_new(), *base_model = g_byte_array_new();
    struct checkpoint *full = NULL;
    g_ptr_array_set_free_func(old, NULL);
    checkpoints->memory = 0;
    for (guint i = 0; i < old->len; i++) {
        struct checkpoint *checkpoint = g_ptr_array_index(old, i);
        if (checkpoint->full) {
            g_byte_array_unref(base_lanes);
            g_byte_array_unref(base_model);
            base_lanes = g_byte_array_ref(checkpoint->lanes);
            base_model = g_byte_array_ref(checkpoint->model);
        }
        if (i % 2 == 1) {
            checkpoint_free(checkpoint);
            continue;
        }
        if (kept->len % CHECKPOINT_FULL_EVERY == 0) {
            rebase(checkpoint, base_lanes, base_model, NULL);
            full = checkpoint;
        } else {
            rebase(checkpoint, base_lanes, base_model, full);
        }
        g_ptr_array_add(kept, checkpoint);
        checkpoints->memory += fm_checkpoint_memory(checkpoint);
    }
    g_byte_array_unref(base_lanes);
    g_byte_array_unref(base_model);
    g_ptr_array_unref(old);
    checkpoints->list = kept;
    checkpoints->interval *= 2;
    /* changes since then are not listed any more */
    checkpoints->since_full = CHECKPOINT_FULL_EVERY;
}
