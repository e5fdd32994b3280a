/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/model/symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/cxx_name.h"
#include "trace/state/pack.h"

enum { MODULES_MAX = 4096 };

struct symbol {
    uint64_t address, size;
    char *name;
};

/* One file; modules at several addresses may share it. */
struct object {
    char *path;
    GArray *symbols; /* holds struct symbol, ascending; NULL = not read yet */
    bool relocated;  /* its own addresses begin at first, not where it was loaded */
    uint64_t first;
    uint8_t id[FM_SYMBOLS_BUILD_ID_MAX];
    size_t id_length;
};

enum module_kind { MODULE_BIASED, MODULE_OBJECT, MODULE_FIXED_OBJECT };

struct module {
    uint64_t base, size, bias; /* bias: of MODULE_BIASED */
    enum module_kind kind;
    uint8_t id[FM_SYMBOLS_BUILD_ID_MAX];
    size_t id_length; /* 0 = not told */
    struct object *object;
};

struct fm_symbols {
    GArray *modules;     /* holds struct module; later ones win */
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

static void add_module(struct fm_symbols *symbols, const struct module *module, const char *path,
                       size_t path_length)
{
    uint64_t base = module->base, size = module->size;
    for (guint i = 0; i < symbols->modules->len; i++) {
        const struct module *old = &g_array_index(symbols->modules, struct module, i);
        if (old->base == base && old->size == size && old->kind == module->kind &&
            strlen(old->object->path) == path_length &&
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
    g_assert(strlen(object->path) <= path_length);
    struct module added = *module;
    added.object = object;
    g_array_append_val(symbols->modules, added);
}

void fm_symbols_add(struct fm_symbols *symbols, uint64_t base, uint64_t size, uint64_t bias,
                    const char *path, size_t path_length)
{
    const struct module module = {.base = base, .size = size, .bias = bias};
    add_module(symbols, &module, path, path_length);
}

void fm_symbols_add_object(struct fm_symbols *symbols, const struct fm_symbols_object *object)
{
    const struct module module = {.base = object->base,
                                  .size = object->size,
                                  .kind = object->fixed ? MODULE_FIXED_OBJECT : MODULE_OBJECT};
    add_module(symbols, &module, object->path, object->path_length);
}

void fm_symbols_set_build_id(struct fm_symbols *symbols, uint64_t base, const uint8_t *id,
                             size_t length)
{
    for (guint i = symbols->modules->len; i-- > 0;) {
        struct module *module = &g_array_index(symbols->modules, struct module, i);
        if (module->base != base)
            continue;
        module->id_length = MIN(length, FM_SYMBOLS_BUILD_ID_MAX);
        memcpy(module->id, id, module->id_length);
        return;
    }
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

static void note_build_id(struct object *object, Elf *elf, const GElf_Phdr *segment)
{
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz,
                                          segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    size_t at = 0, name, description;
    GElf_Nhdr note;
    while (data != NULL && (at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof "GNU" ||
            memcmp((const char *)data->d_buf + name, "GNU", sizeof "GNU") != 0)
            continue;
        object->id_length = MIN(note.n_descsz, FM_SYMBOLS_BUILD_ID_MAX);
        memcpy(object->id, (const char *)data->d_buf + description, object->id_length);
    }
}

/* Reads the begin of its addresses, and its build id. */
static void read_segments(struct object *object, Elf *elf)
{
    GElf_Ehdr header;
    size_t count;
    uint64_t first = UINT64_MAX;
    if (gelf_getehdr(elf, &header) == NULL || elf_getphdrnum(elf, &count) != 0)
        return;
    object->relocated = header.e_type == ET_DYN;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, (int)i, &segment) == NULL)
            break;
        if (segment.p_type == PT_LOAD)
            first = MIN(first, segment.p_vaddr & ~UINT64_C(0xfff));
        else if (segment.p_type == PT_NOTE)
            note_build_id(object, elf, &segment);
    }
    object->first = first == UINT64_MAX ? 0 : first;
}

static void read_elf(struct object *object, int fd)
{
    GArray *symbols = object->symbols;
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Elf_Scn *section = NULL;
    if (elf != NULL)
        read_segments(object, elf);
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
        read_elf(object, fd);
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
    g_assert(low == high && low <= symbols->len);
    if (low == 0)
        return NULL;
    const struct symbol *symbol = &g_array_index(symbols, struct symbol, low - 1);
    return address - symbol->address < MAX(symbol->size, 1) ? symbol : NULL;
}

/* A file of another build is as if it were not there. */
static bool is_of_the_build(const struct module *module)
{
    const struct object *object = module->object;
    return module->id_length == 0 || (module->id_length == object->id_length &&
                                      memcmp(module->id, object->id, module->id_length) == 0);
}

static const struct symbol *find_in_module(const struct module *module, uint64_t address)
{
    struct object *object = module->object;
    if (object->symbols == NULL)
        read_object(object);
    g_assert(object->symbols != NULL);
    if (module->kind == MODULE_BIASED)
        return find_symbol(object->symbols, address - module->bias);
    uint64_t bias = object->relocated ? module->base - object->first : 0;
    return is_of_the_build(module) ? find_symbol(object->symbols, address - bias) : NULL;
}

static char *place_in_module(const struct module *module, uint64_t address)
{
    g_assert(module->kind != MODULE_BIASED && address - module->base < module->size);
    g_autofree char *base = g_path_get_basename(module->object->path);
    return module->kind == MODULE_FIXED_OBJECT
               ? g_strdup_printf("%s@0x%" G_GINT64_MODIFIER "x", base, address)
               : g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x", base, address - module->base);
}

/* The first LTTng tells 4 MiB for every object: so what begins nearest below is where it lies; of
 * those at one base, the last that was told. */
static const struct module *nearest_object(const struct fm_symbols *symbols, uint64_t address)
{
    const struct module *nearest = NULL;
    for (guint i = symbols->modules->len; i-- > 0;) {
        const struct module *module = &g_array_index(symbols->modules, struct module, i);
        if (module->kind != MODULE_BIASED && address - module->base < module->size &&
            (nearest == NULL || module->base > nearest->base))
            nearest = module;
    }
    return nearest;
}

char *fm_symbols_name(struct fm_symbols *symbols, uint64_t address)
{
    const struct module *object = nearest_object(symbols, address);
    if (object != NULL) {
        const struct symbol *symbol = find_in_module(object, address);
        return symbol != NULL ? demangled(symbol->name) : place_in_module(object, address);
    }
    for (guint i = symbols->modules->len; i-- > 0;) {
        const struct module *module = &g_array_index(symbols->modules, struct module, i);
        if (module->kind != MODULE_BIASED || address - module->base >= module->size)
            continue;
        const struct symbol *symbol = find_in_module(module, address);
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
        fm_pack(to, module->kind);
        fm_pack_bytes(to, module->id, module->id_length);
        fm_pack_bytes(to, module->object->path, strlen(module->object->path));
    }
}

bool fm_symbols_read(struct fm_symbols *symbols, struct fm_unpack *from)
{
    uint32_t count = fm_unpack_count(from);
    for (uint32_t i = 0; i < count && !from->bad; i++) {
        struct module module = {.base = fm_unpack(from)};
        uint32_t length, id_length;
        module.size = fm_unpack(from);
        module.bias = fm_unpack(from);
        module.kind = (enum module_kind)fm_unpack_max(from, MODULE_FIXED_OBJECT);
        const uint8_t *id = fm_unpack_bytes(from, &id_length);
        if (from->bad || id_length > FM_SYMBOLS_BUILD_ID_MAX)
            return false;
        memcpy(module.id, id, id_length);
        module.id_length = id_length;
        const uint8_t *path = fm_unpack_bytes(from, &length);
        if (!from->bad)
            add_module(symbols, &module, (const char *)path, length);
    }
    return !from->bad;
}
