/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of made-up programs, as the generator writes them: sound, so every invariant holds.
 * The generator's path comes as the last argument. */
#include <glib/gstdio.h>

#include "profile/analysis/analysis.h"

static const char *generator;

static struct fm_profile *generate(const char *const *options)
{
    g_autofree char *folder = g_dir_make_tmp("fathom-generated-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "x.data", NULL);
    g_autoptr(GPtrArray) arguments = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    int status;
    g_ptr_array_add(arguments, (void *)(uintptr_t)generator);
    for (; *options; options++)
        g_ptr_array_add(arguments, (void *)(uintptr_t)*options);
    g_ptr_array_add(arguments, path);
    g_ptr_array_add(arguments, NULL);
    if (!g_spawn_sync(NULL, (char **)arguments->pdata, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
                      NULL, NULL, &status, &error) ||
        !g_spawn_check_wait_status(status, &error))
        g_error("%s", error->message);
    struct fm_profile *profile;
    if (!fm_profile_read(path, NULL, &profile, &error))
        g_error("%s", error->message);
    g_unlink(path);
    g_rmdir(folder);
    return profile;
}

static void add_rows(struct fm_cost *to, const struct fm_callers_row *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fm_cost_add(to, &rows[i].cost);
}

static void assert_equal(const struct fm_cost *a, const struct fm_cost *b)
{
    g_assert_cmpint(a->calls, ==, b->calls);
    g_assert_cmpmem(a->own, sizeof(a->own), b->own, sizeof(b->own));
    g_assert_cmpmem(a->desc, sizeof(a->desc), b->desc, sizeof(b->desc));
}

/* The rows of callers and the two rows that recursion needs are the procedure's cost, in every
 * measure. Returns how many procedures needed them. */
static uint32_t assert_callers_add_up(const struct fm_analysis *a)
{
    uint32_t recursive = 0;
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++) {
        struct fm_callers_sum sum;
        struct fm_cost total, all = {0};
        fm_analysis_callers_sum(a, ps, &sum);
        fm_analysis_ps_cost(a, ps, &total);
        assert_equal(&sum.total, &total);
        for (int group = FM_GROUP_CALL_SITE; group <= FM_GROUP_CLIQUE; group++) {
            g_autofree struct fm_callers_row *outside = NULL, *inside = NULL;
            uint32_t outside_count, inside_count;
            struct fm_cost paid = {0}, within = {0};
            fm_analysis_callers(a, ps, (enum fm_callers_group)group, NULL, &outside,
                                &outside_count);
            fm_analysis_callers_inside(a, ps, (enum fm_callers_group)group, NULL, &inside,
                                       &inside_count);
            add_rows(&paid, outside, outside_count);
            add_rows(&within, inside, inside_count);
            assert_equal(&paid, &sum.outside);
            g_assert_cmpint(within.calls, ==, sum.within.calls);
            g_assert_cmpmem(within.own, sizeof(within.own), sum.within.own, sizeof(sum.within.own));
            g_assert_true((inside_count > 0) == fm_analysis_is_recursive(a, ps));
        }
        fm_cost_add(&all, &sum.outside);
        fm_cost_add(&all, &sum.within);
        fm_cost_add(&all, &sum.others);
        assert_equal(&all, &total);
        g_assert_cmpint(fm_cost_total(&sum.within, FM_CALLSEQS), >=, 0);
        g_assert_cmpint(fm_cost_total(&sum.others, FM_CALLSEQS), <=, 0);
        recursive += sum.within.calls != 0 && fm_cost_total(&sum.within, FM_CALLSEQS) != 0;
        recursive += fm_cost_total(&sum.others, FM_CALLSEQS) != 0;
    }
    return recursive;
}

static void test_callers_add_up(void)
{
    uint32_t recursive = 0;
    for (unsigned seed = 1; seed <= 6; seed++) {
        g_autofree char *text = g_strdup_printf("--seed=%u", seed);
        const char *const options[] = {seed == 6 ? "--nodes=60000" : "--nodes=4000", text,
                                       seed % 2 ? "--c" : "--procs=60", NULL};
        g_autoptr(FmProfile) profile = generate(options);
        g_autoptr(FmAnalysis) a = NULL;
        g_assert_true(fm_analysis_new(profile, NULL, &a, NULL));
        recursive += assert_callers_add_up(a);
    }
    g_assert_cmpuint(recursive, >, 10);
}

/* By the calls themselves. */
static void add_up(const struct fm_analysis *a, uint32_t css, uint32_t first, uint32_t end,
                   struct fm_cost *ret)
{
    for (uint32_t i = a->css_csd_first[css] + first; i < a->css_csd_first[css] + end; i++) {
        struct fm_cost cost;
        fm_analysis_csd_cost(a, a->css_csds[i], &cost);
        fm_analysis_csd_compensation(a, a->css_csds[i], a->profile->css[css].ps, -1, &cost);
        fm_cost_add(ret, &cost);
    }
}

/* What a site's calls of a procedure cost, whether sums are kept of them or not. ret: how many
 * procedures were called through pointers at one site seldom; and often. */
static void assert_callees_add_up(const struct fm_analysis *a, uint32_t ret[2])
{
    for (uint32_t css = 1; css <= a->profile->css_count; css++) {
        struct fm_cost cost;
        uint32_t from = 0, counted = 0, ps, before = 0, same;
        int64_t calls;
        while (fm_analysis_site_callee(a, css, &from, &ps, &cost)) {
            struct fm_cost sum = {0};
            add_up(a, css, before, from, &sum);
            assert_equal(&cost, &sum);
            g_assert_true(fm_analysis_site_calls(a, css, &counted, &same, &calls));
            g_assert_cmpuint(same, ==, ps);
            g_assert_cmpuint(counted, ==, from);
            g_assert_cmpint(calls, ==, sum.calls);
            ret[from - before > 40] += a->profile->css[css].kind != FM_SITE_NORMAL;
            before = from;
        }
        g_assert_cmpuint(before, ==, a->css_csd_first[css + 1] - a->css_csd_first[css]);
    }
}

static void test_callees_add_up(void)
{
    static const char *const few[] = {"--nodes=40000", "--procs=8", "--c", NULL};
    static const char *const many[] = {"--nodes=20000", "--procs=300", NULL};
    uint32_t arcs[2] = {0, 0};
    for (unsigned i = 0; i < 2; i++) {
        g_autoptr(FmProfile) profile = generate(i == 0 ? few : many);
        g_autoptr(FmAnalysis) a = NULL;
        g_assert_true(fm_analysis_new(profile, NULL, &a, NULL));
        assert_callees_add_up(a, arcs);
        for (uint32_t pd = 1; pd <= profile->pd_count; pd++)
            g_assert_cmpuint(fm_analysis_pd_own_bound(a, pd, FM_WORDS), >=,
                             (uint64_t)fm_analysis_pd_own(a, pd, FM_WORDS));
    }
    g_assert_cmpuint(arcs[0], >, 100);
    g_assert_cmpuint(arcs[1], >, 2);
}

static void assert_sound(const struct fm_profile *profile)
{
    g_autoptr(FmAnalysis) a = NULL;
    g_autoptr(GError) error = NULL;
    if (!fm_analysis_new(profile, NULL, &a, &error))
        g_error("%s", error->message);
    struct fm_invariant *invariants;
    unsigned count;
    fm_analysis_invariants(a, &invariants, &count);
    for (unsigned i = 0; i < count; i++) {
        if (!invariants[i].holds)
            g_test_message("%s: %s", invariants[i].name, invariants[i].detail);
        g_assert_true(invariants[i].holds);
    }
    fm_invariants_free(invariants, count);
    g_assert_cmpint(fm_cost_total(&a->root_total, FM_CALLSEQS), ==, profile->callseqs);
    g_assert_cmpuint(profile->callseqs, >, 0);
}

static void test_seeds(void)
{
    for (unsigned seed = 1; seed <= 30; seed++) {
        g_autofree char *text = g_strdup_printf("--seed=%u", seed);
        const char *const options[] = {"--nodes=3000", text,
                                       seed % 3 == 0   ? "--c"
                                       : seed % 3 == 1 ? "--version-8"
                                                       : "--procs=300",
                                       seed % 2 == 0 ? "--no-coverage" : NULL, NULL};
        g_autoptr(FmProfile) profile = generate(options);
        assert_sound(profile);
        g_assert_cmpint(profile->flavour, ==, seed % 3 == 0 ? FM_FLAVOUR_C : FM_FLAVOUR_MERCURY);
        g_assert_cmpint(profile->coverage, ==,
                        seed % 2 == 0 ? FM_COVERAGE_NONE : FM_COVERAGE_DYNAMIC);
    }
}

static void test_same_seed(void)
{
    static const char *const options[] = {"--nodes=5000", "--seed=9", NULL};
    g_autoptr(FmProfile) one = generate(options), two = generate(options);
    g_assert_cmpuint(one->csd_count, ==, two->csd_count);
    g_assert_cmpuint(one->callseqs, ==, two->callseqs);
}

/* What the shape is to have: recursion, lists, undetected recursion, getters. */
static void test_shape(void)
{
    static const char *const options[] = {"--nodes=50000", "--procs=400", NULL};
    g_autoptr(FmProfile) profile = generate(options);
    g_autoptr(FmAnalysis) a = NULL;
    g_assert_true(fm_analysis_new(profile, NULL, &a, NULL));
    uint64_t nodes = (uint64_t)profile->pd_count + profile->csd_count;
    g_assert_cmpuint(nodes, >, 35000);
    g_assert_cmpuint(nodes, <, 65000);
    uint32_t inside = 0, nested = 0;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
        inside += fm_analysis_csd_child_clique(a, csd) == 0;
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        struct fm_cost cost = {0};
        fm_analysis_pd_compensation(a, pd, profile->pd_ps[pd], 1, &cost);
        nested += cost.desc[FM_CALLSEQS] > 0;
    }
    g_assert_cmpuint(inside, >, 100);
    g_assert_cmpuint(a->clique_count, <, profile->pd_count);
    g_assert_cmpuint(nested, >, 10);
    uint32_t fields = 0;
    for (uint32_t i = 0; i < a->module_count; i++) {
        struct fm_accessor *found;
        uint32_t count;
        fm_analysis_accessors(a, &a->modules[i], &found, &count);
        fm_accessors_free(found, count);
        fields += count;
    }
    g_assert_cmpuint(fields, >, 5);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    generator = argv[argc - 1];
    g_test_add_func("/generated/seeds", test_seeds);
    g_test_add_func("/generated/callers-add-up", test_callers_add_up);
    g_test_add_func("/generated/callees-add-up", test_callees_add_up);
    g_test_add_func("/generated/same-seed", test_same_seed);
    g_test_add_func("/generated/shape", test_shape);
    return g_test_run();
}
