/* SPDX-License-Identifier: Apache-2.0 */
/* Which caller a contour leaves: gaps in it, recursions, and what is hidden up to the runtime. */
#include <string.h>

#include "profile/analysis/analysis.h"
#include "profile/file/build.h"

enum { RUNTIME = 1, MAIN, A, B, C, P, Q, H, LEAF };

struct making {
    struct fm_build *build;
    uint32_t slots[LEAF + 1]; /* used of each pd's procedure; each has one pd */
    uint32_t pds[LEAF + 1];
};

static void call(struct making *m, uint32_t from, uint32_t to, uint64_t callseqs)
{
    uint32_t csd = fm_build_csd(m->build, m->pds[from], m->slots[from]++, m->pds[to]);
    fm_build_add(m->build, csd, FM_EXITS, 1);
    fm_build_add(m->build, csd, FM_CALLSEQS, callseqs);
}

/* What is called lies in one module each, so that a line of the contour hides it. leaf has a
 * context of its own in each caller. */
static struct fm_profile *make(void)
{
    static const char *const names[] = {"",  "runtime", "main", "a", "b",
                                        "c", "p",       "q",    "h", "leaf"};
    static const uint32_t sites[] = {0, 2, 2, 1, 1, 1, 1, 2, 1, 0};
    struct making m = {.build = fm_build_new(FM_FLAVOUR_MERCURY, "prog")};
    for (uint32_t ps = RUNTIME; ps <= LEAF; ps++) {
        const char *module = ps == RUNTIME ? "Mercury runtime" : names[ps];
        fm_build_ps(m.build, &(struct fm_ps){.label_kind = FM_LABEL_PREDICATE,
                                             .decl_module = module,
                                             .def_module = module,
                                             .name = names[ps],
                                             .in_interface = ps != B});
        for (uint32_t slot = 0; slot < sites[ps]; slot++)
            fm_build_css(m.build, ps, &(struct fm_css){.kind = FM_SITE_CALLBACK});
        if (ps != LEAF)
            m.pds[ps] = fm_build_pd(m.build, ps);
    }
    call(&m, RUNTIME, MAIN, 1);
    call(&m, RUNTIME, H, 1);
    call(&m, MAIN, A, 1);
    call(&m, MAIN, P, 1);
    call(&m, A, B, 1);
    call(&m, B, C, 1);
    call(&m, P, Q, 1);
    call(&m, Q, P, 1);
    static const struct {
        uint32_t from;
        uint64_t callseqs;
    } calls[] = {{C, 100}, {Q, 1000}, {H, 10000}};
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        m.pds[LEAF] = fm_build_pd(m.build, LEAF);
        call(&m, calls[i].from, LEAF, calls[i].callseqs);
    }
    struct fm_profile *profile;
    g_autoptr(GError) error = NULL;
    if (!fm_build_finish(m.build, &profile, &error))
        g_error("%s", error->message);
    return profile;
}

/* "b 100 main 1000 ": who calls leaf, and how much. */
static char *callers(const struct fm_analysis *a, const char *text)
{
    struct fm_contour *contour = NULL;
    g_autofree char *message = NULL;
    g_autofree struct fm_callers_row *rows = NULL;
    uint32_t count;
    g_assert_cmpint(fm_contour_read_text("x.contour", text, strlen(text), a, &contour, &message),
                    ==, FM_CONTOUR_OK);
    g_assert_null(message);
    fm_analysis_callers(a, LEAF, FM_GROUP_PROC, contour, &rows, &count);
    GString *out = g_string_new(NULL);
    for (uint32_t i = 0; i < count; i++)
        g_string_append_printf(out, "%s %d ", a->profile->ps[rows[i].ps].name,
                               (int)rows[i].cost.own[FM_CALLSEQS]);
    fm_contour_free(contour);
    return g_string_free(out, FALSE);
}

static void expect(const char *text, const char *expected)
{
    g_autoptr(FmProfile) profile = make();
    g_autoptr(FmAnalysis) a = NULL;
    g_assert_true(fm_analysis_new(profile, NULL, &a, NULL));
    g_autofree char *got = callers(a, text);
    g_assert_cmpstr(got, ==, expected);
}

static void test_nothing_hidden(void)
{
    expect("", "c 100 q 1000 h 10000 ");
    expect("all a\n", "c 100 q 1000 h 10000 "); /* not the immediate caller */
}

/* The nearest caller that is not hidden counts, though further ones are. */
static void test_gap(void)
{
    expect("all c\nall a\n", "b 100 q 1000 h 10000 ");
    expect("all c\nall b\n", "a 100 q 1000 h 10000 ");
    expect("internal c\ninternal b\n", "c 100 q 1000 h 10000 "); /* c is exported, b not reached */
    expect("all c\ninternal b", "a 100 q 1000 h 10000 ");
    expect("all c\nall b\nall a", "main 100 q 1000 h 10000 ");
}

/* Out of a recursion it goes to who called it, past the members that are not hidden. */
static void test_recursion(void)
{
    expect("all q\n", "main 1000 c 100 h 10000 ");
}

/* The runtime cannot be hidden: there it ends. */
static void test_runtime(void)
{
    expect("all h\n", "runtime 10000 c 100 q 1000 ");
    expect("all h\nall q\nall main\n", "runtime 11000 c 100 ");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/contour/nothing_hidden", test_nothing_hidden);
    g_test_add_func("/contour/gap", test_gap);
    g_test_add_func("/contour/recursion", test_recursion);
    g_test_add_func("/contour/runtime", test_runtime);
    return g_test_run();
}
