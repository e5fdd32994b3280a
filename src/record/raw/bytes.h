/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a recording, and its references, all of which are checked. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "runtime/recording_format.h"

struct fm_raw_bytes {
    const char *path;
    uint8_t *data;
    size_t size;
};

/* Reads the contents of the file at path; *ret: its header, checked. path must outlive *bytes. On
 * failure nothing need be freed. Errors: those of fm_raw_recording_load(). */
FM_MUST_USE bool fm_raw_bytes_read(struct fm_raw_bytes *bytes, const char *path,
                                   struct fm_rec_header *ret, GError **error);
/* As above, from an open file, replacing what was read before; on failure nothing of that is
 * left. */
FM_MUST_USE bool fm_raw_bytes_read_again(struct fm_raw_bytes *bytes, int file,
                                         struct fm_rec_header *ret, GError **error);
void fm_raw_bytes_done(struct fm_raw_bytes *bytes);
/* The header of an open recording. One that its program is about to write is waited for, some
 * tenths of a second: its state comes last. Errors: FM_ERROR_UNAVAILABLE when it has not come by
 * then, and those of fm_raw_bytes_check_header(). */
FM_MUST_USE bool fm_raw_bytes_read_header(const struct fm_raw_bytes *bytes, int file,
                                          struct fm_rec_header *ret, GError **error);
/* Whether it is the header of a recording that is read here. */
FM_MUST_USE bool fm_raw_bytes_check_header(const struct fm_raw_bytes *bytes,
                                           const struct fm_rec_header *header, GError **error);
/* The size bytes at a reference, NULL when they are not all in the file. */
const void *fm_raw_bytes_at(const struct fm_raw_bytes *bytes, uint32_t ref, size_t size);
/* The text at a reference, "" when there is none. */
const char *fm_raw_bytes_text(const struct fm_raw_bytes *bytes, uint32_t ref);
/* Sets an error with the offset and what was found there; returns false. */
bool fm_raw_bytes_fail(const struct fm_raw_bytes *bytes, uint32_t ref, const char *found,
                       const char *expected, GError **error);
