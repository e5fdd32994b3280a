/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary folders that exist as long as a process: fathom-KIND-XXXXXX in the temporary folder. A
 * killed process leaves its folder. The next process of the same user that makes one removes it,
 * because its lock is free. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"

struct fm_own_folder {
    char *path; /* NULL = no folder */
    char *mark; /* file that marks fathom's folders: others may have such names, too */
    int lock;   /* held while the folder is in use; -1 = none */
};

/* kind: letters. Code that notes the folder's files for removal (unfinished.h) must note path and
 * mark, too. Errors: those of g_dir_make_tmp(). */
FM_MUST_USE bool fm_own_folder_make(struct fm_own_folder *folder, const char *kind, GError **error);
/* Call after removing the files in it; forgets notes about path and mark. A folder without path is
 * ignored. */
void fm_own_folder_remove(struct fm_own_folder *folder);
