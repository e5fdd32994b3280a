/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of statics. */
#include "record/statics/statics.h"

#include "record/statics/hooks_named.h"

void fm_statics_free(struct fm_statics *statics)
{
    if (statics == NULL)
        return;
    void *arrays[] = {statics->procs,         statics->scopes,  statics->segments,
                      statics->machine_sites, statics->sites,   statics->points,
                      statics->code_lines,    statics->entries, statics->symbols};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_free(arrays[i]);
    if (statics->strings != NULL)
        g_string_chunk_free(statics->strings);
    g_free(statics->block);
    g_free(statics);
}

uint32_t fm_statics_segment_behind(const struct fm_statics *statics, uint64_t address)
{
    uint32_t low = 0, high = statics->segment_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (statics->segments[middle].high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t fm_statics_scope_at(const struct fm_statics *statics, uint64_t address)
{
    uint32_t low = fm_statics_segment_behind(statics, address);
    if (low == statics->segment_count || statics->segments[low].low > address)
        return FM_NONE;
    return statics->segments[low].scope;
}

uint32_t fm_statics_body_at(const struct fm_statics *statics, uint64_t address)
{
    uint32_t scope = fm_statics_scope_at(statics, address);
    while (scope != FM_NONE && statics->scopes[scope].parent != FM_NONE)
        scope = statics->scopes[scope].parent;
    return scope == FM_NONE ? FM_NONE : statics->scopes[scope].proc;
}

const struct fm_machine_site *fm_statics_site_at(const struct fm_statics *statics,
                                                 uint64_t return_address)
{
    uint32_t low = 0, high = statics->machine_site_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (statics->machine_sites[middle].return_address < return_address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == statics->machine_site_count ||
        statics->machine_sites[low].return_address != return_address)
        return NULL;
    return &statics->machine_sites[low];
}

uint32_t fm_statics_proc_at(const struct fm_statics *statics, uint64_t entry)
{
    uint32_t low = 0, high = statics->entry_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (statics->entries[middle].address < entry)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == statics->entry_count || statics->entries[low].address != entry)
        return FM_NONE;
    return statics->entries[low].proc;
}

/* The first symbol at or below the address. */
static const struct fm_symbol *symbol_below(const struct fm_statics *statics, uint64_t address)
{
    const struct fm_symbol *symbols = statics->symbols;
    uint32_t low = 0, high = statics->symbol_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    while (low > 1 && symbols[low - 2].address == symbols[low - 1].address)
        low--;
    return &symbols[low - 1];
}

const char *fm_statics_symbol_at(const struct fm_statics *statics, uint64_t address,
                                 uint64_t *ret_offset)
{
    const struct fm_symbol *symbol = symbol_below(statics, address);
    if (symbol == NULL || (symbol->size > 0 && address - symbol->address >= symbol->size))
        return NULL;
    *ret_offset = address - symbol->address;
    return symbol->name;
}

uint32_t fm_statics_point_at(const struct fm_statics *statics, uint64_t return_address)
{
    uint32_t low = 0, high = statics->point_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (statics->points[middle].return_address < return_address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == statics->point_count || statics->points[low].return_address != return_address)
        return FM_NONE;
    return low;
}

/* Code of an inlined body that lost its scope (clang's line 0) still belongs to its procedure,
 * as long as the hooks were put in before inlining. */
static bool is_live(const struct fm_statics *statics, bool physical, uint32_t index)
{
    const struct fm_scope *scope = &statics->scopes[index];
    const struct fm_proc *proc = &statics->procs[scope->proc];
    if (fm_statics_is_hook(proc->linkage))
        return false;
    return scope->live || (proc->instrumented && (!physical || scope->parent == FM_NONE));
}

uint32_t fm_statics_live_around(const struct fm_statics *statics, bool physical, uint32_t scope)
{
    g_assert(scope == FM_NONE || scope < statics->scope_count);
    while (scope != FM_NONE && !is_live(statics, physical, scope))
        scope = statics->scopes[scope].parent;
    return scope;
}

uint32_t fm_statics_shown_around(const struct fm_statics *statics, uint32_t scope)
{
    return fm_statics_live_around(statics, false, scope);
}
