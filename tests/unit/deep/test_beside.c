/* SPDX-License-Identifier: Apache-2.0 */
/* Reading while a thread beside asks for memory. */
#include <glib/gstdio.h>
#include <unistd.h>

#include "base/files/mapped.h"
#include "compare.h"
#include "deep/read_job.h"

/* So many contexts, most measures of all of them, one of few, and one that is too great for 32 bits
 * from the middle on. */
static struct fm_profile *wide_profile(uint32_t contexts)
{
    g_autoptr(GError) error = NULL;
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "wide");
    struct fm_profile *profile;
    uint32_t ps = fm_build_ps(build, &(struct fm_ps){.name = "f", .raw_name = "f"});
    fm_build_css(build, ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER, .line = 1});
    fm_build_css(build, ps, &(struct fm_css){.kind = FM_SITE_NORMAL, .callee_ps = ps, .line = 2});
    uint32_t root = fm_build_pd(build, ps);
    for (uint32_t i = 1; i <= contexts; i++) {
        uint32_t csd = fm_build_csd(build, root, 0, fm_build_pd(build, ps));
        fm_build_add(build, csd, FM_EXITS, i);
        fm_build_add(build, csd, FM_QUANTA, i % 99991 == 0 ? i : 0);
        fm_build_add(build, csd, FM_ALLOCS, i < contexts / 2 ? i : (uint64_t)i << 20);
    }
    if (!fm_build_finish(build, &profile, &error))
        g_error("%s", error->message);
    return profile;
}

/* Of a file large enough that room is kept for its slots: the same with a thread that asks for
 * memory beside, also when it is given up. */
static void test_memory_asked_for_beside(void)
{
    g_autoptr(FmProfile) profile = wide_profile(500000);
    g_autoptr(GBytes) bytes = encode(profile, 9, false);
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    int fd = g_file_open_tmp("fathom-XXXXXX.data", &path, &error);
    g_assert_no_error(error);
    close(fd);
    g_assert_cmpuint(g_bytes_get_size(bytes), >, 8u << 20);
    g_assert_true(g_file_set_contents(path, g_bytes_get_data(bytes, NULL),
                                      (gssize)g_bytes_get_size(bytes), &error));
    for (unsigned steps = 4; steps <= 5; steps++) {
        struct fm_mapped_file *file;
        g_assert_true(fm_mapped_file_open(path, &file, &error));
        struct fm_profile_job *job = fm_profile_job_new_file(file);
        fm_profile_job_prefault(job);
        enum fm_job_state state = FM_JOB_MORE;
        for (unsigned i = 0; state == FM_JOB_MORE && (steps > 4 || i < steps); i++)
            state = fm_profile_job_step(job, 20000, &error);
        g_assert_cmpint(state, ==, steps > 4 ? FM_JOB_DONE : FM_JOB_MORE);
        if (state == FM_JOB_DONE) {
            g_autoptr(FmProfile) again = fm_profile_job_take(job);
            assert_same_profile(profile, again);
            g_assert_cmpuint(again->csd_own[FM_ALLOCS].width, ==, 8);
        }
        fm_profile_job_free(job);
    }
    g_assert_cmpint(g_unlink(path), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/read/memory-beside", test_memory_asked_for_beside);
    return g_test_run();
}
