/* SPDX-License-Identifier: Apache-2.0 */
/* What is one procedure and one call site: in one build, and in several. */
#include <string.h>

#include "deep/build.h"
#include "merging.h"

/* The same program with a function that was moved down and one that was put before it. */
static struct fm_profile *build_of(uint32_t line, bool extra)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
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
    g_autoptr(FmProfile) old = build_of(10, false), new = build_of(12, true);
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
    expect_refused(up, down, "p/0-0 has other lines");
    expect_refused(down, up, "p/0-0 has other lines");
    struct fm_profile *hidden_first[] = {up, seen}, *seen_first[] = {seen, up};
    g_autoptr(FmProfile) hidden_seen = merge_all(hidden_first, 2),
                         seen_hidden = merge_all(seen_first, 2);
    assert_same(hidden_seen, seen_hidden);
    g_assert_true(hidden_seen->ps[2].in_interface);
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
    g_test_add_func("/merge/builds/why_there_is_no_coverage", test_why_there_is_no_coverage);
    return g_test_run();
}
