/* SPDX-License-Identifier: Apache-2.0 */
#include "record/statics/extract/only.h"

#include <string.h>

#include "base/text/demangle.h"

bool fm_only_wants(const struct fm_statics_opts *opts, uint64_t low, uint64_t high)
{
    if (opts->only == NULL)
        return true;
    size_t from = 0, to = opts->only_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (opts->only[middle] < low)
            from = middle + 1;
        else
            to = middle;
    }
    return from < opts->only_count && opts->only[from] < high;
}

/* The first addresses of all functions with unwind information, ascending: of the search table of
 * .eh_frame_hdr, as linkers write it. Empty if there is none. */
static GArray *function_starts(const struct fm_elf *elf)
{
    GArray *starts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    size_t count;
    GElf_Phdr header = {0};
    if (elf_getphdrnum(elf->elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count && header.p_type != PT_GNU_EH_FRAME; i++)
        if (gelf_getphdr(elf->elf, (int)i, &header) == NULL)
            header.p_type = PT_NULL;
    if (header.p_type != PT_GNU_EH_FRAME || header.p_filesz < 12)
        return starts;
    const Elf_Data *data =
        elf_getdata_rawchunk(elf->elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
    static const uint8_t expected[] = {1, 0x1b, 0x03, 0x3b};
    if (data == NULL || memcmp(data->d_buf, expected, sizeof expected) != 0)
        return starts;
    const uint8_t *bytes = data->d_buf;
    uint32_t entries;
    memcpy(&entries, bytes + 8, sizeof entries);
    for (uint64_t i = 0; i < entries && 12 + (i + 1) * 8 <= data->d_size; i++) {
        int32_t distance;
        memcpy(&distance, bytes + 12 + i * 8, sizeof distance);
        uint64_t start = header.p_vaddr + (uint64_t)(int64_t)distance;
        g_array_append_val(starts, start);
    }
    return starts;
}

/* UINT64_MAX: none follows. */
static uint64_t start_behind(const GArray *starts, uint64_t address)
{
    guint low = 0, high = starts->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(starts, uint64_t, middle) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < starts->len ? g_array_index(starts, uint64_t, low) : UINT64_MAX;
}

/* The best name among the symbols that hold the address; one without a size holds its own alone.
 * NULL: none does. Symbols nest at most a few deep. */
static const struct fm_symbol *symbol_holding(const struct fm_elf *elf, uint64_t address)
{
    const GArray *symbols = elf->symbols;
    guint low = 0, high = symbols->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(symbols, struct fm_symbol, middle).address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct fm_symbol *found = NULL;
    for (guint i = low, steps = 0; i-- > 0 && steps < 64; steps++) {
        const struct fm_symbol *symbol = &g_array_index(symbols, struct fm_symbol, i);
        if (found != NULL && symbol->address != found->address)
            break;
        if (symbol->address == address || address - symbol->address < symbol->size)
            found = symbol; /* of one address the first is the best */
    }
    return found;
}

static bool is_covered(const struct fm_bodies *bodies, uint64_t address)
{
    guint low = 0, high = bodies->segments->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(bodies->segments, struct fm_segment, middle).high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < bodies->segments->len &&
           g_array_index(bodies->segments, struct fm_segment, low).low <= address;
}

static uint32_t add_proc(struct fm_bodies *bodies, const struct fm_elf *elf, uint64_t address,
                         const struct fm_symbol *symbol)
{
    g_autofree char *base = g_path_get_basename(elf->path);
    g_autofree char *name =
        symbol != NULL ? fm_demangle(symbol->name)
                       : g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x", base, (guint64)address);
    return fm_bodies_add_proc(
        bodies, &(struct fm_proc){
                    .name = g_string_chunk_insert_const(elf->strings, name),
                    .linkage = symbol != NULL ? symbol->name : "",
                    .unit = "",
                    .file = "",
                    .arity = FM_ARITY_UNKNOWN,
                    .external = symbol != NULL && symbol->global,
                    .cplusplus = symbol != NULL && strncmp(symbol->name, "_Z", 2) == 0,
                    .nameless = symbol == NULL,
                    .entry = address,
                });
}

void fm_only_add_bodies(struct fm_bodies *bodies, const struct fm_elf *elf,
                        const struct fm_statics_opts *opts)
{
    g_autoptr(GArray) starts = function_starts(elf);
    g_autoptr(GHashTable) by_symbol = g_hash_table_new(NULL, NULL);
    for (size_t i = 0; i < opts->only_count; i++) {
        uint64_t address = opts->only[i], end = start_behind(starts, address);
        size_t size;
        if (is_covered(bodies, address) || fm_elf_bytes_at(elf, address, &size) == NULL)
            continue;
        const struct fm_symbol *symbol = symbol_holding(elf, address);
        if (symbol != NULL && starts->len == 0 && symbol->size > 0)
            end = symbol->address + symbol->size;
        if (i + 1 < opts->only_count)
            end = MIN(end, opts->only[i + 1]);
        end = end > address && end - address < size ? end : address + size;
        gpointer known = symbol == NULL ? NULL : g_hash_table_lookup(by_symbol, symbol);
        struct fm_scope scope = {
            .proc = known != NULL ? GPOINTER_TO_UINT(known) - 1
                                  : add_proc(bodies, elf, address, symbol),
            .parent = FM_NONE,
            .site = FM_NONE,
            .call_file = "",
        };
        if (symbol != NULL)
            g_hash_table_insert(by_symbol, (gpointer)(uintptr_t)symbol,
                                GUINT_TO_POINTER(scope.proc + 1));
        uint32_t index = fm_bodies_add_scope(bodies, &scope, FM_NONE);
        fm_bodies_add_interval(bodies, address, end, index, 0);
        fm_bodies_add_entry(bodies, address, scope.proc);
    }
}

void fm_only_mark(struct fm_bodies *bodies)
{
    for (guint i = 0; i < bodies->scopes->len; i++) {
        struct fm_scope *scope = fm_bodies_scope(bodies, i);
        if (scope->parent != FM_NONE)
            continue;
        scope->live = true;
        fm_bodies_proc(bodies, scope->proc)->instrumented = true;
    }
}
