/* SPDX-License-Identifier: Apache-2.0 */
/* Contour files: whatever the bytes are, they are refused with a message, or every call of a small
 * program has a caller that is shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/analysis/analysis.h"
#include "profile/file/build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As the fuzzer wants it: by SIGABRT, so that it keeps the input. */
static void fail(const char *format, ...) FM_PRINTF(1, 2);
static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    abort();
}

/* Procedures p of module a, q of module b and so on, each calling the next. */
static struct fm_analysis *program(void)
{
    static struct fm_analysis *analysis;
    enum { PROCS = 6 };
    if (analysis != NULL)
        return analysis;
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "./chain");
    uint32_t ps[PROCS], pd[PROCS];
    for (uint32_t i = 0; i < PROCS; i++) {
        char module[2] = {(char)('a' + i), '\0'};
        struct fm_ps proc = {.label_kind = FM_LABEL_PREDICATE,
                             .decl_module = i == 0 ? "Mercury runtime" : module,
                             .def_module = i == 0 ? "Mercury runtime" : module,
                             .name = "p",
                             .file = "x.m",
                             .in_interface = i % 2 == 0};
        ps[i] = fm_build_ps(build, &proc);
    }
    for (uint32_t i = 0; i < PROCS; i++) {
        pd[i] = fm_build_pd(build, ps[i]);
        if (i + 1 < PROCS)
            fm_build_css(build, ps[i],
                         &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER, .goal_path = ""});
    }
    for (uint32_t i = 0; i + 1 < PROCS; i++)
        fm_build_add(build, fm_build_csd(build, pd[i], 0, pd[i + 1]), FM_EXITS, 1);
    struct fm_profile *profile;
    g_autoptr(GError) error = NULL;
    if (!fm_build_finish(build, &profile, &error) ||
        !fm_analysis_new(profile, NULL, &analysis, &error))
        fail("%s", error->message);
    return analysis;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fm_analysis *a = program();
    struct fm_contour *contour = NULL;
    g_autofree char *message = NULL;
    enum fm_contour_state state =
        fm_contour_read_text("x.contour", (const char *)data, size, a, &contour, &message);
    if (state == FM_CONTOUR_BAD && (message == NULL || message[0] == '\0'))
        fail("refused without a message");
    if ((state == FM_CONTOUR_OK) != (contour != NULL))
        fail("neither refused nor taken");
    for (uint32_t ps = 2; contour != NULL && ps <= a->profile->ps_count; ps++) {
        struct fm_callers_row *rows;
        uint32_t count;
        fm_analysis_callers(a, ps, FM_GROUP_PROC, contour, &rows, &count);
        if (count != 1)
            fail("%u callers", count);
        g_free(rows);
    }
    fm_contour_free(contour);
    return 0;
}
