/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw/heap.h"

#include <string.h>

#include "record/raw/durations.h"

/* One that a tick was just folding, in a program that runs or was killed then, is not known. */
static bool take_curve(struct fm_raw_heap_reading *reading, GError **error)
{
    uint32_t ref = reading->recording->header.curve;
    if (ref == 0)
        return true;
    const struct fm_rec_curve *curve = fm_raw_bytes_at(reading->bytes, ref, sizeof *curve);
    if (curve == NULL)
        return fm_raw_bytes_fail(reading->bytes, ref, "outside the file", "live bytes over time",
                                 error);
    if (curve->shift > FM_REC_CURVE_SHIFT_MAX)
        return fm_raw_bytes_fail(reading->bytes, ref, "slots that are too long",
                                 "live bytes over time", error);
    if (curve->state != FM_REC_CURVE_FOLDING)
        reading->recording->curve = *curve;
    return true;
}

bool fm_raw_heap_begin(struct fm_raw_heap_reading *reading, const struct fm_raw_bytes *bytes,
                       struct fm_raw_recording *recording, GError **error)
{
    *reading = (struct fm_raw_heap_reading){
        .bytes = bytes,
        .recording = recording,
        .by_ref = g_hash_table_new(g_direct_hash, g_direct_equal),
        .flow_refs = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
    };
    uint32_t ref = recording->header.version < 3 ? 0 : recording->header.held;
    if (ref == 0)
        return true;
    const struct fm_rec_held *held = fm_raw_bytes_at(bytes, ref, sizeof *held);
    if (held == NULL)
        return fm_raw_bytes_fail(bytes, ref, "outside the file", "the live blocks of the heap",
                                 error);
    recording->is_held = true;
    recording->held = *held;
    return take_curve(reading, error);
}

/* A recording that is being written may be read between two counts of one event. */
static void take_held(const struct fm_rec_held *held, const struct fm_rec_alloc *alloc,
                      struct fm_raw_heap *heap)
{
    bool now = held->rising != 0 || alloc->stamp != held->epoch;
    heap->given_back += alloc->own_frees + alloc->far_frees;
    heap->given_back_bytes += alloc->own_freed + alloc->far_freed;
    heap->live_blocks = fm_raw_less(alloc->allocs, heap->given_back);
    heap->live_bytes = fm_raw_less(alloc->bytes, heap->given_back_bytes);
    bool torn = (int64_t)alloc->at_peak_bytes < 0 || (int64_t)alloc->at_peak_blocks < 0;
    heap->peak_bytes = now ? heap->live_bytes : torn ? 0 : alloc->at_peak_bytes;
    heap->peak_blocks = now ? heap->live_blocks : torn ? 0 : alloc->at_peak_blocks;
    heap->realloc_moved = alloc->realloc_moved;
    heap->realloc_kept = alloc->realloc_kept;
}

static const struct fm_rec_flow *flow_at(struct fm_raw_heap_reading *reading, uint32_t ref,
                                         GError **error)
{
    const struct fm_rec_flow *flow = fm_raw_bytes_at(reading->bytes, ref, sizeof *flow);
    if (flow != NULL && ++reading->steps <= 2 * (reading->bytes->size / sizeof *flow))
        return flow;
    fm_raw_bytes_fail(reading->bytes, ref, "no flow", "the next of freed blocks", error);
    return NULL;
}

static bool read_flows(struct fm_raw_heap_reading *reading, uint32_t first, uint32_t index,
                       struct fm_raw_heap *heap, GError **error)
{
    GArray *flows = reading->recording->storage->flows;
    for (uint32_t ref = first; ref != 0;) {
        const struct fm_rec_flow *flow = flow_at(reading, ref, error);
        if (flow == NULL)
            return false;
        struct fm_raw_flow raw = {.to = index, .blocks = flow->blocks, .bytes = flow->bytes};
        if ((reading->recording->header.grade_flags & FM_REC_LIFETIMES) != 0) {
            raw.held_ns = flow->held_ns;
            raw.longest_ns = flow->longest_ns;
        }
        g_array_append_val(flows, raw);
        g_array_append_val(reading->flow_refs, flow->from);
        heap->frees += flow->blocks;
        heap->freed_bytes += flow->bytes;
        ref = flow->next;
    }
    return true;
}

/* Reads which frees, by others or by the same context, concern blocks allocated at the record. */
static bool read_out(struct fm_raw_heap_reading *reading, uint32_t first, uint32_t record,
                     struct fm_raw_heap *heap, GError **error)
{
    for (uint32_t ref = first; ref != 0;) {
        const struct fm_rec_flow *flow = flow_at(reading, ref, error);
        if (flow == NULL)
            return false;
        if (flow->from != record)
            return fm_raw_bytes_fail(reading->bytes, ref, "a flow from another record",
                                     "one of what this record allocated", error);
        heap->given_back += flow->blocks;
        heap->given_back_bytes += flow->bytes;
        ref = flow->next_out;
    }
    return true;
}

bool fm_raw_heap_read(struct fm_raw_heap_reading *reading, uint32_t ref, uint32_t *ret,
                      GError **error)
{
    const struct fm_raw_recording *recording = reading->recording;
    bool is_old = recording->header.version < 3;
    size_t size = is_old ? FM_REC_ALLOC_BYTES_OLD : sizeof(struct fm_rec_alloc);
    const struct fm_rec_alloc *alloc = fm_raw_bytes_at(reading->bytes, ref, size);
    if (alloc == NULL || g_hash_table_contains(reading->by_ref, GUINT_TO_POINTER(ref)))
        return fm_raw_bytes_fail(reading->bytes, ref,
                                 alloc == NULL ? "outside the file" : "of another call edge",
                                 "allocation counts", error);
    struct fm_raw_heap heap = {
        .allocs = alloc->allocs,
        .bytes = alloc->bytes,
        .usable_bytes = alloc->usable_bytes,
        .frees = alloc->frees,
        .freed_bytes = alloc->freed_bytes,
    };
    *ret = recording->storage->heaps->len;
    if (recording->is_held) {
        if (!read_flows(reading, alloc->first_flow, *ret, &heap, error) ||
            !read_out(reading, alloc->first_out, ref, &heap, error))
            return false;
        take_held(&recording->held, alloc, &heap);
        if (alloc->lifetimes != 0 &&
            !fm_raw_durations_read(recording->storage, reading->bytes, alloc->lifetimes,
                                   &heap.lifetimes, error))
            return false;
    }
    g_hash_table_insert(reading->by_ref, GUINT_TO_POINTER(ref), GUINT_TO_POINTER(*ret));
    g_array_append_val(recording->storage->heaps, heap);
    return true;
}

/* Unwound stacks are not walked when a block is freed. */
static void find_unseen_frees(struct fm_raw_recording *recording)
{
    struct fm_rec_held *held = &recording->held;
    const GArray *heaps = recording->storage->heaps;
    uint64_t frees = 0, freed = 0;
    for (guint i = 0; i < heaps->len; i++) {
        frees += g_array_index(heaps, struct fm_raw_heap, i).given_back;
        freed += g_array_index(heaps, struct fm_raw_heap, i).given_back_bytes;
    }
    held->unseen_frees = fm_raw_less(frees, held->untold_blocks);
    held->unseen_freed = fm_raw_less(freed, held->untold_bytes);
}

void fm_raw_heap_end(struct fm_raw_heap_reading *reading)
{
    struct fm_raw_recording *recording = reading->recording;
    const GArray *flows = recording->storage->flows;
    if ((recording->header.grade_flags & FM_REC_UNWOUND) != 0)
        find_unseen_frees(recording);
    /* Nothing was allocated: that nothing is held is known, too. */
    if ((recording->header.grade_flags & FM_REC_WILL_HOLD) != 0 &&
        recording->storage->heaps->len <= 1)
        recording->is_held = true;
    for (guint i = 0; i < reading->flow_refs->len; i++) {
        uint32_t ref = g_array_index(reading->flow_refs, uint32_t, i);
        g_array_index(flows, struct fm_raw_flow, i).from =
            GPOINTER_TO_UINT(g_hash_table_lookup(reading->by_ref, GUINT_TO_POINTER(ref)));
    }
    g_hash_table_unref(reading->by_ref);
    g_array_unref(reading->flow_refs);
}

void fm_raw_heap_add(struct fm_raw_heap *sum, const struct fm_raw_heap *more)
{
    const uint64_t *from = (const uint64_t *)more;
    uint64_t *to = (uint64_t *)sum;
    for (size_t i = 0; i < FM_RAW_HEAP_COUNTS; i++)
        to[i] += from[i];
}
