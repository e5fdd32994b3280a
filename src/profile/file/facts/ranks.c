/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/facts/ranks.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "profile/file/facts/facts.h"

#define LIMB 18446744073709551616.0 /* 2^64 */

/* --- whole numbers of several words, least significant first --- */

static void add_words(uint64_t *to, unsigned words, const uint64_t *more, unsigned more_words)
{
    unsigned carry = 0;
    for (unsigned i = 0; i < words; i++) {
        unsigned __int128 sum = (unsigned __int128)to[i] + (i < more_words ? more[i] : 0) + carry;
        to[i] = (uint64_t)sum;
        carry = (unsigned)(sum >> 64);
    }
}

/* to[a_words + b_words] = a x b */
static void multiply(uint64_t *to, const uint64_t *a, unsigned a_words, const uint64_t *b,
                     unsigned b_words)
{
    memset(to, 0, sizeof *to * (a_words + b_words));
    for (unsigned i = 0; i < a_words; i++) {
        uint64_t carry = 0;
        for (unsigned j = 0; j < b_words; j++) {
            unsigned __int128 product = (unsigned __int128)a[i] * b[j] + to[i + j] + carry;
            to[i + j] = (uint64_t)product;
            carry = (uint64_t)(product >> 64);
        }
        to[i + b_words] = carry;
    }
}

static int compare_words(const uint64_t *a, const uint64_t *b, unsigned words)
{
    for (unsigned i = words; i-- > 0;) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

static double to_double(const uint64_t *words, unsigned count)
{
    double value = 0;
    for (unsigned i = count; i-- > 0;)
        value = value * LIMB + (double)words[i];
    return value;
}

/* --- moments --- */

void fm_rank_moments_see(struct fm_rank_moments *moments, uint64_t value, uint32_t place)
{
    if (value == 0) { /* as most are: no sum changes, and another value is the maximum */
        moments->least = 0;
        return;
    }
    unsigned __int128 square = (unsigned __int128)value * value;
    const uint64_t words[2] = {(uint64_t)square, (uint64_t)(square >> 64)};
    add_words(moments->sum, 2, &value, 1);
    add_words(moments->squares, 3, words, 2);
    moments->least = MIN(moments->least, value);
    if (value > moments->greatest || (value == moments->greatest && place < moments->place))
        moments->place = place;
    moments->greatest = MAX(moments->greatest, value);
}

void fm_rank_moments_add(struct fm_rank_moments *to, const struct fm_rank_moments *more,
                         uint32_t place)
{
    add_words(to->sum, 2, more->sum, 2);
    add_words(to->squares, 3, more->squares, 3);
    to->least = MIN(to->least, more->least);
    if (more->greatest > to->greatest || (more->greatest == to->greatest && place < to->place))
        to->place = place;
    to->greatest = MAX(to->greatest, more->greatest);
}

static size_t strip_values(const struct fm_rank_info *info)
{
    return (size_t)info->strip_count * info->measure_count * info->part_count;
}

void fm_rank_info_init_like(struct fm_rank_info *info, const struct fm_rank_info *other)
{
    *info = *other;
    info->count = 0;
    info->pds = g_memdup2(other->pds, other->row_count * sizeof *info->pds);
    info->moments =
        g_new0(struct fm_rank_moments, (size_t)info->row_count * info->measure_count + 1);
    info->strip_rows = g_memdup2(other->strip_rows, other->strip_count * sizeof *info->strip_rows);
    info->strips = g_new0(uint64_t, strip_values(info) + 1);
}

void fm_rank_info_done(struct fm_rank_info *info)
{
    g_free(info->pds);
    g_free(info->moments);
    g_free(info->strip_rows);
    g_free(info->strips);
    *info = (struct fm_rank_info){0};
}

static uint32_t find(const uint32_t *numbers, uint32_t count, uint32_t number)
{
    uint32_t first = 0, end = count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (numbers[middle] < number)
            first = middle + 1;
        else
            end = middle;
    }
    return first < count && numbers[first] == number ? first : UINT32_MAX;
}

uint32_t fm_rank_info_row(const struct fm_rank_info *info, uint32_t pd)
{
    return find(info->pds, info->row_count, pd);
}

uint32_t fm_rank_info_strip(const struct fm_rank_info *info, uint32_t row)
{
    return find(info->strip_rows, info->strip_count, row);
}

void fm_rank_info_keep(struct fm_rank_info *info, const bool *rows, const bool *strips)
{
    uint32_t row_count = 0, strip_count = 0;
    g_autofree uint32_t *row_of = g_new(uint32_t, info->row_count + 1u);
    size_t strip_size = (size_t)info->measure_count * info->part_count;
    for (uint32_t row = 0; row < info->row_count; row++) {
        row_of[row] = rows[row] ? row_count : UINT32_MAX;
        if (!rows[row])
            continue;
        info->pds[row_count] = info->pds[row];
        memmove(fm_rank_moments(info, row_count, 0), fm_rank_moments(info, row, 0),
                info->measure_count * sizeof *info->moments);
        row_count++;
    }
    for (uint32_t strip = 0; strip < info->strip_count; strip++) {
        uint32_t row = row_of[info->strip_rows[strip]];
        if (!strips[strip] || row == UINT32_MAX)
            continue;
        info->strip_rows[strip_count] = row;
        memmove(fm_rank_strip(info, strip_count, 0), fm_rank_strip(info, strip, 0),
                strip_size * sizeof *info->strips);
        strip_count++;
    }
    info->row_count = row_count;
    info->strip_count = strip_count;
}

/* Removes what other does not have. */
static void keep_common(struct fm_rank_info *info, const struct fm_rank_info *other)
{
    g_autofree bool *rows = g_new0(bool, info->row_count + 1u);
    g_autofree bool *strips = g_new0(bool, info->strip_count + 1u);
    for (uint32_t row = 0; row < info->row_count; row++)
        rows[row] = fm_rank_info_row(other, info->pds[row]) != UINT32_MAX;
    for (uint32_t strip = 0; strip < info->strip_count; strip++) {
        uint32_t row = fm_rank_info_row(other, info->pds[info->strip_rows[strip]]);
        strips[strip] = row != UINT32_MAX && fm_rank_info_strip(other, row) != UINT32_MAX;
    }
    fm_rank_info_keep(info, rows, strips);
}

static void add_row(struct fm_rank_info *info, uint32_t row, const struct fm_rank_info *other)
{
    uint32_t from = fm_rank_info_row(other, info->pds[row]);
    for (unsigned m = 0; m < info->measure_count; m++) {
        struct fm_rank_moments *to = fm_rank_moments(info, row, m);
        const struct fm_rank_moments *more = fm_rank_moments(other, from, m);
        if (info->count == 0)
            *to = *more;
        else
            fm_rank_moments_add(to, more, more->place);
    }
}

/* Each value is known to one of them, or to both where a profile is in the sum twice. */
static void add_strip(struct fm_rank_info *info, uint32_t strip, const struct fm_rank_info *other)
{
    uint32_t row = fm_rank_info_row(other, info->pds[info->strip_rows[strip]]);
    uint64_t *to = fm_rank_strip(info, strip, 0);
    const uint64_t *from = fm_rank_strip(other, fm_rank_info_strip(other, row), 0);
    for (size_t i = 0; i < (size_t)info->measure_count * info->part_count; i++)
        to[i] = MAX(to[i], from[i]);
}

bool fm_rank_info_add(struct fm_rank_info *info, const struct fm_rank_info *other)
{
    g_return_val_if_fail(info != NULL && other != NULL, false);
    if (info->part_count != other->part_count || info->measure_count != other->measure_count ||
        memcmp(info->measures, other->measures, info->measure_count) != 0)
        return false;
    keep_common(info, other);
    if (other->count == 0)
        return true;
    for (uint32_t row = 0; row < info->row_count; row++)
        add_row(info, row, other);
    for (uint32_t strip = 0; strip < info->strip_count; strip++)
        add_strip(info, strip, other);
    info->count += other->count;
    return true;
}

double fm_rank_sum(const struct fm_rank_moments *moments)
{
    return to_double(moments->sum, 2);
}

double fm_rank_mean(const struct fm_rank_moments *moments, uint64_t count)
{
    return count == 0 ? 0 : fm_rank_sum(moments) / (double)count;
}

/* count x squares and sum x sum, which are equal where all values are. */
static void spread(const struct fm_rank_moments *moments, uint64_t count, uint64_t squares[4],
                   uint64_t square[4])
{
    multiply(squares, moments->squares, 3, &count, 1);
    multiply(square, moments->sum, 2, moments->sum, 2);
}

double fm_rank_deviation(const struct fm_rank_moments *moments, uint64_t count)
{
    uint64_t squares[4], square[4], rest[4];
    unsigned borrow = 0;
    spread(moments, count, squares, square);
    if (count == 0 || compare_words(squares, square, 4) <= 0)
        return 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned __int128 left = (unsigned __int128)squares[i] - square[i] - borrow;
        rest[i] = (uint64_t)left;
        borrow = (left >> 64) != 0;
    }
    return sqrt(to_double(rest, 4)) / (double)count;
}

double fm_rank_lost(const struct fm_rank_moments *moments, uint64_t count)
{
    unsigned __int128 all = (unsigned __int128)moments->greatest * count;
    unsigned __int128 sum = (unsigned __int128)moments->sum[1] << 64 | moments->sum[0];
    return all <= sum ? 0 : (double)(all - sum);
}

bool fm_rank_moments_hold(const struct fm_rank_moments *moments, uint64_t count)
{
    uint64_t squares[4], square[4];
    unsigned __int128 sum = (unsigned __int128)moments->sum[1] << 64 | moments->sum[0];
    spread(moments, count, squares, square);
    return (unsigned __int128)moments->least * count <= sum &&
           sum <= (unsigned __int128)moments->greatest * count &&
           compare_words(squares, square, 4) >= 0;
}

/* --- in files --- */

static bool read_measures(struct fm_reader *in, unsigned measure_end, struct fm_rank_info *info,
                          GError **error)
{
    uint32_t last = 0, measure;
    uint64_t count;
    if (!fm_reader_num_max(in, "measures of ranks", FM_RANK_MEASURES_MAX, &count, error))
        return false;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *at = in->at;
        if (!fm_reader_u32(in, "measure of ranks", &measure, error))
            return false;
        if (measure >= measure_end || (i > 0 && measure <= last))
            return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                                  "statistics of measure %u, expected them ascending below %u",
                                  measure, measure_end);
        info->measures[i] = (uint8_t)measure;
        info->measure_count = i + 1;
        last = measure;
    }
    return true;
}

static bool read_moments(struct fm_reader *in, const struct fm_rank_info *info,
                         struct fm_rank_moments *moments, GError **error)
{
    const uint8_t *at = in->at;
    for (unsigned i = 0; i < 2; i++) {
        if (!fm_reader_num(in, "sum over ranks", &moments->sum[i], error))
            return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (!fm_reader_num(in, "squares over ranks", &moments->squares[i], error))
            return false;
    }
    if (!fm_reader_num(in, "minimum of the ranks", &moments->least, error) ||
        !fm_reader_num(in, "maximum of the ranks", &moments->greatest, error) ||
        !fm_reader_u32(in, "place of the maximum", &moments->place, error))
        return false;
    return (moments->least <= moments->greatest && moments->place < info->part_count) ||
           fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                          "minimum %" G_GUINT64_FORMAT " and maximum %" G_GUINT64_FORMAT
                          " of place %u, expected them ascending and a place below %u",
                          moments->least, moments->greatest, moments->place, info->part_count);
}

/* The next of numbers that ascend from least to max. */
static bool read_next(struct fm_reader *in, const char *what, uint64_t least, uint64_t max,
                      uint32_t *ret, GError **error)
{
    const uint8_t *at = in->at;
    uint64_t further;
    if (!fm_reader_num(in, what, &further, error))
        return false;
    if (least > max || further > max - least)
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                              "%s: %" G_GUINT64_FORMAT " behind %" G_GUINT64_FORMAT
                              ", expected at most %" G_GUINT64_FORMAT,
                              what, further, least, max);
    *ret = (uint32_t)(least + further);
    return true;
}

static bool read_rows(struct fm_reader *in, uint32_t pd_max, struct fm_rank_info *info,
                      GError **error)
{
    if (!fm_reader_count(in, "contexts with statistics over ranks", 1 + 8 * info->measure_count,
                         &info->row_count, error))
        return false;
    info->pds = g_new0(uint32_t, (gsize)info->row_count + 1);
    info->moments =
        g_new0(struct fm_rank_moments, (gsize)info->row_count * info->measure_count + 1);
    for (uint32_t row = 0; row < info->row_count; row++) {
        uint64_t least = row == 0 ? 1 : (uint64_t)info->pds[row - 1] + 1;
        if (!read_next(in, "proc dynamic of ranks", least, pd_max, &info->pds[row], error))
            return false;
        for (unsigned m = 0; m < info->measure_count; m++) {
            if (!read_moments(in, info, fm_rank_moments(info, row, m), error))
                return false;
        }
    }
    return true;
}

static bool read_strips(struct fm_reader *in, struct fm_rank_info *info, GError **error)
{
    size_t values = (size_t)info->measure_count * info->part_count;
    if (!fm_reader_count(in, "contexts with a value of each rank", 1 + values, &info->strip_count,
                         error))
        return false;
    info->strip_rows = g_new0(uint32_t, (gsize)info->strip_count + 1);
    info->strips = g_new0(uint64_t, info->strip_count * values + 1);
    for (uint32_t strip = 0; strip < info->strip_count; strip++) {
        uint64_t least = strip == 0 ? 0 : (uint64_t)info->strip_rows[strip - 1] + 1;
        if (info->row_count == 0 ||
            !read_next(in, "context of a strip", least, info->row_count - 1u,
                       &info->strip_rows[strip], error))
            return false;
        for (size_t i = 0; i < values; i++) {
            if (!fm_reader_num(in, "value of a rank", &info->strips[strip * values + i], error))
                return false;
        }
    }
    return true;
}

bool fm_rank_info_read(struct fm_reader *in, uint32_t pd_max, unsigned measure_end,
                       struct fm_rank_info *ret, GError **error)
{
    const uint8_t *at = in->at;
    struct fm_rank_info info = {0};
    bool ok = fm_reader_num(in, "number of ranks", &info.count, error) &&
              fm_reader_u32(in, "number of parts", &info.part_count, error);
    if (ok && (info.part_count == 0 || info.count > UINT32_MAX))
        ok = fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                            "statistics over %" G_GUINT64_FORMAT " ranks in %u parts, expected at "
                            "most %u in at least 1",
                            info.count, info.part_count, UINT32_MAX);
    ok = ok && read_measures(in, measure_end, &info, error) &&
         read_rows(in, pd_max, &info, error) && read_strips(in, &info, error);
    if (!ok)
        fm_rank_info_done(&info);
    *ret = info;
    return ok;
}

static void write_moments(struct fm_writer *writer, const struct fm_rank_moments *moments)
{
    for (unsigned i = 0; i < 2; i++)
        fm_writer_num(writer, moments->sum[i]);
    for (unsigned i = 0; i < 3; i++)
        fm_writer_num(writer, moments->squares[i]);
    fm_writer_num(writer, moments->least);
    fm_writer_num(writer, moments->greatest);
    fm_writer_num(writer, moments->place);
}

void fm_rank_info_write(struct fm_writer *writer, const struct fm_rank_info *info)
{
    size_t values = (size_t)info->measure_count * info->part_count;
    fm_writer_num(writer, info->count);
    fm_writer_num(writer, info->part_count);
    fm_writer_num(writer, info->measure_count);
    for (unsigned i = 0; i < info->measure_count; i++)
        fm_writer_num(writer, info->measures[i]);
    fm_writer_num(writer, info->row_count);
    for (uint32_t row = 0; row < info->row_count; row++) {
        fm_writer_num(writer, info->pds[row] - (row == 0 ? 1 : info->pds[row - 1] + 1u));
        for (unsigned m = 0; m < info->measure_count; m++)
            write_moments(writer, fm_rank_moments(info, row, m));
    }
    fm_writer_num(writer, info->strip_count);
    for (uint32_t strip = 0; strip < info->strip_count; strip++) {
        fm_writer_num(writer, info->strip_rows[strip] -
                                  (strip == 0 ? 0 : info->strip_rows[strip - 1] + 1u));
        for (size_t i = 0; i < values; i++)
            fm_writer_num(writer, info->strips[strip * values + i]);
    }
}

/* --- in a profile --- */

bool fm_read_rank_info(struct fm_profile_reading *reading, GError **error)
{
    struct fm_profile *profile = reading->profile;
    struct fm_run_info *run_info = &profile->run_info;
    struct fm_rank_info info;
    uint64_t times = 0;
    const uint8_t *begin = reading->in.at;
    if (!fm_rank_info_read(&reading->in, profile->pd_count, profile->measure_count, &info, error))
        return false;
    for (uint32_t i = 0; i < run_info->part_count; i++)
        times += run_info->parts[i].times;
    uint32_t shared = fm_profile_ranks_shared(profile);
    bool by_part = info.part_count == run_info->part_count && info.count == times;
    bool by_rank = shared != 0 && info.part_count == shared && info.count == shared;
    if (run_info->rank_info.count == 0 && (by_part || by_rank)) {
        run_info->rank_info = info;
        return true;
    }
    fm_reader_set_error(&reading->in, begin, FM_ERROR_FORMAT, error,
                        "statistics over %" G_GUINT64_FORMAT " profiles in %u places, expected one "
                        "of %" G_GUINT64_FORMAT " in %u, or of %u ranks",
                        info.count, info.part_count, times, run_info->part_count, shared);
    fm_rank_info_done(&info);
    return false;
}

void fm_encode_rank_info(struct fm_writer *writer, const struct fm_rank_info *info)
{
    if (info->count == 0)
        return;
    fm_writer_byte(writer, FM_FACT_RANK_STATISTICS);
    fm_rank_info_write(writer, info);
}
