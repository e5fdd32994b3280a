/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

static char *sample_path(const char *name)
{
    const char *folder = g_getenv("FATHOM_SAMPLE_DATA");
    return g_build_filename(folder ? folder : "", "mercury", name, NULL);
}

struct fm_bodies *sample_bodies(void)
{
    static struct fm_profile *profile;
    static struct fm_analysis *analysis;
    static struct fm_procrep *procrep;
    static struct fm_bodies *bodies;
    g_autofree char *data = sample_path("Deep.data"), *code = sample_path("Deep.procrep");
    g_autoptr(GError) error = NULL;
    if (bodies != NULL)
        return bodies;
    if (!g_file_test(data, G_FILE_TEST_IS_REGULAR) || !g_file_test(code, G_FILE_TEST_IS_REGULAR)) {
        g_test_skip("no mercury/Deep.data and Deep.procrep in the folder FATHOM_SAMPLE_DATA");
        return NULL;
    }
    if (!fm_profile_read(data, NULL, &profile, &error) ||
        !fm_analysis_new(profile, NULL, &analysis, &error) ||
        !fm_procrep_read(code, &procrep, &error))
        g_error("%s", error->message);
    bodies = fm_bodies_new(analysis, procrep, NULL);
    return bodies;
}
