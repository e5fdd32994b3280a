/* SPDX-License-Identifier: Apache-2.0 */
/* A regular file mapped for reading. A file that another process shortens while it is mapped would
 * normally kill us with SIGBUS: here the lost pages read as zeros instead, and
 * fm_mapped_file_check() tells so. Reading code works on the bytes and checks once at the end (and
 * before it blames the bytes for an error). */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"
#include "base/files/roots.h"

struct fm_mapped_file {
    const uint8_t *bytes; /* NULL when the file is empty */
    size_t size;
    struct fm_mapped_guard *guard; /* private */
    int descriptor;
    char *path;
};

/* Maps the whole file. FM_ERROR_IO with the reason when it cannot be opened, or is a directory, a
 * FIFO or anything else that is no regular file (a FIFO does not block). The caller owns *ret.
 * The first call installs a SIGBUS handler, which passes on what is not ours. Thread-safe. */
FM_MUST_USE bool fm_mapped_file_open(const char *path, struct fm_mapped_file **ret, GError **error);
/* Opens beneath roots, with the errors of fm_roots_open(); roots NULL: anywhere. */
FM_MUST_USE bool fm_mapped_file_open_below(const struct fm_roots *roots, const char *path,
                                           struct fm_mapped_file **ret, GError **error);
/* A link out of the folders is no file, whether it leads to something or not. */
bool fm_mapped_file_exists(const struct fm_roots *roots, const char *path);
/* To open a file that need not be there, as those beside a profile: FM_ERROR_NOT_FOUND when none
 * is.
 */
FM_MUST_USE bool fm_mapped_file_find(const struct fm_roots *roots, const char *path,
                                     struct fm_mapped_file **ret, GError **error);
/* The file's bytes; never NULL, also for an empty file. */
const uint8_t *fm_mapped_file_begin(const struct fm_mapped_file *file);
/* False with FM_ERROR_IO when the file has become shorter: bytes that were looked at may have been
 * zeros. */
FM_MUST_USE bool fm_mapped_file_check(const struct fm_mapped_file *file, GError **error);
/* Tells the kernel that the bytes before offset are not needed again soon, so that they do not
 * count as our memory. */
void fm_mapped_file_release_before(const struct fm_mapped_file *file, size_t offset);
void fm_mapped_file_free(struct fm_mapped_file *file); /* NULL is allowed */

/* As pread(), of a file that another process writes through a mapping of its own: what stands
 * further back is read later, word by word, so whoever meets a link meets what it leads to. A copy
 * by the kernel may fetch lines of the cache in any order. Where the file is cut short meanwhile,
 * as much is read as is left of it. */
FM_MUST_USE ssize_t fm_mapped_read_in_order(int descriptor, void *to, size_t bytes, uint64_t at);

typedef struct fm_mapped_file FmMappedFile;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmMappedFile, fm_mapped_file_free)
