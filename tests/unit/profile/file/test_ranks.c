/* SPDX-License-Identifier: Apache-2.0 */
/* Moments over ranks: whole numbers that no machine word holds, the same in any grouping. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "profile/file/facts/ranks.h"

#define PARTS 5u

static void make(struct fm_rank_info *info)
{
    uint32_t pds[] = {1, 4}, strips[] = {1};
    const struct fm_rank_info shape = {.part_count = PARTS,
                                       .measure_count = 1,
                                       .measures = {5},
                                       .row_count = 2,
                                       .pds = pds,
                                       .strip_count = 1,
                                       .strip_rows = strips};
    fm_rank_info_init_like(info, &shape);
}

/* Row 0 has value, row 1 its half. */
static void see(struct fm_rank_info *info, uint64_t value, uint32_t place)
{
    for (uint32_t row = 0; row < 2; row++) {
        struct fm_rank_moments *moments = fm_rank_moments(info, row, 0);
        if (info->count == 0)
            moments->least = UINT64_MAX;
        fm_rank_moments_see(moments, value >> row, place);
    }
    fm_rank_strip(info, 0, 0)[place] = value >> 1;
    info->count++;
}

static GBytes *bytes_of(const struct fm_rank_info *info)
{
    struct fm_writer *writer = fm_writer_new_memory();
    fm_rank_info_write(writer, info);
    return fm_writer_finish_memory(writer);
}

static void test_large_numbers(void)
{
    struct fm_rank_info info;
    make(&info);
    for (uint32_t place = 0; place < PARTS; place++)
        see(&info, UINT64_MAX, place);
    const struct fm_rank_moments *moments = fm_rank_moments(&info, 0, 0);
    /* 5 x (2^64 - 1) and 5 x (2^64 - 1)^2 = 5 x 2^128 - 10 x 2^64 + 5 */
    g_assert_cmpuint(moments->sum[0], ==, UINT64_MAX - 4);
    g_assert_cmpuint(moments->sum[1], ==, 4);
    g_assert_cmpuint(moments->squares[0], ==, 5);
    g_assert_cmpuint(moments->squares[1], ==, UINT64_MAX - 9);
    g_assert_cmpuint(moments->squares[2], ==, 4);
    g_assert_cmpuint(moments->least, ==, UINT64_MAX);
    g_assert_cmpuint(moments->place, ==, 0);
    g_assert_true(fm_rank_moments_hold(moments, PARTS));
    g_assert_true(fm_rank_deviation(moments, PARTS) <= 0);
    g_assert_true(fm_rank_lost(moments, PARTS) <= 0);
    fm_rank_info_done(&info);
}

/* What floating point would lose: 2^53 + 1 beside 2^53 + 3. */
static void test_deviation(void)
{
    struct fm_rank_info info;
    make(&info);
    see(&info, (UINT64_C(1) << 53) + 1, 1);
    see(&info, (UINT64_C(1) << 53) + 3, 0);
    const struct fm_rank_moments *moments = fm_rank_moments(&info, 0, 0);
    g_assert_cmpfloat(fm_rank_deviation(moments, 2), ==, 1.0);
    g_assert_cmpfloat(fm_rank_lost(moments, 2), ==, 2.0);
    g_assert_cmpuint(moments->place, ==, 0);
    struct fm_rank_moments wrong = *moments;
    wrong.squares[0]--;
    wrong.squares[0]--;
    wrong.squares[0]--;
    g_assert_false(fm_rank_moments_hold(&wrong, 2));
    wrong = *moments;
    wrong.greatest -= 2;
    g_assert_false(fm_rank_moments_hold(&wrong, 2));
    fm_rank_info_done(&info);
}

static void test_groupings(void)
{
    static const uint64_t values[PARTS] = {7, UINT64_MAX / 3, 0, UINT64_MAX / 3, 12};
    struct fm_rank_info all, sum;
    make(&all);
    for (uint32_t place = 0; place < PARTS; place++)
        see(&all, values[place], place);
    g_autoptr(GBytes) expected = bytes_of(&all);
    for (unsigned split = 0; split < 1u << PARTS; split++) {
        struct fm_rank_info sides[2];
        make(&sides[0]);
        make(&sides[1]);
        make(&sum);
        for (uint32_t place = PARTS; place-- > 0;)
            see(&sides[split >> place & 1u], values[place], place);
        g_assert_true(fm_rank_info_add(&sum, &sides[1]));
        g_assert_true(fm_rank_info_add(&sum, &sides[0]));
        g_autoptr(GBytes) found = bytes_of(&sum);
        g_assert_true(g_bytes_equal(found, expected));
        fm_rank_info_done(&sides[0]);
        fm_rank_info_done(&sides[1]);
        fm_rank_info_done(&sum);
    }
    g_assert_cmpuint(fm_rank_moments(&all, 0, 0)->place, ==, 1); /* the first of equal ones */
    g_assert_cmpuint(fm_rank_moments(&all, 0, 0)->least, ==, 0);
    struct fm_rank_info other;
    make(&other);
    other.pds[1] = 5; /* another context: the first one alone stays */
    uint32_t first = all.pds[0];
    see(&other, 3, 0);
    g_assert_true(fm_rank_info_add(&all, &other));
    g_assert_cmpuint(all.row_count, ==, 1);
    g_assert_cmpuint(all.pds[0], ==, first);
    g_assert_cmpuint(all.count, ==, PARTS + 1);
    g_assert_cmpuint(all.strip_count, ==, 0); /* it was the other one's */
    other.part_count++;                       /* other places */
    g_assert_false(fm_rank_info_add(&all, &other));
    other.part_count--;
    fm_rank_info_done(&other);
    fm_rank_info_done(&all);
}

static bool read_bytes(const uint8_t *bytes, size_t size, struct fm_rank_info *ret, GError **error)
{
    struct fm_reader in = {.start = bytes, .at = bytes, .end = bytes + size, .name = "ranks"};
    return fm_rank_info_read(&in, 10, 8, ret, error) && in.at == in.end;
}

static void test_bytes(void)
{
    struct fm_rank_info info, read;
    make(&info);
    see(&info, UINT64_MAX, 3);
    see(&info, 5, 2);
    g_autoptr(GBytes) bytes = bytes_of(&info);
    gsize size;
    const uint8_t *data = g_bytes_get_data(bytes, &size);
    g_assert_true(read_bytes(data, size, &read, NULL));
    g_autoptr(GBytes) again = bytes_of(&read);
    g_assert_true(g_bytes_equal(again, bytes));
    g_assert_cmpuint(fm_rank_info_row(&read, 4), ==, 1);
    g_assert_cmpuint(fm_rank_info_row(&read, 3), ==, UINT32_MAX);
    g_assert_cmpuint(fm_rank_info_strip(&read, 1), ==, 0);
    g_assert_cmpuint(fm_rank_info_strip(&read, 0), ==, UINT32_MAX);
    g_assert_cmpuint(fm_rank_strip(&read, 0, 0)[3], ==, UINT64_MAX >> 1);
    fm_rank_info_done(&read);
    for (gsize cut = 0; cut < size; cut++) {
        g_autoptr(GError) error = NULL;
        g_autofree uint8_t *shorter = g_memdup2(data, cut + 1);
        g_assert_false(read_bytes(shorter, cut, &read, &error));
        g_assert_nonnull(error);
        g_assert_true(g_str_has_prefix(error->message, "ranks: offset "));
        g_assert_null(read.pds);
    }
    for (gsize at = 0; at < size; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            g_autoptr(GError) error = NULL;
            g_autofree uint8_t *other = g_memdup2(data, size);
            other[at] ^= (uint8_t)(1u << bit);
            if (read_bytes(other, size, &read, &error))
                g_assert_cmpuint(read.row_count, <=, 10);
            fm_rank_info_done(&read);
        }
    }
    fm_rank_info_done(&info);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ranks/large-numbers", test_large_numbers);
    g_test_add_func("/ranks/deviation", test_deviation);
    g_test_add_func("/ranks/groupings", test_groupings);
    g_test_add_func("/ranks/bytes", test_bytes);
    return g_test_run();
}
