/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of one function at several lines of its caller: what moved from one to another is no
 * change. */
#include "runs/compare/compare.h"
#include "profile/file/build.h"

/* main calls leaf at lines 11 and 12 so often; each call of leaf allocates so much. */
struct program {
    uint64_t calls[2], allocs_each;
};

static struct fm_profile *built(const struct program *program)
{
    static const char *const names[] = {"main", "leaf"};
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "made");
    struct fm_profile *ret;
    uint32_t ps[2];
    g_autoptr(GError) error = NULL;
    uint32_t root = fm_build_ps(
        build,
        &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION, .name = "root", .raw_name = "root"});
    fm_build_css(build, root, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        ps[i] = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                   .decl_module = "a.c",
                                                   .def_module = "a.c",
                                                   .name = names[i],
                                                   .raw_name = names[i],
                                                   .file = "a.c",
                                                   .line = 10 + 10 * i});
    for (unsigned line = 11; line <= 12; line++)
        fm_build_css(build, ps[0],
                     &(struct fm_css){.kind = FM_SITE_NORMAL, .callee_ps = ps[1], .line = line});
    uint32_t root_pd = fm_build_pd(build, root), main_pd = fm_build_pd(build, ps[0]);
    uint32_t csd = fm_build_csd(build, root_pd, 0, main_pd);
    fm_build_add(build, csd, FM_EXITS, 1);
    for (unsigned slot = 0; slot < 2; slot++) {
        if (program->calls[slot] == 0)
            continue;
        csd = fm_build_csd(build, main_pd, slot, fm_build_pd(build, ps[1]));
        fm_build_add(build, csd, FM_EXITS, program->calls[slot]);
        fm_build_add(build, csd, FM_ALLOCS, program->calls[slot] * program->allocs_each);
    }
    if (!fm_build_finish(build, &ret, &error))
        g_error("%s", error->message);
    return ret;
}

/* The only cause, as a reader sees it, and its difference; NULL = there is none. g_free. */
static char *only_cause(const struct program *before, const struct program *after,
                        enum fm_measure_id measure, double *ret_net)
{
    g_autoptr(FmProfile) one = built(before), two = built(after);
    const struct fm_compare_options options = {0};
    struct fm_compare *c;
    struct fm_causes causes;
    g_autoptr(GError) error = NULL;
    char *what = NULL;
    if (!fm_compare_new(one, two, &options, &c, &error))
        g_error("%s", error->message);
    fm_causes_find(c, measure, &causes);
    g_assert_cmpuint(causes.causes->len, <=, 1);
    if (causes.causes->len == 1) {
        const struct fm_cause *cause = &g_array_index(causes.causes, struct fm_cause, 0);
        g_assert_cmpfloat_with_epsilon(cause->net, causes.difference, 1e-9);
        *ret_net = cause->net;
        what = fm_cause_what(c, cause);
    }
    fm_causes_done(&causes);
    fm_compare_free(c);
    return what;
}

static void calls_at_another_line_are_no_change(void)
{
    static const struct program first = {{100, 0}, 2}, second = {{0, 100}, 2}, both = {{40, 60}, 2};
    double net;
    g_assert_null(only_cause(&first, &second, FM_COMPARE_CALLS, &net));
    g_assert_null(only_cause(&second, &first, FM_COMPARE_CALLS, &net));
    g_assert_null(only_cause(&first, &both, FM_COMPARE_CALLS, &net));
    g_assert_null(only_cause(&both, &second, FM_COMPARE_CALLS, &net));
    g_assert_null(only_cause(&both, &second, FM_ALLOCS, &net));
}

static void more_calls_at_another_line_are(void)
{
    static const struct program before = {{100, 0}, 2}, after = {{0, 150}, 2},
                                split = {{30, 20}, 2};
    double net = 0;
    g_autofree char *more = only_cause(&before, &after, FM_COMPARE_CALLS, &net);
    g_assert_cmpstr(more, ==, "main calls leaf more often");
    g_assert_cmpfloat_with_epsilon(net, 50, 1e-9);
    g_autofree char *less = only_cause(&after, &split, FM_COMPARE_CALLS, &net);
    g_assert_cmpstr(less, ==, "main calls leaf less often");
    g_assert_cmpfloat_with_epsilon(net, -100, 1e-9);
}

static void what_costs_more_at_another_line(void)
{
    static const struct program before = {{100, 0}, 2}, after = {{0, 100}, 3};
    double net = 0;
    g_autofree char *what = only_cause(&before, &after, FM_ALLOCS, &net);
    g_assert_cmpstr(what, ==, "main calls leaf at another line");
    g_assert_cmpfloat_with_epsilon(net, 100, 1e-9);
}

static void all_calls_at_one_of_two_lines(void)
{
    static const struct program before = {{100, 100}, 0}, after = {{200, 0}, 0};
    double net = 0;
    g_assert_null(only_cause(&before, &after, FM_COMPARE_CALLS, &net));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/lines/moved", calls_at_another_line_are_no_change);
    g_test_add_func("/lines/more", more_calls_at_another_line_are);
    g_test_add_func("/lines/costs", what_costs_more_at_another_line);
    g_test_add_func("/lines/one-line", all_calls_at_one_of_two_lines);
    return g_test_run();
}
