/* SPDX-License-Identifier: Apache-2.0 */
/* One graph with the costs of both sides is, by its definition, each side merged with the other's
 * graph without its costs. */
#include <string.h>

#include "profile/analysis/analysis.h"
#include "runs/compare/compare.h"
#include "made.h"
#include "runs/merge/merge.h"

static struct fm_profile without_costs(const struct fm_profile *p)
{
    struct fm_profile bare = *p;
    bare.callseqs = bare.user_quanta = bare.instrumentation_quanta = 0;
    bare.run_info = (struct fm_run_info){.nature = p->run_info.nature};
    memset(bare.csd_own, 0, sizeof bare.csd_own);
    return bare;
}

static struct fm_profile *by_definition(const struct fm_profile *before,
                                        const struct fm_profile *after)
{
    const struct fm_merge_options options = {.common = true, .sites_by_key = true};
    struct fm_merge *merge = fm_merge_new(&options);
    struct fm_profile *ret;
    g_autoptr(GError) error = NULL;
    if (!fm_merge_add(merge, before, "before", &error) ||
        !fm_merge_add(merge, after, "after", &error) || !fm_merge_finish(merge, &ret, &error))
        g_error("%s", error->message);
    return ret;
}

static void assert_same_graph(const struct fm_profile *p, const struct fm_profile *q)
{
    g_assert_cmpuint(p->ps_count, ==, q->ps_count);
    g_assert_cmpuint(p->css_count, ==, q->css_count);
    g_assert_cmpuint(p->pd_count, ==, q->pd_count);
    g_assert_cmpuint(p->csd_count, ==, q->csd_count);
    g_assert_cmpmem(p->pd_ps, 4 * (p->pd_count + 1u), q->pd_ps, 4 * (q->pd_count + 1u));
    g_assert_cmpmem(p->csd_css, 4 * (p->csd_count + 1u), q->csd_css, 4 * (q->csd_count + 1u));
    g_assert_cmpmem(p->csd_callee, 4 * (p->csd_count + 1u), q->csd_callee, 4 * (q->csd_count + 1u));
    g_assert_cmpmem(p->csd_caller, 4 * (p->csd_count + 1u), q->csd_caller, 4 * (q->csd_count + 1u));
}

static void assert_same_costs(const struct fm_profile *p, const struct fm_profile *q)
{
    g_assert_cmpuint(p->measure_count, ==, q->measure_count);
    g_assert_cmpuint(p->ticks_per_second, ==, q->ticks_per_second);
    g_assert_cmpuint(p->user_quanta, ==, q->user_quanta);
    g_assert_cmpuint(p->callseqs, ==, q->callseqs);
    g_assert_cmpuint(p->run_info.sample_count, ==, q->run_info.sample_count);
    g_assert_cmpuint(p->run_info.sample_squares, ==, q->run_info.sample_squares);
    g_assert_cmpuint(p->run_info.unknown, ==, q->run_info.unknown);
    for (unsigned m = 0; m < p->measure_count; m++) {
        g_assert_cmpstr(p->measures[m].name, ==, q->measures[m].name);
        for (uint32_t csd = 0; csd <= p->csd_count; csd++)
            g_assert_cmpuint(fm_profile_own(p, csd, (enum fm_measure_id)m), ==,
                             fm_profile_own(q, csd, (enum fm_measure_id)m));
    }
}

static void assert_cliques(const struct fm_compare *c)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    g_autoptr(FmAnalysis) a = NULL;
    g_autoptr(GError) error = NULL;
    if (!fm_analysis_new(p, NULL, &a, &error))
        g_error("%s", error->message);
    for (uint32_t pd = 1; pd <= p->pd_count; pd++) {
        uint32_t clique = a->pd_clique[pd];
        g_assert_cmpuint(c->clique_size[pd], ==,
                         a->clique_first[clique + 1] - a->clique_first[clique]);
        if (c->clique_size[pd] > 1)
            g_assert_cmpuint(c->head[pd], ==, fm_analysis_clique_entry(a, clique));
        else
            g_assert_cmpuint(c->head[pd], ==, 0);
    }
}

static void assert_overlay(const struct fm_profile *before, const struct fm_profile *after)
{
    const struct fm_profile *given[FM_SIDES] = {before, after};
    const struct fm_compare_options options = {0};
    struct fm_compare *c;
    g_autoptr(GError) error = NULL;
    if (!fm_compare_new(before, after, &options, &c, &error))
        g_error("%s", error->message);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        const struct fm_profile *of = given[side];
        struct fm_profile bare = without_costs(given[1 - side]);
        g_autoptr(FmProfile) expected =
            side == FM_BEFORE ? by_definition(of, &bare) : by_definition(&bare, of);
        assert_same_graph(c->side[side], expected);
        assert_same_costs(c->side[side], expected);
    }
    assert_cliques(c);
    fm_compare_free(c);
}

static void test_definition(void)
{
    static const char *const flavours[] = {"--c", "--no-coverage"};
    for (guint flavour = 0; flavour < G_N_ELEMENTS(flavours); flavour++) {
        for (unsigned seed = 1; seed <= 4; seed++) {
            struct made before =
                made_generated(seed, flavours[flavour], "-n", "3000", "--run", "1", NULL);
            struct made after =
                made_generated(seed, flavours[flavour], "-n", "3000", "--run", "2", NULL);
            assert_overlay(before.profile, after.profile);
            assert_overlay(before.profile, before.profile);
            /* Ticks of other rates have a common one. */
            after.profile->ticks_per_second = before.profile->ticks_per_second * 3 / 2;
            assert_overlay(before.profile, after.profile);
            assert_overlay(after.profile, before.profile);
            made_clear(&before);
            made_clear(&after);
        }
    }
}

/* What is said of samples and times, and calls that nothing leads to: by the definition, too. */
static void test_headers(void)
{
    struct made before = made_generated(5, "--c", "-n", "300", "--run", "1", NULL);
    struct made after = made_generated(5, "--c", "-n", "300", "--run", "2", NULL);
    struct fm_run_info *run_info = &before.profile->run_info;
    run_info->sample_count = 0;
    run_info->sample_squares = 77;
    assert_overlay(before.profile, after.profile);
    assert_overlay(after.profile, before.profile);
    run_info->sample_count = 70;
    assert_overlay(before.profile, after.profile);
    run_info->nature |= FM_NATURE_CLOCK;
    assert_overlay(before.profile, after.profile);
    assert_overlay(after.profile, before.profile);
    made_clear(&before);
    made_clear(&after);
}

static struct made with_island(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "made");
    uint32_t ps[3], pd[3];
    for (unsigned i = 0; i < 3; i++) {
        g_autofree char *name = g_strdup_printf("f%u", i);
        ps[i] = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                   .decl_module = "a.c",
                                                   .name = name,
                                                   .raw_name = name,
                                                   .file = "a.c",
                                                   .line = i + 1});
        fm_build_css(build, ps[i], &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
        pd[i] = fm_build_pd(build, ps[i]);
    }
    fm_build_add(build, fm_build_csd(build, pd[0], 0, pd[1]), FM_EXITS, 7);
    fm_build_add(build, fm_build_csd(build, pd[2], 0, pd[2]), FM_EXITS, 11);
    return made_built(build);
}

static void test_island(void)
{
    struct made made = with_island();
    assert_overlay(made.profile, made.profile);
    made_clear(&made);
}

/* A context that costs nothing below the root, and one that was never entered. */
static struct made rooted(bool calls)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "made");
    const struct fm_ps of[] = {
        {.label_kind = FM_LABEL_FUNCTION,
         .decl_module = "",
         .name = "root",
         .raw_name = "root",
         .file = ""},
        {.label_kind = FM_LABEL_FUNCTION,
         .decl_module = "a.c",
         .name = "main",
         .raw_name = "main",
         .file = "a.c",
         .line = 1},
    };
    uint32_t root = fm_build_ps(build, &of[0]), main_ps = fm_build_ps(build, &of[1]);
    fm_build_css(build, root, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
    uint32_t pd = fm_build_pd(build, root);
    if (calls)
        fm_build_add(build, fm_build_csd(build, pd, 0, fm_build_pd(build, main_ps)), FM_EXITS, 7);
    fm_build_header(build)->user_quanta = 5;
    fm_build_header(build)->has_totals = true;
    return made_built(build);
}

/* One of the two never called anything. */
static void test_nothing_called(void)
{
    struct made with = rooted(true), without = rooted(false);
    const struct fm_compare_options options = {0};
    for (int turn = 0; turn < 2; turn++) {
        struct fm_compare *c;
        g_autoptr(GError) error = NULL;
        const struct fm_profile *given[FM_SIDES] = {turn == 0 ? with.profile : without.profile,
                                                    turn == 0 ? without.profile : with.profile};
        if (!fm_compare_new(given[FM_BEFORE], given[FM_AFTER], &options, &c, &error))
            g_error("%s", error->message);
        g_assert_cmpint(fm_compare_total(c, FM_COMPARE_CALLS, FM_BEFORE), ==, turn == 0 ? 7 : 0);
        g_assert_cmpint(fm_compare_total(c, FM_COMPARE_CALLS, FM_AFTER), ==, turn == 0 ? 0 : 7);
        g_assert_cmpuint(c->side[FM_BEFORE]->user_quanta, ==, 5);
        g_assert_cmpuint(c->side[FM_AFTER]->user_quanta, ==, 5);
        fm_compare_free(c);
    }
    made_clear(&with);
    made_clear(&without);
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/compare/overlay/definition", test_definition);
    g_test_add_func("/compare/overlay/headers", test_headers);
    g_test_add_func("/compare/overlay/island", test_island);
    g_test_add_func("/compare/overlay/nothing-called", test_nothing_called);
    return g_test_run();
}
