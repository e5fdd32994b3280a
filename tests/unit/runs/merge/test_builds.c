/* SPDX-License-Identifier: Apache-2.0 */
/* What is one procedure and one call site: in one build, and in several. */
#include <string.h>

#include "profile/file/build.h"
#include "merging.h"

/* The same program with a function that was moved down and one that was put before it. */
static struct fm_profile *build_of(const char *program, uint32_t line, bool extra)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, program);
    uint32_t runtime = fm_build_ps(
        build,
        &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION, .name = "runtime", .raw_name = "runtime"});
    fm_build_css(build, runtime, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    uint32_t f = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                    .name = "f",
                                                    .raw_name = extra ? "f.constprop.0" : "f",
                                                    .file = "/a.c",
                                                    .line = line});
    uint32_t g = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                    .name = "g",
                                                    .raw_name = "g",
                                                    .file = "/a.c",
                                                    .line = line + 50});
    for (int i = 0; i < 2; i++) /* two calls of g, one after the other */
        fm_build_css(build, f,
                     &(struct fm_css){
                         .kind = FM_SITE_NORMAL, .callee_ps = g, .line = line + 1 + (uint32_t)i});
    uint32_t root = fm_build_pd(build, runtime), f_pd = fm_build_pd(build, f),
             g_pd = fm_build_pd(build, g);
    fm_build_add(build, fm_build_csd(build, root, 0, f_pd), FM_EXITS, 1);
    fm_build_add(build, fm_build_csd(build, f_pd, extra ? 1 : 0, g_pd), FM_EXITS, 10);
    struct fm_profile *profile;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    return profile;
}

static void test_across_builds(void)
{
    const struct fm_merge_options options = {.across_builds = true};
    g_autoptr(FmProfile) old = build_of("prog", 10, false), new = build_of("prog", 12, true);
    struct fm_profile *ab[] = {old, new}, *ba[] = {new, old};
    g_autoptr(FmProfile) forth = merge_with(&options, ab, 2), back = merge_with(&options, ba, 2);
    assert_same(forth, back);
    g_assert_cmpuint(forth->ps_count, ==, 3);
    g_assert_cmpuint(forth->css_count, ==, 3);
    g_assert_cmpuint(forth->csd_count, ==, 3); /* g is called by the first site and by the second */
    for (uint32_t ps = 1; ps <= forth->ps_count; ps++) {
        if (strcmp(forth->ps[ps].name, "f") == 0)
            g_assert_cmpuint(forth->ps[ps].line, ==, 10);
    }
    g_autoptr(FmProfile) same = merge_all(ab, 2); /* without the option they are strangers */
    g_assert_cmpuint(same->ps_count, ==, 5);
}

/* A Mercury program of which the labels stay while all else of a procedure may differ. */
static struct fm_profile *labelled(uint32_t line, bool in_interface)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "prog");
    uint32_t runtime =
        fm_build_ps(build, &(struct fm_ps){.name = "runtime", .raw_name = "runtime"});
    fm_build_css(build, runtime, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    uint32_t p = fm_build_ps(build, &(struct fm_ps){.name = "p",
                                                    .raw_name = "p",
                                                    .file = "a.m",
                                                    .line = line,
                                                    .in_interface = in_interface});
    uint32_t root = fm_build_pd(build, runtime), pd = fm_build_pd(build, p);
    fm_build_add(build, fm_build_csd(build, root, 0, pd), FM_EXITS, 1);
    struct fm_profile *profile;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    return profile;
}

/* What the key of a procedure leaves open does not come from the input that was first. */
static void test_what_keys_leave_open(void)
{
    const struct fm_merge_options options = {.sites_by_key = true};
    g_autoptr(FmProfile) up = labelled(10, false), down = labelled(12, false),
                         seen = labelled(10, true);
    struct fm_profile *ab[] = {up, down}, *ba[] = {down, up};
    g_autoptr(FmProfile) forth = merge_with(&options, ab, 2), back = merge_with(&options, ba, 2);
    assert_same(forth, back);
    g_assert_cmpuint(forth->ps[2].line, ==, 10);
    expect_refused(up, down, "p/0-0 has different lines");
    expect_refused(down, up, "p/0-0 has different lines");
    struct fm_profile *hidden_first[] = {up, seen}, *seen_first[] = {seen, up};
    g_autoptr(FmProfile) hidden_seen = merge_all(hidden_first, 2),
                         seen_hidden = merge_all(seen_first, 2);
    assert_same(hidden_seen, seen_hidden);
    g_assert_true(hidden_seen->ps[2].in_interface);
}

/* --- Mercury programs in several builds, and below one root --- */

enum { A, B, C, PROCS };

struct call {
    unsigned callee;
    bool is_higher_order;
};

/* p calls what the build has in this order, at these lines; each site once. */
struct mercury_build {
    const char *program, *file;
    uint32_t line;
    struct call calls[4];
    unsigned count;
};

static struct fm_profile *mercury(const struct mercury_build *of)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, of->program);
    uint32_t procs[PROCS], pds[PROCS];
    uint32_t runtime = fm_build_ps(build, &(struct fm_ps){.name = "Mercury runtime",
                                                          .raw_name = "Mercury runtime",
                                                          .file = "Mercury runtime"});
    fm_build_css(build, runtime, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    uint32_t p = fm_build_ps(
        build, &(struct fm_ps){.name = "p", .raw_name = "p", .file = of->file, .line = of->line});
    for (unsigned i = 0; i < PROCS; i++) {
        const char *name = (const char *[]){"a", "b", "c"}[i];
        procs[i] = fm_build_ps(build, &(struct fm_ps){.name = name,
                                                      .raw_name = name,
                                                      .file = of->file,
                                                      .line = of->line + 20 + i});
    }
    for (unsigned i = 0; i < of->count; i++) {
        g_autofree char *path = g_strdup_printf("c%u;", i + 1);
        bool normal = !of->calls[i].is_higher_order;
        fm_build_css(build, p,
                     &(struct fm_css){.kind = normal ? FM_SITE_NORMAL : FM_SITE_HIGHER_ORDER,
                                      .callee_ps = normal ? procs[of->calls[i].callee] : 0,
                                      .line = of->line + 1 + i,
                                      .goal_path = path});
    }
    uint32_t root = fm_build_pd(build, runtime), p_pd = fm_build_pd(build, p);
    for (unsigned i = 0; i < PROCS; i++)
        pds[i] = fm_build_pd(build, procs[i]);
    fm_build_add(build, fm_build_csd(build, root, 0, p_pd), FM_EXITS, 1);
    for (unsigned i = 0; i < PROCS; i++)
        fm_build_add(build, fm_build_csd(build, root, 0, pds[i]), FM_EXITS, 1);
    for (unsigned i = 0; i < of->count; i++)
        fm_build_add(build, fm_build_csd(build, p_pd, i, pds[of->calls[i].callee]), FM_EXITS,
                     i + 1);
    struct fm_profile *profile;
    g_autoptr(GError) error = NULL;
    if (!fm_build_finish(build, &profile, &error))
        g_error("%s", error->message);
    return profile;
}

static uint32_t ps_named(const struct fm_profile *profile, const char *name)
{
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        if (strcmp(profile->ps[ps].name, name) == 0)
            return ps;
    }
    g_error("no procedure %s", name);
}

/* "a@11:3": what each call site of p calls, its line, and how often. */
static char *sites_of_p(const struct fm_profile *profile)
{
    GString *text = g_string_new(NULL);
    uint32_t p = ps_named(profile, "p");
    for (uint32_t slot = 0; slot < profile->ps[p].css_count; slot++) {
        uint32_t id = profile->css_of_ps[profile->ps[p].css_first + slot];
        const struct fm_css *css = &profile->css[id];
        uint64_t calls = 0;
        for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
            calls += profile->csd_css[csd] == id ? fm_profile_own(profile, csd, FM_EXITS) : 0;
        g_string_append_printf(text, "%s@%u:%u ",
                               css->callee_ps == 0 ? "?" : profile->ps[css->callee_ps].name,
                               css->line, (unsigned)calls);
    }
    return g_string_free(text, FALSE);
}

/* In every order and grouping; the caller owns the result. */
static struct fm_profile *merge_three(const struct fm_merge_options *options,
                                      struct fm_profile *const *parts)
{
    static const unsigned orders[][3] = {{1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
    struct fm_profile *all = merge_with(options, parts, 3);
    for (size_t i = 0; i < G_N_ELEMENTS(orders); i++) {
        struct fm_profile *turned[3];
        for (unsigned k = 0; k < 3; k++)
            turned[k] = parts[orders[i][k]];
        g_autoptr(FmProfile) other_order = merge_with(options, turned, 3);
        assert_same(all, other_order);
        g_autoptr(FmProfile) pair = merge_with(options, turned, 2);
        g_autoptr(FmProfile) grouped =
            merge_with(options, (struct fm_profile *[]){turned[2], pair}, 2);
        assert_same(all, grouped);
    }
    g_autoptr(FmProfile) again = merge_with(options, &all, 1);
    assert_same(all, again);
    return all;
}

static const struct mercury_build in_one_file = {
    "./prog", "p.m", 10, {{A, false}, {B, false}, {0, true}, {A, false}}, 4};

/* Of one Mercury program below the root of several, too: its root has no place there. */
static void test_union_of_mercury(void)
{
    const struct fm_merge_options options = {.union_programs = true};
    struct mercury_build other = in_one_file;
    other.program = "./other";
    struct fm_profile *parts[] = {mercury(&in_one_file), mercury(&other), mercury(&in_one_file)};
    g_autoptr(FmProfile) all = merge_three(&options, parts);
    g_assert_cmpuint(all->ps_count, ==, 7); /* the root, two programs, p, a, b and c */
    g_assert_cmpuint(all->ps[ps_named(all, "./prog")].line, ==, 0);
    g_assert_cmpstr(all->ps[ps_named(all, "./prog")].file, ==, "");
    for (int i = 0; i < 3; i++)
        fm_profile_free(parts[i]);
}

/* Procedures by their labels alone, the first place is shown. */
static void test_mercury_elsewhere(void)
{
    const struct fm_merge_options options = {.across_builds = true};
    struct mercury_build moved = in_one_file, renamed = in_one_file;
    moved.line = 14;
    renamed.file = "other.m";
    struct fm_profile *parts[] = {mercury(&renamed), mercury(&moved), mercury(&in_one_file)};
    g_autoptr(FmProfile) all = merge_three(&options, parts);
    g_autofree char *sites = sites_of_p(all);
    g_assert_cmpstr(sites, ==, "a@11:3 b@12:6 ?@13:9 a@14:12 ");
    g_assert_cmpuint(all->ps_count, ==, 5);
    g_assert_cmpstr(all->ps[ps_named(all, "p")].file, ==, "other.m");
    g_assert_cmpuint(all->ps[ps_named(all, "p")].line, ==, 10);
    expect_refused(parts[1], parts[2], "p/0-0 has different lines");
    for (int i = 0; i < 3; i++)
        fm_profile_free(parts[i]);
}

/* Of other sites those are one that are of one kind and call the same, the first the first. */
static void test_mercury_with_other_sites(void)
{
    const struct fm_merge_options options = {.across_builds = true};
    static const struct mercury_build longer = {
        "./prog", "p.m", 30, {{C, false}, {A, false}, {A, true}, {A, false}}, 4};
    static const struct mercury_build shorter = {"./prog", "p.m", 12, {{A, false}}, 1};
    struct fm_profile *parts[] = {mercury(&in_one_file), mercury(&longer), mercury(&shorter)};
    g_autoptr(FmProfile) all = merge_three(&options, parts);
    g_autofree char *sites = sites_of_p(all);
    /* a: 1 + 2 + 1 and 4 + 4; the higher-order call: 3 + 3 */
    g_assert_cmpstr(sites, ==, "a@11:4 b@12:2 ?@13:6 a@14:8 c@31:1 ");
    for (int i = 0; i < 3; i++)
        fm_profile_free(parts[i]);
}

static void test_random_builds(void)
{
    static const char *const programs[] = {"./prog", "prog", "/home/one/prog"}, *const files[] = {
                                                                                    "p.m",
                                                                                    "other.m"};
    GRand *random = g_rand_new_with_seed(12);
    for (int round = 0; round < 200; round++) {
        struct fm_profile *parts[3];
        for (int i = 0; i < 3; i++) {
            struct mercury_build of = {.program = programs[g_rand_int_range(random, 0, 3)],
                                       .file = files[g_rand_int_range(random, 0, 2)],
                                       .line = (uint32_t)g_rand_int_range(random, 10, 16),
                                       .count = (unsigned)g_rand_int_range(random, 0, 5)};
            for (unsigned k = 0; k < of.count; k++) {
                of.calls[k].callee = (unsigned)g_rand_int_range(random, A, PROCS);
                of.calls[k].is_higher_order = g_rand_int_range(random, 0, 3) == 0;
            }
            parts[i] = mercury(&of);
        }
        const struct fm_merge_options options = {.across_builds = true,
                                                 .union_programs = round % 4 == 0};
        g_autoptr(FmProfile) all = merge_three(&options, parts);
        uint64_t calls = 0, calls_of_all = 0;
        for (int i = 0; i < 3; i++) {
            for (uint32_t csd = 1; csd <= parts[i]->csd_count; csd++)
                calls += fm_profile_own(parts[i], csd, FM_EXITS);
            fm_profile_free(parts[i]);
        }
        for (uint32_t csd = 1; csd <= all->csd_count; csd++)
            calls_of_all += fm_profile_own(all, csd, FM_EXITS);
        g_assert_cmpuint(calls_of_all, ==,
                         calls + (options.union_programs ? 1 : 0)); /* of the one program */
    }
    g_rand_free(random);
}

/* --- a C program in several folders --- */

static void test_folders(void)
{
    const struct fm_merge_options options = {.across_builds = true};
    g_autoptr(FmProfile) one = build_of("/home/one/prog", 10, false),
                         other = build_of("/home/other/prog", 12, true),
                         third = build_of("prog", 11, false),
                         stranger = build_of("/home/one/prog2", 10, false);
    g_autoptr(FmProfile) all = merge_three(&options, (struct fm_profile *[]){other, third, one});
    g_assert_cmpuint(all->ps_count, ==, 3);
    g_assert_cmpstr(all->program_name, ==, "/home/one/prog");
    expect_refused(one, other, "a profile of /home/other/prog, the others are of /home/one/prog");
    struct fm_merge *merge = fm_merge_new(&options);
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_merge_add(merge, one, "one", NULL));
    g_assert_false(fm_merge_add(merge, stranger, "stranger", &error));
    g_assert_nonnull(strstr(error->message, "a profile of /home/one/prog2"));
    fm_merge_free(merge);
    const struct fm_merge_options below = {.across_builds = true, .union_programs = true};
    g_autoptr(FmProfile) apart = merge_three(&below, (struct fm_profile *[]){other, stranger, one});
    g_assert_cmpuint(apart->ps_count, ==, 5); /* the root, prog, prog2, f and g */
    g_assert_cmpuint(ps_named(apart, "prog"), !=, ps_named(apart, "prog2"));
}

/* p calls a twice in one line, in these columns. */
static struct fm_profile *two_in_a_line(const char *first, const char *second, uint64_t calls)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    uint32_t runtime = fm_build_ps(build, &(struct fm_ps){.name = "runtime", .raw_name = ""});
    fm_build_css(build, runtime, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    uint32_t p = fm_build_ps(build, &(struct fm_ps){.name = "p", .raw_name = "p", .line = 10});
    uint32_t a = fm_build_ps(build, &(struct fm_ps){.name = "a", .raw_name = "a", .line = 20});
    for (int i = 0; i < 2; i++)
        fm_build_css(build, p,
                     &(struct fm_css){.kind = FM_SITE_NORMAL,
                                      .callee_ps = a,
                                      .line = 11,
                                      .goal_path = i == 0 ? first : second});
    uint32_t root = fm_build_pd(build, runtime), p_pd = fm_build_pd(build, p);
    fm_build_add(build, fm_build_csd(build, root, 0, p_pd), FM_EXITS, 1);
    for (uint32_t i = 0; i < 2; i++)
        fm_build_add(build, fm_build_csd(build, p_pd, i, fm_build_pd(build, a)), FM_EXITS,
                     calls * (i + 1));
    struct fm_profile *profile;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    return profile;
}

/* A call that stands in another column, further to the right than the tenth, is the same. */
static void test_columns(void)
{
    const struct fm_merge_options options = {.across_builds = true};
    g_autoptr(FmProfile) left = two_in_a_line("5", "9", 1), right = two_in_a_line("9", "13", 10),
                         further = two_in_a_line("13", "17", 100);
    g_autoptr(FmProfile) all = merge_three(&options, (struct fm_profile *[]){right, left, further});
    g_autofree char *sites = sites_of_p(all);
    g_assert_cmpstr(sites, ==, "a@11:111 a@11:222 ");
}

/* --- notes --- */

static struct fm_profile *covered(bool coverage)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    fm_build_header(build)->coverage = coverage ? FM_COVERAGE_DYNAMIC : FM_COVERAGE_NONE;
    uint32_t runtime = fm_build_ps(build, &(struct fm_ps){.name = "runtime", .raw_name = ""});
    fm_build_css(build, runtime, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    uint32_t p = fm_build_ps(build, &(struct fm_ps){.name = "p", .raw_name = "p"});
    if (coverage)
        fm_build_point(build, p, &(struct fm_coverage_point){"1:1", FM_POINT_BRANCH_ARM, 0});
    uint32_t root = fm_build_pd(build, runtime);
    fm_build_add(build, fm_build_csd(build, root, 0, fm_build_pd(build, p)), FM_EXITS, 1);
    struct fm_profile *profile;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    return profile;
}

static void expect_note(const struct fm_merge_options *options, bool first, bool second,
                        const char *note)
{
    struct fm_merge *merge = fm_merge_new(options);
    g_autoptr(FmProfile) one = covered(first), other = covered(second);
    g_assert_true(fm_merge_add(merge, one, "one", NULL));
    g_assert_true(fm_merge_add(merge, other, "other", NULL));
    const char *const *notes = fm_merge_notes(merge);
    if (note != NULL)
        g_assert_cmpstr(*notes++, ==, note);
    g_assert_cmpstr(*notes, ==, NULL);
    fm_merge_free(merge);
}

static void test_why_there_is_no_coverage(void)
{
    static const char missing[] = "coverage is left out: not all profiles have it",
                      several[] = "coverage is left out: that of different builds is not added";
    const struct fm_merge_options same = {0}, across = {.across_builds = true};
    expect_note(&same, true, true, NULL);
    expect_note(&same, true, false, missing);
    expect_note(&same, false, true, missing);
    expect_note(&across, true, true, several);
    expect_note(&across, true, false, several);
    expect_note(&across, false, true, several);
    expect_note(&across, false, false, NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/merge/builds/across_builds", test_across_builds);
    g_test_add_func("/merge/builds/what_keys_leave_open", test_what_keys_leave_open);
    g_test_add_func("/merge/builds/union_of_mercury", test_union_of_mercury);
    g_test_add_func("/merge/builds/mercury_elsewhere", test_mercury_elsewhere);
    g_test_add_func("/merge/builds/mercury_with_other_sites", test_mercury_with_other_sites);
    g_test_add_func("/merge/builds/random_builds", test_random_builds);
    g_test_add_func("/merge/builds/folders", test_folders);
    g_test_add_func("/merge/builds/columns", test_columns);
    g_test_add_func("/merge/builds/why_there_is_no_coverage", test_why_there_is_no_coverage);
    return g_test_run();
}
