/* SPDX-License-Identifier: Apache-2.0 */
/* Folders in which files may be opened by names from untrusted users. Checking a path first and
 * opening it later would be a race: somebody with write access could put in a symbolic link
 * between. So the open call itself does not leave the folder, and data is read from its descriptor.
 * Not modified once in use, so it can be shared between threads. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"

struct fm_roots;

struct fm_roots *fm_roots_new(void);                   /* without folders, nothing can be opened */
struct fm_roots *fm_roots_ref(struct fm_roots *roots); /* NULL is allowed, and returned */
void fm_roots_unref(struct fm_roots *roots);           /* NULL is allowed */

/* FM_ERROR_IO when it is missing or not a folder. The folder's own path is trusted: links in it are
 * followed now. */
FM_MUST_USE bool fm_roots_add(struct fm_roots *roots, const char *folder, GError **error);
unsigned fm_roots_count(const struct fm_roots *roots);
const char *fm_roots_folder(const struct fm_roots *roots, unsigned index); /* its real path */

/* Resolves a name, absolute or relative to a folder, to its real path in one of the folders; NULL
 * when it is missing or outside. Links that stay inside are followed. The caller frees it, and
 * opens it with fm_roots_open() only. */
char *fm_roots_find(const struct fm_roots *roots, const char *name);

/* Opens a path that leads into one of the folders, for reading; roots NULL: any path. The
 * descriptor is close-on-exec and non-blocking. flags: 0 or O_DIRECTORY. -1 with
 * FM_ERROR_NOT_FOUND, with the same message whether the file is missing or outside the folders;
 * with FM_ERROR_IO when the system refuses. */
FM_MUST_USE int fm_roots_open(const struct fm_roots *roots, const char *path, int flags,
                              GError **error);

typedef struct fm_roots FmRoots;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmRoots, fm_roots_unref)
