/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), which identifies files by content. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define FM_CONTENT_HASH_BYTES 32u

void fm_content_hash_of_bytes(const uint8_t *bytes, size_t size,
                              uint8_t ret[FM_CONTENT_HASH_BYTES]);
/* Hashes a whole file. Errors: those of fm_mapped_file_open() and _check(). */
FM_MUST_USE bool fm_content_hash(const char *path, uint8_t ret[FM_CONTENT_HASH_BYTES],
                                 GError **error);
