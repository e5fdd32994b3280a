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
/* As above, when the recording has the linker's build id of the file (length 0 = not recorded) and
 * the file has its own addresses. A file with another build id is not used. If no symbol is found,
 * the name is the object's with the offset: "libhello.so+0x156e", or, without relocation (fixed),
 * "main@0x400bdc". */
struct fm_symbols_object {
    uint64_t base, size;
    const char *path;
    size_t path_length;
    bool fixed;
};
void fm_symbols_add_object(struct fm_symbols *symbols, const struct fm_symbols_object *object);
/* For the object that was added last at this base; without one, nothing happens. */
void fm_symbols_set_build_id(struct fm_symbols *symbols, uint64_t base, const uint8_t *id,
                             size_t length);
#define FM_SYMBOLS_BUILD_ID_MAX 64u /* longer ones are cut */
/* "parse", demangled and shortened (base/text/cxx_name.h) for C++; "0x401234" where nothing is
 * known. Caller frees. */
char *fm_symbols_name(struct fm_symbols *symbols, uint64_t address);
/* The list of modules, as bytes (pack.h). False when they are damaged. */
void fm_symbols_write(const struct fm_symbols *symbols, GByteArray *to);
bool fm_symbols_read(struct fm_symbols *symbols, struct fm_unpack *from);
