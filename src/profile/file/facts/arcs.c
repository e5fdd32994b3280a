/* SPDX-License-Identifier: Apache-2.0 */
/* Total costs of calls, in profiles without contexts. */
#include "base/error.h"
#include "profile/file/encode.h"
#include "profile/file/facts/facts.h"

static bool read_column(struct fm_profile_reading *reading, unsigned measure, GError **error)
{
    struct fm_profile *profile = reading->profile;
    struct fm_column *column = &profile->csd_inclusive[measure];
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint64_t value;
        if (!fm_reader_num(&reading->in, "what calls cost in all", &value, error))
            return false;
        if (!fm_column_set(column, (size_t)profile->csd_count + 1, csd, value)) {
            g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "%s: not enough memory for its costs",
                        reading->in.name);
            return false;
        }
    }
    return true;
}

bool fm_read_inclusive(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    uint32_t count, after = FM_FIRST_INHERITED;
    if (!fm_reader_u32(in, "number of measures of calls", &count, error))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *at = in->at;
        uint32_t measure;
        if (!fm_reader_u32(in, "measure of calls", &measure, error))
            return false;
        if (measure < after || measure >= reading->profile->measure_count)
            return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                                  "measure %u of calls, expected %u to %u", measure, after,
                                  reading->profile->measure_count - 1);
        if (!read_column(reading, measure, error))
            return false;
        after = measure + 1;
    }
    return true;
}

void fm_encode_inclusive(struct fm_writer *writer, const struct fm_profile *profile)
{
    uint32_t count = 0;
    for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count; m++)
        count += profile->csd_inclusive[m].width != 0;
    fm_writer_num(writer, count);
    for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count; m++) {
        if (profile->csd_inclusive[m].width == 0)
            continue;
        fm_writer_num(writer, m);
        for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
            fm_writer_num(writer, fm_column_get(&profile->csd_inclusive[m], csd));
    }
}
