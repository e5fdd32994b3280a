/* SPDX-License-Identifier: Apache-2.0 */
/* Helper programs of libexec: they need libraries that the fathom command does not link. */
#pragma once

#include <glib.h>

/* Path of a helper: installed, or in the build tree in src/<folder>, or in the folder
 * FATHOM_LIBEXEC; g_free(). NULL: not found. */
char *fm_helper_path(const char *name, const char *folder);
