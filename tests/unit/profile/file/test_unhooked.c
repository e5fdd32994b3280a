/* SPDX-License-Identifier: Apache-2.0 */
/* Time in code without hooks, in the file: what is written is read, and what is refused. */
#include <string.h>

#include "base/error.h"
#include "compare.h"

/* The program and a function that it calls; quanta in three places, of which two are one. */
static struct fm_profile *made(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "x");
    fm_build_ps(build, &(struct fm_ps){.name = "the program"});
    fm_build_ps(build, &(struct fm_ps){.name = "f", .decl_module = "m"});
    fm_build_css(build, 1, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    fm_build_pd(build, 1);
    uint32_t pd = fm_build_pd(build, 2);
    fm_build_csd(build, 1, 0, pd);
    uint32_t csd = fm_build_csd(build, 1, 0, pd);
    fm_build_add(build, csd, FM_QUANTA, 10);
    fm_build_unhooked_begin(build, 1);
    fm_build_unhooked(build,
                      &(struct fm_unhooked){1, FM_UNHOOKED_OBJECT, "libz.so.1", "deflate", 4});
    fm_build_unhooked(build, &(struct fm_unhooked){2, FM_UNHOOKED_KERNEL, "libc.so.6", "", 3});
    fm_build_unhooked(build,
                      &(struct fm_unhooked){2, FM_UNHOOKED_OBJECT, "libz.so.1", "deflate", 2});
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
    const struct fm_unhooked_info *info = &again->run_info.unhooked;
    g_assert_true(g_bytes_equal(bytes, twice));
    g_assert_true(info->recorded);
    g_assert_cmpuint(info->unknown_quanta, ==, 1);
    g_assert_cmpuint(info->count, ==, 3);
    g_assert_cmpuint(info->of[1].csd, ==, 2);
    g_assert_cmpuint(info->of[1].kind, ==, FM_UNHOOKED_KERNEL);
    g_assert_cmpstr(info->of[1].object, ==, "libc.so.6");
    g_assert_cmpstr(info->of[1].function, ==, "");
    g_assert_cmpuint(info->of[2].quanta, ==, 2);
    g_assert_cmpstr(info->of[2].object, ==, "libz.so.1");
    g_assert_cmpstr(info->of[2].function, ==, "deflate");
}

/* Nothing is known of a profile that has no such fact. */
static void what_is_not_there_is_not_recorded(void)
{
    g_autoptr(FmProfile) profile = small_profile(FM_FLAVOUR_C, FM_COVERAGE_NONE);
    g_autoptr(GBytes) bytes = encode(profile, 9, false);
    g_autoptr(FmProfile) again = decode(bytes);
    g_assert_false(again->run_info.unhooked.recorded);
}

static void assert_refused(const uint8_t *start, size_t size, enum fm_error code, const char *text)
{
    g_autoptr(FmProfile) none = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_profile_read_bytes("wrong", start, size, NULL, &none, &error));
    g_assert_error(error, FM_ERROR, (int)code);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, text));
}

/* The fact ends the file: 3 costs of 3 bytes behind their number. */
static void what_is_damaged_is_refused(void)
{
    g_autoptr(FmProfile) profile = made();
    g_autoptr(GBytes) bytes = encode(profile, 9, false);
    static const struct {
        unsigned from_end;
        uint8_t byte;
        enum fm_error code;
        const char *error;
    } wrong[] = {
        {1, 0, FM_ERROR_FORMAT, "0 quanta of code without hooks, expected at least 1"},
        {2, 0, FM_ERROR_FORMAT, "number of code without hooks is 0, expected 1 to 2"},
        {2, 3, FM_ERROR_FORMAT, "number of code without hooks is 3, expected 1 to 2"},
        {3, 0, FM_ERROR_FORMAT, "that called code without hooks is 0, expected 1 to 2"},
        {3, 3, FM_ERROR_FORMAT, "that called code without hooks is 3, expected 1 to 2"},
        {10, 4, FM_ERROR_TRUNCATED, "costs without hooks 4, but unexpected end of file"},
    };
    size_t size;
    const uint8_t *start = g_bytes_get_data(bytes, &size);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree uint8_t *copy = g_memdup2(start, size);
        copy[size - wrong[i].from_end] = wrong[i].byte;
        assert_refused(copy, size, wrong[i].code, wrong[i].error);
    }
    const char *first = memmem(start, size, "libz.so.1", strlen("libz.so.1"));
    size_t at = (size_t)((const uint8_t *)(const void *)first - start), fact = at - 5;
    g_autofree uint8_t *kind = g_memdup2(start, size);
    kind[at - 2] = FM_UNHOOKED_KINDS;
    assert_refused(kind, size, FM_ERROR_FORMAT, "kind of code without hooks is 4, expected 0 to 3");
    g_autofree uint8_t *twice = g_malloc(2 * size);
    memcpy(twice, start, size);
    memcpy(twice + size, start + fact, size - fact);
    assert_refused(twice, 2 * size - fact, FM_ERROR_FORMAT, "code without hooks twice");
    for (size_t cut = fact + 1; cut < size; cut++) {
        g_autoptr(FmProfile) none = NULL;
        g_assert_false(fm_profile_read_bytes("cut", start, cut, NULL, &none, NULL));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/unhooked/written", what_is_written_is_read);
    g_test_add_func("/unhooked/not-recorded", what_is_not_there_is_not_recorded);
    g_test_add_func("/unhooked/damaged", what_is_damaged_is_refused);
    return g_test_run();
}
