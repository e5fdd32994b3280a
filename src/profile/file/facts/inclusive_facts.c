/* SPDX-License-Identifier: Apache-2.0 */
/* Totals inside recursions, in the file. */
#include "base/error.h"
#include "profile/file/encode.h"
#include "profile/file/facts/facts.h"

/* Reads the measures, which must be inherited ones of the profile. */
static bool read_measures(struct fm_profile_reading *reading, struct fm_inclusive_info *info,
                          GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *begin = in->at;
    uint32_t allowed = (1u << reading->profile->measure_count) - (1u << FM_FIRST_INHERITED);
    if (!fm_reader_u32(in, "measures of totals inside recursions", &info->measures, error))
        return false;
    if (info->measures == 0 || (info->measures & ~allowed) != 0)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "measures of totals inside recursions, bits %#x, expected some of "
                              "%#x",
                              info->measures, allowed);
    info->width = (unsigned)__builtin_popcount(info->measures);
    return true;
}

static bool read_record(struct fm_profile_reading *reading, struct fm_inclusive_info *info,
                        GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *begin = in->at;
    uint32_t step, after = info->count == 0 ? 0 : info->pds[info->count - 1];
    if (!fm_reader_u32(in, "proc dynamic of a total inside a recursion", &step, error))
        return false;
    if (step == 0 || step > reading->profile->pd_count - after)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "proc dynamic of a total inside a recursion is %u after %u, expected "
                              "them ascending and at most %u",
                              step, after, reading->profile->pd_count);
    info->pds[info->count] = after + step;
    for (unsigned i = 0; i < info->width; i++) {
        uint64_t *value = &info->values[(size_t)info->count * info->width + i];
        if (!fm_reader_num(in, "total inside a recursion", value, error))
            return false;
    }
    info->count++;
    return true;
}

bool fm_read_pd_inclusive(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    struct fm_inclusive_info *info = &reading->profile->run_info.inclusive;
    const uint8_t *begin = in->at;
    uint32_t count;
    if (info->measures != 0)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "totals inside recursions twice, expected them once");
    if (!read_measures(reading, info, error) ||
        !fm_reader_u32(in, "number of totals inside recursions", &count, error))
        return false;
    if (count > fm_reader_left(in) / (1 + info->width)) /* a byte each at least */
        return fm_reader_fail(in, begin, FM_ERROR_TRUNCATED, error,
                              "%u totals inside recursions, but unexpected end of file after %zu "
                              "bytes",
                              count, fm_reader_left(in));
    info->pds = g_try_new(uint32_t, MAX(count, 1));
    info->values = g_try_new(uint64_t, MAX((gsize)count * info->width, 1));
    if (info->pds == NULL || info->values == NULL)
        return fm_read_no_memory(reading, error);
    for (uint32_t i = 0; i < count; i++) {
        if (!read_record(reading, info, error))
            return false;
    }
    return true;
}

void fm_encode_pd_inclusive(struct fm_writer *writer, const struct fm_inclusive_info *info)
{
    if (info->measures == 0)
        return;
    fm_writer_byte(writer, FM_FACT_INCLUSIVE);
    fm_writer_num(writer, info->measures);
    fm_writer_num(writer, info->count);
    for (uint32_t i = 0; i < info->count; i++) {
        fm_writer_num(writer, info->pds[i] - (i == 0 ? 0 : info->pds[i - 1]));
        for (unsigned v = 0; v < info->width; v++)
            fm_writer_num(writer, info->values[(size_t)i * info->width + v]);
    }
}
