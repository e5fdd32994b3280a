/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a program's file (ELF), by address. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct fm_import_symbol {
    uint64_t address, end; /* as linked; up to the next function's, or the end of its section */
    char *name;
    char *unit; /* the source file that alone sees it; NULL: all do, or nobody says */
};

/* Ascending by address, one at each; those that a linker and a debugger would show where several
 * have one address: global ones first, then weak ones. GArray of struct fm_import_symbol, which the
 * caller unrefs. Errors: FM_ERROR_IO, FM_ERROR_FORMAT (no ELF, or it has no functions). */
FM_MUST_USE bool fm_import_symbols_read(const char *path, GArray **ret, GError **error);
/* NULL: the address is in no function. */
const struct fm_import_symbol *fm_import_symbols_at(const GArray *symbols, uint64_t address);
/* Address of the first function after an address; UINT64_MAX: none. */
uint64_t fm_import_symbols_next(const GArray *symbols, uint64_t address);
