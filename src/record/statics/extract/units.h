/* SPDX-License-Identifier: Apache-2.0 */
/* The translation units of the debug information: their paths, and places of the source. */
#pragma once

#include <elfutils/libdw.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct fm_units {
    GStringChunk *strings; /* strings of the statics; paths are interned there */
    GArray *dies;          /* Dwarf_Die of each unit with code */
    GHashTable *paths;     /* libdw's pointer -> absolute path */
};

struct fm_place {
    const char *file;      /* "" = unknown */
    uint32_t line, column; /* 0 = unknown */
};

void fm_units_init(struct fm_units *units, GStringChunk *strings);
void fm_units_done(struct fm_units *units);
/* The number that scopes know the unit by. */
uint32_t fm_units_add(struct fm_units *units, const Dwarf_Die *die);
Dwarf_Die *fm_units_die(const struct fm_units *units, uint32_t unit);
/* Path of the unit's own source. */
const char *fm_units_name(struct fm_units *units, Dwarf_Die *die);
/* The path that a unit gives as relative, made absolute and tidy; path may be NULL: "". */
const char *fm_units_path(struct fm_units *units, Dwarf_Die *die, const char *path);
/* Source location of the code at an address. *ret_begin: begin of that row of the line table.
 * False, with an unknown place, when there is none; unit may be FM_NONE. */
bool fm_units_place(struct fm_units *units, uint32_t unit, uint64_t address, struct fm_place *ret,
                    uint64_t *ret_begin);
