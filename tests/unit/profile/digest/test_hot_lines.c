/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/lines/allocating_lines.h"

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
    static const struct fm_hot_line expected[] = {{"/a/a.c", 10, 16, 2, 2, 0, 0},
                                                  {"b.h", 10, 16, 3, 1, 0, 0},
                                                  {"/a/a.c", 30, 5, 2, 1, 0, 0},
                                                  {"b.h", 9, 5, 5, 1, 0, 0}};
    g_autoptr(FmSourceMap) map = made_map();
    for (uint32_t max = 0; max <= 9; max++) {
        g_autofree struct fm_hot_line *lines = NULL;
        uint32_t count = fm_hot_lines(&profile, map, max, &lines);
        g_assert_cmpuint(count, ==, MIN(max, G_N_ELEMENTS(expected)));
        for (uint32_t i = 0; i < count; i++) {
            g_assert_cmpstr(lines[i].file, ==, expected[i].file);
            g_assert_cmpuint(lines[i].line, ==, expected[i].line);
            g_assert_cmpuint(lines[i].amount, ==, expected[i].amount);
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

static void check(const struct made *made, const struct fm_hot_line *expected, uint32_t count,
                  uint32_t max)
{
    struct fm_hot *hot = fm_hot_new(made->a);
    g_autofree struct fm_hot_line *lines = NULL;
    g_assert_cmpuint(fm_allocating_lines(made->a, hot, FM_WORDS, FM_ALLOCS, max, &lines), ==,
                     count);
    for (uint32_t i = 0; i < count; i++) {
        g_assert_cmpstr(lines[i].file, ==, expected[i].file);
        g_assert_cmpuint(lines[i].line, ==, expected[i].line);
        g_assert_cmpuint(lines[i].amount, ==, expected[i].amount);
        g_assert_cmpuint(lines[i].blocks, ==, expected[i].blocks);
        g_assert_cmpuint(lines[i].ps, ==, expected[i].ps);
        g_assert_cmpuint(lines[i].functions, ==, expected[i].functions);
        g_assert_cmpuint(lines[i].more_lines, ==, expected[i].more_lines);
    }
    fm_hot_free(hot);
}

static void test_wrappers_give_way_to_the_lines_that_call_them(void)
{
    struct made made = made_program();
    const struct fm_hot_line expected[] = {{"b.c", 80, 9000, made_ps(&made, "load"), 1, 0, 90},
                                           {"a.c", 71, 256, made_ps(&made, "term"), 1, 0, 16}};
    check(&made, expected, 2, 10);
    check(&made, expected, 1, 1);
    made_clear(&made);
}

static uint32_t add_function(struct fm_build *build, const char *name, uint32_t line)
{
    return fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                              .decl_module = "a.c",
                                              .def_module = "a.c",
                                              .name = name,
                                              .raw_name = name,
                                              .file = "a.c",
                                              .line = line});
}

static void add_call(struct fm_build *build, uint32_t ps, uint32_t line, const char *label,
                     uint32_t inlined)
{
    fm_build_css(build, ps,
                 &(struct fm_css){.kind = inlined != 0 ? FM_SITE_NORMAL : FM_SITE_CALLBACK,
                                  .callee_ps = inlined,
                                  .inlined = inlined != 0,
                                  .line = line,
                                  .goal_path = label});
}

/* Which functions allocate is known; their lines follow from their calls. */
static void test_lines_are_those_of_calls_of_the_allocator(void)
{
    static const char *const names[] = {"main", "one", "two", "twice", "around", "library", "body"};
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "made");
    uint32_t ps[G_N_ELEMENTS(names)];
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        ps[i] = add_function(build, names[i], 100 * i);
    for (unsigned i = 1; i < 6; i++)
        add_call(build, ps[0], i, "3", 0);
    add_call(build, ps[1], 110, "7 strlen", 0);
    add_call(build, ps[1], 111, "7 malloc", 0);
    add_call(build, ps[2], 210, "7 _Znwm", 0);
    add_call(build, ps[2], 211, " calloc", 0);
    add_call(build, ps[3], 310, "7 malloc", 0); /* two calls of one line */
    add_call(build, ps[3], 310, "9 malloc", 0);
    add_call(build, ps[4], 410, "7", ps[6]);
    add_call(build, ps[5], 510, "7 mallocate", 0);
    add_call(build, ps[6], 610, "7 strdup", 0);
    uint32_t root = fm_build_pd(build, ps[0]);
    for (unsigned i = 1; i < 6; i++) {
        uint32_t csd = fm_build_csd(build, root, i - 1, fm_build_pd(build, ps[i]));
        fm_build_add(build, csd, FM_EXITS, 1);
        fm_build_add(build, csd, FM_CALLSEQS, 1);
        fm_build_add(build, csd, FM_ALLOCS, 10 * i);
        fm_build_add(build, csd, FM_WORDS, 1000 * i);
    }
    struct made made = made_built(build);
    const struct fm_hot_line expected[] = {{"a.c", 0, 5000, made_ps(&made, "library"), 1, 0, 50},
                                           {"a.c", 610, 4000, made_ps(&made, "around"), 1, 0, 40},
                                           {"a.c", 310, 3000, made_ps(&made, "twice"), 1, 0, 30},
                                           {"a.c", 210, 2000, made_ps(&made, "two"), 1, 1, 20},
                                           {"a.c", 111, 1000, made_ps(&made, "one"), 1, 0, 10}};
    check(&made, expected, 5, 10);
    made_clear(&made);
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/digest/hot-lines/most-time-first", test_most_time_first);
    g_test_add_func("/digest/hot-lines/without-times", test_without_times);
    g_test_add_func("/digest/allocating-lines/wrappers",
                    test_wrappers_give_way_to_the_lines_that_call_them);
    g_test_add_func("/digest/allocating-lines/calls",
                    test_lines_are_those_of_calls_of_the_allocator);
    return g_test_run();
}
