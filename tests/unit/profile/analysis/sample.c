/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

static struct fm_profile *profile;
static struct fm_analysis *analysis;

const struct fm_analysis *sample_analysis(void)
{
    if (analysis)
        return analysis;
    const char *folder = g_getenv("FATHOM_SAMPLE_DATA");
    g_autofree char *path = g_build_filename(folder ? folder : "", "mercury", "Deep.data", NULL);
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        g_test_skip("no mercury/Deep.data in the folder FATHOM_SAMPLE_DATA");
        return NULL;
    }
    g_autoptr(GError) error = NULL;
    if (!fm_profile_read(path, NULL, &profile, &error) ||
        !fm_analysis_new(profile, NULL, &analysis, &error))
        g_error("%s", error->message);
    return analysis;
}

char *sample_sha256(const GString *text)
{
    return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text->str, text->len);
}
