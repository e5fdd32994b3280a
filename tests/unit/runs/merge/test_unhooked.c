/* SPDX-License-Identifier: Apache-2.0 */
/* Time in code without hooks in a sum of profiles. */
#include "profile/file/build.h"
#include "merging.h"

#define NOT_RECORDED UINT64_MAX

/* "main" with 20 quanta, some of them in libz, and as many in the kernel, one more of unknown code.
 */
static struct fm_profile *profile_new(uint64_t ticks_per_second, uint64_t quanta)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "run");
    struct fm_ps root = {.label_kind = FM_LABEL_FUNCTION,
                         .decl_module = "",
                         .def_module = "",
                         .name = "the program",
                         .raw_name = "the program",
                         .file = ""};
    struct fm_ps body = root;
    body.name = body.raw_name = "main";
    fm_build_header(build)->ticks_per_second = ticks_per_second;
    uint32_t root_ps = fm_build_ps(build, &root), body_ps = fm_build_ps(build, &body);
    fm_build_css(build, root_ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
    uint32_t from = fm_build_pd(build, root_ps), to = fm_build_pd(build, body_ps);
    uint32_t csd = fm_build_csd(build, from, 0, to);
    fm_build_add(build, csd, FM_EXITS, 1);
    fm_build_add(build, csd, FM_QUANTA, 20);
    if (quanta != NOT_RECORDED) {
        fm_build_unhooked_begin(build, 1);
        fm_build_unhooked(
            build, &(struct fm_unhooked){csd, FM_UNHOOKED_KERNEL, "libc.so.6", "read", quanta});
        fm_build_unhooked(
            build, &(struct fm_unhooked){csd, FM_UNHOOKED_OBJECT, "libz.so.1", "inflate", quanta});
    }
    g_autoptr(GError) error = NULL;
    struct fm_profile *profile = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    g_assert_no_error(error);
    return profile;
}

static void free_all(struct fm_profile **parts, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fm_profile_free(parts[i]);
}

/* Ticks of 10 ms and of 1 ms: all become the shorter ones. */
static void places_are_added_up(void)
{
    for (unsigned first = 0; first < 2; first++) {
        struct fm_profile *parts[] = {profile_new(first == 0 ? 100 : 1000, 3),
                                      profile_new(first == 0 ? 1000 : 100, 4)};
        g_autoptr(FmProfile) sum = merge_all(parts, G_N_ELEMENTS(parts));
        const struct fm_unhooked_info *info = &sum->run_info.unhooked;
        g_assert_true(info->recorded);
        g_assert_cmpuint(sum->ticks_per_second, ==, 1000);
        g_assert_cmpuint(info->unknown_quanta, ==, 11);
        g_assert_cmpuint(info->count, ==, 2);
        for (uint32_t i = 0; i < 2; i++) {
            g_assert_cmpuint(info->of[i].quanta, ==, first == 0 ? 34 : 43);
            g_assert_cmpuint(info->of[i].csd, ==, 1);
        }
        g_assert_cmpstr(info->of[0].object, ==, "libz.so.1");
        g_assert_cmpstr(info->of[0].function, ==, "inflate");
        g_assert_cmpuint(info->of[1].kind, ==, FM_UNHOOKED_KERNEL);
        g_assert_cmpuint(fm_profile_own(sum, 1, FM_QUANTA), ==, 220);
        free_all(parts, G_N_ELEMENTS(parts));
    }
}

/* Half of it known would look like a smaller share. */
static void beside_one_that_does_not_tell_nothing_is_known(void)
{
    struct fm_profile *parts[] = {profile_new(100, 3), profile_new(100, NOT_RECORDED)};
    g_autoptr(FmProfile) sum = merge_all(parts, G_N_ELEMENTS(parts));
    g_assert_false(sum->run_info.unhooked.recorded);
    g_assert_cmpuint(sum->run_info.unhooked.count, ==, 0);
    free_all(parts, G_N_ELEMENTS(parts));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/merge/unhooked/added-up", places_are_added_up);
    g_test_add_func("/merge/unhooked/not-recorded", beside_one_that_does_not_tell_nothing_is_known);
    return g_test_run();
}
