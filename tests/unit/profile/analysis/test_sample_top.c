/* SPDX-License-Identifier: Apache-2.0 */
/* Top procedures, the action, contours, getters and setters of the real profile. */
#include <glib/gstdio.h>

#include "sample.h"

static void test_top(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    static const struct {
        enum fm_cost_kind kind;
        bool both;
        enum fm_cost_scope scope;
        uint32_t candidates, first_count, first[6];
    } orders[] = {
        {FM_BY_CALLS, false, FM_OVERALL, 98, 6, {62, 61, 54, 86, 88, 63}},
        {FM_BY_CALLS, true, FM_PER_CALL, 98, 6, {62, 61, 54, 86, 88, 63}}, /* self, overall */
        {FM_BY_REDOS, false, FM_OVERALL, 2, 2, {10, 11}},
        {FM_BY_TIME, false, FM_OVERALL, 2, 2, {62, 61}},
        {FM_BY_TIME, true, FM_OVERALL, 7, 6, {3, 53, 57, 58, 60, 61}},
        {FM_BY_TIME, true, FM_PER_CALL, 7, 6, {3, 53, 58, 57, 60, 61}},
        {FM_BY_CALLSEQS, true, FM_OVERALL, 97, 6, {3, 53, 57, 58, 60, 61}},
        {FM_BY_CALLSEQS, true, FM_PER_CALL, 97, 6, {3, 53, 58, 57, 69, 87}},
        {FM_BY_ALLOCS, false, FM_OVERALL, 34, 6, {65, 60, 56, 68, 57, 22}},
        {FM_BY_WORDS, true, FM_OVERALL, 55, 6, {3, 53, 57, 58, 60, 65}},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(orders); i++) {
        struct fm_top_query query = {.kind = orders[i].kind,
                                     .with_descendants = orders[i].both,
                                     .scope = orders[i].scope,
                                     .limit = FM_LIMIT_RANK,
                                     .first = 1,
                                     .last = UINT32_MAX};
        g_autofree uint32_t *ps = NULL;
        uint32_t count;
        fm_analysis_top(a, &query, &ps, &count);
        g_assert_cmpuint(count, ==, orders[i].candidates);
        for (uint32_t j = 0; j < orders[i].first_count; j++)
            g_assert_cmpuint(ps[j], ==, orders[i].first[j]);
    }
}

/* Each measure has its kind, and is the measure of that kind. */
static void test_kinds_of_measures(void)
{
    g_assert_cmpint(fm_cost_kind_of(FM_QUANTA), ==, FM_BY_TIME);
    g_assert_cmpint(fm_cost_kind_of(FM_CALLSEQS), ==, FM_BY_CALLSEQS);
    g_assert_cmpint(fm_cost_kind_of(FM_WORDS), ==, FM_BY_WORDS);
    for (unsigned measure = 0; measure < FM_MEASURES_MAX; measure++) {
        enum fm_measure_id id = (enum fm_measure_id)measure;
        struct fm_cost cost = {.calls = 1000};
        for (unsigned other = 0; other < FM_MEASURES_MAX; other++)
            cost.own[other] = (int64_t)other + 1;
        g_assert_cmpint(fm_cost_measure(fm_cost_kind_of(id)), ==, id);
        g_assert_cmpfloat(fm_cost_value(&cost, fm_cost_kind_of(id), false, FM_OVERALL), ==,
                          measure + 1);
    }
}

static void test_top_limits(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    static const struct {
        enum fm_limit_kind limit;
        double threshold;
        uint32_t first, last, count;
    } limits[] = {
        {FM_LIMIT_PERCENT, 0.1, 0, 0, 11},    {FM_LIMIT_PERCENT, 1, 0, 0, 7},
        {FM_LIMIT_PERCENT, 10, 0, 0, 7},      {FM_LIMIT_VALUE, 1000000, 0, 0, 7},
        {FM_LIMIT_VALUE, 202594348, 0, 0, 1}, /* at least, not more than */
        {FM_LIMIT_VALUE, 202594349, 0, 0, 0}, {FM_LIMIT_RANK, 0, 3, 5, 3},
        {FM_LIMIT_RANK, 0, 97, 200, 1},       {FM_LIMIT_RANK, 0, 98, 200, 0},
        {FM_LIMIT_RANK, 0, 0, 5, 0},          {FM_LIMIT_RANK, 0, 5, 1, 0},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(limits); i++) {
        struct fm_top_query query = {.kind = FM_BY_CALLSEQS,
                                     .with_descendants = true,
                                     .scope = FM_OVERALL,
                                     .limit = limits[i].limit,
                                     .first = limits[i].first,
                                     .last = limits[i].last,
                                     .threshold = limits[i].threshold};
        g_autofree uint32_t *ps = NULL;
        uint32_t count;
        fm_analysis_top(a, &query, &ps, &count);
        g_assert_cmpuint(count, ==, limits[i].count);
    }
    /* Per call, the threshold is compared with what the list is ordered by. */
    struct fm_top_query query = {.kind = FM_BY_CALLSEQS,
                                 .with_descendants = true,
                                 .scope = FM_PER_CALL,
                                 .limit = FM_LIMIT_VALUE,
                                 .threshold = 1006731};
    g_autofree uint32_t *ps = NULL;
    uint32_t count;
    fm_analysis_top(a, &query, &ps, &count);
    g_assert_cmpuint(count, ==, 4);
    struct fm_cost cost;
    fm_analysis_ps_cost(a, ps[3], &cost);
    g_assert_cmpfloat_with_epsilon(fm_cost_value(&cost, FM_BY_CALLSEQS, true, FM_PER_CALL),
                                   1006731.7065, 0.0001);
}

static void test_action(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    g_assert_cmpuint(fm_analysis_action_clique(a, 90, FM_CALLSEQS), ==, 91);
    g_assert_cmpuint(fm_analysis_action_clique(a, 50, FM_CALLSEQS), ==, 91);
    /* Without the recursive edge, which does not leave the clique, the square root is alone. */
    g_assert_cmpuint(fm_analysis_action_clique(a, 49, FM_CALLSEQS), ==, 90);
    g_assert_cmpuint(fm_analysis_action_clique(a, 101, FM_CALLSEQS), ==, 185);
}

static void test_contour(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    static const struct {
        const char *text; /* NULL: no file */
        enum fm_contour_state state;
        const char *message; /* part of it */
        uint32_t ps, caller; /* the only caller of ps, by procedure */
        int64_t own;
    } cases[] = {
        {NULL, FM_CONTOUR_NO_FILE, NULL, 0, 0, 0},
        {"", FM_CONTOUR_OK, NULL, 0, 0, 0},
        {"all mandelbrot\n", FM_CONTOUR_OK, NULL, 62, 1, 100996502},
        {" all\tmandelbrot", FM_CONTOUR_OK, NULL, 54, 1, 159514},
        {"internal mandelbrot\n", FM_CONTOUR_OK, NULL, 62, 3, 100996502},
        {"internal mandelbrot\nall nomodule\nall other\n", FM_CONTOUR_OK,
         "unrecognized module names: other, nomodule.These modules", 62, 3, 100996502},
        {"all nomodule\n", FM_CONTOUR_BAD, "contains only unrecognized module names.", 0, 0, 0},
        {"all mandelbrot\n\n", FM_CONTOUR_BAD, "contains badly formatted line: ", 0, 0, 0},
        {"All mandelbrot\n", FM_CONTOUR_BAD, "badly formatted line: All mandelbrot", 0, 0, 0},
        {"all mandelbrot x\n", FM_CONTOUR_BAD, "badly formatted line: all mandelbrot x", 0, 0, 0},
    };
    g_autofree char *folder = g_dir_make_tmp("fathom-contour-XXXXXX", NULL);
    g_autofree char *data = g_build_filename(folder, "x.data", NULL);
    g_autofree char *path = g_build_filename(folder, "x.contour", NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_contour *contour;
        g_autofree char *message = NULL;
        if (cases[i].text)
            g_assert_true(g_file_set_contents(path, cases[i].text, -1, NULL));
        g_assert_cmpint(fm_contour_read(NULL, data, a, &contour, &message), ==, cases[i].state);
        if (cases[i].message && !g_strrstr(message, cases[i].message))
            g_test_message("%s", message);
        g_assert_true(cases[i].message ? message && g_strrstr(message, cases[i].message)
                                       : message == NULL);
        g_assert_true((contour != NULL) == (cases[i].state == FM_CONTOUR_OK));
        if (cases[i].ps != 0) {
            g_autofree struct fm_callers_row *rows = NULL;
            uint32_t count;
            fm_analysis_callers(a, cases[i].ps, FM_GROUP_PROC, contour, &rows, &count);
            g_assert_cmpuint(count, ==, 1);
            g_assert_cmpuint(rows[0].ps, ==, cases[i].caller);
            g_assert_cmpint(rows[0].cost.own[FM_CALLSEQS], ==, cases[i].own);
        }
        fm_contour_free(contour);
    }
    g_unlink(path);
    g_rmdir(folder);
}

static void test_fields(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    uint32_t modules = 0;
    for (uint32_t i = 0; i < a->module_count; i++) {
        struct fm_accessor *accessors;
        uint32_t count;
        fm_analysis_accessors(a, &a->modules[i], &accessors, &count);
        modules += count > 0;
        if (g_str_equal(a->modules[i].name, "io")) {
            g_assert_cmpuint(count, ==, 1);
            g_assert_cmpstr(accessors[0].structure, ==, "unsafe");
            g_assert_cmpstr(accessors[0].field, ==, "globals");
            g_assert_true(accessors[0].setter);
        }
        if (g_str_equal(a->modules[i].name, "digraph")) {
            uint32_t doubled = 0;
            for (uint32_t j = 1; j < count; j++)
                doubled += accessors[j].setter && accessors[j - 1].setter &&
                           g_str_equal(accessors[j].field, accessors[j - 1].field) &&
                           g_str_equal(accessors[j].structure, accessors[j - 1].structure);
            g_assert_cmpuint(doubled, ==, 2);
        }
        fm_accessors_free(accessors, count);
    }
    g_assert_cmpuint(modules, ==, 13);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sample/top", test_top);
    g_test_add_func("/sample/top-limits", test_top_limits);
    g_test_add_func("/sample/kinds-of-measures", test_kinds_of_measures);
    g_test_add_func("/sample/action", test_action);
    g_test_add_func("/sample/contour", test_contour);
    g_test_add_func("/sample/fields", test_fields);
    return g_test_run();
}
