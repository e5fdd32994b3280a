/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/helper.h"

#include <unistd.h>

char *fm_helper_path(const char *name, const char *folder)
{
    static const char *const installed[] = {"../" FATHOM_LIBEXECDIR "/fathom", "../libexec/fathom"};
    static const char *const built[] = {"..", "../src", "../../src", "../../../src"};
    const char *given = g_getenv("FATHOM_LIBEXEC");
    g_return_val_if_fail(name != NULL && folder != NULL, NULL);
    if (given != NULL)
        return g_build_filename(given, name, NULL);
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
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
