/* SPDX-License-Identifier: Apache-2.0 */
/* A real file: what is in it is known. */
#include <string.h>

#include "maker.h"

static char *sample_path(const char *name)
{
    const char *folder = g_getenv("FATHOM_SAMPLE_DATA");
    char *path = g_build_filename(folder ? folder : "", "mercury", name, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return path;
    g_free(path);
    g_test_skip("no mercury/Deep.procrep in the folder FATHOM_SAMPLE_DATA");
    return NULL;
}

static void test_counts(void)
{
    static const uint32_t kinds_expected[FM_GOAL_KINDS] = {
        0,   18189, 186,  3985, 5220, 463,  196, 26151, 10378, 7,
        157, 5803,  1746, 1530, 3625, 2252, 687, 18925, 5284,  0};
    g_autofree char *path = sample_path("Deep.procrep");
    if (path == NULL)
        return;
    g_autoptr(FmProcrep) procrep = NULL;
    g_assert_true(fm_procrep_read(path, &procrep, NULL));
    g_assert_cmpuint(procrep->version, ==, 5);
    g_assert_cmpuint(procrep->module_count, ==, 118);
    g_assert_cmpuint(procrep->proc_count, ==, 8490);
    uint32_t kinds[FM_GOAL_KINDS] = {0}, goals = 0, named = 0, no_file = 0, looser = 0, deepest = 0;
    for (uint32_t i = 0; i < procrep->proc_count; i++) {
        g_autoptr(FmBody) body = NULL;
        g_assert_true(fm_procrep_body(procrep, i, &body, NULL));
        g_assert_cmpint(fm_procrep_find(procrep, &procrep->procs[i].label), ==, i);
        for (uint32_t g = 0; g < body->goal_count; g++)
            kinds[body->goals[g].kind]++;
        goals += body->goal_count;
        named += body->name_count;
        no_file += body->file[0] == '\0';
        looser += body->detism != body->goals[0].detism;
        deepest = MAX(deepest, body->depth);
    }
    g_assert_cmpmem(kinds, sizeof kinds, kinds_expected, sizeof kinds_expected);
    g_assert_cmpuint(goals, ==, 104784);
    g_assert_cmpuint(named, ==, 41078);
    g_assert_cmpuint(no_file, ==, 73);
    g_assert_cmpuint(looser, ==, 71);
    g_assert_cmpuint(deepest, ==, 1 + 22); /* the body and 22 steps below it */
}

static void test_printed(void)
{
    g_autofree char *path = sample_path("Deep.procrep");
    if (path == NULL)
        return;
    g_autoptr(FmProcrep) procrep = NULL;
    g_assert_true(fm_procrep_read(path, &procrep, NULL));
    size_t bytes = 0, lines = 0;
    for (uint32_t i = 0; i < procrep->module_count; i++) {
        g_autoptr(GString) out = g_string_new(NULL);
        g_assert_true(fm_procrep_print_module(out, procrep, &procrep->modules[i], NULL));
        size_t lines_here = 0;
        for (const char *at = out->str; *at != '\0'; at++)
            lines_here += *at == '\n';
        if (strcmp(procrep->modules[i].name, "mandelbrot") == 0) {
            g_assert_cmpuint(out->len, ==, 35836);
            g_assert_cmpuint(lines_here, ==, 1785);
        }
        bytes += out->len;
        lines += lines_here;
    }
    g_assert_cmpuint(bytes, ==, 9809193);
    g_assert_cmpuint(lines, ==, 427634);
}

static void test_written_again(void)
{
    g_autofree char *path = sample_path("Deep.procrep");
    if (path == NULL)
        return;
    g_autoptr(FmProcrep) procrep = NULL;
    g_assert_true(fm_procrep_read(path, &procrep, NULL));
    struct fm_writer *writer = fm_writer_new_memory();
    g_assert_true(fm_procrep_encode(procrep, 5, writer, NULL));
    g_autoptr(GBytes) again = fm_writer_finish_memory(writer);
    g_autofree char *whole = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &whole, &size, NULL));
    const char *bytes = g_bytes_get_data(again, NULL);
    gsize at = 0;
    while (at < size && at < g_bytes_get_size(again) && bytes[at] == whole[at])
        at++;
    g_assert_cmpuint(at, ==, size);
    g_assert_cmpuint(g_bytes_get_size(again), ==, size);
}

/* Truncated or changed at places all over the file. */
static void test_damaged(void)
{
    g_autofree char *path = sample_path("Deep.procrep");
    if (path == NULL)
        return;
    g_autofree char *whole = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &whole, &size, NULL));
    for (gsize cut = 0; cut < size; cut += size / 97) {
        g_autofree uint8_t *copy = g_memdup2(whole, MAX(cut, 1));
        struct fm_procrep *procrep = NULL;
        g_autoptr(GError) error = NULL;
        g_assert_false(fm_procrep_read_bytes("cut", copy, cut, &procrep, &error));
        g_assert_nonnull(strstr(error->message, "cut: offset "));
    }
    for (gsize at = 41; at < size; at += size / 997) {
        char before = whole[at];
        whole[at] = (char)(before ^ (1 << (at % 8)));
        struct fm_procrep *procrep = NULL;
        if (fm_procrep_read_bytes("flip", (const uint8_t *)whole, size, &procrep, NULL)) {
            for (uint32_t i = 0; i < procrep->proc_count; i++) {
                struct fm_body *body = NULL;
                g_autoptr(GError) error = NULL;
                if (procrep->procs[i].offset > at ||
                    procrep->procs[i].offset + procrep->procs[i].size <= at)
                    continue; /* the change is elsewhere */
                if (!fm_procrep_body(procrep, i, &body, &error))
                    g_assert_true(g_str_has_prefix(error->message, "flip: offset "));
                fm_body_free(body);
            }
            fm_procrep_free(procrep);
        }
        whole[at] = before;
    }
}

/* Which goals have call sites: every call exactly one, the others only callbacks of foreign code.
 */
static void test_call_sites(void)
{
    g_autofree char *path = sample_path("Deep.procrep"), *data = sample_path("Deep.data");
    if (path == NULL || data == NULL)
        return;
    g_autoptr(FmProcrep) procrep = NULL;
    g_autoptr(FmProfile) profile = NULL;
    g_assert_true(fm_procrep_read(path, &procrep, NULL));
    g_assert_true(fm_profile_read(data, NULL, &profile, NULL));
    uint32_t without = 0, on_calls = 0, on_foreign = 0;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        int64_t proc = fm_procrep_find_ps(procrep, &profile->ps[ps]);
        g_autoptr(FmBody) body = NULL;
        without += proc < 0;
        if (proc < 0)
            continue;
        g_assert_true(fm_procrep_body(procrep, (uint32_t)proc, &body, NULL));
        for (uint32_t slot = 0; slot < profile->ps[ps].css_count; slot++) {
            uint32_t css = profile->css_of_ps[profile->ps[ps].css_first + slot];
            uint32_t goal = fm_body_find(body, profile->css[css].goal_path);
            g_assert_cmpuint(goal, !=, FM_NO_GOAL);
            on_calls += fm_goal_is_call(&body->goals[goal]);
            on_foreign += body->goals[goal].kind == FM_GOAL_FOREIGN;
        }
    }
    g_assert_cmpuint(without, ==, 94);
    g_assert_cmpuint(on_calls, ==, 21864);
    g_assert_cmpuint(on_foreign, ==, 121);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/procrep/sample/counts", test_counts);
    g_test_add_func("/procrep/sample/printed", test_printed);
    g_test_add_func("/procrep/sample/written_again", test_written_again);
    g_test_add_func("/procrep/sample/damaged", test_damaged);
    g_test_add_func("/procrep/sample/call_sites", test_call_sites);
    return g_test_run();
}
