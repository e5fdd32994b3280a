/* SPDX-License-Identifier: Apache-2.0 */
/* Reading while a thread beside asks for memory and looks at contexts. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files/mapped.h"
#include "compare.h"
#include "profile/file/encode.h"
#include "profile/file/read_job.h"

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

static char *write_file(GByteArray *bytes)
{
    g_autoptr(GError) error = NULL;
    char *path = NULL;
    int fd = g_file_open_tmp("fathom-XXXXXX.data", &path, &error);
    g_assert_no_error(error);
    close(fd);
    g_assert_true(g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, &error));
    return path;
}

static GByteArray *encoded(const struct fm_profile *profile)
{
    return g_bytes_unref_to_array(encode(profile, 9, false));
}

static struct fm_profile_job *job_beside(const char *path)
{
    g_autoptr(GError) error = NULL;
    struct fm_mapped_file *file;
    g_assert_true(fm_mapped_file_open(path, &file, &error));
    struct fm_profile_job *job = fm_profile_job_new_file(file);
    fm_profile_job_set_beside(job);
    return job;
}

/* Of a file large enough that room is kept for its slots: the same with a thread that asks for
 * memory beside, also when it is given up. */
static void test_memory_asked_for_beside(void)
{
    g_autoptr(FmProfile) profile = wide_profile(500000);
    g_autoptr(GByteArray) bytes = encoded(profile);
    g_autoptr(GError) error = NULL;
    g_assert_cmpuint(bytes->len, >, 8u << 20);
    g_autofree char *path = write_file(bytes);
    for (unsigned steps = 4; steps <= 5; steps++) {
        struct fm_profile_job *job = job_beside(path);
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

/* Makes the first slot of a context that calls nothing one of another kind. */
static void break_context(GByteArray *bytes, uint32_t pd)
{
    struct fm_writer *writer = fm_writer_new_memory();
    fm_encode_pd_begin(writer, pd, 1, 2);
    fm_encode_slot(writer, FM_SITE_HIGHER_ORDER, NULL, 0);
    fm_encode_slot(writer, FM_SITE_NORMAL, NULL, 0);
    g_autoptr(GBytes) node = fm_writer_finish_memory(writer);
    size_t size, found = 0;
    const uint8_t *data = g_bytes_get_data(node, &size);
    while (memcmp(bytes->data + found, data, size) != 0) {
        found++;
        g_assert_cmpuint(found + size, <=, bytes->len);
    }
    g_assert_cmpuint(bytes->data[found + size - 4], ==, FM_SITE_HIGHER_ORDER);
    bytes->data[found + size - 4] = FM_SITE_METHOD;
}

/* Whichever thread comes to it: the fault that is told is the first one, as without a thread. */
static void test_faults(void)
{
    static const uint32_t broken[][2] = {{2, 2},         {59000, 59000}, {20000, 40000},
                                         {40000, 20000}, {16385, 16384}, {2, 59999}};
    g_autoptr(FmProfile) profile = wide_profile(60000);
    for (unsigned i = 0; i < G_N_ELEMENTS(broken); i++) {
        g_autoptr(GByteArray) bytes = encoded(profile);
        g_autoptr(GError) error = NULL, error_beside = NULL;
        struct fm_profile *none = NULL;
        break_context(bytes, broken[i][0]);
        if (broken[i][1] != broken[i][0])
            break_context(bytes, broken[i][1]);
        g_autofree char *path = write_file(bytes);
        g_assert_false(fm_profile_read(path, NULL, &none, &error));
        g_autofree char *named =
            g_strdup_printf("proc dynamic %u ", MIN(broken[i][0], broken[i][1]));
        g_assert_nonnull(strstr(error->message, named));
        struct fm_profile_job *job = job_beside(path);
        enum fm_job_state state = FM_JOB_MORE;
        while (state == FM_JOB_MORE)
            state = fm_profile_job_step(job, 1000, &error_beside);
        g_assert_cmpint(state, ==, FM_JOB_FAILED);
        g_assert_cmpstr(error_beside->message, ==, error->message);
        fm_profile_job_free(job);
        g_assert_cmpint(g_unlink(path), ==, 0);
    }
}

/* Given up while contexts are looked at. */
static void test_given_up(void)
{
    g_autoptr(FmProfile) profile = wide_profile(60000);
    g_autoptr(GByteArray) bytes = encoded(profile);
    g_autofree char *path = write_file(bytes);
    g_autoptr(GError) error = NULL;
    unsigned all = 0;
    for (unsigned steps = 0; all == 0 || steps < all; steps++) {
        struct fm_profile_job *job = job_beside(path);
        enum fm_job_state state = FM_JOB_MORE;
        for (unsigned i = 0; state == FM_JOB_MORE && i < steps; i++)
            state = fm_profile_job_step(job, 9000, &error);
        if (state == FM_JOB_DONE)
            all = steps;
        fm_profile_job_free(job);
    }
    g_assert_cmpint(g_unlink(path), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/read/memory-beside", test_memory_asked_for_beside);
    g_test_add_func("/read/faults-beside", test_faults);
    g_test_add_func("/read/given-up-beside", test_given_up);
    return g_test_run();
}
