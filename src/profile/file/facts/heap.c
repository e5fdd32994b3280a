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

void fm_heap_info_done(struct fm_heap_info *info)
{
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

/* --- writing --- */

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
    fm_encode_durations(writer, FM_FACT_LIFETIMES, &info->lifetimes);
}
