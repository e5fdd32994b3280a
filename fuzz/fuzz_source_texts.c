/* SPDX-License-Identifier: Apache-2.0 */
/* Sources stored with a profile: accepted ones can be decompressed, or are reported as damaged. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/file/build.h"
#include "profile/file/attached/source_texts.h"

/* The profile that the seeds belong to: two procedures. */
static struct fm_profile *make_profile(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    struct fm_ps ps = {.name = "f", .decl_module = "a.c", .def_module = "a.c", .file = "/a.c"};
    uint32_t first = fm_build_ps(build, &ps);
    fm_build_ps(build, &ps);
    fm_build_pd(build, first);
    struct fm_profile *profile;
    if (!fm_build_finish(build, &profile, NULL))
        abort();
    return profile;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fm_profile *profile;
    if (profile == NULL)
        profile = make_profile();
    struct fm_source_texts *texts = NULL;
    if (!fm_source_texts_read_bytes("input", data, size, profile, &texts, NULL))
        return 0;
    static const char *const files[] = {"/a.c", "b.h", ""};
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = fm_source_texts_get(texts, files[i], &error);
        if (text != NULL && (error != NULL || strlen(text) > FM_SOURCE_TEXT_BYTES_MAX))
            abort();
    }
    fm_source_texts_free(texts);
    return 0;
}
