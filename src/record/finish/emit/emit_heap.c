/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/emit/emit_heap.h"

#include <stdlib.h>

#include "record/finish/emit/emit_durations.h"

/* Follows the index of a heap record through merges. */
static uint32_t final_heap(const struct fm_raw_recording *recording, uint32_t heap)
{
    while (recording->heaps[heap].into != 0)
        heap = recording->heaps[heap].into;
    return heap;
}

/* Bytes of large blocks that a thread was about to count at the end of the recording. */
static uint64_t under_way(const struct fm_rec_header *header)
{
    return fm_raw_less(header->large_begun, header->large_counted) +
           fm_raw_less(header->large_begun_alone, header->large_counted_alone);
}

static struct fm_heap_whole whole_of(const struct fm_raw_recording *recording)
{
    const struct fm_rec_held *held = &recording->held;
    const struct fm_rec_header *header = &recording->header;
    uint64_t peak = held->peak_monotonic_ns, start = header->start_monotonic_ns;
    return (struct fm_heap_whole){
        .peak_ns = peak > start ? peak - start : 0,
        .peak_error = held->step * MAX(recording->thread_count, 1u) +
                      (held->rising != 0 ? under_way(header) : header->large_at_peak),
        .unknown_blocks = held->unknown_frees,
        .unknown_bytes = held->unknown_freed,
        .unseen_blocks = held->unseen_frees,
        .unseen_bytes = held->unseen_freed,
        .inherited_blocks = held->inherited_frees,
        .inherited_bytes = held->inherited_freed,
        .untold_blocks = held->untold_blocks,
        .untold_bytes = held->untold_bytes,
        .dropped = held->dropped_flows,
    };
}

static void emit_curve(const struct fm_rec_curve *curve, struct fm_heap_info *info)
{
    struct fm_heap_slot slots[FM_REC_CURVE_SLOTS];
    static_assert(FM_REC_CURVE_SLOTS <= FM_HEAP_SLOTS_MAX, "all of them are kept");
    if (curve->shift == 0)
        return;
    for (uint32_t i = 0; i < FM_REC_CURVE_SLOTS; i++) {
        const struct fm_rec_curve_slot *from = &curve->slots[i];
        /* Of a program that runs one may be half written. */
        bool is_whole = from->most > 0 && from->least < from->most;
        slots[i] = (struct fm_heap_slot){is_whole ? from->least : 0, is_whole ? from->most : 0};
    }
    fm_heap_info_set_curve(info, UINT64_C(1) << curve->shift, slots, FM_REC_CURVE_SLOTS);
}

static int compare_flows(const void *a, const void *b)
{
    const struct fm_flow *fa = a, *fb = b;
    if (fa->to != fb->to)
        return fa->to < fb->to ? -1 : 1;
    return fa->from < fb->from ? -1 : fa->from > fb->from;
}

/* Several edges of the recording may be one of the profile: so may their flows. */
static void emit_flows(const struct fm_raw_recording *recording, const uint32_t *csd_of_heap,
                       struct fm_heap_info *info)
{
    g_autofree struct fm_flow *all = g_new(struct fm_flow, recording->flow_count + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < recording->flow_count; i++) {
        const struct fm_raw_flow *raw = &recording->flows[i];
        const struct fm_flow flow = {.from = csd_of_heap[final_heap(recording, raw->from)],
                                     .to = csd_of_heap[final_heap(recording, raw->to)],
                                     .blocks = raw->blocks,
                                     .bytes = raw->bytes,
                                     .held_ns = raw->held_ns,
                                     .longest_ns = raw->longest_ns};
        if (flow.to != 0 && flow.blocks != 0)
            all[count++] = flow;
    }
    if (count > 0)
        qsort(all, count, sizeof *all, compare_flows);
    for (size_t i = 0; i < count;) {
        struct fm_flow sum = all[i++];
        for (; i < count && compare_flows(&sum, &all[i]) == 0; i++) {
            sum.blocks += all[i].blocks;
            sum.bytes += all[i].bytes;
            sum.held_ns += all[i].held_ns;
            sum.longest_ns = MAX(sum.longest_ns, all[i].longest_ns);
        }
        fm_heap_info_add_flow(info, &sum);
    }
}

static void emit_lifetimes(const struct fm_raw_recording *recording, const uint32_t *csd_ids,
                           struct fm_heap_info *info)
{
    g_autoptr(GArray) all = g_array_new(FALSE, TRUE, sizeof(struct fm_durations));
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        uint32_t lifetimes = recording->heaps[recording->csds[i].heap].lifetimes;
        if (lifetimes == 0 || csd_ids[i] == 0)
            continue;
        struct fm_durations sum = fm_emit_durations_sum(recording, csd_ids[i], lifetimes);
        g_array_append_val(all, sum);
    }
    if (all->len > 0)
        qsort(all->data, all->len, sizeof(struct fm_durations), fm_emit_durations_compare);
    for (guint i = 0; i < all->len; i++)
        fm_heap_info_add_lifetimes(info, &g_array_index(all, struct fm_durations, i));
}

void fm_emit_heap(const struct fm_raw_recording *recording, const uint32_t *csd_ids,
                  struct fm_build *build)
{
    if (!recording->is_held)
        return;
    g_return_if_fail(csd_ids != NULL);
    struct fm_heap_info *info = fm_build_heap(build);
    g_autofree uint32_t *csd_of_heap = g_new0(uint32_t, recording->heap_count + 1);
    const struct fm_heap_whole whole = whole_of(recording);
    fm_heap_info_set(info, &whole);
    emit_curve(&recording->curve, info);
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        uint32_t heap = recording->csds[i].heap;
        if (heap == 0 || csd_ids[i] == 0)
            continue;
        csd_of_heap[heap] = csd_ids[i];
        const struct fm_raw_heap *from = &recording->heaps[heap];
        const struct fm_realloc of = {csd_ids[i], from->realloc_moved, from->realloc_kept};
        if (of.moved != 0 || of.kept != 0)
            fm_heap_info_add_realloc(info, &of);
    }
    emit_flows(recording, csd_of_heap, info);
    emit_lifetimes(recording, csd_ids, info);
}
