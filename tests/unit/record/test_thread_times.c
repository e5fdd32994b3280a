/* SPDX-License-Identifier: Apache-2.0 */
/* Times of threads as a profile has them: added up by name, they leave as much time for sleep as
 * the threads by themselves do. */
#include "profile/file/build.h"
#include "runs/merge/merge.h"
#include "record/finish/emit/emit_waits.h"
#include "record/finish/images.h"

#define MS UINT64_C(1000000)
#define THREADS 2u

/* The first one waits, and had no processor when it was woken, which is in its waits. The second
 * one sleeps where nothing is seen to wait. Each is there for 1 s. */
static struct fm_raw_recording recording_of(struct fm_raw_thread threads[THREADS],
                                            struct fm_raw_pd pds[THREADS],
                                            struct fm_raw_csd csds[THREADS],
                                            struct fm_raw_wait waits[2], struct fm_raw_sleep *sleep)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        threads[i] = (struct fm_raw_thread){.root_pd = i,
                                            .root_csd = i,
                                            .start_ns = 1000 * MS,
                                            .end_ns = 2000 * MS,
                                            .queue_known = true,
                                            .end_known = true};
        pds[i] = (struct fm_raw_pd){.thread = i};
        csds[i] = (struct fm_raw_csd){.caller = FM_RAW_NONE, .callee = i};
    }
    threads[0].last_cpu_ns = 100 * MS;
    threads[0].queued_ns = 300 * MS;
    csds[0].waits = 1;
    waits[0] = (struct fm_raw_wait){0};
    waits[1] = (struct fm_raw_wait){
        .kind = FM_REC_WAIT_MUTEX, .calls = 1, .waits = 1, .ns = 800 * MS, .longest_ns = 800 * MS};
    *sleep = (struct fm_raw_sleep){.csd = 1, .samples = 100, .ns = 1000 * MS};
    return (struct fm_raw_recording){.thread_count = THREADS,
                                     .pd_count = THREADS,
                                     .csd_count = THREADS,
                                     .wait_count = 2,
                                     .sleep_count = 1,
                                     .threads = threads,
                                     .pds = pds,
                                     .csds = csds,
                                     .waits = waits,
                                     .sleeps = sleep};
}

static struct fm_profile *emit(const struct fm_raw_recording *recording)
{
    static const char *const names[THREADS] = {"work", "work"};
    const struct fm_images images = {.recording = recording};
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "run");
    struct fm_ps root = {.label_kind = FM_LABEL_FUNCTION,
                         .decl_module = "",
                         .def_module = "",
                         .name = "the program",
                         .raw_name = "",
                         .file = ""};
    struct fm_ps body = root;
    body.name = "work";
    uint32_t root_ps = fm_build_ps(build, &root), body_ps = fm_build_ps(build, &body);
    fm_build_css(build, root_ps, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    uint32_t from = fm_build_pd(build, root_ps), csds[THREADS];
    unsigned waits = fm_build_own_measure(build, FM_WAITS);
    unsigned ns = fm_build_own_measure(build, FM_WAIT_NS);
    for (uint32_t i = 0; i < THREADS; i++)
        csds[i] = fm_build_csd(build, from, 0, fm_build_pd(build, body_ps));
    fm_build_add(build, csds[0], waits, 1);
    fm_build_add(build, csds[0], ns, 800 * MS);
    fm_emit_waits(recording, &images, csds, names, build, NULL);
    struct fm_profile *profile = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    g_assert_no_error(error);
    return profile;
}

static struct fm_profile *add_up(const struct fm_profile *profile)
{
    struct fm_merge *merge = fm_merge_new(&(struct fm_merge_options){0});
    struct fm_profile *sum = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_merge_add(merge, profile, "one", &error));
    g_assert_true(fm_merge_finish(merge, &sum, &error));
    g_assert_no_error(error);
    return sum;
}

static void test_queued_in_waits(void)
{
    struct fm_raw_thread threads[THREADS];
    struct fm_raw_pd pds[THREADS];
    struct fm_raw_csd csds[THREADS];
    struct fm_raw_wait waits[2];
    struct fm_raw_sleep sleep;
    struct fm_raw_recording recording = recording_of(threads, pds, csds, waits, &sleep);
    struct fm_profile *profile = emit(&recording), *sum = add_up(profile);
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    g_assert_cmpuint(info->thread_count, ==, THREADS);
    g_assert_cmpuint(info->threads[0].wait_ns, ==, 800 * MS);
    g_assert_cmpuint(info->threads[0].queued_ns, ==, 100 * MS);
    g_assert_cmpuint(fm_thread_time_unseen(&info->threads[0]), ==, 0);
    g_assert_cmpuint(fm_thread_time_unseen(&info->threads[1]), ==, 1000 * MS);
    g_assert_cmpuint(info->sleeps[0].ns, ==, 1000 * MS);
    const struct fm_wait_info *of_both = &sum->run_info.wait_info;
    g_assert_cmpuint(of_both->thread_count, ==, 1);
    g_assert_cmpuint(fm_thread_time_queued(&of_both->threads[0]), ==, 100 * MS);
    g_assert_cmpuint(fm_thread_time_unseen(&of_both->threads[0]), ==, 1000 * MS);
    fm_profile_free(sum);
    fm_profile_free(profile);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/record/thread-times/queued-in-waits", test_queued_in_waits);
    return g_test_run();
}
