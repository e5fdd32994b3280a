/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/lines/hot_lines.h"

#include "made.h"

static struct fm_ps functions[] = {
    {.file = ""},    {.file = "/a/a.c"}, {.file = "/a/a.c"},
    {.file = "b.h"}, {.file = ""},       {.file = "b.h"},
};
static const struct fm_profile profile = {.ps = functions, .ps_count = 5};

static void add(struct fm_source_map_builder *builder, uint32_t ps, uint32_t line, uint64_t quanta)
{
    fm_source_map_builder_add(builder, ps, line, NULL, 0);
    fm_source_map_builder_add_time(builder, quanta);
}

static struct fm_source_map *made_map(void)
{
    struct fm_source_map_builder *builder = fm_source_map_builder_new();
    fm_source_map_builder_has_times(builder);
    add(builder, 1, 10, 7);
    add(builder, 1, 11, 0);
    add(builder, 2, 10, 9); /* the same line, of a function that is inlined in it */
    add(builder, 2, 30, 5);
    add(builder, 3, 10, 16); /* as many as in a.c:10, which stands first */
    add(builder, 4, 10, 99); /* it is not known in which file */
    add(builder, 5, 9, 5);
    return fm_source_map_builder_finish(builder, 5);
}

static void test_most_time_first(void)
{
    static const struct fm_hot_line expected[] = {{"/a/a.c", 10, 16, 2, 2},
                                                  {"b.h", 10, 16, 3, 1},
                                                  {"/a/a.c", 30, 5, 2, 1},
                                                  {"b.h", 9, 5, 5, 1}};
    g_autoptr(FmSourceMap) map = made_map();
    for (uint32_t max = 0; max <= 9; max++) {
        g_autofree struct fm_hot_line *lines = NULL;
        uint32_t count = fm_hot_lines(&profile, map, max, &lines);
        g_assert_cmpuint(count, ==, MIN(max, G_N_ELEMENTS(expected)));
        for (uint32_t i = 0; i < count; i++) {
            g_assert_cmpstr(lines[i].file, ==, expected[i].file);
            g_assert_cmpuint(lines[i].line, ==, expected[i].line);
            g_assert_cmpuint(lines[i].quanta, ==, expected[i].quanta);
            g_assert_cmpuint(lines[i].ps, ==, expected[i].ps);
            g_assert_cmpuint(lines[i].functions, ==, expected[i].functions);
        }
    }
}

static void test_without_times(void)
{
    struct fm_source_map_builder *builder = fm_source_map_builder_new();
    fm_source_map_builder_add(builder, 1, 10, NULL, 0);
    g_autoptr(FmSourceMap) map = fm_source_map_builder_finish(builder, 5);
    struct fm_hot_line *lines;
    g_assert_cmpuint(fm_hot_lines(&profile, map, 10, &lines), ==, 0);
    g_assert_null(lines);
    g_assert_cmpuint(fm_hot_lines(&profile, NULL, 10, &lines), ==, 0);
    g_assert_null(lines);
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/digest/hot-lines/most-time-first", test_most_time_first);
    g_test_add_func("/digest/hot-lines/without-times", test_without_times);
    return g_test_run();
}
