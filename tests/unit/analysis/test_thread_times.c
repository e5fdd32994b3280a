/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of a thread's times: it waits, runs, or neither. */
#include "analysis/job.h"
#include "deep/build.h"

#define MS UINT64_C(1000000)

/* Whether it holds of a thread that was there for 2 s. */
static bool holds(uint64_t cpu_ms, uint64_t wait_ms, uint64_t inside_ms)
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
    fm_build_add(build, csd, fm_build_measure(build, "waits", "waits", 1), 3);
    fm_build_add(build, csd, fm_build_measure(build, "wait_ns", "nanoseconds", 1), wait_ms * MS);
    fm_build_thread_time(build, &(struct fm_thread_time){.name = "main",
                                                         .wall_ns = 2000 * MS,
                                                         .cpu_ns = cpu_ms * MS,
                                                         .wait_ns = wait_ms * MS,
                                                         .inside_ns = inside_ms * MS});
    g_autoptr(GError) error = NULL;
    struct fm_profile *profile = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    g_assert_no_error(error);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct fm_invariant));
    fm_invariants_of_waits(profile, all);
    unsigned found = 0;
    bool result = false;
    for (guint i = 0; i < all->len; i++) {
        struct fm_invariant *invariant = &g_array_index(all, struct fm_invariant, i);
        if (g_str_equal(invariant->name, "no thread waits and runs longer than it was there")) {
            result = invariant->holds;
            found++;
        }
        g_free(invariant->detail);
    }
    g_assert_cmpuint(found, ==, 1);
    fm_profile_free(profile);
    return result;
}

static void test_waits_and_runs(void)
{
    g_assert_true(holds(500, 1400, 0));
    g_assert_true(holds(500, 1500, 0));
    g_assert_true(holds(700, 2000, 690)); /* in its waits */
    g_assert_true(holds(0, 2010, 0));     /* of two clocks */
    g_assert_false(holds(0, 2100, 0));
    g_assert_false(holds(500, 1600, 0));
    g_assert_false(holds(2100, 0, 0));
    g_assert_false(holds(0, 11040, 0));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/thread-times/waits-and-runs", test_waits_and_runs);
    return g_test_run();
}
