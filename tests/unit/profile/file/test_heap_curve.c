/* SPDX-License-Identifier: Apache-2.0 */
/* Live memory over time, in the file: what is written is read, and what is refused. */
#include <string.h>

#include "base/error.h"
#include "compare.h"

/* Of four slots two were met; the last one was not. */
static struct fm_profile *made(void)
{
    static const struct fm_heap_slot slots[] = {{3, 10}, {0, 0}, {5, 6}, {0, 0}};
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "x");
    fm_build_ps(build, &(struct fm_ps){.name = "the program"});
    fm_build_pd(build, 1);
    struct fm_heap_info *info = fm_build_heap(build);
    fm_heap_info_set_curve(info, 64, slots, G_N_ELEMENTS(slots));
    struct fm_profile *profile = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    return profile;
}

static void what_is_written_is_read(void)
{
    g_autoptr(FmProfile) profile = made();
    g_autoptr(GBytes) bytes = encode(profile, 9, false);
    g_autoptr(FmProfile) again = decode(bytes);
    g_autoptr(GBytes) twice = encode(again, 9, false);
    const struct fm_heap_curve *curve = &again->run_info.heap_info.curve;
    g_assert_true(g_bytes_equal(bytes, twice));
    g_assert_cmpuint(curve->slot_ns, ==, 64);
    g_assert_cmpuint(curve->count, ==, 3);
    g_assert_cmpuint(curve->slots[0].least, ==, 3);
    g_assert_cmpuint(curve->slots[0].most, ==, 10);
    g_assert_cmpuint(curve->slots[1].most, ==, 0);
    g_assert_cmpuint(curve->slots[2].least, ==, 5);
    g_assert_cmpuint(curve->slots[2].most, ==, 6);
}

static void what_is_not_there_is_not_recorded(void)
{
    g_autoptr(FmProfile) profile = small_profile(FM_FLAVOUR_C, FM_COVERAGE_NONE);
    g_autoptr(GBytes) bytes = encode(profile, 9, false);
    g_autoptr(FmProfile) again = decode(bytes);
    g_assert_cmpuint(again->run_info.heap_info.curve.slot_ns, ==, 0);
}

/* The fact ends the file: the length of a slot, the number of slots, and two bytes for each. */
static void what_is_damaged_is_refused(void)
{
    g_autoptr(FmProfile) profile = made();
    g_autoptr(GBytes) bytes = encode(profile, 9, false);
    static const struct {
        unsigned from_end;
        uint8_t byte;
        const char *error;
    } wrong[] = {
        {8, 0, "in 3 slots of 0 ns, expected at most 512 of 1 to 9007199254740992 ns"},
        {1, 6, "least live memory of a slot is above the most"},
        {3, 1, "least live memory of a slot is above the most"},
        {7, 4, "unexpected end of file"},
    };
    size_t size, fact = 9;
    const uint8_t *start = g_bytes_get_data(bytes, &size);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree uint8_t *copy = g_memdup2(start, size);
        g_autoptr(FmProfile) none = NULL;
        g_autoptr(GError) error = NULL;
        copy[size - wrong[i].from_end] = wrong[i].byte;
        g_assert_false(fm_profile_read_bytes("wrong", copy, size, NULL, &none, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, wrong[i].error));
    }
    g_autofree uint8_t *twice = g_malloc(size + fact);
    g_autoptr(FmProfile) none = NULL;
    g_autoptr(GError) error = NULL;
    memcpy(twice, start, size);
    memcpy(twice + size, start + size - fact, fact);
    g_assert_false(fm_profile_read_bytes("twice", twice, size + fact, NULL, &none, &error));
    g_assert_nonnull(strstr(error->message, "once"));
    for (size_t cut = size - fact + 1; cut < size; cut++) {
        g_autoptr(FmProfile) part = NULL;
        g_assert_false(fm_profile_read_bytes("cut", start, cut, NULL, &part, NULL));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/heap-curve/written", what_is_written_is_read);
    g_test_add_func("/heap-curve/not-recorded", what_is_not_there_is_not_recorded);
    g_test_add_func("/heap-curve/damaged", what_is_damaged_is_refused);
    return g_test_run();
}
