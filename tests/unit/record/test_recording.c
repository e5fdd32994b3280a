/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings made by hand, node by node, and what is made of them; the same damaged in every way
 * must give an error or a profile, never a crash. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "image.h"

static uint32_t csd_to(const struct fm_profile *profile, const char *caller, const char *callee)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i <= profile->csd_count; i++) {
        const char *from = profile->ps[profile->pd_ps[profile->csd_caller[i]]].name;
        const char *to = profile->ps[profile->pd_ps[profile->csd_callee[i]]].name;
        if (strcmp(from, caller) == 0 && strcmp(to, callee) == 0) {
            g_assert_cmpuint(found, ==, 0);
            found = i;
        }
    }
    g_assert_cmpuint(found, !=, 0);
    return found;
}

static void an_older_one_does_not_know_its_samples(void)
{
    static struct image image;
    for (unsigned version = FM_REC_VERSION_OLDEST; version <= FM_REC_VERSION; version++) {
        g_autoptr(FmProfile) profile = NULL;
        struct fm_finish_notes notes;
        make(&image);
        header_of(&image)->version = version;
        g_assert_true(finish(&image, FILE_BYTES, &profile, &notes, NULL));
        g_assert_cmpuint(profile->run_info.sample_count, ==, version == 1 ? 0 : 2);
        g_assert_cmpuint(profile->run_info.sample_squares, ==, version == 1 ? 0 : 5);
        fm_finish_notes_done(&notes);
    }
}

static void a_killed_program_keeps_all_counts(void)
{
    static struct image image;
    make(&image);
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(GError) error = NULL;
    struct fm_finish_notes notes;
    bool ok = finish(&image, FILE_BYTES, &profile, &notes, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    g_assert_true(notes.killed);
    g_assert_false(notes.live);
    g_assert_cmpuint(notes.calls, ==, 10);
    fm_finish_notes_done(&notes);
    g_assert_cmpint(profile->flavour, ==, FM_FLAVOUR_C);
    g_assert_cmpuint(profile->ticks_per_second, ==, 250);
    g_assert_cmpuint(profile->instrumentation_quanta, ==, 2);
    g_assert_cmpuint(profile->pd_count, ==, 4);
    uint32_t start = csd_to(profile, "main thread", "prog+0x500");
    g_assert_cmpuint(fm_profile_own(profile, start, FM_EXITS), ==, 0);
    g_assert_cmpuint(fm_profile_own(profile, start, FM_EXCPS), ==, 1);
    uint32_t work = csd_to(profile, "prog+0x500", "prog+0x600");
    g_assert_cmpuint(fm_profile_own(profile, work, FM_EXITS), ==, 4);
    g_assert_cmpuint(fm_profile_own(profile, work, FM_EXCPS), ==, 3);
    g_assert_cmpuint(fm_profile_own(profile, work, FM_CALLSEQS), ==, 7);
    g_assert_cmpuint(fm_profile_own(profile, work, FM_QUANTA), ==, (UINT64_C(1) << 32) + 3);
    g_assert_cmpuint(fm_profile_own(profile, work, FM_ALLOCS), ==, 5);
    g_assert_cmpuint(fm_profile_own(profile, work, FM_WORDS), ==, 520);
    g_assert_cmpuint(profile->measure_count, ==, FM_MEASURES_MERCURY + 5);
    g_assert_cmpstr(profile->measures[FM_MEASURES_MERCURY].name, ==, "frees");
    g_assert_cmpuint(fm_profile_own(profile, work, FM_MEASURES_MERCURY), ==, 4);
    g_assert_cmpuint(fm_profile_own(profile, work, FM_MEASURES_MERCURY + 1), ==, 410);
    g_assert_cmpuint(fm_profile_own(profile, work, FM_MEASURES_MERCURY + 2), ==, 500);
    uint32_t back = csd_to(profile, "prog+0x600", "prog+0x500");
    g_assert_cmpuint(profile->csd_callee[back], ==, profile->csd_callee[start]);
    g_assert_cmpuint(fm_profile_own(profile, back, FM_EXITS), ==, 2);
}

static void edges_of_one_foreign_place_are_one(void)
{
    static struct image image;
    make(&image);
    struct fm_raw_recording *recording = NULL;
    g_autoptr(GError) error = NULL;
    /* A second machine instance of the call of work, with a pd of its own and a callee below. */
    const struct fm_rec_thread *thread = bytes_at(&image, header_of(&image)->first_thread);
    const struct fm_rec_pd *root = bytes_at(&image, thread->root_pd);
    const struct fm_rec_csd *start = bytes_at(&image, root->first_csd);
    uint32_t twin = add_pd(&image, 0x1600), below = add_pd(&image, 0x1700);
    add_csd(&image, start->callee, twin, 11, 0x2000);
    add_csd(&image, twin, below, 13, 0x2200);
    g_autofree char *path = write_image(&image, FILE_BYTES);
    g_assert_true(fm_raw_recording_load(path, &recording, &error));
    g_assert_cmpuint(recording->pd_count, ==, 5);
    g_assert_cmpuint(recording->csd_count, ==, 6);
    fm_raw_recording_free(recording);
    g_autoptr(FmProfile) profile = NULL;
    struct fm_finish_notes notes;
    struct fm_finish_opts opts = {0};
    g_assert_true(fm_finish(path, &opts, &profile, &notes, &error));
    fm_finish_notes_done(&notes);
    g_unlink(path);
    /* Merged: 7 + 11 calls, and both pds' callees under one. */
    uint32_t work = csd_to(profile, "prog+0x500", "prog+0x600");
    g_assert_cmpuint(fm_profile_own(profile, work, FM_CALLSEQS), ==, 18);
    uint32_t lower = csd_to(profile, "prog+0x600", "prog+0x700");
    g_assert_cmpuint(profile->csd_caller[lower], ==, profile->csd_callee[work]);
    g_assert_cmpuint(profile->pd_count, ==, 5);
}

static void samples_are_checked(void)
{
    static struct image image;
    uint32_t ref;
    make(&image);
    const struct fm_rec_thread *thread = bytes_at(&image, header_of(&image)->first_thread);
    newest_sample(&image, &ref);
    const uint32_t bad[] = {ref, thread->root_csd, thread->root_pd, FILE_BYTES / FM_REC_UNIT,
                            UINT32_MAX};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        make(&image);
        newest_sample(&image, &ref)->next = bad[i];
        struct fm_profile *never = NULL;
        struct fm_finish_notes notes;
        g_autoptr(GError) error = NULL;
        g_assert_false(finish(&image, FILE_BYTES, &never, &notes, &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
    }
}

/* What addresses have is at most what their edge has. */
static void samples_are_not_more_than_their_edge(void)
{
    static struct image image;
    static const struct {
        uint64_t newer, read_newer, read_older;
    } cases[] = {{2, 2, 1}, {UINT64_MAX, (UINT64_C(1) << 32) + 3, 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(FmRawRecording) recording = NULL;
        g_autoptr(GError) error = NULL;
        uint32_t ref;
        make(&image);
        newest_sample(&image, &ref)->quanta = cases[i].newer;
        g_autofree char *path = write_image(&image, FILE_BYTES);
        g_assert_true(fm_raw_recording_load(path, &recording, &error));
        g_unlink(path);
        g_assert_cmpuint(recording->sample_count, ==, 2);
        g_assert_cmpuint(recording->samples[0].pc, ==, 0x1620);
        g_assert_cmpuint(recording->samples[0].quanta, ==, cases[i].read_newer);
        g_assert_cmpuint(recording->samples[1].quanta, ==, cases[i].read_older);
    }
}

static void headers_are_checked(void)
{
    static struct image image;
    static const struct {
        size_t offset;
        uint32_t value;
        enum fm_error code;
    } cases[] = {
        {offsetof(struct fm_rec_header, magic), 0, FM_ERROR_FORMAT},
        {offsetof(struct fm_rec_header, byte_order), 0x04030201, FM_ERROR_UNAVAILABLE},
        {offsetof(struct fm_rec_header, version), 99, FM_ERROR_VERSION},
        {offsetof(struct fm_rec_header, header_bytes), 1, FM_ERROR_VERSION},
        {offsetof(struct fm_rec_header, first_thread), 0x7fffffff, FM_ERROR_FORMAT},
        {offsetof(struct fm_rec_header, first_module), 0xffffffff, FM_ERROR_FORMAT},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        make(&image);
        memcpy((uint8_t *)image.aligned + cases[i].offset, &cases[i].value, 4);
        struct fm_profile *never = NULL;
        struct fm_finish_notes notes;
        g_autoptr(GError) error = NULL;
        g_assert_false(finish(&image, FILE_BYTES, &never, &notes, &error));
        g_assert_error(error, FM_ERROR, (int)cases[i].code);
    }
}

/* Whatever came of it, it must be sound: fm_build checks the rest. */
static void try_damaged(const struct image *image, size_t size)
{
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(GError) error = NULL;
    struct fm_finish_notes notes;
    if (finish(image, size, &profile, &notes, &error)) {
        g_assert_cmpuint(profile->root_pd, ==, 1);
        fm_finish_notes_done(&notes);
    } else {
        g_assert_nonnull(error);
        g_assert_cmpuint(error->domain, ==, FM_ERROR);
    }
}

static void truncated_anywhere(void)
{
    static struct image image;
    make(&image);
    for (size_t size = 0; size < image.used; size += size < FM_REC_HEADER_BYTES ? 512 : 4)
        try_damaged(&image, size);
}

static void damaged_anywhere(void)
{
    static struct image image;
    static const uint32_t values[] = {0, 1, 513, 0x7fffffff, 0xffffffff};
    make(&image);
    uint32_t used = image.used;
    for (uint32_t offset = 0; offset < used;
         offset += offset + 4 == sizeof(struct fm_rec_header) ? FM_REC_HEADER_BYTES - offset : 4) {
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
            make(&image);
            memcpy((uint8_t *)image.aligned + offset, &values[i], 4);
            try_damaged(&image, FILE_BYTES);
        }
    }
}

static void waits_are_those_of_the_file_and_the_open_one(void)
{
    static struct image image;
    g_autoptr(FmProfile) profile = NULL;
    struct fm_finish_notes notes;
    make(&image);
    g_assert_true(finish(&image, FILE_BYTES, &profile, &notes, NULL));
    fm_finish_notes_done(&notes);
    uint32_t start = csd_to(profile, "main thread", "prog+0x500");
    uint32_t work = csd_to(profile, "prog+0x500", "prog+0x600");
    unsigned waits = profile->measure_count - 2;
    g_assert_cmpstr(profile->measures[waits].name, ==, "waits");
    g_assert_cmpstr(profile->measures[waits + 1].name, ==, "wait_ns");
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    g_assert_cmpuint(fm_profile_own(profile, work, waits), ==, 3);
    g_assert_cmpuint(fm_profile_own(profile, work, waits + 1), ==, 30 + 40);
    g_assert_cmpuint(info->waiting_count, ==, 2);
    for (unsigned i = 0; i < 2; i++) {
        bool open = strcmp(info->waiting[i].kind, "sleep") == 0;
        g_assert_cmpuint(info->waiting[i].csd, ==, work);
        g_assert_cmpuint(info->waiting[i].ns, ==, open ? 40 : 30);
        g_assert_cmpuint(info->waiting[i].longest_ns, ==, open ? 40 : 20);
        g_assert_cmpuint(info->waiting[i].open, ==, open);
    }
    g_assert_cmpuint(info->blame_count, ==, 1);
    g_assert_cmpuint(info->blames[0].holder, ==, start);
    g_assert_cmpuint(info->blames[0].waits, ==, 2);
    g_assert_cmpstr(info->locks[info->blames[0].lock - 1].name, ==, "prog+0x2000");
    g_assert_cmpuint(info->thread_count, ==, 1);
    g_assert_cmpuint(info->threads[0].wall_ns, ==, 1000);
    g_assert_cmpuint(info->threads[0].wait_ns, ==, 70);
    g_assert_cmpuint(fm_thread_time_unseen(&info->threads[0]), ==, 1000 - 700 - 70);
}

static void add_thread(struct image *image, uint32_t tid)
{
    uint32_t ref = add(image, sizeof(struct fm_rec_thread)), root = add_pd(image, 0);
    struct fm_rec_thread *first = bytes_at(image, header_of(image)->first_thread);
    struct fm_rec_thread *thread = bytes_at(image, ref);
    *thread = (struct fm_rec_thread){.state = FM_REC_THREAD_LIVE,
                                     .tid = tid,
                                     .number = 1, /* they began at once */
                                     .root_pd = root,
                                     .root_csd = add_csd(image, 0, root, 0, 0),
                                     .next = first->next};
    first->next = ref;
}

/* The kernel begins again at small numbers when it has come to the greatest. */
static void threads_are_in_the_order_of_their_creation(void)
{
    static struct image image;
    struct fm_raw_recording *recording = NULL;
    g_autoptr(GError) error = NULL;
    make(&image);
    add_thread(&image, 301);
    add_thread(&image, 4999);
    add_thread(&image, 300);
    add_thread(&image, 4712);
    g_autofree char *path = write_image(&image, FILE_BYTES);
    g_assert_true(fm_raw_recording_load(path, &recording, &error));
    g_assert_no_error(error);
    g_unlink(path);
    static const uint32_t expected[] = {4711, 4712, 4999, 300, 301};
    g_assert_cmpuint(recording->thread_count, ==, G_N_ELEMENTS(expected));
    for (uint32_t i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_assert_cmpuint(recording->threads[i].tid, ==, expected[i]);
        g_assert_cmpuint(recording->threads[i].number, ==, i + 1);
    }
    fm_raw_recording_free(recording);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/recording/a_killed_program_keeps_all_counts",
                    a_killed_program_keeps_all_counts);
    g_test_add_func("/recording/older_versions", an_older_one_does_not_know_its_samples);
    g_test_add_func("/recording/edges_of_one_foreign_place_are_one",
                    edges_of_one_foreign_place_are_one);
    g_test_add_func("/recording/headers_are_checked", headers_are_checked);
    g_test_add_func("/recording/samples_are_checked", samples_are_checked);
    g_test_add_func("/recording/samples_are_not_more_than_their_edge",
                    samples_are_not_more_than_their_edge);
    g_test_add_func("/recording/threads_are_in_the_order_of_their_creation",
                    threads_are_in_the_order_of_their_creation);
    g_test_add_func("/recording/truncated_anywhere", truncated_anywhere);
    g_test_add_func("/recording/damaged_anywhere", damaged_anywhere);
    g_test_add_func("/recording/waits", waits_are_those_of_the_file_and_the_open_one);
    return g_test_run();
}
