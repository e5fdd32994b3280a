/* SPDX-License-Identifier: Apache-2.0 */
/* Folders for files that are there as long as a process is: fathom-KIND-XXXXXX below the temporary
 * folder. Who is killed leaves its own; whoever of the same user makes the next one removes it, as
 * nobody holds its lock any more. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"

struct fm_own_folder {
    char *path; /* NULL = there is none */
    char *mark; /* in those that are ours: names alone may be anybody's */
    int lock;   /* held while the folder is in use; -1 = none */
};

/* kind: letters. Whoever notes all that is put into it (unfinished.h) notes path and mark, too.
 * Errors: those of g_dir_make_tmp(). */
FM_MUST_USE bool fm_own_folder_make(struct fm_own_folder *folder, const char *kind, GError **error);
/* The files in it have been removed; notes of them are forgotten. A folder without path is none.
 */
void fm_own_folder_remove(struct fm_own_folder *folder);
