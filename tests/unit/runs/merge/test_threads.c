/* SPDX-License-Identifier: Apache-2.0 */
/* Times of threads in a sum of profiles. */
#include "profile/file/build.h"
#include "merging.h"

/* One thread "main" of 1000 ns. */
static struct fm_profile *profile_new(bool queue_known, uint64_t queued_ns)
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
    uint32_t root_ps = fm_build_ps(build, &root), body_ps = fm_build_ps(build, &body);
    fm_build_css(build, root_ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
    uint32_t from = fm_build_pd(build, root_ps), to = fm_build_pd(build, body_ps);
    uint32_t csd = fm_build_csd(build, from, 0, to);
    fm_build_add(build, csd, FM_EXITS, 1);
    fm_build_add(build, csd, fm_build_measure(build, "waits", "waits", 1), 1);
    fm_build_add(build, csd, fm_build_measure(build, "wait_ns", "nanoseconds", 1), 600);
    fm_build_waiting(
        build,
        &(struct fm_waiting){
            .csd = csd, .kind = "mutex", .calls = 1, .waits = 1, .ns = 600, .longest_ns = 600});
    fm_build_thread_time(build, &(struct fm_thread_time){.name = "main",
                                                         .wall_ns = 1000,
                                                         .cpu_ns = 100,
                                                         .wait_ns = 600,
                                                         .queued_ns = queued_ns,
                                                         .queue_known = queue_known});
    g_autoptr(GError) error = NULL;
    struct fm_profile *profile = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    g_assert_no_error(error);
    return profile;
}

/* One process that could not tell does not hide what the others know. */
static void test_known_beside_unknown(void)
{
    struct fm_profile *parts[] = {profile_new(true, 300), profile_new(false, 0),
                                  profile_new(true, 400)};
    struct fm_profile *sum = merge_all(parts, G_N_ELEMENTS(parts));
    const struct fm_wait_info *info = &sum->run_info.wait_info;
    g_assert_cmpuint(info->thread_count, ==, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct fm_thread_time *time = &info->threads[i];
        g_assert_cmpstr(time->name, ==, "main");
        g_assert_cmpuint(time->wall_ns, ==, time->queue_known ? 2000 : 1000);
        g_assert_cmpuint(time->cpu_ns, ==, time->queue_known ? 200 : 100);
        g_assert_cmpuint(time->queued_ns, ==, time->queue_known ? 700 : 0);
    }
    g_assert_cmpint(info->threads[0].queue_known, !=, info->threads[1].queue_known);
    fm_profile_free(sum);
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++)
        fm_profile_free(parts[i]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/merge/threads/known-beside-unknown", test_known_beside_unknown);
    return g_test_run();
}
