/* SPDX-License-Identifier: Apache-2.0 */
/* The dearest paths, recursions and allocators: against a walk over everything, and by hand. */
#include <string.h>

#include "made.h"
#include "profile/digest/hottest.h"
#include "profile/digest/paths.h"
#include "profile/digest/wrappers.h"

static struct fm_hot *found(const struct fm_analysis *a, uint32_t step)
{
    struct fm_hot *hot = fm_hot_new(a);
    while (!fm_hot_step(hot, step))
        ;
    return hot;
}

static void by_hand(void)
{
    struct made made = made_program();
    struct fm_hot *hot = found(made.a, 3);
    const struct fm_hot_path *paths;
    const struct fm_hot_recursion *recursions;
    unsigned count = fm_hot_paths(hot, FM_QUANTA, false, &paths);
    g_assert_cmpuint(count, ==, 8);
    g_assert_cmpint(paths[0].own, ==, 40);
    g_assert_cmpint(paths[1].own, ==, 40); /* both threads' work together */
    bool first_is_work = paths[0].ps == made_ps(&made, "work");
    const struct fm_hot_path *work = &paths[first_is_work ? 0 : 1],
                             *term = &paths[first_is_work ? 1 : 0];
    g_assert_cmpuint(work->ps, ==, made_ps(&made, "work"));
    g_assert_cmpuint(work->contexts, ==, 2);
    g_assert_cmpint(work->calls, ==, 16);
    g_assert_cmpuint(term->ps, ==, made_ps(&made, "term"));
    g_assert_cmpint(term->total, ==, 75); /* it entered the recursion */
    count = fm_hot_recursions(hot, FM_QUANTA, &recursions);
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmpuint(recursions[0].procs, ==, 2);
    g_assert_cmpint(recursions[0].own, ==, 70);
    g_assert_cmpint(recursions[0].total, ==, 75);
    g_assert_cmpint(recursions[0].entered, ==, 2);
    g_assert_cmpint(recursions[0].calls, ==, 16);
    fm_hot_free(hot);
    made_clear(&made);
}

/* main -> g, whose body stands in main, and main -> f -> g, which is a call. */
static void bodies_that_were_inlined_are_not_0_calls(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    static const char *const names[] = {"", "main", "f", "g"};
    uint32_t ps[G_N_ELEMENTS(names)], pd[G_N_ELEMENTS(names) + 1];
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        ps[i] = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                   .name = names[i],
                                                   .raw_name = names[i],
                                                   .file = i > 0 ? "a.c" : "",
                                                   .inlined = i == 3});
        pd[i] = fm_build_pd(build, ps[i]);
    }
    pd[4] = fm_build_pd(build, ps[3]);
    const struct {
        unsigned from, to, calls, quanta;
        bool inlined;
    } calls[] = {
        {0, 1, 1, 1, false}, {1, 2, 3, 10, false}, {1, 3, 0, 30, true}, {2, 4, 6, 20, false}};
    for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
        fm_build_css(build, ps[calls[i].from],
                     &(struct fm_css){.kind = FM_SITE_NORMAL,
                                      .callee_ps = ps[MIN(calls[i].to, 3)],
                                      .line = i + 1,
                                      .inlined = calls[i].inlined});
        uint32_t csd = fm_build_csd(build, pd[calls[i].from], i == 2 ? 1 : 0, pd[calls[i].to]);
        fm_build_add(build, csd, FM_EXITS, calls[i].calls);
        fm_build_add(build, csd, FM_QUANTA, calls[i].quanta);
    }
    struct made made = made_built(build);
    struct fm_hot *hot = found(made.a, 100);
    const struct fm_hot_path *paths;
    g_assert_cmpuint(fm_hot_paths(hot, FM_QUANTA, false, &paths), ==, 4);
    g_assert_cmpuint(paths[0].ps, ==, ps[3]);
    g_assert_cmpint(paths[0].calls, ==, 0);
    g_assert_true(paths[0].inlined);
    g_assert_cmpuint(paths[1].ps, ==, ps[3]);
    g_assert_cmpint(paths[1].calls, ==, 6);
    g_assert_false(paths[1].inlined);
    g_assert_cmpuint(paths[2].ps, ==, ps[2]);
    g_assert_false(paths[2].inlined);
    fm_hot_free(hot);
    made_clear(&made);
}

/* runtime -> main -> h, and main -> g -> f, both of which call themselves and are of one function:
 * one recursion in two contexts, of which one lies in the other. The root is not the first proc
 * dynamic, so that f and h were numbered before g, and numbers from the greatest down jump. */
static void recursions_are_found_whatever_the_order_of_numbers(void)
{
    enum { F = 1, H, MAIN, RUNTIME, G, PDS };
    g_autoptr(GError) error = NULL;
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    static const char *const names[] = {"f", "h", "main", ""};
    uint32_t ps[G_N_ELEMENTS(names) + 1];
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        ps[i + 1] = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                       .name = names[i],
                                                       .raw_name = names[i],
                                                       .file = "a.c"});
    for (unsigned pd = F; pd < PDS; pd++)
        g_assert_cmpuint(fm_build_pd(build, ps[pd == G ? F : pd]), ==, pd);
    const struct {
        unsigned from, slot, to, calls, quanta;
    } calls[] = {{F, 0, F, 1, 2},    {G, 0, G, 3, 5},     {G, 1, F, 4, 7},
                 {MAIN, 0, H, 1, 1}, {MAIN, 1, G, 2, 10}, {RUNTIME, 0, MAIN, 1, 1}};
    static const unsigned callees[][2] = {[F] = {F, F}, [MAIN] = {H, F}, [RUNTIME] = {MAIN, 0}};
    for (unsigned from = F; from <= RUNTIME; from++) {
        for (unsigned slot = 0; slot < 2 && callees[from][slot] != 0; slot++)
            fm_build_css(build, ps[from],
                         &(struct fm_css){.kind = FM_SITE_NORMAL,
                                          .callee_ps = ps[callees[from][slot]],
                                          .line = slot + 1});
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
        uint32_t csd = fm_build_csd(build, calls[i].from, calls[i].slot, calls[i].to);
        fm_build_add(build, csd, FM_EXITS, calls[i].calls);
        fm_build_add(build, csd, FM_QUANTA, calls[i].quanta);
    }
    struct fm_profile *profile = NULL;
    struct fm_analysis *a = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    profile->root_pd = RUNTIME;
    g_assert_true(fm_analysis_new(profile, NULL, &a, &error));
    g_assert_cmpuint(a->pd_clique[F], <, a->pd_clique[H]);
    g_assert_cmpuint(a->pd_clique[H], <, a->pd_clique[G]);
    struct fm_hot *hot = found(a, 2);
    const struct fm_hot_recursion *recursions;
    g_assert_cmpuint(fm_hot_recursions(hot, FM_QUANTA, &recursions), ==, 1);
    g_assert_cmpuint(recursions[0].ps, ==, ps[F]);
    g_assert_cmpuint(recursions[0].contexts, ==, 2);
    g_assert_cmpint(recursions[0].own, ==, 24);
    g_assert_cmpint(recursions[0].total, ==, 24); /* f's 9 are in g's */
    g_assert_cmpint(recursions[0].entered, ==, 6);
    g_assert_cmpint(recursions[0].calls, ==, 10);
    fm_hot_free(hot);
    fm_analysis_free(a);
    fm_profile_free(profile);
}

/* A part of it done by somebody else, who is later than all the rest. */
static void recursions_beside(void)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        struct made made = made_generated(seed, "--nodes=6000", "--procs=90", NULL);
        struct fm_hot *here = found(made.a, 1000), *beside = fm_hot_new(made.a);
        const struct fm_hot_recursion *one, *other;
        fm_hot_recursions_beside(beside);
        while (!fm_hot_waits(beside))
            g_assert_false(fm_hot_step(beside, 500));
        g_assert_false(fm_hot_step(beside, 500));
        while (!fm_hot_step_recursions(beside, 10 * seed))
            g_assert_true(fm_hot_waits(beside));
        g_assert_false(fm_hot_waits(beside));
        while (!fm_hot_step(beside, 500))
            ;
        unsigned count = fm_hot_recursions(here, FM_CALLSEQS, &one);
        g_assert_cmpuint(count, >, 0);
        g_assert_cmpuint(count, ==, fm_hot_recursions(beside, FM_CALLSEQS, &other));
        for (unsigned i = 0; i < count; i++) {
            g_assert_cmpuint(one[i].clique, ==, other[i].clique);
            g_assert_cmpint(one[i].total, ==, other[i].total);
            g_assert_cmpint(one[i].own, ==, other[i].own);
        }
        fm_hot_free(here);
        fm_hot_free(beside);
        made_clear(&made);
    }
}

static void wrappers_are_skipped(void)
{
    struct made made = made_program();
    struct fm_hot *hot = found(made.a, 1000000);
    const struct fm_hot_path *paths;
    g_assert_cmpuint(fm_hot_wrappers(hot), ==, 1);
    g_assert_true(fm_hot_is_wrapper(hot, made_ps(&made, "xmalloc")));
    g_assert_cmpuint(fm_hot_paths(hot, FM_WORDS, true, &paths), ==, 2);
    g_assert_cmpuint(paths[0].ps, ==, made_ps(&made, "load"));
    g_assert_cmpint(paths[0].own, ==, 9000);
    g_assert_cmpint(paths[0].calls, ==, 4);
    g_assert_cmpuint(paths[1].ps, ==, made_ps(&made, "term"));
    g_assert_cmpint(paths[1].own, ==, 256);
    g_assert_cmpuint(fm_hot_paths(hot, FM_WORDS, false, &paths), ==, 2);
    g_assert_cmpuint(paths[0].ps, ==, made_ps(&made, "xmalloc"));
    fm_hot_free(hot);
    made_clear(&made);
}

/* main -> temp -> operator new, main -> operator new: of a library without lines, in a profile of
 * samples. */
static void operator_new_is_a_wrapper(void)
{
    static const char *const names[] = {"", "main", "temp", "operator new(unsigned long)"};
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    uint32_t ps[G_N_ELEMENTS(names)], pd[G_N_ELEMENTS(names) + 1];
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        ps[i] = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                   .name = names[i],
                                                   .raw_name = names[i],
                                                   .file = i == 1 || i == 2 ? "a.cc" : ""});
        pd[i] = fm_build_pd(build, ps[i]);
    }
    pd[4] = fm_build_pd(build, ps[3]);
    static const struct {
        unsigned from, to, slot, allocs, bytes;
    } calls[] = {{0, 1, 0, 0, 0}, {1, 2, 0, 0, 0}, {2, 3, 0, 10, 400}, {1, 4, 1, 2, 80}};
    for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
        fm_build_css(build, ps[calls[i].from],
                     &(struct fm_css){.kind = FM_SITE_NORMAL,
                                      .callee_ps = ps[MIN(calls[i].to, 3)],
                                      .line = i + 1});
        uint32_t csd = fm_build_csd(build, pd[calls[i].from], calls[i].slot, pd[calls[i].to]);
        fm_build_add(build, csd, FM_ALLOCS, calls[i].allocs);
        fm_build_add(build, csd, FM_WORDS, calls[i].bytes);
    }
    struct made made = made_built(build);
    struct fm_hot *hot = found(made.a, 100);
    const struct fm_hot_path *paths;
    g_assert_true(fm_hot_is_wrapper(hot, ps[3]));
    g_assert_cmpuint(fm_hot_owner(hot, pd[3]), ==, ps[2]);
    g_assert_cmpuint(fm_hot_owner(hot, pd[4]), ==, ps[1]);
    g_assert_cmpuint(fm_hot_owner(hot, pd[2]), ==, ps[2]);
    g_assert_cmpuint(fm_hot_paths(hot, FM_WORDS, true, &paths), ==, 2);
    g_assert_cmpuint(paths[0].ps, ==, ps[2]);
    g_assert_cmpint(paths[0].own, ==, 400);
    g_assert_cmpuint(paths[1].ps, ==, ps[1]);
    g_assert_cmpint(paths[1].own, ==, 80);
    fm_hot_free(hot);
    made_clear(&made);
}

/* Who asks before all steps were taken gets what they lead to. */
static void answers_take_the_steps_that_are_left(void)
{
    struct made made = made_generated(7, "--nodes=6000", "--c", NULL);
    for (unsigned steps = 0; steps < 5; steps++) {
        struct fm_hot *hot = found(made.a, 1000), *asked = fm_hot_new(made.a);
        struct fm_hot *other = fm_hot_new(made.a);
        const struct fm_hot_path *paths, *same;
        const struct fm_hot_recursion *recursions, *of_asked;
        for (unsigned i = 0; i < steps; i++)
            g_assert_false(fm_hot_step(asked, 1 + steps * 500));
        unsigned count = fm_hot_paths(hot, FM_QUANTA, false, &paths);
        g_assert_cmpuint(count, >, 0);
        g_assert_cmpuint(fm_hot_paths(asked, FM_QUANTA, false, &same), ==, count);
        for (unsigned i = 0; i < count; i++) {
            g_assert_cmpuint(same[i].clique, ==, paths[i].clique);
            g_assert_cmpint(same[i].own, ==, paths[i].own);
        }
        count = fm_hot_recursions(hot, FM_CALLSEQS, &recursions);
        g_assert_cmpuint(count, >, 0);
        g_assert_cmpuint(fm_hot_recursions(other, FM_CALLSEQS, &of_asked), ==, count);
        for (unsigned i = 0; i < count; i++) {
            g_assert_cmpuint(of_asked[i].clique, ==, recursions[i].clique);
            g_assert_cmpint(of_asked[i].total, ==, recursions[i].total);
        }
        fm_hot_free(other);
        fm_hot_free(asked);
        fm_hot_free(hot);
    }
    made_clear(&made);
}

/* Before any step was taken, too: wrappers. */
static void wrappers_are_found_when_asked_for(void)
{
    struct made made = made_program();
    struct fm_hot *hot = fm_hot_new(made.a), *other = fm_hot_new(made.a);
    g_assert_cmpuint(fm_hot_wrappers(hot), ==, 1);
    g_assert_true(fm_hot_is_wrapper(other, made_ps(&made, "xmalloc")));
    fm_hot_free(other);
    fm_hot_free(hot);
    made_clear(&made);
}

/* Whatever the size of the steps; the greatest own cost of all, and none twice. */
static void generated(void)
{
    for (unsigned seed = 1; seed <= 8; seed++) {
        struct made made =
            made_generated(seed, "--nodes=6000", seed % 2 ? "--c" : "--procs=90", NULL);
        struct fm_hot *hot = found(made.a, 1 + seed * 97), *again = found(made.a, 100000);
        const struct fm_hot_path *paths, *same;
        const struct fm_hot_recursion *recursions;
        unsigned count = fm_hot_paths(hot, FM_CALLSEQS, false, &paths);
        g_assert_cmpuint(count, ==, fm_hot_paths(again, FM_CALLSEQS, false, &same));
        for (unsigned i = 0; i < count; i++) {
            g_assert_cmpuint(paths[i].clique, ==, same[i].clique);
            g_assert_cmpint(paths[i].own, ==, same[i].own);
        }
        int64_t most = 0, whole = fm_cost_total(&made.a->root_total, FM_CALLSEQS), sum = 0;
        for (uint32_t pd = 1; pd <= made.profile->pd_count; pd++)
            most = MAX(most, fm_analysis_pd_own(made.a, pd, FM_CALLSEQS));
        g_assert_cmpint(paths[0].own, >=, most);
        for (unsigned i = 0; i < count; i++) {
            g_assert_true(i == 0 || paths[i].own <= paths[i - 1].own);
            g_assert_cmpint(paths[i].own, <=, paths[i].total);
            sum += paths[i].own;
        }
        g_assert_cmpint(sum, <=, whole);
        count = fm_hot_recursions(hot, FM_CALLSEQS, &recursions);
        g_assert_cmpuint(count, >, 0);
        for (unsigned i = 0; i < count; i++) {
            g_assert_cmpint(recursions[i].own, >, 0);
            g_assert_cmpint(recursions[i].total, <=, whole);
            g_assert_cmpint(recursions[i].entered, >, 0);
        }
        fm_hot_free(hot);
        fm_hot_free(again);
        made_clear(&made);
    }
}

static void names_of_allocators(void)
{
    static const char *const are[] = {"malloc",
                                      "strdup",
                                      "_Znwm",
                                      "_ZnamSt11align_val_t",
                                      "operator new[](unsigned long)",
                                      "llvm::User::operator new(unsigned long, unsigned int)",
                                      "void* operator new<int>(int)"};
    static const char *const are_not[] = {
        "",
        "mallocate",
        "my_malloc",
        "_Zn",
        "free",
        "operator delete(void*)",
        "a::xoperator new(int)",
        "A::operator new(unsigned long)::{lambda()#1}::operator()() const"};
    for (unsigned i = 0; i < G_N_ELEMENTS(are); i++)
        g_assert_true(fm_digest_is_allocator(are[i]));
    for (unsigned i = 0; i < G_N_ELEMENTS(are_not); i++)
        g_assert_false(fm_digest_is_allocator(are_not[i]));
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/views/hottest/by-hand", by_hand);
    g_test_add_func("/digest/hottest/inlined", bodies_that_were_inlined_are_not_0_calls);
    g_test_add_func("/digest/hottest/order", recursions_are_found_whatever_the_order_of_numbers);
    g_test_add_func("/digest/hottest/beside", recursions_beside);
    g_test_add_func("/digest/hottest/allocators", names_of_allocators);
    g_test_add_func("/views/hottest/wrappers", wrappers_are_skipped);
    g_test_add_func("/digest/hottest/operator-new", operator_new_is_a_wrapper);
    g_test_add_func("/digest/hottest/wrappers-when-asked", wrappers_are_found_when_asked_for);
    g_test_add_func("/digest/hottest/asked", answers_take_the_steps_that_are_left);
    g_test_add_func("/views/hottest/generated", generated);
    return g_test_run();
}
