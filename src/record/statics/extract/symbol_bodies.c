/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the debug information does not cover have a symbol at least. */
#include <string.h>

#include "record/statics/extract/bodies.h"
#include "base/text/demangle.h"

/* "insert.constprop.0" and "insert.cold" are pieces of "insert". */
static char *base_of_piece(const char *name)
{
    static const char *const marks[] = {".cold", ".part.", ".constprop.", ".isra.", ".lto_priv."};
    const char *dot = strchr(name, '.');
    for (size_t i = 0; dot != NULL && i < G_N_ELEMENTS(marks); i++) {
        if (strncmp(dot, marks[i], strlen(marks[i])) == 0)
            return g_strndup(name, (gsize)(dot - name));
    }
    return NULL;
}

static uint32_t symbol_proc(struct fm_bodies *bodies, const struct fm_elf *elf, GHashTable *by_name,
                            const struct fm_symbol *symbol)
{
    g_autofree char *base = base_of_piece(symbol->name);
    gpointer found;
    if (g_hash_table_lookup_extended(by_name, base != NULL ? base : symbol->name, NULL, &found) &&
        (base != NULL || symbol->global))
        return GPOINTER_TO_UINT(found);
    g_autofree char *plain = fm_demangle(symbol->name);
    struct fm_proc proc = {
        .name = g_string_chunk_insert_const(elf->strings, plain),
        .linkage = symbol->name,
        .unit = "",
        .file = "",
        .arity = FM_ARITY_UNKNOWN,
        .external = symbol->global,
        .cplusplus = strncmp(symbol->name, "_Z", 2) == 0,
        .entry = symbol->address,
    };
    uint32_t index = fm_bodies_add_proc(bodies, &proc);
    g_hash_table_insert(by_name, (gpointer)(uintptr_t)symbol->name, GUINT_TO_POINTER(index));
    return index;
}

static bool covered(const struct fm_bodies *bodies, uint64_t address)
{
    guint low = 0, high = bodies->segments->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const struct fm_segment *segment =
            &g_array_index(bodies->segments, struct fm_segment, middle);
        if (segment->high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < bodies->segments->len &&
           g_array_index(bodies->segments, struct fm_segment, low).low <= address;
}

static void add_symbol_body(struct fm_bodies *bodies, const struct fm_elf *elf, GHashTable *by_name,
                            const struct fm_symbol *symbol, uint64_t end)
{
    size_t size;
    if (fm_elf_bytes_at(elf, symbol->address, &size) == NULL || end <= symbol->address)
        return;
    end = MIN(end, symbol->address + size);
    struct fm_scope scope = {
        .proc = symbol_proc(bodies, elf, by_name, symbol),
        .parent = FM_NONE,
        .site = FM_NONE,
        .call_file = "",
    };
    uint32_t index = fm_bodies_add_scope(bodies, &scope, FM_NONE);
    fm_bodies_add_interval(bodies, symbol->address, end, index, 0);
    fm_bodies_add_entry(bodies, symbol->address, scope.proc);
}

void fm_bodies_add_symbols(struct fm_bodies *bodies, const struct fm_elf *elf)
{
    const GArray *symbols = elf->symbols;
    g_assert(symbols != NULL);
    g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
    /* Whole functions first, then the pieces that belong to them. */
    for (int pieces = 0; pieces < 2; pieces++) {
        for (guint i = 0; i < symbols->len; i++) {
            const struct fm_symbol *symbol = &g_array_index(symbols, struct fm_symbol, i);
            if (!symbol->function || covered(bodies, symbol->address))
                continue;
            g_autofree char *base = base_of_piece(symbol->name);
            if ((base != NULL) != (pieces == 1))
                continue;
            guint next = i + 1;
            while (next < symbols->len &&
                   g_array_index(symbols, struct fm_symbol, next).address == symbol->address)
                next++;
            uint64_t end = next < symbols->len
                               ? g_array_index(symbols, struct fm_symbol, next).address
                               : UINT64_MAX;
            if (symbol->size > 0)
                end = symbol->address + MIN(symbol->size, UINT64_MAX - symbol->address);
            add_symbol_body(bodies, elf, by_name, symbol, end);
        }
    }
}
