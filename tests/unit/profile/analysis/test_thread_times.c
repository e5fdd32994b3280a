/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of a thread's times: it waits, runs, or neither; it sleeps in what is left. */
#include "profile/analysis/job.h"
#include "profile/file/build.h"

#define MS UINT64_C(1000000)

/* A thread's times in ms; that of a sum, of several threads. sleep_ms: where it slept unseen. */
struct times {
    uint64_t wall_ms, cpu_ms, wait_ms, inside_ms, queued_ms, sleep_ms;
    bool is_sum;
};

static struct fm_profile *profile_of(const struct times *times)
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
    fm_build_add(build, csd, fm_build_measure(build, "wait_ns", "nanoseconds", 1),
                 times->wait_ms * MS);
    fm_build_thread_time(build, &(struct fm_thread_time){.name = "main",
                                                         .wall_ns = times->wall_ms * MS,
                                                         .cpu_ns = times->cpu_ms * MS,
                                                         .wait_ns = times->wait_ms * MS,
                                                         .inside_ns = times->inside_ms * MS,
                                                         .queued_ns = times->queued_ms * MS,
                                                         .queue_known = true});
    if (times->sleep_ms > 0)
        fm_build_sleep(build,
                       &(struct fm_sleep){.csd = csd, .samples = 1, .ns = times->sleep_ms * MS});
    if (times->is_sum)
        fm_build_part(build,
                      &(struct fm_part){.times = 1, .process = {.command = "", .folder = ""}});
    g_autoptr(GError) error = NULL;
    struct fm_profile *profile = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    g_assert_no_error(error);
    return profile;
}

static bool invariant_holds(const char *name, const struct times *times)
{
    struct fm_profile *profile = profile_of(times);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct fm_invariant));
    fm_invariants_of_waits(profile, all);
    unsigned found = 0;
    bool result = false;
    for (guint i = 0; i < all->len; i++) {
        struct fm_invariant *invariant = &g_array_index(all, struct fm_invariant, i);
        if (g_str_equal(invariant->name, name)) {
            result = invariant->holds;
            found++;
        }
        g_free(invariant->detail);
    }
    g_assert_cmpuint(found, ==, 1);
    fm_profile_free(profile);
    return result;
}

/* Whether it holds of a thread that was there for 2 s. */
static bool holds(uint64_t cpu_ms, uint64_t wait_ms, uint64_t inside_ms)
{
    return invariant_holds("no thread waits and runs longer than it exists",
                           &(struct times){2000, cpu_ms, wait_ms, inside_ms, 0, 0, false});
}

static bool sleep_holds(struct times times)
{
    return invariant_holds("sleep by context is part of the threads' other sleep", &times);
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

static void test_sleeps(void)
{
    g_assert_true(sleep_holds((struct times){2000, 500, 700, 100, 300, 600, false}));
    g_assert_false(sleep_holds((struct times){2000, 500, 700, 100, 300, 601, false}));
    g_assert_false(sleep_holds((struct times){2000, 2016, 0, 0, 0, 1, false}));
}

/* Two ran for 2,008 of 2,000 ms beside a third that slept. */
static void test_sleeps_of_sums(void)
{
    g_assert_true(sleep_holds((struct times){6000, 4016, 0, 0, 0, 2000, true}));
    g_assert_true(sleep_holds((struct times){6000, 2016, 3000, 1000, 0, 2000, true}));
    g_assert_false(sleep_holds((struct times){6000, 16, 0, 0, 0, 6100, true}));
    g_assert_false(sleep_holds((struct times){6000, 16, 4000, 1000, 0, 3100, true}));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/thread-times/waits-and-runs", test_waits_and_runs);
    g_test_add_func("/thread-times/sleeps", test_sleeps);
    g_test_add_func("/thread-times/sleeps-of-sums", test_sleeps_of_sums);
    return g_test_run();
}
