/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as limits: either rejected with an error, or judged against a small profile. */
#include <string.h>

#include "profile/file/build.h"
#include "runs/gate/gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* main calls f twice, f calls itself and g. */
static struct fm_profile *profile(unsigned more)
{
    static const char *const names[] = {"", "main", "f", "ns::g(int)"};
    static const unsigned edges[][3] = {{0, 0, 1}, {1, 0, 2}, {2, 0, 2}, {2, 1, 3}};
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    uint32_t pd[G_N_ELEMENTS(names)];
    struct fm_profile *ret;
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        uint32_t ps = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                         .name = names[i],
                                                         .raw_name = names[i],
                                                         .file = i > 0 ? "src/a.c" : "",
                                                         .line = i});
        fm_build_css(build, ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER, .line = i});
        fm_build_css(build, ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER, .line = i + 1});
        pd[i] = fm_build_pd(build, ps);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(edges); i++) {
        uint32_t csd = fm_build_csd(build, pd[edges[i][0]], edges[i][1], pd[edges[i][2]]);
        fm_build_add(build, csd, FM_EXITS, i + more);
        fm_build_add(build, csd, FM_QUANTA, 100 * i);
    }
    if (!fm_build_finish(build, &ret, NULL))
        g_error("the profile of this test is not whole");
    return ret;
}

static void judge(const struct fm_limits *limits)
{
    static struct fm_profile *before, *after;
    const struct fm_gate_options options = {.names = {"before", "after"}, .again = NULL};
    struct fm_gate gate;
    if (before == NULL) {
        before = profile(1);
        after = profile(2);
    }
    const struct fm_profile *one[] = {before}, *two[] = {after};
    const struct fm_compare_runs of_before = {one, 1, 0}, of_after = {two, 1, 0};
    if (!fm_gate_judge(limits, &of_before, &of_after, &options, &gate, NULL))
        g_error("two like profiles were not compared");
    for (unsigned i = 0; i < 3; i++) {
        void (*const write[])(const struct fm_gate *, GString *) = {
            fm_gate_write_junit, fm_gate_write_sarif, fm_gate_write_markdown};
        g_autoptr(GString) text = g_string_new(NULL);
        write[i](&gate, text);
        if (!g_utf8_validate(text->str, (gssize)text->len, NULL))
            g_error("a document is not UTF-8");
    }
    fm_gate_done(&gate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fm_limits limits;
    GError *error = NULL;
    fm_limits_init(&limits);
    if (fm_limits_parse(&limits, "l", (const char *)data, size, &error))
        judge(&limits);
    else if (error == NULL || !g_utf8_validate(error->message, -1, NULL))
        g_error("refused without a clean message");
    g_clear_error(&error);
    fm_limits_done(&limits);
    return 0;
}
