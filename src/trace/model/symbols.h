/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions by address, from the objects that a program had loaded. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct fm_symbols;
struct fm_unpack;

struct fm_symbols *fm_symbols_new(void);
void fm_symbols_free(struct fm_symbols *symbols);
/* Addresses [base, base + size) come from the file at path, whose own address 0 is at bias. The
 * file is opened at the first look-up; path of path_length bytes. */
void fm_symbols_add(struct fm_symbols *symbols, uint64_t base, uint64_t size, uint64_t bias,
                    const char *path, size_t path_length);
/* "parse", demangled and shortened (base/cxx_name.h) for C++; "0x401234" where nothing is known.
 * Caller frees. */
char *fm_symbols_name(struct fm_symbols *symbols, uint64_t address);
/* The list of modules, as bytes (pack.h). False when they are damaged. */
void fm_symbols_write(const struct fm_symbols *symbols, GByteArray *to);
bool fm_symbols_read(struct fm_symbols *symbols, struct fm_unpack *from);
