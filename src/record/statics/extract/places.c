/* SPDX-License-Identifier: Apache-2.0 */
#include "record/statics/places.h"

#include <elfutils/libdw.h>

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

/* Those of the addresses that lie in the unit. */
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
