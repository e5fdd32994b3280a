/* SPDX-License-Identifier: Apache-2.0 */
#include "small_profile.h"

#include "profile/file/build.h"

void write_small_c_profile(const char *path, const char *program)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, program);
    uint32_t system = fm_build_ps(build, &(struct fm_ps){.name = "the program"});
    uint32_t main_ps =
        fm_build_ps(build, &(struct fm_ps){.name = "main", .file = "main.c", .line = 7});
    fm_build_css(build, system, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    uint32_t root = fm_build_pd(build, system);
    uint32_t csd = fm_build_csd(build, root, 0, fm_build_pd(build, main_ps));
    fm_build_add(build, csd, FM_EXITS, 1);
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    g_assert_true(fm_profile_write(profile, path, false, &error));
}

void write_small_profile(const char *path, const char *program, const char *proc,
                         const char *module, const char *file, uint64_t callseqs)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, program);
    uint32_t runtime = fm_build_ps(build, &(struct fm_ps){.name = "runtime",
                                                          .decl_module = "Mercury runtime",
                                                          .def_module = "Mercury runtime"});
    uint32_t main_ps = fm_build_ps(
        build,
        &(struct fm_ps){
            .name = proc, .decl_module = module, .def_module = module, .file = file, .line = 7});
    fm_build_css(build, runtime, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    uint32_t root = fm_build_pd(build, runtime);
    uint32_t main_pd = fm_build_pd(build, main_ps);
    uint32_t csd = fm_build_csd(build, root, 0, main_pd);
    fm_build_add(build, csd, FM_EXITS, 1);
    fm_build_add(build, csd, FM_CALLSEQS, callseqs);
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    g_assert_true(fm_profile_write(profile, path, false, &error));
}
