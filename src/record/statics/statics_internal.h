/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/record: the steps of fm_statics_extract and what they hand to each other. */
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "record/statics/statics.h"

struct symbol {
    uint64_t address, size;
    const char *name;
    bool function, global;
};

/* A piece of code as it stands in the file. */
struct code {
    uint64_t address, size;
    const uint8_t *bytes;
};

/* An entry of the linkage table: the symbol that it will hold, or a fixed address. */
struct got_entry {
    const char *name; /* NULL = address */
    uint64_t address;
};

struct fm_statics_storage {
    Dwfl_Callbacks callbacks; /* libdwfl keeps a pointer to them */
    Dwfl *dwfl;
    Dwfl_Module *module;
    Elf *elf;
    char *debug_path;
    GStringChunk *strings;
    GArray *symbols;   /* struct symbol, by address */
    GArray *code;      /* struct code */
    GHashTable *got;   /* address of the entry (uint64_t *) -> struct got_entry * */
    GHashTable *hooks; /* addresses of hooks defined here (uint64_t *) -> name */
    bool uses_hooks;
    GPtrArray *choices; /* of const char *: patterns, runtime/choice.h */
    GArray *procs, *scopes, *intervals, *segments, *machine_sites, *sites;
    GArray *marks; /* struct mark, by address within a body; only with coverage */
    GArray *points, *code_lines;
    GArray *units;      /* Dwarf_Die of each unit with code */
    GArray *scope_unit; /* per scope: index into units, FM_NONE */
    GArray *entries;    /* struct entry, by address */
    GHashTable *proc_by_die, *proc_by_key;
    GHashTable *paths; /* libdw's pointer -> absolute path */
};

/* What bounds the blocks of code. */
enum mark_kind {
    MARK_POINT,  /* a coverage callback */
    MARK_ENTER,  /* an entry hook */
    MARK_EXIT,   /* an exit hook */
    MARK_BRANCH, /* the instruction jumps or returns */
    MARK_TARGET, /* a jump leads here */
};

struct mark {
    uint64_t address; /* behind the instruction; of a target: its own */
    enum mark_kind kind;
    uint32_t scope; /* points and hooks */
};

struct interval {
    uint64_t low, high;
    uint32_t scope, depth;
};

struct entry {
    uint64_t address;
    uint32_t proc;
};

/* elf_module.c: opens the file, reads symbols, code and linkage tables. */
bool fm_elf_open(struct fm_statics *statics, const struct fm_statics_opts *opts, GError **error);
void fm_elf_close(struct fm_statics_storage *storage);
/* The first symbol of a function at or below the address, preferring one that contains it. */
const struct symbol *fm_elf_symbol_at(const struct fm_statics_storage *storage, uint64_t address);
/* Bytes from an address to the end of its piece of code; NULL when there are none. */
const uint8_t *fm_elf_bytes_at(const struct fm_statics_storage *storage, uint64_t address,
                               size_t *ret_size);
/* If the code at address is a stub of the linkage table, the entry that it jumps through. */
const struct got_entry *fm_elf_stub_entry(const struct fm_statics_storage *storage,
                                          uint64_t address);

/* dwarf_walk.c: one walk over all debug information entries. */
bool fm_dwarf_walk(struct fm_statics *statics, GError **error);
/* The path that a unit gives as relative, made absolute and tidy; interned. */
const char *fm_dwarf_path(struct fm_statics_storage *storage, Dwarf_Die *unit, const char *path);

/* Symbols of functions that the debug information does not cover become procedures. */
void fm_statics_add_symbol_procs(struct fm_statics *statics);
/* Disjoint segments from nested intervals. */
void fm_statics_flatten(struct fm_statics_storage *storage);

/* Functions whose calls the compiler invents: they are no call sites of the source. */
bool fm_statics_is_helper(const char *symbol);

/* sweep.c: one disassembly sweep over all segments. */
bool fm_disassemble(struct fm_statics *statics, bool coverage, GError **error);

/* leave_out.c: what the user does not want to see has no hooks any more. */
void fm_statics_leave_out(struct fm_statics *statics);

/* points.c: coverage points, and the lines that have code, with their blocks. */
void fm_points_build(struct fm_statics *statics, bool physical);

/* The innermost live scope around a scope, itself included; FM_NONE. Liveness: sites.c. */
uint32_t fm_sites_live_around(const struct fm_statics *statics, bool physical, uint32_t scope);

/* sites.c: source sites and their slots. */
void fm_sites_build(struct fm_statics *statics, bool physical);
