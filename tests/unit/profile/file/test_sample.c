/* SPDX-License-Identifier: Apache-2.0 */
/* The real profile: every known figure, and the round trip. */
#include <string.h>

#include "compare.h"

static char *sample_path(void)
{
    const char *folder = g_getenv("FATHOM_SAMPLE_DATA");
    char *path = g_build_filename(folder ? folder : "", "mercury", "Deep.data", NULL);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return path;
    g_free(path);
    g_test_skip("no mercury/Deep.data in the folder FATHOM_SAMPLE_DATA");
    return NULL;
}

static struct fm_profile *read_sample(const char *path)
{
    struct fm_profile *profile;
    g_autoptr(GError) error = NULL;
    if (!fm_profile_read(path, NULL, &profile, &error))
        g_error("%s", error->message);
    return profile;
}

static void test_header(void)
{
    g_autofree char *path = sample_path();
    if (!path)
        return;
    g_autoptr(FmProfile) profile = read_sample(path);
    g_assert_cmpint(profile->flavour, ==, FM_FLAVOUR_MERCURY);
    g_assert_cmpuint(profile->version, ==, 8);
    g_assert_cmpstr(profile->program_name, ==, "./mandelbrot");
    g_assert_cmphex(profile->flags, ==, 0x2108);
    g_assert_cmpuint(profile->word_size, ==, 8);
    g_assert_true(profile->canonical);
    g_assert_cmpint(profile->coverage, ==, FM_COVERAGE_DYNAMIC);
    g_assert_cmpuint(profile->csd_count, ==, 211);
    g_assert_cmpuint(profile->css_count, ==, 21992);
    g_assert_cmpuint(profile->pd_count, ==, 185);
    g_assert_cmpuint(profile->ps_count, ==, 8584);
    g_assert_cmpuint(profile->ticks_per_second, ==, 100);
    g_assert_cmpuint(profile->instrumentation_quanta, ==, 46);
    g_assert_cmpuint(profile->user_quanta, ==, 110);
    g_assert_cmpuint(profile->callseqs, ==, 202594363);
    g_assert_cmpuint(profile->root_pd, ==, 1);
    g_assert_cmpuint(profile->pd_ps[1], ==, 1);
}

static void test_statics(void)
{
    g_autofree char *path = sample_path();
    if (!path)
        return;
    g_autoptr(FmProfile) profile = read_sample(path);
    static const uint32_t kinds_expected[FM_SITE_KINDS] = {18487, 438, 2258, 687, 122};
    static const uint32_t labels_expected[] = {5715, 1952, 917};
    uint32_t kinds[FM_SITE_KINDS] = {0}, labels[3] = {0}, exported = 0, substitutions = 0;
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        kinds[profile->css[css].kind]++;
        substitutions += *profile->css[css].type_subst != '\0';
        g_assert_cmpstr(profile->css[css].file, ==, "");
    }
    uint32_t points[2] = {0};
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        const struct fm_ps *proc = &profile->ps[ps];
        labels[proc->label_kind]++;
        exported += proc->in_interface;
        for (uint32_t i = 0; i < proc->point_count; i++)
            points[profile->points[proc->point_first + i].type]++;
    }
    g_assert_cmpmem(kinds, sizeof(kinds), kinds_expected, sizeof(kinds_expected));
    g_assert_cmpmem(labels, sizeof(labels), labels_expected, sizeof(labels_expected));
    g_assert_cmpuint(exported, ==, 5700);
    g_assert_cmpuint(substitutions, ==, 0);
    g_assert_cmpuint(points[FM_POINT_AFTER], ==, 7232);
    g_assert_cmpuint(points[FM_POINT_BRANCH_ARM], ==, 12940);
    g_assert_cmpstr(profile->ps[62].raw_name, ==, "math.sqrt/2+1-0");
    g_assert_cmpstr(profile->ps[1].qualified_name, ==, "Mercury runtime.Mercury runtime/0-0");
}

static void test_dynamics(void)
{
    g_autofree char *path = sample_path();
    if (!path)
        return;
    g_autoptr(FmProfile) profile = read_sample(path);
    uint32_t slots[FM_SITE_KINDS] = {0}, empty = 0, lengths[6] = {0};
    g_autofree bool *used = g_new0(bool, profile->ps_count + 1);
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
        used[profile->pd_ps[pd]] = true;
        for (uint32_t slot = 0; slot < ps->css_count; slot++) {
            uint32_t count;
            fm_profile_slot(profile, pd, slot, &count);
            enum fm_site_kind kind = profile->css[profile->css_of_ps[ps->css_first + slot]].kind;
            slots[kind]++;
            if (kind == FM_SITE_NORMAL)
                empty += count == 0;
            else
                lengths[MIN(count, 5)]++;
        }
    }
    uint32_t distinct = 0;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
        distinct += used[ps];
    g_assert_cmpuint(distinct, ==, 99);
    g_assert_cmpuint(slots[FM_SITE_NORMAL], ==, 459);
    g_assert_cmpuint(empty, ==, 288);
    g_assert_cmpuint(slots[FM_SITE_SPECIAL], ==, 87);
    g_assert_cmpuint(slots[FM_SITE_HIGHER_ORDER], ==, 12);
    g_assert_cmpuint(slots[FM_SITE_METHOD], ==, 0);
    g_assert_cmpuint(slots[FM_SITE_CALLBACK], ==, 7);
    g_assert_cmpuint(lengths[0], ==, 70);
    g_assert_cmpuint(lengths[1], ==, 35);
    g_assert_cmpuint(lengths[5], ==, 1);
    static const uint64_t sums[] = {202594389, 13, 8, 0, 110, 202594363, 140837, 221479};
    int64_t calls = 0;
    uint64_t found[FM_MEASURES_MERCURY] = {0};
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        calls += fm_profile_calls(profile, csd);
        for (unsigned m = 0; m < FM_MEASURES_MERCURY; m++)
            found[m] += fm_profile_own(profile, csd, (enum fm_measure_id)m);
    }
    g_assert_cmpint(calls, ==, 202594394);
    g_assert_cmpmem(found, sizeof(found), sums, sizeof(sums));
    g_assert_cmpuint(profile->csd_own[FM_EXCPS].width, ==, 0);
    g_assert_cmpuint(profile->csd_own[FM_EXITS].width, ==, 4);
}

static void test_round_trip(void)
{
    g_autofree char *path = sample_path();
    if (!path)
        return;
    g_autoptr(FmProfile) profile = read_sample(path);
    g_autoptr(GBytes) nine = encode(profile, 9, true);
    g_autoptr(FmProfile) again = decode(nine);
    g_assert_cmpuint(again->version, ==, 9);
    assert_same_profile(profile, again);
    g_assert_cmpuint(g_bytes_get_size(nine), ==, 1242953 + 21992); /* an empty file name a css */
    /* In the older form, header and dynamics are the original's bytes; of the statics we keep the
     * ids and not the order. */
    g_autoptr(GBytes) eight = encode(again, 8, true);
    g_autofree char *original = NULL;
    size_t size;
    g_assert_true(g_file_get_contents(path, &original, &size, NULL));
    g_assert_cmpuint(g_bytes_get_size(eight), ==, size);
    g_assert_cmpint(memcmp(g_bytes_get_data(eight, NULL), original, 4800), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sample/header", test_header);
    g_test_add_func("/sample/statics", test_statics);
    g_test_add_func("/sample/dynamics", test_dynamics);
    g_test_add_func("/sample/round-trip", test_round_trip);
    return g_test_run();
}
