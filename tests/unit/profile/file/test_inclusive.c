/* SPDX-License-Identifier: Apache-2.0 */
/* Totals inside recursions in the file: what is refused. */
#include <string.h>

#include "base/error.h"
#include "compare.h"

static struct fm_profile *one_function(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "x");
    fm_build_ps(build, &(struct fm_ps){.name = "f"});
    fm_build_pd(build, 1);
    struct fm_profile *profile = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    return profile;
}

static void assert_refused(GBytes *bytes, const char *text)
{
    size_t size;
    const uint8_t *start = g_bytes_get_data(bytes, &size);
    g_autoptr(FmProfile) none = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_profile_read_bytes("wrong", start, size, NULL, &none, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, text));
}

/* One record of one measure at the end of the file: its bits, how many records, pd, value. */
static void test_damaged_inclusive(void)
{
    g_autoptr(FmProfile) profile = one_function();
    uint32_t pd = 1;
    uint64_t value = 5;
    struct fm_profile bare = *profile;
    bare.run_info = (struct fm_run_info){.inclusive = {1u << FM_QUANTA, 1, 1, &pd, &value}};
    g_autoptr(GBytes) bytes = encode(&bare, 9, false);
    static const struct {
        unsigned from_end;
        uint8_t byte;
        const char *error;
    } wrong[] = {{4, 0, "totals inside recursions, bits 0, expected some of 0xf0"},
                 {4, 8, "totals inside recursions, bits 0x8, expected some of 0xf0"},
                 {2, 0, "is 0 after 0, expected them ascending and at most 1"},
                 {2, 2, "is 2 after 0, expected them ascending and at most 1"},
                 {5, 29, "fact of kind 29"}};
    size_t size;
    const uint8_t *start = g_bytes_get_data(bytes, &size);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        uint8_t *copy = g_memdup2(start, size);
        copy[size - wrong[i].from_end] = wrong[i].byte;
        g_autoptr(GBytes) damaged = g_bytes_new_take(copy, size);
        assert_refused(damaged, wrong[i].error);
    }
    uint8_t *twice = g_malloc(size + 5);
    memcpy(twice, start, size);
    memcpy(twice + size, start + size - 5, 5);
    g_autoptr(GBytes) again = g_bytes_new_take(twice, size + 5);
    assert_refused(again, "totals inside recursions twice");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/inclusive/damaged", test_damaged_inclusive);
    return g_test_run();
}
