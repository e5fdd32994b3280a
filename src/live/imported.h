/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other tools that a command shows as if they were profiles: made into profiles in a
 * folder of their own, which goes with the list. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/files/own_folder.h"

struct fm_live_imported {
    struct fm_own_folder folder; /* without path: none was needed */
    GPtrArray *made;             /* char*, g_free: profiles in it */
};

/* Puts a profile's path, g_free, in the place of the path when the file is one of another tool's;
 * else leaves it. Errors: those of fm_import() and of writing. */
bool fm_live_imported_take(struct fm_live_imported *imported, char **path, GError **error);
/* Removes the profiles that were made. */
void fm_live_imported_done(struct fm_live_imported *imported);
