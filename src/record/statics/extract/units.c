/* SPDX-License-Identifier: Apache-2.0 */
#include "record/statics/extract/units.h"

#include <dwarf.h>
#include <string.h>

#include "record/statics/statics.h"

void fm_units_init(struct fm_units *units, GStringChunk *strings)
{
    *units = (struct fm_units){
        .strings = strings,
        .dies = g_array_new(FALSE, TRUE, sizeof(Dwarf_Die)),
        .paths = g_hash_table_new(g_direct_hash, g_direct_equal),
    };
}

void fm_units_done(struct fm_units *units)
{
    g_clear_pointer(&units->dies, g_array_unref);
    g_clear_pointer(&units->paths, g_hash_table_unref);
}

uint32_t fm_units_add(struct fm_units *units, const Dwarf_Die *die)
{
    g_array_append_vals(units->dies, die, 1);
    return units->dies->len - 1;
}

Dwarf_Die *fm_units_die(const struct fm_units *units, uint32_t unit)
{
    g_assert(unit < units->dies->len);
    return &g_array_index(units->dies, Dwarf_Die, unit);
}

static const char *tidy(struct fm_units *units, const char *folder, const char *path)
{
    g_autofree char *joined =
        path[0] == '/' || folder == NULL ? g_strdup(path) : g_build_filename(folder, path, NULL);
    g_autofree char *clean =
        joined[0] == '/' ? g_canonicalize_filename(joined, "/") : g_strdup(joined);
    return g_string_chunk_insert_const(units->strings, clean);
}

const char *fm_units_path(struct fm_units *units, Dwarf_Die *die, const char *path)
{
    if (path == NULL)
        return "";
    const char *known = g_hash_table_lookup(units->paths, path);
    if (known != NULL)
        return known;
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
    const char *result = tidy(units, folder, path);
    g_hash_table_insert(units->paths, (gpointer)(uintptr_t)path, (gpointer)(uintptr_t)result);
    return result;
}

/* Units of one name in two folders may share the string, so this is keyed by the unit. */
const char *fm_units_name(struct fm_units *units, Dwarf_Die *die)
{
    const char *known = g_hash_table_lookup(units->paths, die->addr);
    if (known != NULL)
        return known;
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
    const char *name = dwarf_diename(die);
    const char *result = name == NULL ? "" : tidy(units, folder, name);
    g_hash_table_insert(units->paths, die->addr, (gpointer)(uintptr_t)result);
    return result;
}

bool fm_units_place(struct fm_units *units, uint32_t unit, uint64_t address, struct fm_place *ret,
                    uint64_t *ret_begin)
{
    *ret = (struct fm_place){.file = ""};
    if (unit == FM_NONE)
        return false;
    Dwarf_Die *die = fm_units_die(units, unit);
    Dwarf_Line *line = dwarf_getsrc_die(die, address);
    Dwarf_Addr begin;
    int number;
    if (line == NULL)
        return false;
    *ret_begin = dwarf_lineaddr(line, &begin) == 0 ? begin : UINT64_MAX;
    if (dwarf_lineno(line, &number) == 0 && number > 0)
        ret->line = (uint32_t)number;
    if (dwarf_linecol(line, &number) == 0 && number > 0)
        ret->column = (uint32_t)number;
    ret->file = fm_units_path(units, die, dwarf_linesrc(line, NULL, NULL));
    return true;
}
