/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion and variable use of a program made by hand: a loop over a list, called once with five
 * elements, that works on each element.
 *
 *   main --> loop(List, Acc, Out) : List = [] -> Out := Acc ; List = [X | Xs], work(X, Y), loop(Xs,
 * Y, Out) work(X, Y) : leaf(X), leaf(X), Y is made last */
#include <math.h>
#include <string.h>

#include "mercury/body/recursion_types.h"
#include "mercury/body/var_use.h"
#include "profile/file/build.h"
#include "maker.h"

enum { LIST = 1, ACC, OUT, X, XS, Y };
#define ELEMENTS 5

struct world {
    struct fm_profile *profile;
    struct fm_analysis *analysis;
    struct fm_procrep *procrep;
    GBytes *bytes;
    struct fm_bodies *bodies;
    uint32_t loop_pd, work_pd, loop_edge, work_edge;
};

static struct fm_body *loop_body(void)
{
    struct maker *m = maker_new();
    maker_name(m, LIST, "List");
    maker_head(m, LIST, FM_INST_GROUND, FM_INST_GROUND);
    maker_head(m, ACC, FM_INST_GROUND, FM_INST_GROUND);
    maker_head(m, OUT, FM_INST_FREE, FM_INST_GROUND);
    maker_switch(m, LIST, false, FM_DETISM_DET);
    maker_case(m, "[]/0");
    maker_atomic(m, FM_GOAL_ASSIGN, FM_DETISM_DET, OUT, "", "2", "3");
    maker_case(m, "[|]/2");
    maker_open(m, FM_GOAL_CONJ, FM_DETISM_DET);
    maker_atomic(m, FM_GOAL_DECONSTRUCT, FM_DETISM_DET, LIST, "[|]", "4 5", "4 5");
    maker_call(m, FM_DETISM_DET, "m", "work", "4 6", "6");
    maker_call(m, FM_DETISM_DET, "m", "loop", "5 6 3", "3");
    maker_close(m);
    maker_close(m);
    return maker_done(m, FM_DETISM_DET);
}

static struct fm_body *work_body(void)
{
    struct maker *m = maker_new();
    maker_head(m, 1, FM_INST_GROUND, FM_INST_GROUND);
    maker_head(m, 2, FM_INST_FREE, FM_INST_GROUND);
    maker_open(m, FM_GOAL_CONJ, FM_DETISM_DET);
    maker_call(m, FM_DETISM_DET, "m", "leaf", "3", "");
    maker_call(m, FM_DETISM_DET, "m", "leaf", "1", "");
    maker_atomic(m, FM_GOAL_CONSTRUCT, FM_DETISM_DET, 2, "made", "", "2");
    maker_close(m);
    return maker_done(m, FM_DETISM_DET);
}

static struct fm_ps proc(const char *name, uint32_t arity)
{
    return (struct fm_ps){.label_kind = FM_LABEL_PREDICATE,
                          .decl_module = "m",
                          .def_module = "m",
                          .name = name,
                          .arity = arity,
                          .file = "m.m",
                          .line = 1};
}

static uint32_t site(struct fm_build *build, uint32_t ps, uint32_t callee, const char *path)
{
    return fm_build_css(
        build, ps,
        &(struct fm_css){
            .kind = FM_SITE_NORMAL, .callee_ps = callee, .line = 1, .goal_path = path});
}

static uint32_t edge(struct fm_build *build, uint32_t pd, uint32_t slot, uint32_t callee,
                     uint64_t calls)
{
    uint32_t csd = fm_build_csd(build, pd, slot, callee);
    fm_build_add(build, csd, FM_EXITS, calls);
    fm_build_add(build, csd, FM_CALLSEQS, calls);
    return csd;
}

static void make_profile(struct world *w)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "./loop");
    fm_build_header(build)->coverage = FM_COVERAGE_DYNAMIC;
    struct fm_ps runtime = {.label_kind = FM_LABEL_PREDICATE,
                            .decl_module = "Mercury runtime",
                            .def_module = "Mercury runtime",
                            .name = "Mercury runtime",
                            .file = "Mercury runtime"};
    struct fm_ps loop = proc("loop", 3), work = proc("work", 2), leaf = proc("leaf", 1);
    uint32_t root_ps = fm_build_ps(build, &runtime), loop_ps = fm_build_ps(build, &loop),
             work_ps = fm_build_ps(build, &work), leaf_ps = fm_build_ps(build, &leaf);
    fm_build_css(build, root_ps, &(struct fm_css){.kind = FM_SITE_CALLBACK, .goal_path = ""});
    site(build, loop_ps, work_ps, "s2-2;c2;");
    site(build, loop_ps, loop_ps, "s2-2;c3;");
    site(build, work_ps, leaf_ps, "c1;");
    site(build, work_ps, leaf_ps, "c2;");
    fm_build_point(build, loop_ps, &(struct fm_coverage_point){"s1-2;", FM_POINT_BRANCH_ARM, 0});
    uint32_t root = fm_build_pd(build, root_ps), loop_pd = fm_build_pd(build, loop_ps),
             work_pd = fm_build_pd(build, work_ps), leaf_pd = fm_build_pd(build, leaf_ps),
             second_leaf_pd = fm_build_pd(build, leaf_ps);
    fm_build_pd_point(build, loop_pd, 0, 1);
    w->loop_edge = edge(build, root, 0, loop_pd, 1);
    w->work_edge = edge(build, loop_pd, 0, work_pd, ELEMENTS);
    edge(build, loop_pd, 1, loop_pd, ELEMENTS);
    edge(build, work_pd, 0, leaf_pd, ELEMENTS);
    edge(build, work_pd, 1, second_leaf_pd, ELEMENTS);
    w->loop_pd = loop_pd;
    w->work_pd = work_pd;
    g_autoptr(GError) error = NULL;
    if (!fm_build_finish(build, &w->profile, &error) ||
        !fm_analysis_new(w->profile, NULL, &w->analysis, &error))
        g_error("%s", error->message);
}

static void begin(struct world *w)
{
    const struct fm_proc_label labels[] = {{FM_LABEL_PREDICATE, "m", "m", "loop", "", 3, 0},
                                           {FM_LABEL_PREDICATE, "m", "m", "work", "", 2, 0}};
    struct fm_body *bodies[] = {loop_body(), work_body()};
    make_profile(w);
    w->procrep = maker_procrep("m", labels, bodies, 2, 6, &w->bytes);
    w->bodies = fm_bodies_new(w->analysis, w->procrep, NULL);
    fm_body_free(bodies[0]);
    fm_body_free(bodies[1]);
}

static void end(struct world *w)
{
    fm_bodies_free(w->bodies);
    fm_procrep_free(w->procrep);
    g_bytes_unref(w->bytes);
    fm_analysis_free(w->analysis);
    fm_profile_free(w->profile);
}

static void expect(double value, double expected)
{
    if (fabs(value - expected) > 1e-9)
        g_error("%.9f, expected %.9f", value, expected);
}

static void test_single_recursion(void)
{
    struct world w;
    begin(&w);
    const struct fm_recursion *r = fm_bodies_recursion(w.bodies, w.analysis->pd_clique[w.loop_pd]);
    g_assert_cmpint(r->kind, ==, FM_RECURSION_SINGLE);
    expect(r->base_cost, 0);
    expect(r->base_probability, 1.0 / 6);
    expect(r->recursive_cost, 3); /* work and its two leaves */
    expect(r->recursive_probability, 5.0 / 6);
    expect(r->depth, 6);
    expect(fm_recursion_cost_at(r, 2), 2 * 4);
    const struct fm_pd_body *pd;
    g_assert_true(fm_bodies_pd(w.bodies, w.loop_pd, &pd, NULL));
    expect(fm_recursion_site_cost(r, &pd->sites[1]), 4); /* round(6 / 5) = 1 above the base */
    g_assert_true(pd->sites[1].recursive && !pd->sites[0].recursive);
    g_autofree double *probability = fm_recursion_probabilities(pd);
    expect(probability[0], 5.0 / 6);
    end(&w);
}

static void test_not_recursive(void)
{
    struct world w;
    begin(&w);
    const struct fm_recursion *r = fm_bodies_recursion(w.bodies, w.analysis->pd_clique[w.work_pd]);
    g_assert_cmpint(r->kind, ==, FM_RECURSION_NONE);
    expect(r->depth, 0);
    end(&w);
}

static void test_no_entry_and_no_body(void)
{
    struct world w;
    begin(&w);
    const struct fm_recursion *root = fm_bodies_recursion(w.bodies, w.analysis->pd_clique[1]);
    g_assert_cmpint(root->kind, ==, FM_RECURSION_ERRORS);
    g_assert_cmpstr(root->errors[0], ==, "This clique doesn't appear to have an entry procedure");
    const struct fm_recursion *leaf = fm_bodies_recursion(w.bodies, w.analysis->pd_clique[4]);
    g_assert_cmpstr(leaf->errors[0], ==, "Cannot find procedure representation");
    g_autofree char *why = fm_recursion_why_no_cost(leaf);
    g_assert_cmpstr(why, ==, "Cannot find procedure representation");
    end(&w);
}

static struct fm_var_use use_of(struct world *w, const char *module, uint32_t csd,
                                uint32_t argument, enum fm_var_use_type type, double cost)
{
    struct fm_var_use_search *search = fm_var_use_search_new(w->bodies, module, true);
    const struct fm_recursion *r =
        fm_bodies_recursion(w->bodies, w->analysis->pd_clique[w->profile->csd_caller[csd]]);
    struct fm_var_use use;
    char *why;
    if (!fm_var_use_of_call(search, csd, argument, type, cost, r, r->depth, &use, &why))
        g_error("%s", why);
    fm_var_use_search_free(search);
    return use;
}

/* work makes Y after both leaves, and first uses X as an argument of the second. */
static void test_use_in_a_body(void)
{
    struct world w;
    begin(&w);
    expect(use_of(&w, NULL, w.work_edge, 1, FM_USE_PRODUCTION, 3).time, 2 + 1);
    expect(use_of(&w, NULL, w.work_edge, 0, FM_USE_CONSUMPTION, 3).time, 1 + 1);
    end(&w);
}

/* loop uses its list at once and its accumulator at the end of all. */
static void test_use_by_induction(void)
{
    struct world w;
    begin(&w);
    expect(use_of(&w, NULL, w.loop_edge, 0, FM_USE_CONSUMPTION, 21).time, 1);
    /* Six activations, so five of them: work and leaves (3), then one call; in the base case at
     * once. */
    expect(use_of(&w, NULL, w.loop_edge, 2, FM_USE_PRODUCTION, 21).time, 0 + 5 * (3 + 1) + 1);
    end(&w);
}

static void test_other_modules(void)
{
    struct world w;
    begin(&w);
    /* Not looked into: all descendants of all calls, made at the end, used at once. */
    expect(use_of(&w, "elsewhere", w.work_edge, 1, FM_USE_PRODUCTION, 3).time, 2 * ELEMENTS);
    expect(use_of(&w, "elsewhere", w.work_edge, 0, FM_USE_CONSUMPTION, 3).time, 0);
    end(&w);
}

static void test_wrong_questions(void)
{
    struct world w;
    struct fm_var_use use;
    begin(&w);
    struct fm_var_use_search *search = fm_var_use_search_new(w.bodies, NULL, true);
    const struct fm_recursion *r = fm_bodies_recursion(w.bodies, w.analysis->pd_clique[w.loop_pd]);
    g_autofree char *range = NULL, *mode = NULL;
    g_assert_false(
        fm_var_use_of_call(search, w.work_edge, 7, FM_USE_PRODUCTION, 3, r, 2, &use, &range));
    g_assert_nonnull(strstr(range, "out of range"));
    g_assert_false(
        fm_var_use_of_call(search, w.work_edge, 0, FM_USE_PRODUCTION, 3, r, 2, &use, &mode));
    g_assert_nonnull(strstr(mode, "used otherwise"));
    fm_var_use_search_free(search);
    end(&w);
}

static void test_weighted_average(void)
{
    expect(fm_weighted_average((const double[]){1, 3}, (const double[]){10, 20}, 2), 17.5);
    expect(fm_weighted_average((const double[]){0, 0}, (const double[]){10, 20}, 2), 0);
}

/* --- of counts alone --- */

static void test_counts_of_c(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    struct fm_ps f = {.label_kind = FM_LABEL_FUNCTION, .name = "f", .raw_name = "f"};
    uint32_t ps = fm_build_ps(build, &f), site_ps = fm_build_ps(build, &f);
    fm_build_css(build, ps, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    for (int i = 0; i < 2; i++)
        fm_build_css(build, site_ps,
                     &(struct fm_css){.kind = FM_SITE_NORMAL, .callee_ps = site_ps});
    uint32_t root = fm_build_pd(build, ps), pd = fm_build_pd(build, site_ps);
    edge(build, root, 0, pd, 2);
    edge(build, pd, 0, pd, 8);
    struct fm_profile *profile;
    struct fm_analysis *analysis;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    g_assert_true(fm_analysis_new(profile, NULL, &analysis, NULL));
    struct fm_recursion *r = fm_recursion_from_counts(analysis, analysis->pd_clique[pd]);
    g_assert_cmpint(r->kind, ==, FM_RECURSION_SINGLE);
    expect(r->total_calls, 10);
    expect(r->depth, 5);
    fm_recursion_free(r);
    fm_analysis_free(analysis);
    fm_profile_free(profile);
}

/* Clique by clique gives what all at once give; nothing is known of the bodies afterwards. */
static void test_types_in_steps(void)
{
    struct world w;
    begin(&w);
    struct fm_recursion_types *steps = fm_recursion_types_new(w.analysis, w.procrep, NULL),
                              *once = fm_recursion_types_new(w.analysis, w.procrep, NULL);
    uint32_t cliques = w.analysis->clique_count, frequency = 0;
    g_assert_cmpuint(cliques, >, 2);
    for (uint32_t i = 1; i < cliques; i++) {
        g_assert_false(fm_recursion_types_step(steps, 1));
        g_assert_cmpfloat(fm_recursion_types_fraction(steps), ==, (double)i / cliques);
    }
    g_assert_true(fm_recursion_types_step(steps, 1));
    g_assert_true(fm_recursion_types_step(once, G_MAXUINT32));
    g_assert_cmpuint(fm_recursion_types_count(steps), ==, fm_recursion_types_count(once));
    for (uint32_t i = 0; i < fm_recursion_types_count(once); i++) {
        const struct fm_recursion_type *a = fm_recursion_types_get(steps, i),
                                       *b = fm_recursion_types_get(once, i);
        g_assert_cmpint(a->kind, ==, b->kind);
        g_assert_cmpuint(a->frequency, ==, b->frequency);
        g_assert_cmpmem(&a->cost, sizeof a->cost, &b->cost, sizeof b->cost);
        g_assert_cmpuint(a->entry_count, ==, b->entry_count);
        g_assert_true(a->entry_count == 0 ||
                      memcmp(a->entries, b->entries, a->entry_count * sizeof *a->entries) == 0);
        if (a->kind == FM_RECURSION_SINGLE) { /* loop */
            g_assert_cmpuint(a->frequency, ==, 1);
            g_assert_cmpuint(a->entry_count, ==, 1);
            g_assert_cmpuint(a->entries[0].ps, ==, w.profile->pd_ps[w.loop_pd]);
            frequency += 100;
        }
        frequency += a->all_errors || a->kind != FM_RECURSION_ERRORS ? a->frequency : 0;
    }
    g_assert_cmpuint(frequency, ==, 100 + cliques);
    fm_recursion_types_free(steps);
    fm_recursion_types_free(once);
    end(&w);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/recursion/single", test_single_recursion);
    g_test_add_func("/recursion/none", test_not_recursive);
    g_test_add_func("/recursion/no_entry_and_no_body", test_no_entry_and_no_body);
    g_test_add_func("/recursion/of_counts", test_counts_of_c);
    g_test_add_func("/recursion/types_in_steps", test_types_in_steps);
    g_test_add_func("/var_use/in_a_body", test_use_in_a_body);
    g_test_add_func("/var_use/by_induction", test_use_by_induction);
    g_test_add_func("/var_use/other_modules", test_other_modules);
    g_test_add_func("/var_use/wrong_questions", test_wrong_questions);
    g_test_add_func("/var_use/weighted_average", test_weighted_average);
    return g_test_run();
}
