/* SPDX-License-Identifier: Apache-2.0 */
#include "made.h"

#include <glib/gstdio.h>
#include <stdarg.h>
#include <string.h>

static const char *generator;

void made_init(int *argc, char ***argv)
{
    g_test_init(argc, argv, NULL);
    g_assert_cmpint(*argc, >, 1);
    generator = (*argv)[*argc - 1];
}

static struct made analysed(struct fm_profile *profile)
{
    struct made made = {.profile = profile};
    g_autoptr(GError) error = NULL;
    if (!fm_analysis_new(profile, NULL, &made.a, &error))
        g_error("%s", error->message);
    return made;
}

struct made made_generated(unsigned seed, const char *option, ...)
{
    g_autofree char *folder = g_dir_make_tmp("fathom-views-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "x.data", NULL);
    g_autofree char *seed_option = g_strdup_printf("--seed=%u", seed);
    g_autoptr(GPtrArray) arguments = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    va_list options;
    int status;
    g_ptr_array_add(arguments, (void *)(uintptr_t)generator);
    g_ptr_array_add(arguments, seed_option);
    va_start(options, option);
    for (const char *each = option; each; each = va_arg(options, const char *))
        g_ptr_array_add(arguments, (void *)(uintptr_t)each);
    va_end(options);
    g_ptr_array_add(arguments, path);
    g_ptr_array_add(arguments, NULL);
    if (!g_spawn_sync(NULL, (char **)arguments->pdata, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
                      NULL, NULL, &status, &error) ||
        !g_spawn_check_wait_status(status, &error))
        g_error("%s", error->message);
    struct fm_profile *profile;
    if (!fm_profile_read(path, NULL, &profile, &error))
        g_error("%s", error->message);
    g_unlink(path);
    g_rmdir(folder);
    return analysed(profile);
}

struct made made_built(struct fm_build *build)
{
    g_autoptr(GError) error = NULL;
    struct fm_profile *profile;
    if (!fm_build_finish(build, &profile, &error))
        g_error("%s", error->message);
    return analysed(profile);
}

void made_clear(struct made *made)
{
    fm_analysis_free(made->a);
    fm_profile_free(made->profile);
}

uint32_t made_ps(const struct made *made, const char *name)
{
    for (uint32_t ps = 1; ps <= made->profile->ps_count; ps++) {
        if (strcmp(made->profile->ps[ps].name, name) == 0)
            return ps;
    }
    g_error("there is no function %s", name);
}

struct made made_program(void)
{
    static const struct {
        const char *unit, *name;
    } functions[] = {
        {"", "the program"},       {"", "main thread"}, {"", "thread 2 (worker)"},
        {"", "thread 3 (worker)"}, {"a.c", "main"},     {"a.c", "parse"},
        {"a.c", "expr"},           {"a.c", "term"},     {"b.c", "load"},
        {"b.c", "xmalloc"},        {"a.c", "worker"},   {"a.c", "work"},
    };
    /* pd: its function; then from, slot, to, calls, samples, blocks, bytes. */
    static const unsigned pd_ps[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 9, 10, 11, 10, 11, 5};
    static const struct {
        unsigned from, slot, to, calls, samples, blocks, bytes;
    } edges[] = {
        {0, 0, 1, 1, 0, 0, 0},    {0, 1, 2, 1, 0, 0, 0},       {0, 2, 3, 1, 0, 0, 0},
        {1, 0, 4, 1, 1, 0, 0},    {4, 0, 5, 2, 2, 0, 0},       {5, 0, 6, 2, 10, 0, 0},
        {6, 0, 7, 8, 40, 0, 0},   {7, 0, 6, 6, 20, 0, 0},      {7, 1, 8, 16, 5, 16, 256},
        {4, 1, 9, 4, 7, 0, 0},    {9, 0, 10, 90, 3, 90, 9000}, {2, 0, 11, 1, 0, 0, 0},
        {11, 0, 12, 7, 10, 0, 0}, {3, 0, 13, 1, 0, 0, 0},      {13, 0, 14, 9, 30, 0, 0},
        {4, 2, 15, 3, 4, 0, 0},
    };
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "made");
    uint32_t ps[G_N_ELEMENTS(functions)], pd[G_N_ELEMENTS(pd_ps)];
    for (unsigned i = 0; i < G_N_ELEMENTS(functions); i++) {
        ps[i] = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                   .decl_module = functions[i].unit,
                                                   .def_module = functions[i].unit,
                                                   .name = functions[i].name,
                                                   .raw_name = functions[i].name,
                                                   .file = functions[i].unit,
                                                   .line = i});
        for (unsigned slot = 0; slot < 3; slot++)
            fm_build_css(build, ps[i],
                         &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER, .line = 10 * i + slot});
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(pd_ps); i++)
        pd[i] = fm_build_pd(build, ps[pd_ps[i]]);
    for (unsigned i = 0; i < G_N_ELEMENTS(edges); i++) {
        uint32_t csd = fm_build_csd(build, pd[edges[i].from], edges[i].slot, pd[edges[i].to]);
        fm_build_add(build, csd, FM_EXITS, edges[i].calls);
        fm_build_add(build, csd, FM_CALLSEQS, edges[i].calls);
        fm_build_add(build, csd, FM_QUANTA, edges[i].samples);
        fm_build_add(build, csd, FM_ALLOCS, edges[i].blocks);
        fm_build_add(build, csd, FM_WORDS, edges[i].bytes);
    }
    return made_built(build);
}
