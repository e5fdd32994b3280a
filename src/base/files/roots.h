/* SPDX-License-Identifier: Apache-2.0 */
/* Folders beneath which files may be opened by names that strangers give. Looking where a name
 * leads and opening it afterwards would be two steps, and whoever may write into the folder could
 * put a symbolic link in between: so it is the opening itself that does not leave the folder, and
 * what is read comes from the descriptor. Not modified once in use, so shared freely. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"

struct fm_roots;

struct fm_roots *fm_roots_new(void);                   /* without folders: nothing can be opened */
struct fm_roots *fm_roots_ref(struct fm_roots *roots); /* NULL is allowed, and stays NULL */
void fm_roots_unref(struct fm_roots *roots);           /* NULL is allowed */

/* FM_ERROR_IO when it is no folder, or not there. The folder's own path is trusted: links in it are
 * followed now. */
FM_MUST_USE bool fm_roots_add(struct fm_roots *roots, const char *folder, GError **error);
unsigned fm_roots_count(const struct fm_roots *roots);
const char *fm_roots_folder(const struct fm_roots *roots, unsigned index); /* its real path */

/* The real path that a name has beneath some folder: an absolute path, or one below a folder; NULL
 * when there is nothing, or something elsewhere. Links that stay beneath a folder are followed. The
 * caller frees it, and opens it with fm_roots_open() only. */
char *fm_roots_find(const struct fm_roots *roots, const char *name);

/* A descriptor (close-on-exec, not blocking) of what path leads to beneath some folder, to be read;
 * roots NULL: of whatever path leads to. flags: 0 or O_DIRECTORY. -1 with FM_ERROR_NOT_FOUND when
 * there is nothing beneath the folders, in the same words for what is not there and for what lies
 * elsewhere; with FM_ERROR_IO when the system refuses. */
FM_MUST_USE int fm_roots_open(const struct fm_roots *roots, const char *path, int flags,
                              GError **error);

typedef struct fm_roots FmRoots;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmRoots, fm_roots_unref)
