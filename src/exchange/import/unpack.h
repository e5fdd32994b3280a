/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed files: gzip, zstd and xz, by their first bytes, and one within the other. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct fm_import_packing {
    const char *name;    /* "gzip" */
    const char *past;    /* "gzipped" */
    const char *command; /* unpacks a file: "gunzip -k" */
};

/* NULL: the bytes are not compressed in a way that is read here. */
const struct fm_import_packing *fm_import_packing_of(const uint8_t *bytes, size_t size);

/* Unpacks as often as the bytes are compressed, at most three times. *ret: what came of it, NULL if
 * they are not compressed; the caller owns it. Unpacked at most a hundred times the size and 64
 * MiB. Errors: FM_ERROR_FORMAT, _TRUNCATED with the offset in the compressed bytes, _LIMIT. */
FM_MUST_USE bool fm_import_unpack(const char *name, const uint8_t *bytes, size_t size,
                                  GByteArray **ret, GError **error);
/* The same of a file's beginning: at most max bytes; what cannot be unpacked ends it. */
GByteArray *fm_import_unpack_head(const uint8_t *bytes, size_t size, size_t max);
