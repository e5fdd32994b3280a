/* SPDX-License-Identifier: Apache-2.0 */
/* Functions without hooks in recordings made by hand. */
#include <glib/gstdio.h>

#include "base/error.h"
#include "image.h"

/* Puts functions without hooks before all else of work's edge; returns the newest. */
static struct fm_rec_foreign *add_foreigns(struct image *image, uint32_t *ret_ref)
{
    uint32_t ref;
    newest_sample(image, &ref);
    uint32_t newer = add(image, sizeof(struct fm_rec_foreign));
    uint32_t older = add(image, sizeof(struct fm_rec_foreign));
    uint32_t side_ref = add(image, sizeof(struct fm_rec_side));
    const struct fm_rec_thread *thread = bytes_at(image, header_of(image)->first_thread);
    const struct fm_rec_pd *root = bytes_at(image, thread->root_pd);
    const struct fm_rec_csd *start = bytes_at(image, root->first_csd);
    const struct fm_rec_pd *main_pd = bytes_at(image, start->callee);
    struct fm_rec_csd *work = bytes_at(image, main_pd->first_csd);
    struct fm_rec_foreign *foreign = bytes_at(image, older);
    *foreign = (struct fm_rec_foreign){.fn = 0xa000, .call = 0x1610, .quanta = 1, .epoch = 1};
    foreign = bytes_at(image, newer);
    *foreign = (struct fm_rec_foreign){
        .fn = 0xb000, .quanta = 2, .next = older, .epoch = 1 | FM_REC_FOREIGN_KERNEL};
    struct fm_rec_side *side = bytes_at(image, side_ref);
    *side = (struct fm_rec_side){work->side, FM_REC_SIDE_FOREIGN, newer};
    work->side = side_ref;
    *ret_ref = newer;
    return foreign;
}

static void functions_without_hooks_are_not_more_than_their_edge(void)
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
        add_foreigns(&image, &ref)->quanta = cases[i].newer;
        g_autofree char *path = write_image(&image, FILE_BYTES);
        g_assert_true(fm_raw_recording_load(path, &recording, &error));
        g_unlink(path);
        g_assert_cmpuint(recording->foreign_count, ==, 2);
        g_assert_cmpuint(recording->foreigns[0].fn, ==, 0xb000);
        g_assert_cmpuint(recording->foreigns[0].epoch, ==, 1);
        g_assert_true(recording->foreigns[0].in_kernel);
        g_assert_cmpuint(recording->foreigns[0].quanta, ==, cases[i].read_newer);
        g_assert_cmpuint(recording->foreigns[1].call, ==, 0x1610);
        g_assert_false(recording->foreigns[1].in_kernel);
        g_assert_cmpuint(recording->foreigns[1].quanta, ==, cases[i].read_older);
    }
}

static void functions_without_hooks_are_checked(void)
{
    static struct image image;
    uint32_t ref;
    make(&image);
    add_foreigns(&image, &ref);
    const struct fm_rec_thread *thread = bytes_at(&image, header_of(&image)->first_thread);
    const uint32_t bad[] = {ref, thread->root_csd, FILE_BYTES / FM_REC_UNIT, UINT32_MAX};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        struct fm_profile *never = NULL;
        struct fm_finish_notes notes;
        g_autoptr(GError) error = NULL;
        make(&image);
        add_foreigns(&image, &ref)->next = bad[i];
        g_assert_false(finish(&image, FILE_BYTES, &never, &notes, &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
    }
}

/* The time of a tick in foreign code is also a sample at the call, and counts once. What was not
 * recorded is not known. */
static void functions_without_hooks_are_told_where_they_are_recorded(void)
{
    static struct image image;
    for (unsigned recorded = 0; recorded < 2; recorded++) {
        g_autoptr(FmProfile) profile = NULL;
        struct fm_finish_notes notes;
        uint32_t ref;
        make(&image);
        add_foreigns(&image, &ref);
        header_of(&image)->tick_source = FM_REC_TICK_CPU_TIMER;
        header_of(&image)->totals = recorded != 0 ? FM_REC_TOTALS_FOREIGN : 0;
        g_assert_true(finish(&image, FILE_BYTES, &profile, &notes, NULL));
        fm_finish_notes_done(&notes);
        const struct fm_unhooked_info *info = &profile->run_info.unhooked;
        g_assert_cmpint(info->recorded, ==, recorded != 0);
        uint64_t sum = 0;
        for (uint32_t i = 0; i < info->count; i++) {
            sum += info->of[i].quanta;
            g_assert_cmpstr(info->of[i].function, ==, "");
        }
        /* 3 in foreign code; of samples, the 2 that are at no call to it. */
        g_assert_cmpuint(sum, ==, recorded != 0 ? 5 : 0);
        g_assert_cmpuint(info->unknown_quanta, ==, recorded != 0 ? (UINT64_C(1) << 32) - 2 : 0);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/foreigns/bounded", functions_without_hooks_are_not_more_than_their_edge);
    g_test_add_func("/foreigns/checked", functions_without_hooks_are_checked);
    g_test_add_func("/foreigns/told", functions_without_hooks_are_told_where_they_are_recorded);
    return g_test_run();
}
