/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/helper.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

char *fm_program_path(void)
{
    g_autofree char *maps = NULL;
    if (!g_file_get_contents("/proc/self/maps", &maps, NULL, NULL))
        return g_file_read_link("/proc/self/exe", NULL);
    uintptr_t here = (uintptr_t)fm_program_path;
    g_auto(GStrv) lines = g_strsplit(maps, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        char *end;
        uintptr_t low = (uintptr_t)g_ascii_strtoull(*line, &end, 16);
        uintptr_t high = *end == '-' ? (uintptr_t)g_ascii_strtoull(end + 1, NULL, 16) : 0;
        const char *path = strchr(*line, '/');
        if (low <= here && here < high && path != NULL)
            return g_strdup(path);
    }
    return g_file_read_link("/proc/self/exe", NULL);
}

char *fm_helper_path(const char *name, const char *folder)
{
    static const char *const installed[] = {"../" FATHOM_LIBEXECDIR "/fathom", "../libexec/fathom"};
    static const char *const built[] = {"..", "../src", "../../src", "../../../src"};
    const char *given = g_getenv("FATHOM_LIBEXEC");
    g_return_val_if_fail(name != NULL && folder != NULL, NULL);
    if (given != NULL)
        return g_build_filename(given, name, NULL);
    g_autofree char *self = fm_program_path();
    g_autofree char *beside = self == NULL ? NULL : g_path_get_dirname(self);
    for (size_t i = 0; beside != NULL && i < G_N_ELEMENTS(installed) + G_N_ELEMENTS(built); i++) {
        char *path =
            i < G_N_ELEMENTS(installed)
                ? g_build_filename(beside, installed[i], name, NULL)
                : g_build_filename(beside, built[i - G_N_ELEMENTS(installed)], folder, name, NULL);
        if (access(path, X_OK) == 0)
            return path;
        g_free(path);
    }
    return NULL;
}
