/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by what a reader types. */
#include "profile/digest/names.h"

#include "made.h"

static void check(const struct made *made, const char *text, const char *expected)
{
    g_autofree uint32_t *found = NULL;
    g_autoptr(GString) names = g_string_new(NULL);
    uint32_t count;
    fm_digest_named_procs(made->profile, text, &found, &count);
    for (uint32_t i = 0; i < count; i++)
        g_string_append_printf(names, "%s%s", i > 0 ? " | " : "",
                               made->profile->ps[found[i]].unqualified_name);
    g_assert_cmpstr(names->str, ==, expected);
}

static uint32_t add_function(struct fm_build *build, const char *name)
{
    return fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                              .decl_module = "main.cc",
                                              .def_module = "main.cc",
                                              .name = name,
                                              .raw_name = name,
                                              .file = "main.cc",
                                              .line = 1});
}

static void test_without_types(void)
{
    static const char *const names[] = {"total(int const&)", "print(char)",
                                        "print(long)",       "print",
                                        "only::it(int)",     "operator<(a, b)"};
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "made");
    uint32_t root_ps = add_function(build, "the program");
    fm_build_css(build, root_ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER, .line = 1});
    uint32_t root = fm_build_pd(build, root_ps);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        uint32_t pd = fm_build_pd(build, add_function(build, names[i]));
        fm_build_add(build, fm_build_csd(build, root, 0, pd), FM_EXITS, 1);
    }
    struct made made = made_built(build);
    check(&made, "total(int const&)", "total(int const&)");
    check(&made, "total", "total(int const&)");
    check(&made, "print", "print"); /* where one is named so, that is meant */
    check(&made, "only::it", "only::it(int)");
    check(&made, "it", "");
    check(&made, "operator", "");
    check(&made, "tot", "");
    check(&made, "", "");
    made_clear(&made);
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/names/without-types", test_without_types);
    return g_test_run();
}
