/* SPDX-License-Identifier: Apache-2.0 */
#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "profile/file/build.h"
#include "profile/file/attached/attached.h"
#include "profile/file/attached/source_map.h"

/* Two procedures, the second with three coverage points. */
static struct fm_profile *make_profile(const char *program)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, program);
    fm_build_header(build)->coverage = FM_COVERAGE_DYNAMIC;
    struct fm_ps ps = {.name = "f", .decl_module = "a.c", .def_module = "a.c", .file = "/a.c"};
    uint32_t first = fm_build_ps(build, &ps);
    uint32_t second = fm_build_ps(build, &ps);
    for (int i = 0; i < 3; i++)
        fm_build_point(
            build, second,
            &(struct fm_coverage_point){.goal_path = "1:1", .type = FM_POINT_BRANCH_ARM});
    fm_build_pd(build, first);
    struct fm_profile *profile;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    g_assert_no_error(error);
    return profile;
}

static struct fm_source_map *make_map(const struct fm_profile *profile)
{
    struct fm_source_map_builder *builder = fm_source_map_builder_new();
    fm_source_map_builder_add(builder, 1, 7, NULL, 0);
    fm_source_map_builder_add(builder, 2, 10, (const uint32_t[]){0}, 1);
    fm_source_map_builder_add(builder, 2, 300, (const uint32_t[]){1, 2}, 2);
    return fm_source_map_builder_finish(builder, profile->ps_count);
}

static void test_round_trip(void)
{
    g_autoptr(FmProfile) profile = make_profile("prog");
    g_autoptr(FmSourceMap) map = make_map(profile);
    g_autoptr(FmSourceMap) read = NULL;
    g_autoptr(GError) error = NULL;
    fm_source_map_attach(map, profile);
    g_assert_true(fm_source_map_find(NULL, "/nowhere/x.data", profile, &read, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(read->ps_count, ==, 2);
    g_assert_false(read->has_times);
    g_assert_cmpuint(read->line_first[1], ==, 0);
    g_assert_cmpuint(read->line_first[2], ==, 1);
    g_assert_cmpuint(read->line_first[3], ==, 3);
    g_assert_cmpuint(read->lines[0].line, ==, 7);
    g_assert_cmpuint(read->lines[2].line, ==, 300);
    const uint64_t counts[] = {5, 8, 6};
    g_assert_cmpuint(fm_source_map_count(read, &read->lines[0], counts), ==, UINT64_MAX);
    g_assert_cmpuint(fm_source_map_count(read, &read->lines[1], counts), ==, 5);
    g_assert_cmpuint(fm_source_map_count(read, &read->lines[2], counts), ==, 8);
}

static void test_times(void)
{
    g_autoptr(FmProfile) profile = make_profile("prog");
    struct fm_source_map_builder *builder = fm_source_map_builder_new();
    g_autoptr(FmSourceMap) read = NULL;
    g_autoptr(GError) error = NULL;
    fm_source_map_builder_has_times(builder);
    fm_source_map_builder_add(builder, 1, 7, NULL, 0);
    fm_source_map_builder_add(builder, 2, 10, (const uint32_t[]){0}, 1);
    fm_source_map_builder_add_time(builder, 1000000);
    g_autoptr(FmSourceMap) map = fm_source_map_builder_finish(builder, profile->ps_count);
    fm_source_map_attach(map, profile);
    g_assert_true(fm_source_map_find(NULL, "/nowhere/x.data", profile, &read, &error));
    g_assert_no_error(error);
    g_assert_true(read->has_times);
    g_assert_cmpuint(read->lines[0].quanta, ==, 0);
    g_assert_cmpuint(read->lines[1].quanta, ==, 1000000);
    g_assert_cmpuint(read->lines[1].point_count, ==, 1);
}

/* As it is attached. */
static GBytes *bytes_of(const struct fm_source_map *map, struct fm_profile *profile)
{
    struct fm_attached_bytes found;
    fm_source_map_attach(map, profile);
    g_assert_true(fm_attached_find(NULL, "x.data", profile, FM_ATTACHED_LINES, &found, NULL));
    GBytes *bytes = g_bytes_new(found.bytes, found.size);
    g_assert_true(fm_attached_end(&found, true, NULL));
    return bytes;
}

static void expect_failure(const struct fm_profile *profile, const uint8_t *bytes, size_t size,
                           int code)
{
    g_autoptr(GError) error = NULL;
    struct fm_source_map *map = NULL;
    g_assert_false(fm_source_map_read_bytes("x", bytes, size, profile, &map, &error));
    if (code >= 0)
        g_assert_error(error, FM_ERROR, code);
    g_assert_true(g_str_has_prefix(error->message, "x: offset"));
    g_assert_null(map);
}

static void test_damage(void)
{
    g_autoptr(FmProfile) profile = make_profile("prog");
    g_autoptr(FmProfile) other = make_profile("another");
    g_autoptr(FmSourceMap) map = make_map(profile);
    g_autoptr(GBytes) whole = bytes_of(map, profile);
    gsize size;
    const uint8_t *begin = g_bytes_get_data(whole, &size);
    g_autofree uint8_t *bytes = g_memdup2(begin, size);
    for (gsize cut = 0; cut < size; cut++)
        expect_failure(profile, bytes, cut, -1);
    expect_failure(other, bytes, size, FM_ERROR_FORMAT);
    /* The last point of the last line: the procedure has three. */
    g_assert_cmpint(bytes[size - 2], ==, 2);
    bytes[size - 2] = 3;
    expect_failure(profile, bytes, size, FM_ERROR_FORMAT);
}

static void put(const char *path, GBytes *bytes)
{
    gsize size;
    const char *begin = g_bytes_get_data(bytes, &size);
    g_assert_true(g_file_set_contents(path, begin, (gssize)size, NULL));
}

/* Of older recordings. NAME.lines goes before NAME.procrep, the name that the file had; what is
 * attached goes before both. */
static void test_beside(void)
{
    g_autoptr(FmProfile) profile = make_profile("prog"), with = make_profile("prog");
    g_autoptr(FmSourceMap) map = make_map(profile), old = NULL, new = NULL, attached = NULL;
    g_autoptr(GBytes) bytes = bytes_of(map, with);
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("source-map-XXXXXX", NULL);
    g_autofree char *data = g_build_filename(folder, "x.data", NULL);
    g_autofree char *procrep = g_build_filename(folder, "x.procrep", NULL);
    g_autofree char *lines = g_build_filename(folder, "x.lines", NULL);
    g_assert_false(fm_source_map_find(NULL, data, profile, &old, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_NOT_FOUND);
    put(procrep, bytes);
    g_assert_true(fm_source_map_find(NULL, data, profile, &old, NULL));
    g_assert_true(g_file_set_contents(procrep, "Mercury deep profiler procrep", -1, NULL));
    put(lines, bytes);
    g_assert_true(fm_source_map_find(NULL, data, profile, &new, NULL));
    g_assert_true(g_file_set_contents(lines, "another thing", -1, NULL));
    g_assert_true(fm_source_map_find(NULL, data, with, &attached, NULL));
    fm_attached_remove_beside(data);
    g_assert_true(g_file_test(lines, G_FILE_TEST_EXISTS)); /* it is not ours */
    put(lines, bytes);
    fm_attached_remove_beside(data);
    g_assert_false(g_file_test(lines, G_FILE_TEST_EXISTS));
    g_assert_true(g_file_test(procrep, G_FILE_TEST_EXISTS)); /* it may be a Mercury program's */
    g_unlink(procrep);
    g_rmdir(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/deep/source-map/round-trip", test_round_trip);
    g_test_add_func("/deep/source-map/times", test_times);
    g_test_add_func("/deep/source-map/damage", test_damage);
    g_test_add_func("/deep/source-map/beside", test_beside);
    return g_test_run();
}
