/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of code from a program's file (ELF, 64 bits, little endian). Only a file of the build-id
 * that was recorded is read: a profile may name any file. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct fm_binary;
/* build_id in hexadecimal. Errors: FM_ERROR_IO; FM_ERROR_FORMAT: no such file, another build ID, or
 * build_id is "", so that it cannot be verified. */
FM_MUST_USE bool fm_binary_open(const char *path, const char *build_id, struct fm_binary **ret,
                                GError **error);
void fm_binary_close(struct fm_binary *binary); /* NULL is allowed */
typedef struct fm_binary FmBinary;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmBinary, fm_binary_close)
/* The bytes at an address of the file's, which must all be in one executable segment. */
FM_MUST_USE bool fm_binary_read(const struct fm_binary *binary, uint64_t address, uint64_t size,
                                uint8_t *bytes, GError **error);
