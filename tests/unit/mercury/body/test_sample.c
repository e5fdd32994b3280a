/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage and recursion of a real program, against figures computed independently. */
#include <math.h>
#include <string.h>

#include "sample.h"

struct tally {
    unsigned whole, zero, equal, different;
};

static void count_goals(struct tally *tally, const struct fm_coverage *coverage)
{
    g_assert_cmpuint(coverage->contradiction_count, ==, 0);
    tally->whole++;
    for (uint32_t goal = 0; goal < coverage->goal_count; goal++) {
        const struct fm_goal_counts *counts = &coverage->goals[goal];
        g_assert_true(counts->before.known && counts->after.known && !counts->doubtful);
        if (counts->before.count == 0 && counts->after.count == 0)
            tally->zero++;
        else if (counts->before.count == counts->after.count)
            tally->equal++;
        else
            tally->different++;
    }
}

static void test_coverage(void)
{
    struct fm_bodies *bodies = sample_bodies();
    if (bodies == NULL)
        return;
    const struct fm_analysis *a = fm_bodies_analysis(bodies);
    const struct fm_profile *profile = a->profile;
    struct tally of_pds = {0}, of_pss = {0};
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        g_autoptr(FmBody) body = NULL;
        g_autoptr(FmCoverage) coverage = NULL;
        if (!fm_bodies_body(bodies, profile->pd_ps[pd], &body, NULL))
            continue;
        g_assert_true(fm_coverage_of_pd(a, body, pd, &coverage, NULL));
        count_goals(&of_pds, coverage);
    }
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        g_autoptr(FmBody) body = NULL;
        g_autoptr(FmCoverage) coverage = NULL;
        if (fm_bodies_body(bodies, ps, &body, NULL) &&
            fm_coverage_of_ps(a, body, ps, &coverage, NULL))
            count_goals(&of_pss, coverage);
    }
    g_assert_cmpuint(of_pds.whole, ==, 159);
    g_assert_cmpuint(of_pds.zero, ==, 1758);
    g_assert_cmpuint(of_pds.equal, ==, 1110);
    g_assert_cmpuint(of_pds.different, ==, 75);
    g_assert_cmpuint(of_pss.whole, ==, 97);
    g_assert_cmpuint(of_pss.zero, ==, 911);
    g_assert_cmpuint(of_pss.equal, ==, 839);
    g_assert_cmpuint(of_pss.different, ==, 58);
}

static uint32_t find_ps(const struct fm_profile *profile, const char *raw_name)
{
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        if (strcmp(profile->ps[ps].raw_name, raw_name) == 0)
            return ps;
    }
    g_error("no procedure %s", raw_name);
}

static void test_known_goals(void)
{
    static const struct {
        const char *proc, *path, *counts;
    } expected[] = {
        {"mandelbrot.escape/7-0", "?;c2;", "100976685 - 100956624"},
        {"mandelbrot.escape/7-0", "t;c9;?;c4;", "100956624 - 100956624"},
        {"mandelbrot.escape/7-0", "t;c9;?;c6;", "100956624 - 19939"},
        {"mandelbrot.escape/7-0", "t;c9;t;", "19939 - 19939"},
        {"mandelbrot.escape/7-0", "t;c9;e;c5;", "100936685 - 100936685"},
        {"mandelbrot.escape/7-0", "e;", "20061 - 20061"},
        {"mandelbrot.escape/7-0", "", "100976685 - 100976685"},
        {"mandelbrot.draw_row_2/4-0", "s2-2;c1;", "40000 - 40000"},
        {"mandelbrot.draw_row_2/4-0", "s2-2;c7;?;", "40000 - 19939"},
        {"mandelbrot.draw_row_2/4-0", "s2-2;c7;t;c1;", "19939 - 19939"},
        {"mandelbrot.real_main/3-0", "c13;s1-2;c1;", "0 - 0"},
        {"mandelbrot.real_main/3-0", "c13;s2-2;c1;", "1 - 1"},
        {"mandelbrot.component_gradient/4-0", "c6;", "59817 - 59817"},
    };
    struct fm_bodies *bodies = sample_bodies();
    if (bodies == NULL)
        return;
    const struct fm_analysis *a = fm_bodies_analysis(bodies);
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
        uint32_t ps = find_ps(a->profile, expected[i].proc);
        g_autoptr(FmBody) body = NULL;
        g_autoptr(FmCoverage) coverage = NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        g_assert_true(fm_bodies_body(bodies, ps, &body, NULL));
        g_assert_true(fm_coverage_of_ps(a, body, ps, &coverage, NULL));
        uint32_t goal = fm_body_find(body, expected[i].path);
        g_assert_cmpuint(goal, !=, FM_NO_GOAL);
        fm_coverage_append(text, &coverage->goals[goal]);
        g_assert_cmpstr(text->str, ==, expected[i].counts);
    }
}

static void test_recursion_types(void)
{
    struct fm_bodies *bodies = sample_bodies();
    if (bodies == NULL)
        return;
    const struct fm_analysis *a = fm_bodies_analysis(bodies);
    unsigned kinds[FM_RECURSION_ERRORS + 1] = {0}, nondet = 0, multi = 0, no_body = 0, no_entry = 0;
    for (uint32_t clique = 1; clique <= a->clique_count; clique++) {
        const struct fm_recursion *recursion = fm_bodies_recursion(bodies, clique);
        kinds[recursion->kind]++;
        for (uint32_t i = 0; i < recursion->error_count; i++) {
            nondet += strcmp(recursion->errors[i], "nondet_rep code is not handled") == 0;
            multi += strcmp(recursion->errors[i], "multidet_rep code is not handled") == 0;
            no_body += strcmp(recursion->errors[i], "Cannot find procedure representation") == 0;
            no_entry += strstr(recursion->errors[i], "to have an entry procedure") != NULL;
        }
    }
    g_assert_cmpuint(kinds[FM_RECURSION_NONE], ==, 131);
    g_assert_cmpuint(kinds[FM_RECURSION_SINGLE], ==, 23);
    g_assert_cmpuint(kinds[FM_RECURSION_DIVIDE], ==, 2);
    g_assert_cmpuint(kinds[FM_RECURSION_MUTUAL] + kinds[FM_RECURSION_OTHER], ==, 0);
    g_assert_cmpuint(kinds[FM_RECURSION_ERRORS], ==, 29);
    g_assert_cmpuint(nondet, ==, 2);
    g_assert_cmpuint(multi, ==, 1);
    g_assert_cmpuint(no_body, ==, 25);
    g_assert_cmpuint(no_entry, ==, 1);
}

static bool near(double value, double expected)
{
    return fabs(value - expected) <= 1e-6 * MAX(1, fabs(expected));
}

static void test_single_recursions(void)
{
    static const struct {
        uint32_t clique;
        double total, parent, base, base_p, recursive, recursive_p, depth, at_two, at_depth;
    } expected[] = {
        {112, 201, 1, 0, 0.0049751243, 1011764.36, 0.9950248756, 201, 2023530.72, 203364837.36},
        {110, 40200, 200, 0, 0.0049751243, 5057.8068, 0.9950248756, 201, 10117.6136, 1016820.1668},
        {91, 100976685, 40000, 0.498475, 0.00039613, 1.0, 0.99960387, 2524.417125, 4.498475,
         5048.498475},
    };
    struct fm_bodies *bodies = sample_bodies();
    if (bodies == NULL)
        return;
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
        const struct fm_recursion *r = fm_bodies_recursion(bodies, expected[i].clique);
        g_assert_cmpint(r->kind, ==, FM_RECURSION_SINGLE);
        g_assert_true(near(r->total_calls, expected[i].total));
        g_assert_true(near(r->parent_calls, expected[i].parent));
        g_assert_true(near(r->base_cost, expected[i].base));
        g_assert_true(near(r->base_probability, expected[i].base_p));
        g_assert_true(near(r->recursive_cost, expected[i].recursive));
        g_assert_true(near(r->recursive_probability, expected[i].recursive_p));
        g_assert_true(near(r->depth, expected[i].depth));
        g_assert_true(near(fm_recursion_cost_at(r, 2), expected[i].at_two));
        g_assert_true(
            near(fm_recursion_cost_at(r, fm_round_half_up(r->depth)), expected[i].at_depth));
    }
}

static void test_divide_and_conquer(void)
{
    static const struct {
        uint32_t pd;
        double total, base, base_p, recursive, recursive_p;
    } expected[] = {{17, 7, 0, 4.0 / 7, 6.0, 3.0 / 7}, {158, 79999, 4.0, 0.500006, 0, 0.499994}};
    struct fm_bodies *bodies = sample_bodies();
    if (bodies == NULL)
        return;
    const struct fm_analysis *a = fm_bodies_analysis(bodies);
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
        const struct fm_recursion *r = fm_bodies_recursion(bodies, a->pd_clique[expected[i].pd]);
        g_assert_cmpint(r->kind, ==, FM_RECURSION_DIVIDE);
        g_assert_cmpuint(r->level_count, ==, 2);
        g_assert_cmpuint(r->levels[1].level, ==, 2);
        g_assert_true(near(r->total_calls, expected[i].total));
        g_assert_true(near(r->levels[0].cost, expected[i].base));
        g_assert_true(near(r->levels[0].probability, expected[i].base_p));
        g_assert_true(near(r->levels[1].cost, expected[i].recursive));
        g_assert_true(near(r->levels[1].probability, expected[i].recursive_p));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/body/sample/coverage", test_coverage);
    g_test_add_func("/body/sample/known_goals", test_known_goals);
    g_test_add_func("/body/sample/recursion_types", test_recursion_types);
    g_test_add_func("/body/sample/single_recursions", test_single_recursions);
    g_test_add_func("/body/sample/divide_and_conquer", test_divide_and_conquer);
    return g_test_run();
}
