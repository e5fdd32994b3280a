/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/machine/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

struct found {
    uint64_t address, section_end;
    unsigned rank; /* the least stays */
    const char *name, *unit;
};

static int by_address(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Whether a symbol is a function. Labels of assembler files have no type; global ones count as
 * functions. */
static bool is_function(const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC ||
           (type == STT_NOTYPE && GELF_ST_BIND(symbol->st_info) != STB_LOCAL);
}

static bool is_code(Elf *elf, const GElf_Sym *symbol, uint64_t *ret_end)
{
    GElf_Shdr header;
    Elf_Scn *section = symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE
                           ? NULL
                           : elf_getscn(elf, symbol->st_shndx);
    if (section == NULL || gelf_getshdr(section, &header) == NULL ||
        (header.sh_flags & SHF_EXECINSTR) == 0 || symbol->st_value < header.sh_addr ||
        symbol->st_value - header.sh_addr >= header.sh_size)
        return false;
    *ret_end = header.sh_addr + header.sh_size;
    return *ret_end > symbol->st_value;
}

static void add_section(GArray *all, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const char *file = NULL; /* local symbols come after the name of their file */
    if (data == NULL || header->sh_entsize == 0)
        return;
    for (size_t i = 0; i < header->sh_size / header->sh_entsize && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        struct found found;
        if (gelf_getsym(data, (int)i, &symbol) == NULL)
            break;
        if (GELF_ST_TYPE(symbol.st_info) == STT_FILE)
            file = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (!is_function(&symbol) || !is_code(elf, &symbol, &found.section_end))
            continue;
        found.name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (found.name == NULL || found.name[0] == '\0')
            continue;
        unsigned binding = GELF_ST_BIND(symbol.st_info);
        found.address = symbol.st_value;
        found.unit = binding == STB_LOCAL && file != NULL && file[0] != '\0' ? file : NULL;
        found.rank = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
        found.rank = 2 * found.rank + (found.name[0] == '_');
        g_array_append_val(all, found);
    }
}

/* The table of all symbols; of a program that was stripped what it shows to others. */
static GArray *find_all(Elf *elf)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct found));
    for (int kind = 0; kind < 2 && all->len == 0; kind++) {
        for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) != NULL &&
                header.sh_type == (kind == 0 ? SHT_SYMTAB : SHT_DYNSYM))
                add_section(all, elf, section, &header);
        }
    }
    if (all->len > 0)
        qsort(all->data, all->len, sizeof(struct found), by_address);
    return all;
}

static void clear_symbol(void *symbol)
{
    g_free(((struct fm_import_symbol *)symbol)->name);
    g_free(((struct fm_import_symbol *)symbol)->unit);
}

static GArray *keep_one_each(const GArray *all)
{
    GArray *symbols = g_array_new(FALSE, FALSE, sizeof(struct fm_import_symbol));
    g_array_set_clear_func(symbols, clear_symbol);
    for (guint i = 0; i < all->len; i++) {
        const struct found *found = &g_array_index(all, struct found, i);
        if (i > 0 && found[-1].address == found->address)
            continue;
        guint next = i + 1;
        while (next < all->len && g_array_index(all, struct found, next).address == found->address)
            next++;
        uint64_t end = found->section_end;
        if (next < all->len)
            end = MIN(end, g_array_index(all, struct found, next).address);
        const struct fm_import_symbol symbol = {found->address, end, g_strdup(found->name),
                                                g_strdup(found->unit)};
        g_array_append_val(symbols, symbol);
    }
    return symbols;
}

bool fm_import_symbols_read(const char *path, GArray **ret, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return false;
    }
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: offset 0: expected a program in ELF",
                    path);
    } else {
        g_autoptr(GArray) all = find_all(elf);
        *ret = keep_one_each(all);
        if (all->len == 0) {
            g_clear_pointer(ret, g_array_unref);
            g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                        "%s: no names of functions, expected a program that was not stripped",
                        path);
        }
    }
    bool done = elf != NULL && elf_kind(elf) == ELF_K_ELF && *ret != NULL;
    elf_end(elf);
    close(fd);
    return done;
}

/* How many begin at an address or before it. */
static guint count_upto(const GArray *symbols, uint64_t address)
{
    guint first = 0, end = symbols->len;
    while (first < end) {
        guint middle = first + (end - first) / 2;
        if (g_array_index(symbols, struct fm_import_symbol, middle).address <= address)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

const struct fm_import_symbol *fm_import_symbols_at(const GArray *symbols, uint64_t address)
{
    guint count = count_upto(symbols, address);
    if (count == 0)
        return NULL;
    const struct fm_import_symbol *symbol =
        &g_array_index(symbols, struct fm_import_symbol, count - 1);
    return address < symbol->end ? symbol : NULL;
}

uint64_t fm_import_symbols_next(const GArray *symbols, uint64_t address)
{
    guint count = count_upto(symbols, address);
    return count == symbols->len ? UINT64_MAX
                                 : g_array_index(symbols, struct fm_import_symbol, count).address;
}
