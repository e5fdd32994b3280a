/* SPDX-License-Identifier: Apache-2.0 */
/* A regular file mapped for reading. When another process truncates a mapped file, reading it would
 * normally raise SIGBUS. Here lost pages read as zeros instead, and fm_mapped_file_check() reports
 * it. Code that reads the bytes checks once at the end, and before it reports an error in the
 * bytes. */
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
    struct fm_mapped_guard *guard; /* used by mapped.c only */
    int descriptor;
    char *path;
};

/* Maps the whole file. FM_ERROR_IO with the reason when it cannot be opened or is not a regular
 * file; a FIFO does not block. The caller owns *ret. The first call installs a SIGBUS handler,
 * which passes on signals that have another cause. Thread-safe. */
FM_MUST_USE bool fm_mapped_file_open(const char *path, struct fm_mapped_file **ret, GError **error);
/* Opens beneath roots, with the errors of fm_roots_open(); roots NULL: anywhere. */
FM_MUST_USE bool fm_mapped_file_open_below(const struct fm_roots *roots, const char *path,
                                           struct fm_mapped_file **ret, GError **error);
/* Whether the file exists. A symbolic link that leads out of the folders counts as missing. */
bool fm_mapped_file_exists(const struct fm_roots *roots, const char *path);
/* Opens a file that may be missing, such as one beside a profile: FM_ERROR_NOT_FOUND then. */
FM_MUST_USE bool fm_mapped_file_find(const struct fm_roots *roots, const char *path,
                                     struct fm_mapped_file **ret, GError **error);
/* The file's bytes; never NULL, also for an empty file. */
const uint8_t *fm_mapped_file_begin(const struct fm_mapped_file *file);
/* False with FM_ERROR_IO when the file has become shorter: some of the bytes read may be zeros that
 * were never in it. */
FM_MUST_USE bool fm_mapped_file_check(const struct fm_mapped_file *file, GError **error);
/* Tells the kernel that the bytes before offset are not needed soon, so that they do not count as
 * used memory. */
void fm_mapped_file_release_before(const struct fm_mapped_file *file, size_t offset);
void fm_mapped_file_free(struct fm_mapped_file *file); /* NULL is allowed */

/* Like pread(), for a file that another process writes through a shared mapping. Copies word by
 * word in ascending order: bytes at higher offsets are read later, so the target of a pointer that
 * was read has been written, too. The kernel's copy might read cache lines in any order. If the
 * file is truncated meanwhile, reads what is left of it. */
FM_MUST_USE ssize_t fm_mapped_read_in_order(int descriptor, void *to, size_t bytes, uint64_t at);

typedef struct fm_mapped_file FmMappedFile;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmMappedFile, fm_mapped_file_free)
