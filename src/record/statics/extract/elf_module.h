/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a program or library: its symbols, its code, its linkage tables. */
#pragma once

#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "record/statics/statics.h"

/* A range of code in the file. */
struct fm_elf_code {
    uint64_t address, size;
    const uint8_t *bytes;
};

/* An entry of the linkage table: the symbol that it will hold, or a fixed address. */
struct fm_got_entry {
    const char *name; /* NULL = address */
    uint64_t address;
};

struct fm_elf {
    const char *path;
    GStringChunk *strings;    /* strings of the statics: names outlive the file */
    Dwfl_Callbacks callbacks; /* libdwfl keeps a pointer to them */
    Dwfl *dwfl;
    Dwfl_Module *module;
    Elf *elf;
    char *debug_path;
    GArray *symbols;    /* struct fm_symbol, by address */
    GArray *code;       /* struct fm_elf_code */
    GHashTable *got;    /* address of the entry (uint64_t *) -> struct fm_got_entry * */
    GHashTable *hooks;  /* addresses of hooks defined here (uint64_t *) -> name */
    GPtrArray *choices; /* elements: char *: patterns, runtime/front/choice.h */
    bool uses_hooks;    /* it calls or defines them */
};

/* Opens the file at path, which like strings must outlive *elf. fm_elf_close() also when it fails.
 * Errors: those of fm_statics_extract(). */
FM_MUST_USE bool fm_elf_open(struct fm_elf *elf, const char *path, GStringChunk *strings,
                             const struct fm_statics_opts *opts, GError **error);
void fm_elf_close(struct fm_elf *elf);
/* Bytes from an address to the end of its range of code; NULL when there are none. */
const uint8_t *fm_elf_bytes_at(const struct fm_elf *elf, uint64_t address, size_t *ret_size);
/* The entry of the linkage table at an address, NULL if none. */
const struct fm_got_entry *fm_elf_got_entry(const struct fm_elf *elf, uint64_t address);
/* If the code at address is a stub of the linkage table, the entry that it jumps through. */
const struct fm_got_entry *fm_elf_stub_entry(const struct fm_elf *elf, uint64_t address);
