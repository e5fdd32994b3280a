/* SPDX-License-Identifier: Apache-2.0 */
#include "record/statics/extract/elf_module.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "record/statics/hooks_named.h"

static bool build_id_matches(struct fm_elf *elf, const struct fm_statics_opts *opts, GError **error)
{
    const unsigned char *bits = NULL;
    GElf_Addr address;
    int size = dwfl_module_build_id(elf->module, &bits, &address);
    if (opts->build_id == NULL || opts->build_id_size == 0)
        return true;
    if (size > 0 && (size_t)size == opts->build_id_size &&
        memcmp(bits, opts->build_id, opts->build_id_size) == 0)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "%s: is not the file that was recorded: its build-id differs (rebuilt since?)",
                elf->path);
    return false;
}

static int symbol_order(const void *a, const void *b)
{
    const struct fm_symbol *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    if (left->function != right->function)
        return left->function ? -1 : 1;
    if (left->global != right->global)
        return left->global ? -1 : 1;
    return strcmp(left->name, right->name);
}

static void read_symbols(struct fm_elf *elf)
{
    int count = dwfl_module_getsymtab(elf->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym sym;
        GElf_Addr address;
        GElf_Word section;
        const char *name =
            dwfl_module_getsym_info(elf->module, i, &sym, &address, &section, NULL, NULL);
        if (name == NULL || name[0] == '\0' || section == SHN_UNDEF)
            continue;
        unsigned type = GELF_ST_TYPE(sym.st_info);
        if (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC)
            continue;
        struct fm_symbol symbol = {
            .address = address,
            .size = sym.st_size,
            .name = g_string_chunk_insert(elf->strings, name),
            .function = type != STT_NOTYPE,
            /* for an ifunc, the other name is the useful one */
            .global = GELF_ST_BIND(sym.st_info) != STB_LOCAL && type != STT_GNU_IFUNC,
        };
        g_array_append_val(elf->symbols, symbol);
        if (fm_statics_is_hook(name)) {
            g_hash_table_insert(elf->hooks, g_memdup2(&symbol.address, sizeof symbol.address),
                                (gpointer)(uintptr_t)name);
            elf->uses_hooks = true;
        }
    }
    g_array_sort(elf->symbols, symbol_order);
}

static bool read_code(struct fm_elf *elf, GError **error)
{
    size_t count;
    if (elf_getphdrnum(elf->elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf->elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
            (header.p_flags & PF_X) == 0 || header.p_filesz == 0)
            continue;
        Elf_Data *data =
            elf_getdata_rawchunk(elf->elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
        if (data == NULL) {
            g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                        "%s: offset %" G_GUINT64_FORMAT ": the code of %" G_GUINT64_FORMAT
                        " bytes is not in the file",
                        elf->path, (guint64)header.p_offset, (guint64)header.p_filesz);
            return false;
        }
        struct fm_elf_code code = {header.p_vaddr, data->d_size, data->d_buf};
        g_array_append_val(elf->code, code);
    }
    return true;
}

static void add_relocation(struct fm_elf *elf, const GElf_Rela *rela, Elf_Data *symbols,
                           size_t strings)
{
    struct fm_got_entry entry = {NULL, 0};
    GElf_Sym sym;
    switch (GELF_R_TYPE(rela->r_info)) {
    case R_X86_64_JUMP_SLOT:
    case R_X86_64_GLOB_DAT:
        if (symbols == NULL || gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym) == NULL)
            return;
        entry.name = elf_strptr(elf->elf, strings, sym.st_name);
        if (entry.name == NULL)
            return;
        if (fm_statics_is_hook(entry.name))
            elf->uses_hooks = true;
        break;
    case R_X86_64_RELATIVE:
    case R_X86_64_IRELATIVE:
        entry.address = (uint64_t)rela->r_addend;
        break;
    default:
        return;
    }
    uint64_t address = rela->r_offset;
    g_hash_table_replace(elf->got, g_memdup2(&address, sizeof address),
                         g_memdup2(&entry, sizeof entry));
}

/* Relocations of the linkage tables only: those in data may be function tables, which hold
 * variables. */
static bool in_got(const GArray *gots, uint64_t address)
{
    for (guint i = 0; i < gots->len; i++) {
        const struct fm_elf_code *got = &g_array_index(gots, struct fm_elf_code, i);
        if (address >= got->address && address - got->address < got->size)
            return true;
    }
    return false;
}

static void read_relocations(struct fm_elf *elf)
{
    size_t names;
    if (elf_getshdrstrndx(elf->elf, &names) != 0)
        return;
    g_autoptr(GArray) gots = g_array_new(FALSE, FALSE, sizeof(struct fm_elf_code));
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf->elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) == NULL)
            continue;
        const char *name = elf_strptr(elf->elf, names, header.sh_name);
        if (name != NULL && g_str_has_prefix(name, ".got")) {
            struct fm_elf_code got = {header.sh_addr, header.sh_size, NULL};
            g_array_append_val(gots, got);
        }
    }
    while ((section = elf_nextscn(elf->elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_RELA ||
            (header.sh_flags & SHF_ALLOC) == 0 || header.sh_entsize == 0)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        Elf_Scn *symbol_section = elf_getscn(elf->elf, header.sh_link);
        GElf_Shdr symbol_header = {0};
        Elf_Data *symbols = NULL;
        if (symbol_section != NULL && gelf_getshdr(symbol_section, &symbol_header) != NULL &&
            symbol_header.sh_type == SHT_DYNSYM)
            symbols = elf_getdata(symbol_section, NULL);
        GElf_Rela rela;
        for (int i = 0; data != NULL && gelf_getrela(data, i, &rela) != NULL; i++) {
            if (in_got(gots, rela.r_offset))
                add_relocation(elf, &rela, symbols, symbol_header.sh_link);
        }
    }
}

/* Strings, one after the other, of all objects. */
static void read_choices(struct fm_elf *elf)
{
    size_t names;
    elf->choices = g_ptr_array_new_with_free_func(g_free);
    if (elf_getshdrstrndx(elf->elf, &names) != 0)
        return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf->elf, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS ||
            g_strcmp0(elf_strptr(elf->elf, names, header.sh_name), "fathom_choice") != 0)
            continue;
        const Elf_Data *data = elf_getdata(section, NULL);
        for (size_t at = 0; data != NULL && data->d_buf != NULL && at < data->d_size;) {
            char *text = g_strndup((const char *)data->d_buf + at, data->d_size - at);
            at += strlen(text) + 1;
            g_ptr_array_add(elf->choices, text);
        }
    }
}

bool fm_elf_open(struct fm_elf *elf, const char *path, GStringChunk *strings,
                 const struct fm_statics_opts *opts, GError **error)
{
    g_assert(path != NULL && strings != NULL);
    *elf = (struct fm_elf){.path = path, .strings = strings};
    elf->debug_path = g_strdup(opts->debug_path);
    elf->callbacks = (Dwfl_Callbacks){
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &elf->debug_path,
    };
    elf->dwfl = dwfl_begin(&elf->callbacks);
    if (elf->dwfl != NULL) {
        dwfl_report_begin(elf->dwfl);
        elf->module = dwfl_report_elf(elf->dwfl, elf->path, elf->path, -1, 0, true);
        dwfl_report_end(elf->dwfl, NULL, NULL);
    }
    GElf_Addr bias;
    if (elf->module != NULL)
        elf->elf = dwfl_module_getelf(elf->module, &bias);
    GElf_Ehdr header;
    if (elf->elf == NULL || gelf_getehdr(elf->elf, &header) == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot be read as a program or library: %s",
                    elf->path, dwfl_errmsg(-1));
        return false;
    }
    if (header.e_machine != EM_X86_64) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: offset 18: machine type %u, expected %u (x86-64)", elf->path,
                    header.e_machine, EM_X86_64);
        return false;
    }
    if (!build_id_matches(elf, opts, error))
        return false;
    elf->symbols = g_array_new(FALSE, FALSE, sizeof(struct fm_symbol));
    elf->code = g_array_new(FALSE, FALSE, sizeof(struct fm_elf_code));
    elf->hooks = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL);
    elf->got = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, g_free);
    read_symbols(elf);
    if (!read_code(elf, error))
        return false;
    read_relocations(elf);
    read_choices(elf);
    return true;
}

void fm_elf_close(struct fm_elf *elf)
{
    g_clear_pointer(&elf->symbols, g_array_unref);
    g_clear_pointer(&elf->code, g_array_unref);
    g_clear_pointer(&elf->choices, g_ptr_array_unref);
    g_clear_pointer(&elf->hooks, g_hash_table_unref);
    g_clear_pointer(&elf->got, g_hash_table_unref);
    if (elf->dwfl != NULL)
        dwfl_end(elf->dwfl);
    g_free(elf->debug_path);
}

const uint8_t *fm_elf_bytes_at(const struct fm_elf *elf, uint64_t address, size_t *ret_size)
{
    for (guint i = 0; i < elf->code->len; i++) {
        const struct fm_elf_code *code = &g_array_index(elf->code, struct fm_elf_code, i);
        if (address >= code->address && address - code->address < code->size) {
            *ret_size = code->size - (size_t)(address - code->address);
            return code->bytes + (address - code->address);
        }
    }
    return NULL;
}

const struct fm_got_entry *fm_elf_got_entry(const struct fm_elf *elf, uint64_t address)
{
    return g_hash_table_lookup(elf->got, &address);
}

/* A stub is [endbr64] [bnd] jmp *displacement(%rip). */
const struct fm_got_entry *fm_elf_stub_entry(const struct fm_elf *elf, uint64_t address)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t size;
    const uint8_t *bytes = fm_elf_bytes_at(elf, address, &size);
    if (bytes == NULL)
        return NULL;
    size_t at = 0;
    if (size >= 4 && memcmp(bytes, endbr64, 4) == 0)
        at = 4;
    if (size > at && bytes[at] == 0xf2)
        at++;
    if (size < at + 6 || bytes[at] != 0xff || bytes[at + 1] != 0x25)
        return NULL;
    int32_t displacement;
    memcpy(&displacement, bytes + at + 2, sizeof displacement);
    uint64_t slot = address + at + 6 + (uint64_t)(int64_t)displacement;
    return fm_elf_got_entry(elf, slot);
}
