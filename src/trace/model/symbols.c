/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/model/symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cxx_name.h"
#include "trace/state/pack.h"

enum { MODULES_MAX = 4096 };

struct symbol {
    uint64_t address, size;
    char *name;
};

/* One file; modules at several addresses may share it. */
struct object {
    char *path;
    GArray *symbols; /* of struct symbol, ascending; NULL = not read yet */
};

struct module {
    uint64_t base, size, bias;
    struct object *object;
};

struct fm_symbols {
    GArray *modules;     /* of struct module; later ones win */
    GHashTable *objects; /* path -> struct object */
};

/* The C++ ABI's own function, from the compiler's C++ library. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

static char *demangled(const char *symbol)
{
    int status = 0;
    char *plain =
        strncmp(symbol, "_Z", 2) == 0 ? __cxa_demangle(symbol, NULL, NULL, &status) : NULL;
    char *result = plain == NULL ? g_strdup(symbol) : fm_cxx_name_shorten(plain);
    free(plain);
    return result;
}

static void free_object(void *data)
{
    struct object *object = data;
    if (object->symbols != NULL)
        g_array_unref(object->symbols);
    g_free(object->path);
    g_free(object);
}

static void clear_symbol(void *data)
{
    g_free(((struct symbol *)data)->name);
}

struct fm_symbols *fm_symbols_new(void)
{
    struct fm_symbols *symbols = g_new0(struct fm_symbols, 1);
    symbols->modules = g_array_new(false, false, sizeof(struct module));
    symbols->objects = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_object);
    return symbols;
}

void fm_symbols_free(struct fm_symbols *symbols)
{
    if (symbols == NULL)
        return;
    g_array_unref(symbols->modules);
    g_hash_table_unref(symbols->objects);
    g_free(symbols);
}

void fm_symbols_add(struct fm_symbols *symbols, uint64_t base, uint64_t size, uint64_t bias,
                    const char *path, size_t path_length)
{
    for (guint i = 0; i < symbols->modules->len; i++) {
        const struct module *old = &g_array_index(symbols->modules, struct module, i);
        if (old->base == base && old->size == size && strlen(old->object->path) == path_length &&
            memcmp(old->object->path, path, path_length) == 0)
            return;
    }
    if (symbols->modules->len >= MODULES_MAX)
        return;
    char *name = g_strndup(path, path_length);
    struct object *object = g_hash_table_lookup(symbols->objects, name);
    if (object == NULL) {
        object = g_new0(struct object, 1);
        object->path = name;
        g_hash_table_insert(symbols->objects, object->path, object);
    } else {
        g_free(name);
    }
    struct module module = {base, size, bias, object};
    g_array_append_val(symbols->modules, module);
}

static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void add_section(GArray *symbols, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    if (data == NULL || header->sh_entsize == 0)
        return;
    for (size_t i = 0; i < header->sh_size / header->sh_entsize && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL)
            break;
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_value == 0)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name == NULL || *name == '\0')
            continue;
        struct symbol found = {symbol.st_value, symbol.st_size, g_strdup(name)};
        g_array_append_val(symbols, found);
    }
}

static void read_elf(GArray *symbols, int fd)
{
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Elf_Scn *section = NULL;
    /* The full table holds all of the dynamic one; stripped files have only that. */
    for (unsigned wanted = SHT_SYMTAB; elf != NULL && symbols->len == 0; wanted = SHT_DYNSYM) {
        while ((section = elf_nextscn(elf, section)) != NULL) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) != NULL && header.sh_type == wanted)
                add_section(symbols, elf, section, &header);
        }
        if (wanted == SHT_DYNSYM)
            break;
    }
    elf_end(elf);
    g_array_sort(symbols, by_address);
}

/* Only regular files: the path is what a log says, so a pipe or device must not be touched. */
static void read_object(struct object *object)
{
    object->symbols = g_array_new(false, false, sizeof(struct symbol));
    g_array_set_clear_func(object->symbols, clear_symbol);
    int fd = open(object->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return;
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && elf_version(EV_CURRENT) != EV_NONE)
        read_elf(object->symbols, fd);
    close(fd);
}

static const struct symbol *find_symbol(const GArray *symbols, uint64_t address)
{
    guint low = 0, high = symbols->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(symbols, struct symbol, middle).address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct symbol *symbol = &g_array_index(symbols, struct symbol, low - 1);
    return address - symbol->address < MAX(symbol->size, 1) ? symbol : NULL;
}

char *fm_symbols_name(struct fm_symbols *symbols, uint64_t address)
{
    for (guint i = symbols->modules->len; i-- > 0;) {
        const struct module *module = &g_array_index(symbols->modules, struct module, i);
        if (address - module->base >= module->size)
            continue;
        if (module->object->symbols == NULL)
            read_object(module->object);
        const struct symbol *symbol = find_symbol(module->object->symbols, address - module->bias);
        if (symbol != NULL)
            return demangled(symbol->name);
    }
    return g_strdup_printf("0x%" G_GINT64_MODIFIER "x", address);
}

void fm_symbols_write(const struct fm_symbols *symbols, GByteArray *to)
{
    fm_pack(to, symbols->modules->len);
    for (guint i = 0; i < symbols->modules->len; i++) {
        const struct module *module = &g_array_index(symbols->modules, struct module, i);
        fm_pack(to, module->base);
        fm_pack(to, module->size);
        fm_pack(to, module->bias);
        fm_pack_bytes(to, module->object->path, strlen(module->object->path));
    }
}

bool fm_symbols_read(struct fm_symbols *symbols, struct fm_unpack *from)
{
    uint32_t count = fm_unpack_count(from);
    for (uint32_t i = 0; i < count && !from->bad; i++) {
        uint64_t base = fm_unpack(from), size = fm_unpack(from), bias = fm_unpack(from);
        uint32_t length;
        const uint8_t *path = fm_unpack_bytes(from, &length);
        if (!from->bad)
            fm_symbols_add(symbols, base, size, bias, (const char *)path, length);
    }
    return !from->bad;
}
