/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/facts/heap.h"

#include <string.h>

#include "base/error.h"
#include "profile/file/encode.h"
#include "profile/file/facts/facts.h"

#define NUMBERS (sizeof(struct fm_heap_whole) / sizeof(uint64_t))

/* The array has room for the next power of two. */
#define APPEND(array, count, item)                                                        \
    do {                                                                                  \
        if (((count) & ((count)-1)) == 0)                                                 \
            (array) = g_renew(__typeof__(*(array)), (array), MAX(2 * (gsize)(count), 1)); \
        (array)[(count)++] = (item);                                                      \
    } while (0)

void fm_heap_info_add_flow(struct fm_heap_info *info, const struct fm_flow *flow)
{
    g_return_if_fail(info != NULL && flow->to != 0);
    info->recorded = true;
    APPEND(info->flows, info->flow_count, *flow);
}

void fm_heap_info_add_realloc(struct fm_heap_info *info, const struct fm_realloc *of)
{
    g_return_if_fail(info != NULL && of->csd != 0);
    info->recorded = true;
    APPEND(info->reallocs, info->realloc_count, *of);
}

void fm_heap_info_add_lifetimes(struct fm_heap_info *info, struct fm_durations *lifetimes)
{
    g_return_if_fail(info != NULL && lifetimes != NULL);
    info->recorded = true;
    fm_duration_info_add(&info->lifetimes, lifetimes);
}

void fm_heap_info_set(struct fm_heap_info *info, const struct fm_heap_whole *whole)
{
    g_return_if_fail(info != NULL && whole != NULL);
    info->recorded = true;
    info->whole = *whole;
}

void fm_heap_info_set_curve(struct fm_heap_info *info, uint64_t slot_ns,
                            const struct fm_heap_slot *slots, uint32_t count)
{
    g_return_if_fail(info != NULL && slot_ns > 0 && count <= FM_HEAP_SLOTS_MAX);
    while (count > 0 && slots[count - 1].most == 0)
        count--;
    info->recorded = true;
    g_free(info->curve.slots);
    info->curve = (struct fm_heap_curve){slot_ns, count, g_memdup2(slots, count * sizeof *slots)};
}

void fm_heap_info_done(struct fm_heap_info *info)
{
    g_free(info->curve.slots);
    g_free(info->flows);
    g_free(info->reallocs);
    fm_duration_info_done(&info->lifetimes);
    *info = (struct fm_heap_info){0};
}

/* --- reading --- */

static bool read_context(struct fm_profile_reading *reading, const char *what, uint32_t least,
                         uint32_t *ret, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *at = in->at;
    if (!fm_reader_u32(in, what, ret, error))
        return false;
    if (*ret >= least && *ret <= reading->profile->csd_count)
        return true;
    return fm_reader_fail(in, at, FM_ERROR_FORMAT, error, "%s is %u, expected %u to %u", what, *ret,
                          least, reading->profile->csd_count);
}

bool fm_read_realloc(struct fm_profile_reading *reading, GError **error)
{
    struct fm_realloc of;
    if (!read_context(reading, "context that called realloc", 1, &of.csd, error) ||
        !fm_reader_num(&reading->in, "blocks that realloc moved", &of.moved, error) ||
        !fm_reader_num(&reading->in, "blocks that realloc left", &of.kept, error))
        return false;
    fm_heap_info_add_realloc(&reading->profile->run_info.heap_info, &of);
    return true;
}

bool fm_read_flow(struct fm_profile_reading *reading, GError **error)
{
    struct fm_flow flow = {0};
    if (!read_context(reading, "context that allocated", 0, &flow.from, error) ||
        !read_context(reading, "context that freed", 1, &flow.to, error) ||
        !fm_reader_num(&reading->in, "freed blocks", &flow.blocks, error) ||
        !fm_reader_num(&reading->in, "freed bytes", &flow.bytes, error))
        return false;
    fm_heap_info_add_flow(&reading->profile->run_info.heap_info, &flow);
    return true;
}

/* Behind the flow that it is of. */
bool fm_read_flow_time(struct fm_profile_reading *reading, GError **error)
{
    struct fm_heap_info *info = &reading->profile->run_info.heap_info;
    struct fm_reader *in = &reading->in;
    struct fm_flow *flow = info->flow_count == 0 ? NULL : &info->flows[info->flow_count - 1];
    const uint8_t *at = in->at;
    if (flow == NULL || flow->held_ns != 0)
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                              "lifetimes of blocks, expected behind freed blocks");
    if (!fm_reader_num(in, "time that blocks were held", &flow->held_ns, error) ||
        !fm_reader_num(in, "longest time that a block was held", &flow->longest_ns, error))
        return false;
    if (flow->held_ns != 0 && flow->longest_ns <= flow->held_ns)
        return true;
    return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                          "sum of lifetimes is %" G_GUINT64_FORMAT
                          " ns, the longest %" G_GUINT64_FORMAT
                          " ns, expected a sum above 0 and not less than the longest",
                          (guint64)flow->held_ns, (guint64)flow->longest_ns);
}

bool fm_read_heap_whole(struct fm_profile_reading *reading, GError **error)
{
    uint64_t numbers[NUMBERS];
    struct fm_heap_whole whole;
    for (size_t i = 0; i < NUMBERS; i++) {
        if (!fm_reader_num(&reading->in, "number of the heap", &numbers[i], error))
            return false;
    }
    memcpy(&whole, numbers, sizeof whole);
    fm_heap_info_set(&reading->profile->run_info.heap_info, &whole);
    return true;
}

bool fm_read_heap_curve(struct fm_profile_reading *reading, GError **error)
{
    struct fm_heap_info *info = &reading->profile->run_info.heap_info;
    struct fm_heap_slot slots[FM_HEAP_SLOTS_MAX];
    struct fm_reader *in = &reading->in;
    const uint8_t *at = in->at;
    uint64_t slot_ns, count;
    if (!fm_reader_num(in, "length of a slot of live memory over time", &slot_ns, error) ||
        !fm_reader_num(in, "slots of live memory over time", &count, error))
        return false;
    if (slot_ns == 0 || slot_ns > FM_HEAP_SLOT_NS_MAX || count > FM_HEAP_SLOTS_MAX ||
        info->curve.slot_ns != 0)
        return fm_reader_fail(
            in, at, FM_ERROR_FORMAT, error,
            "live memory over time in %" G_GUINT64_FORMAT " slots of %" G_GUINT64_FORMAT
            " ns, expected at most %u of 1 to %" G_GUINT64_FORMAT " ns, once",
            (guint64)count, (guint64)slot_ns, FM_HEAP_SLOTS_MAX, (guint64)FM_HEAP_SLOT_NS_MAX);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t below;
        at = in->at;
        if (!fm_reader_num(in, "most live memory of a slot", &slots[i].most, error) ||
            !fm_reader_num(in, "least live memory of a slot", &below, error))
            return false;
        if (below > (slots[i].most > 0 ? slots[i].most - 1 : 0))
            return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                                  "least live memory of a slot is above the most");
        slots[i].least = slots[i].most > 0 ? slots[i].most - 1 - below : 0;
    }
    fm_heap_info_set_curve(info, slot_ns, slots, (uint32_t)count);
    return true;
}

/* --- writing --- */

static void encode_curve(struct fm_writer *writer, const struct fm_heap_curve *curve)
{
    if (curve->slot_ns == 0)
        return;
    fm_writer_byte(writer, FM_FACT_HEAP_CURVE);
    fm_writer_num(writer, curve->slot_ns);
    fm_writer_num(writer, curve->count);
    for (uint32_t i = 0; i < curve->count; i++) {
        const struct fm_heap_slot *slot = &curve->slots[i];
        fm_writer_num(writer, slot->most);
        fm_writer_num(writer, slot->most > 0 ? slot->most - 1 - slot->least : 0);
    }
}

void fm_encode_heap_info(struct fm_writer *writer, const struct fm_heap_info *info)
{
    uint64_t numbers[NUMBERS];
    if (!info->recorded)
        return;
    memcpy(numbers, &info->whole, sizeof numbers);
    fm_writer_byte(writer, FM_FACT_HEAP);
    for (size_t i = 0; i < NUMBERS; i++)
        fm_writer_num(writer, numbers[i]);
    for (uint32_t i = 0; i < info->realloc_count; i++) {
        fm_writer_byte(writer, FM_FACT_REALLOC);
        fm_writer_num(writer, info->reallocs[i].csd);
        fm_writer_num(writer, info->reallocs[i].moved);
        fm_writer_num(writer, info->reallocs[i].kept);
    }
    for (uint32_t i = 0; i < info->flow_count; i++) {
        fm_writer_byte(writer, FM_FACT_FLOW);
        fm_writer_num(writer, info->flows[i].from);
        fm_writer_num(writer, info->flows[i].to);
        fm_writer_num(writer, info->flows[i].blocks);
        fm_writer_num(writer, info->flows[i].bytes);
        if (info->flows[i].held_ns == 0)
            continue;
        fm_writer_byte(writer, FM_FACT_FLOW_TIME);
        fm_writer_num(writer, info->flows[i].held_ns);
        fm_writer_num(writer, info->flows[i].longest_ns);
    }
    encode_curve(writer, &info->curve);
    fm_encode_durations(writer, FM_FACT_LIFETIMES, &info->lifetimes);
}
