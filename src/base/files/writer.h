/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered writing, to memory or to a temporary file that replaces the old one only when it is
 * complete, so a reader never sees half a file. A symbolic link stays, and its target is replaced.
 * A device or pipe is written to, never replaced. Errors are kept and reported by finish. The
 * encodings are those of base/files/reader.h. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct fm_writer;

/* Whether path is a device or pipe, which is written to directly; then no files are put beside
 * it. */
bool fm_writer_is_stream(const char *path);
/* Creates a temporary file beside path and notes it for removal (unfinished.h); waits for the
 * reader of a pipe. FM_ERROR_IO when that fails, or when path is a folder, socket or block device.
 * The caller owns *ret and ends it with finish or discard. */
FM_MUST_USE bool fm_writer_new(const char *path, struct fm_writer **ret, GError **error);
struct fm_writer *fm_writer_new_memory(void);

void fm_writer_bytes(struct fm_writer *writer, const void *bytes, size_t size);
void fm_writer_byte(struct fm_writer *writer, uint8_t byte);
void fm_writer_num(struct fm_writer *writer, uint64_t value);
void fm_writer_fixed(struct fm_writer *writer, uint64_t value);
void fm_writer_string(struct fm_writer *writer, const char *string);
uint64_t fm_writer_offset(const struct fm_writer *writer);

/* Writes the rest and renames the file to its path. Frees the writer, also on failure (FM_ERROR_IO:
 * the temporary file is removed, a regular file at path is untouched). */
FM_MUST_USE bool fm_writer_finish(struct fm_writer *writer, GError **error);
/* Returns the bytes of a writer to memory; frees the writer. */
GBytes *fm_writer_finish_memory(struct fm_writer *writer);
void fm_writer_discard(struct fm_writer *writer); /* NULL is allowed */

/* A new file that vanishes with its descriptor, for what need not stay in memory. -1 with
 * FM_ERROR_IO. */
int fm_nameless_file(GError **error);
