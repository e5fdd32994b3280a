/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/beside.h"

#include <string.h>

#include <glib.h>

char *fm_path_beside(const char *data_path, const char *suffix)
{
    g_return_val_if_fail(data_path != NULL && suffix != NULL, NULL);
    size_t stem = strlen(data_path);
    if (g_str_has_suffix(data_path, FM_PROFILE_ENDING))
        stem -= strlen(FM_PROFILE_ENDING);
    g_autofree char *name = g_strndup(data_path, stem);
    return g_strconcat(name, suffix, NULL);
}
