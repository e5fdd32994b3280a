/* SPDX-License-Identifier: Apache-2.0 */
#include "record/statics/places.h"

#include <string.h>

#include "base/text/demangle.h"
#include "record/statics/extract/elf_module.h"

/* Symbols of one place: that of the least size around it says most, then the first by name. */
static bool is_better(const struct fm_data_place *place, uint64_t size_before, uint64_t size,
                      const char *name)
{
    if (place->name[0] == '\0')
        return true;
    return size != size_before ? size < size_before : strcmp(name, place->name) < 0;
}

bool fm_statics_data_places(const char *path, const struct fm_statics_opts *opts,
                            GStringChunk *strings, struct fm_data_place *places, uint32_t count,
                            GError **error)
{
    g_return_val_if_fail(path != NULL && opts != NULL && strings != NULL, false);
    struct fm_elf elf;
    g_autofree uint64_t *sizes = g_new0(uint64_t, count + 1u);
    for (uint32_t i = 0; i < count; i++)
        places[i].name = "";
    bool ok = fm_elf_open(&elf, path, strings, opts, error);
    int symbols = ok ? dwfl_module_getsymtab(elf.module) : 0;
    for (int i = 1; i < symbols; i++) {
        GElf_Sym sym;
        GElf_Addr start;
        GElf_Word section;
        const char *name =
            dwfl_module_getsym_info(elf.module, i, &sym, &start, &section, NULL, NULL);
        if (name == NULL || name[0] == '\0' || section == SHN_UNDEF ||
            GELF_ST_TYPE(sym.st_info) != STT_OBJECT)
            continue;
        for (uint32_t j = 0; j < count; j++) {
            struct fm_data_place *place = &places[j];
            if (place->address - start >= MAX(sym.st_size, 1) || place->address < start ||
                !is_better(place, sizes[j], sym.st_size, name))
                continue;
            place->name = g_string_chunk_insert(strings, name);
            place->offset = place->address - start;
            sizes[j] = sym.st_size;
        }
    }
    fm_elf_close(&elf);
    for (uint32_t i = 0; i < count; i++) {
        g_autofree char *plain = fm_demangle(places[i].name);
        places[i].name = g_string_chunk_insert(strings, plain);
    }
    return ok;
}
