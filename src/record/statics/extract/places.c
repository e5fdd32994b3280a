/* SPDX-License-Identifier: Apache-2.0 */
#include "record/statics/places.h"

#include <elfutils/libdw.h>
#include <stdlib.h>

#include "record/statics/extract/elf_module.h"
#include "record/statics/extract/units.h"

struct placing {
    struct fm_units *units;
    struct fm_code_place *places;
    uint32_t count;
};

/* The first place at or beyond an address. */
static uint32_t lower_bound(const struct placing *in, uint64_t address)
{
    uint32_t first = 0, end = in->count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (in->places[middle].address < address)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Finds the places of the addresses in the unit. */
static void place_in_unit(struct placing *in, Dwarf_Die *die)
{
    uint32_t unit = FM_NONE;
    Dwarf_Addr base, start, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
        uint32_t first = lower_bound(in, start);
        for (uint32_t i = first; i < in->count && in->places[i].address < end; i++) {
            struct fm_place place;
            uint64_t begin;
            if (unit == FM_NONE)
                unit = fm_units_add(in->units, die);
            if (!fm_units_place(in->units, unit, in->places[i].address, &place, &begin))
                continue;
            in->places[i].file = place.file;
            in->places[i].line = place.line;
        }
    }
}

bool fm_statics_places(const char *path, const struct fm_statics_opts *opts, GStringChunk *strings,
                       struct fm_code_place *places, uint32_t count, GError **error)
{
    g_return_val_if_fail(path != NULL && opts != NULL && strings != NULL, false);
    struct fm_elf elf;
    struct fm_units units;
    struct placing in = {&units, places, count};
    for (uint32_t i = 0; i < count; i++) {
        g_assert(i == 0 || places[i - 1].address <= places[i].address);
        places[i].file = "";
        places[i].line = 0;
    }
    fm_units_init(&units, strings);
    bool ok = fm_elf_open(&elf, path, strings, opts, error);
    Dwarf_Addr bias;
    Dwarf *dwarf = ok && !opts->ignore_debug ? dwfl_module_getdwarf(elf.module, &bias) : NULL;
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    while (dwarf != NULL && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0)
        place_in_unit(&in, &die);
    fm_elf_close(&elf);
    fm_units_done(&units);
    return ok;
}

/* --- all lines of some code --- */

struct rowing {
    struct fm_units *units;
    const struct fm_code_range *ranges;
    uint32_t count;
    GArray *rows;
};

/* The first range that ends behind an address. */
static uint32_t range_behind(const struct rowing *in, uint64_t address)
{
    uint32_t first = 0, end = in->count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (in->ranges[middle].high <= address)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* first: of a range, where the row before it says nothing. */
static void add_row(struct rowing *in, Dwarf_Die *die, Dwarf_Line *line, uint64_t address,
                    bool first)
{
    int number = 0;
    bool ends = true;
    struct fm_code_place row = {.address = address, .file = ""};
    dwarf_lineendsequence(line, &ends);
    if (!ends && dwarf_lineno(line, &number) == 0 && number > 0) {
        row.line = (uint32_t)number;
        row.file = fm_units_path(in->units, die, dwarf_linesrc(line, NULL, NULL));
    }
    struct fm_code_place *last =
        in->rows->len > 0 ? &g_array_index(in->rows, struct fm_code_place, in->rows->len - 1)
                          : NULL;
    if (last != NULL && !first && last->address == address)
        *last = row; /* among several the last one counts */
    else if (last == NULL || first || last->line != row.line || last->file != row.file)
        g_array_append_val(in->rows, row);
}

/* The lines of a unit ascend, as the ranges do. */
static void rows_of_unit(struct rowing *in, Dwarf_Die *die)
{
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(die, &lines, &count) != 0)
        return;
    Dwarf_Addr address;
    uint32_t range = 0, before = FM_NONE;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        if (line == NULL || dwarf_lineaddr(line, &address) != 0)
            continue;
        if (i == 0)
            range = range_behind(in, address);
        while (range < in->count && in->ranges[range].high <= address)
            range++;
        if (range == in->count)
            return;
        if (address < in->ranges[range].low)
            continue;
        add_row(in, die, line, address, range != before);
        before = range;
    }
}

static int compare_rows(const void *a, const void *b)
{
    const struct fm_code_place *pa = a, *pb = b;
    return pa->address < pb->address ? -1 : pa->address > pb->address;
}

bool fm_statics_rows(const char *path, const struct fm_statics_opts *opts, GStringChunk *strings,
                     const struct fm_code_range *ranges, uint32_t count, GArray *rows,
                     GError **error)
{
    g_return_val_if_fail(path != NULL && opts != NULL && strings != NULL && rows != NULL, false);
    struct fm_elf elf;
    struct fm_units units;
    struct rowing in = {&units, ranges, count, rows};
    fm_units_init(&units, strings);
    bool ok = fm_elf_open(&elf, path, strings, opts, error);
    Dwarf_Addr bias;
    Dwarf *dwarf = ok && !opts->ignore_debug ? dwfl_module_getdwarf(elf.module, &bias) : NULL;
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    while (dwarf != NULL && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0)
        rows_of_unit(&in, &die);
    if (rows->len > 0)
        qsort(rows->data, rows->len, sizeof(struct fm_code_place), compare_rows);
    fm_elf_close(&elf);
    fm_units_done(&units);
    return ok;
}
