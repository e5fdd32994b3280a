/* SPDX-License-Identifier: Apache-2.0 */
/* Merging: its laws on random programs that are run by the runtime's rules, and each rule by name.
 */
#include "profile/file/build.h"
#include "merging.h"

/* --- random programs --- */

#define PROCS_MAX 8
#define SITES_MAX 3

struct program {
    uint32_t procs; /* without the root */
    uint32_t sites[PROCS_MAX + 1];
    uint32_t callee[PROCS_MAX + 1][SITES_MAX]; /* 0 = through a pointer, to anyone */
};

struct run {
    const struct program *program;
    struct fm_build *build;
    GRand *random;
    uint32_t active[PROCS_MAX + 2]; /* pd of the outermost activation; 0 = none */
    uint32_t calls_left;
    uint32_t pd_procs[4096], pd_count;
    struct {
        uint32_t pd, slot, callee_proc, csd, callee_pd;
    } csds[16384];
    uint32_t csd_count;
};

static void random_program(GRand *random, struct program *ret)
{
    ret->procs = (uint32_t)g_rand_int_range(random, 2, PROCS_MAX + 1);
    for (uint32_t p = 1; p <= ret->procs; p++) {
        ret->sites[p] = (uint32_t)g_rand_int_range(random, 1, SITES_MAX + 1);
        for (uint32_t s = 0; s < ret->sites[p]; s++)
            ret->callee[p][s] = g_rand_int_range(random, 0, 4) == 0
                                    ? 0
                                    : (uint32_t)g_rand_int_range(random, 1, (int)ret->procs + 1);
    }
}

static uint32_t new_pd(struct run *run, uint32_t proc)
{
    run->pd_procs[++run->pd_count] = proc;
    return fm_build_pd(run->build, proc + 1);
}

/* The rules of the runtime: an edge keeps its callee; else what is active is linked to; else a new
 * context is made. */
static uint32_t callee_of(struct run *run, uint32_t pd, uint32_t slot, uint32_t proc,
                          uint32_t *ret_csd)
{
    for (uint32_t i = 0; i < run->csd_count; i++) {
        if (run->csds[i].pd == pd && run->csds[i].slot == slot &&
            run->csds[i].callee_proc == proc) {
            *ret_csd = run->csds[i].csd;
            return run->csds[i].callee_pd;
        }
    }
    uint32_t callee = run->active[proc] != 0 ? run->active[proc] : new_pd(run, proc);
    *ret_csd = fm_build_csd(run->build, pd, slot, callee);
    run->csds[run->csd_count].pd = pd;
    run->csds[run->csd_count].slot = slot;
    run->csds[run->csd_count].callee_proc = proc;
    run->csds[run->csd_count].csd = *ret_csd;
    run->csds[run->csd_count++].callee_pd = callee;
    return callee;
}

static void call(struct run *run, uint32_t pd, uint32_t slot, uint32_t proc, unsigned depth)
{
    uint32_t csd, callee = callee_of(run, pd, slot, proc, &csd), before = run->active[proc];
    run->active[proc] = callee;
    fm_build_add(run->build, csd, FM_EXITS, 1);
    fm_build_add(run->build, csd, FM_CALLSEQS, 1);
    fm_build_add(run->build, csd, FM_ALLOCS, (uint64_t)g_rand_int_range(run->random, 0, 5));
    fm_build_pd_point(run->build, callee, 0, 1);
    uint32_t calls = depth > 12 ? 0 : (uint32_t)g_rand_int_range(run->random, 0, 4);
    for (uint32_t i = 0; i < calls && run->calls_left > 0; i++) {
        uint32_t site = (uint32_t)g_rand_int_range(run->random, 0, (int)run->program->sites[proc]);
        uint32_t to = run->program->callee[proc][site];
        if (to == 0)
            to = (uint32_t)g_rand_int_range(run->random, 1, (int)run->program->procs + 1);
        run->calls_left--;
        call(run, callee, site, to, depth + 1);
    }
    run->active[proc] = before;
}

static struct fm_build *program_statics(const struct program *program, const char *name)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, name);
    fm_build_header(build)->coverage = FM_COVERAGE_DYNAMIC;
    fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                       .name = "runtime",
                                       .raw_name = "runtime",
                                       .decl_module = "r",
                                       .def_module = "r"});
    fm_build_css(build, 1, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    for (uint32_t p = 1; p <= program->procs; p++) {
        g_autofree char *proc = g_strdup_printf("p%u", p);
        uint32_t ps = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                         .name = proc,
                                                         .raw_name = proc,
                                                         .decl_module = "a.c",
                                                         .def_module = "a.c",
                                                         .file = "/a.c",
                                                         .line = p * 10});
        fm_build_point(build, ps, &(struct fm_coverage_point){"1:1", FM_POINT_BRANCH_ARM, 0});
    }
    for (uint32_t p = 1; p <= program->procs; p++) {
        for (uint32_t s = 0; s < program->sites[p]; s++) {
            uint32_t to = program->callee[p][s];
            fm_build_css(build, p + 1,
                         &(struct fm_css){.kind = to == 0 ? FM_SITE_HIGHER_ORDER : FM_SITE_NORMAL,
                                          .callee_ps = to == 0 ? 0 : to + 1,
                                          .line = p * 10 + s});
        }
    }
    return build;
}

static struct fm_profile *random_run(GRand *random, const struct program *program)
{
    struct run *run = g_new0(struct run, 1);
    run->program = program;
    run->random = random;
    run->build = program_statics(program, "prog");
    run->calls_left = (uint32_t)g_rand_int_range(random, 1, 120);
    uint32_t root = fm_build_pd(run->build, 1);
    run->pd_count = 1;
    for (int i = g_rand_int_range(random, 1, 4); i > 0; i--)
        call(run, root, 0, 1, 0);
    struct fm_profile *profile;
    g_autoptr(GError) error = NULL;
    if (!fm_build_finish(run->build, &profile, &error))
        g_error("%s", error->message);
    g_free(run);
    return profile;
}

static struct fm_profile *empty(const struct program *program)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    (void)program;
    fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                       .name = "runtime",
                                       .raw_name = "runtime",
                                       .decl_module = "r",
                                       .def_module = "r"});
    fm_build_css(build, 1, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    fm_build_pd(build, 1);
    struct fm_profile *profile;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    return profile;
}

/* A process that ended before it called anything is no identity: it lasted. */
static void test_called_nothing(void)
{
    GRand *random = g_rand_new_with_seed(5);
    struct program program;
    random_program(random, &program);
    struct fm_profile *run = random_run(random, &program);
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    for (unsigned m = FM_MEASURES_MERCURY; m < run->measure_count; m++)
        fm_build_measure(build, run->measures[m].name, run->measures[m].unit,
                         run->measures[m].scale);
    fm_build_ps(build, &run->ps[run->pd_ps[run->root_pd]]);
    fm_build_pd(build, 1);
    fm_build_header(build)->coverage = run->coverage;
    fm_build_header(build)->ticks_per_second = run->ticks_per_second;
    fm_build_header(build)->duration_ns = 77;
    struct fm_profile *idle;
    g_assert_true(fm_build_finish(build, &idle, NULL));
    g_autoptr(FmProfile) first = merge_all((struct fm_profile *[]){idle, run}, 2);
    g_autoptr(FmProfile) last = merge_all((struct fm_profile *[]){run, idle}, 2);
    g_assert_cmpuint(last->run_info.duration_ns, ==, MAX((uint64_t)77, run->run_info.duration_ns));
    assert_same(first, last);
    fm_profile_free(run);
    fm_profile_free(idle);
    g_rand_free(random);
}

static uint64_t sum_of(const struct fm_profile *profile, enum fm_measure_id measure)
{
    uint64_t sum = 0;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
        sum += fm_profile_own(profile, csd, measure);
    return sum;
}

/* Any order, any grouping, canonical forms in between, nothing added: the same bytes. */
static void test_laws(void)
{
    GRand *random = g_rand_new_with_seed(11);
    for (int round = 0; round < 400; round++) {
        struct program program;
        struct fm_profile *run[4], *grouped[3];
        random_program(random, &program);
        for (int i = 0; i < 4; i++)
            run[i] = random_run(random, &program);
        g_autoptr(FmProfile) all = merge_all(run, 4);
        struct fm_profile *turned[] = {run[3], run[1], run[0], run[2]};
        g_autoptr(FmProfile) other_order = merge_all(turned, 4);
        assert_same(all, other_order);
        g_autoptr(FmProfile) pair = merge_all(run, 2);
        g_autoptr(FmProfile) second_pair = merge_all(run + 2, 2);
        grouped[0] = second_pair;
        grouped[1] = pair;
        g_autoptr(FmProfile) pairs = merge_all(grouped, 2);
        assert_same(all, pairs);
        g_autoptr(FmProfile) three = merge_all(run + 1, 3);
        grouped[0] = three;
        grouped[1] = run[0];
        g_autoptr(FmProfile) one_and_three = merge_all(grouped, 2);
        assert_same(all, one_and_three);
        g_autoptr(FmProfile) again = merge_all((struct fm_profile *[]){all}, 1);
        assert_same(all, again); /* a canonical form is its own */
        g_autoptr(FmProfile) nothing = empty(&program);
        for (int place = 0; place < 2; place++) {
            grouped[place] = nothing;
            grouped[1 - place] = all;
            g_autoptr(FmProfile) with_nothing = merge_all(grouped, 2);
            assert_same(all, with_nothing);
        }
        uint64_t exits = 0, allocs = 0;
        for (int i = 0; i < 4; i++) {
            exits += sum_of(run[i], FM_EXITS);
            allocs += sum_of(run[i], FM_ALLOCS);
            fm_profile_free(run[i]);
        }
        g_assert_cmpuint(sum_of(all, FM_EXITS), ==, exits);
        g_assert_cmpuint(sum_of(all, FM_ALLOCS), ==, allocs);
        uint64_t points = 0;
        for (uint64_t i = 0; i < all->pd_point_first[all->pd_count + 1]; i++)
            points += fm_column_get(&all->pd_points, (size_t)i);
        g_assert_cmpuint(points, ==, exits); /* each call passed one */
    }
    g_rand_free(random);
}

/* --- rules by name --- */

/* P calls Q by one site or by another, and is called back, in some of three runs. */
enum { P = 1, Q = 2, R = 3 };
static const struct program by_two_ways = {
    .procs = 3,
    .sites = {[P] = 2, [Q] = 1, [R] = 1},
    .callee = {[P] = {Q, R}, [Q] = {P}, [R] = {Q}},
};

/* site: of the caller, at each step down from P. */
static struct fm_profile *chain(const uint32_t *sites, unsigned count)
{
    struct run *run = g_new0(struct run, 1);
    run->program = &by_two_ways;
    run->build = program_statics(&by_two_ways, "prog");
    uint32_t root = fm_build_pd(run->build, 1), csd;
    run->pd_count = 1;
    uint32_t pd = callee_of(run, root, 0, P, &csd), proc = P;
    fm_build_add(run->build, csd, FM_EXITS, 1);
    run->active[P] = pd;
    for (unsigned i = 0; i < count; i++) {
        uint32_t to = by_two_ways.callee[proc][sites[i]];
        pd = callee_of(run, pd, sites[i], to, &csd);
        fm_build_add(run->build, csd, FM_EXITS, 1);
        run->active[to] = pd;
        proc = to;
    }
    struct fm_profile *profile;
    g_assert_true(fm_build_finish(run->build, &profile, NULL));
    g_free(run);
    return profile;
}

/* P -> Q -> P and P -> R -> Q -> P: each has one Q, and so has what they give together. */
static void test_cliques_fold_on_the_union(void)
{
    static const uint32_t x_sites[] = {0, 0}, y_sites[] = {1, 0}, z_sites[] = {1, 0, 0};
    g_autoptr(FmProfile) x = chain(x_sites, 2);
    g_autoptr(FmProfile) y = chain(y_sites, 2); /* P -> R -> Q, no return */
    g_autoptr(FmProfile) z = chain(z_sites, 3);
    struct fm_profile *xy[] = {x, y}, *xz[] = {x, z}, *xyz[] = {x, y, z};
    g_autoptr(FmProfile) with_y = merge_all(xy, 2);
    g_autoptr(FmProfile) with_z = merge_all(xz, 2);
    g_autoptr(FmProfile) with_both = merge_all(xyz, 3);
    g_assert_cmpuint(with_y->pd_count, ==,
                     5); /* root, P, R and two Q: the second is in no clique */
    g_assert_cmpuint(with_z->pd_count, ==, 4);
    g_assert_cmpuint(with_both->pd_count, ==, 4);
    struct fm_profile *late[] = {with_y, z};
    g_autoptr(FmProfile) folded_late = merge_all(late, 2);
    assert_same(with_both, folded_late);
}

static void test_saturation(void)
{
    struct fm_profile *huge[3];
    for (int i = 0; i < 3; i++) {
        struct fm_build *build = program_statics(&by_two_ways, "prog");
        uint32_t root = fm_build_pd(build, 1), pd = fm_build_pd(build, 2);
        fm_build_add(build, fm_build_csd(build, root, 0, pd), FM_WORDS,
                     i == 1 ? UINT64_MAX - 2 : 2);
        g_assert_true(fm_build_finish(build, &huge[i], NULL));
    }
    g_autoptr(FmProfile) all = merge_all(huge, 3);
    g_assert_cmpuint(fm_profile_own(all, 1, FM_WORDS), ==, UINT64_MAX);
    g_autoptr(FmProfile) outer = merge_all((struct fm_profile *[]){huge[2], huge[0]}, 2);
    g_autoptr(FmProfile) grouped = merge_all((struct fm_profile *[]){outer, huge[1]}, 2);
    assert_same(all, grouped);
    for (int i = 0; i < 3; i++)
        fm_profile_free(huge[i]);
}

static struct fm_profile *ticking(uint64_t rate, uint64_t quanta, uint64_t samples)
{
    struct fm_build *build = program_statics(&by_two_ways, "prog");
    fm_build_header(build)->ticks_per_second = rate;
    uint32_t root = fm_build_pd(build, 1), pd = fm_build_pd(build, 2);
    uint32_t csd = fm_build_csd(build, root, 0, pd);
    fm_build_add(build, csd, FM_QUANTA, quanta);
    fm_build_add(build, csd, FM_EXITS, 1);
    fm_build_header(build)->sample_count = samples;
    fm_build_header(build)->sample_squares = samples * quanta;
    struct fm_profile *profile;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    return profile;
}

static void test_tick_rates(void)
{
    g_autoptr(FmProfile) slow = ticking(250, 3, 1), fast = ticking(1000, 5, 2),
                         odd = ticking(400, 7, 0);
    struct fm_profile *all[] = {slow, fast, odd};
    g_autoptr(FmProfile) merged = merge_all(all, 3);
    g_assert_cmpuint(merged->ticks_per_second, ==, 2000);
    g_assert_cmpuint(fm_profile_own(merged, 1, FM_QUANTA), ==, 3 * 8 + 5 * 2 + 7 * 5);
    g_assert_cmpuint(merged->user_quanta, ==, 3 * 8 + 5 * 2 + 7 * 5);
    /* Where samples are not known each quantum is one; squares go by the square of the factor. */
    g_assert_cmpuint(merged->run_info.sample_count, ==, 1 + 2 + 7 * 5);
    g_assert_cmpuint(merged->run_info.sample_squares, ==, 3 * 64 + 10 * 4 + 7 * 5);
    g_autoptr(FmProfile) pair = merge_all(all + 1, 2);
    g_autoptr(FmProfile) grouped = merge_all((struct fm_profile *[]){pair, slow}, 2);
    assert_same(merged, grouped);
}

static struct fm_profile *named(const char *program, bool frees)
{
    struct fm_build *build = program_statics(&by_two_ways, program);
    unsigned measure = frees ? fm_build_measure(build, "frees", "frees", 1) : 0;
    uint32_t root = fm_build_pd(build, 1), pd = fm_build_pd(build, 2);
    uint32_t csd = fm_build_csd(build, root, 0, pd);
    fm_build_add(build, csd, FM_EXITS, 1);
    if (frees)
        fm_build_add(build, csd, measure, 4);
    struct fm_profile *profile;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    return profile;
}

static void test_what_does_not_fit(void)
{
    g_autoptr(FmProfile) one = named("one", false), other = named("other", false),
                         measured = named("one", true), slow = ticking(999999937, 1, 0),
                         fast = ticking(999999929, 1, 0);
    expect_refused(one, other, "a profile of other, the others are of one (--union");
    expect_refused(one, measured, "measure 'frees' is recorded only in it (--common");
    expect_refused(measured, one, "measure 'frees' is not recorded in it");
    expect_refused(slow, fast, "have no common unit");
}

static void test_common_measures(void)
{
    const struct fm_merge_options options = {.common = true};
    g_autoptr(FmProfile) one = named("one", false), measured = named("one", true);
    struct fm_profile *ab[] = {one, measured}, *ba[] = {measured, one};
    g_autoptr(FmProfile) forth = merge_with(&options, ab, 2), back = merge_with(&options, ba, 2);
    g_assert_cmpuint(forth->measure_count, ==, FM_MEASURES_MERCURY);
    assert_same(forth, back);
}

static void test_union(void)
{
    const struct fm_merge_options options = {.union_programs = true};
    g_autoptr(FmProfile) one = named("one", false), other = named("other", false),
                         third = named("one", false);
    struct fm_profile *all[] = {one, other, third};
    g_autoptr(FmProfile) merged = merge_with(&options, all, 3);
    g_assert_cmpuint(merged->pd_count, ==, 5); /* the root, and for each program its name and P */
    g_autoptr(FmProfile) pair = merge_with(&options, all + 1, 2);
    g_autoptr(FmProfile) grouped = merge_with(&options, (struct fm_profile *[]){one, pair}, 2);
    assert_same(merged, grouped);
    /* What is added up before programs are put together is a program like another. */
    g_autoptr(FmProfile) ones = merge_all((struct fm_profile *[]){one, third}, 2);
    g_autoptr(FmProfile) first = merge_with(&options, (struct fm_profile *[]){other, ones}, 2);
    assert_same(merged, first);
    g_autoptr(FmProfile) alone = merge_with(&options, &other, 1);
    g_autoptr(FmProfile) last = merge_with(&options, (struct fm_profile *[]){ones, alone}, 2);
    assert_same(merged, last);
}

/* --- the real profile --- */

static void test_sample(void)
{
    const char *folder = g_getenv("FATHOM_SAMPLE_DATA");
    g_autofree char *path = g_build_filename(folder ? folder : "", "mercury", "Deep.data", NULL);
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        g_test_skip("no mercury/Deep.data in the folder FATHOM_SAMPLE_DATA");
        return;
    }
    g_autoptr(FmProfile) profile = NULL;
    g_assert_true(fm_profile_read(path, NULL, &profile, NULL));
    struct fm_profile *twice[] = {profile, profile};
    g_autoptr(FmProfile) once = merge_all(twice, 1), doubled = merge_all(twice, 2);
    g_assert_cmpuint(once->pd_count, ==, 185);
    g_assert_cmpuint(once->csd_count, ==, 211);
    g_assert_cmpuint(once->ps_count, ==, 8584);
    g_assert_cmpuint(once->callseqs, ==, 202594363);
    g_assert_cmpuint(doubled->pd_count, ==, 185);
    g_assert_cmpuint(doubled->callseqs, ==, 2 * UINT64_C(202594363));
    for (unsigned m = 0; m < FM_MEASURES_MERCURY; m++)
        g_assert_cmpuint(sum_of(doubled, m), ==, 2 * sum_of(profile, m));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/merge/laws", test_laws);
    g_test_add_func("/merge/called-nothing", test_called_nothing);
    g_test_add_func("/merge/cliques_fold_on_the_union", test_cliques_fold_on_the_union);
    g_test_add_func("/merge/saturation", test_saturation);
    g_test_add_func("/merge/tick_rates", test_tick_rates);
    g_test_add_func("/merge/what_does_not_fit", test_what_does_not_fit);
    g_test_add_func("/merge/common_measures", test_common_measures);
    g_test_add_func("/merge/union", test_union);
    g_test_add_func("/merge/sample", test_sample);
    return g_test_run();
}
