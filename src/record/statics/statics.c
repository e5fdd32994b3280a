/* SPDX-License-Identifier: Apache-2.0 */
#include "record/statics/statics_internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

bool fm_statics_is_hook(const char *symbol)
{
    static const char *const prefixes[] = {
        "__cyg_profile_func_", "fm_enter_slow_",   "fm_exit_slow_", "fm_enter_leaf_",
        "fm_entry_hook_",      "__sanitizer_cov_", "__fentry__",    "__return__",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++) {
        if (strncmp(symbol, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

bool fm_statics_is_coverage(const char *symbol)
{
    return strncmp(symbol, "__sanitizer_cov_", strlen("__sanitizer_cov_")) == 0;
}

bool fm_statics_is_helper(const char *symbol)
{
    static const char *const names[] = {"_Unwind_Resume", "__stack_chk_fail", "__cxa_begin_catch",
                                        "__cxa_end_catch", "__clang_call_terminate"};
    static const char *const prefixes[] = {"__asan_",      "__ubsan_", "__tsan_",
                                           "__sanitizer_", "__gcov_",  "__llvm_profile_"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(symbol, names[i]) == 0)
            return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++) {
        if (strncmp(symbol, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

static int interval_order(const void *a, const void *b)
{
    const struct interval *left = a, *right = b;
    if (left->low != right->low)
        return left->low < right->low ? -1 : 1;
    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    if (left->high != right->high)
        return left->high > right->high ? -1 : 1;
    return left->scope < right->scope ? -1 : left->scope > right->scope;
}

static void emit(GArray *segments, uint64_t low, uint64_t high, uint32_t scope)
{
    struct fm_segment segment = {low, high, scope};
    if (low < high)
        g_array_append_val(segments, segment);
}

void fm_statics_flatten(struct fm_statics_storage *storage)
{
    g_array_sort(storage->intervals, interval_order);
    g_array_set_size(storage->segments, 0);
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(struct interval));
    uint64_t at = 0;
    for (guint i = 0; i <= storage->intervals->len; i++) {
        struct interval next = {UINT64_MAX, UINT64_MAX, FM_NONE, 0};
        if (i < storage->intervals->len)
            next = g_array_index(storage->intervals, struct interval, i);
        while (stack->len > 0) {
            struct interval top = g_array_index(stack, struct interval, stack->len - 1);
            uint64_t until = MIN(top.high, next.low);
            emit(storage->segments, at, until, top.scope);
            at = MAX(at, until);
            if (top.high > next.low)
                break;
            g_array_set_size(stack, stack->len - 1);
        }
        if (stack->len > 0) {
            next.high = MIN(next.high, g_array_index(stack, struct interval, stack->len - 1).high);
            /* Two bodies at one place (identical code folded): the first stands for both. */
            if (next.depth == 0)
                continue;
        }
        at = next.low;
        g_array_append_val(stack, next);
    }
}

static int entry_order(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return left->proc < right->proc ? -1 : left->proc > right->proc;
}

/* Several procedures at one address are one, the first: same code by the linker's or compiler's
 * doing, and the address alone is what the recording knows. */
static void fold_entries(struct fm_statics_storage *storage)
{
    g_array_sort(storage->entries, entry_order);
    g_autofree uint32_t *alias = g_new(uint32_t, storage->procs->len + 1);
    for (guint i = 0; i < storage->procs->len; i++)
        alias[i] = i;
    guint kept = 0;
    for (guint i = 0; i < storage->entries->len; i++) {
        struct entry entry = g_array_index(storage->entries, struct entry, i);
        entry.proc = alias[entry.proc];
        if (kept > 0) {
            struct entry last = g_array_index(storage->entries, struct entry, kept - 1);
            if (last.address == entry.address) {
                if (entry.proc != last.proc)
                    alias[entry.proc] = last.proc;
                continue;
            }
        }
        g_array_index(storage->entries, struct entry, kept++) = entry;
    }
    g_array_set_size(storage->entries, kept);
    for (guint i = 0; i < storage->procs->len; i++) {
        while (alias[i] != alias[alias[i]])
            alias[i] = alias[alias[i]];
    }
    for (guint i = 0; i < storage->scopes->len; i++) {
        struct fm_scope *scope = &g_array_index(storage->scopes, struct fm_scope, i);
        scope->proc = alias[scope->proc];
    }
    for (guint i = 0; i < kept; i++) {
        struct entry *entry = &g_array_index(storage->entries, struct entry, i);
        entry->proc = alias[entry->proc];
    }
}

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

static uint32_t symbol_proc(struct fm_statics_storage *storage, GHashTable *by_name,
                            const struct symbol *symbol)
{
    g_autofree char *base = base_of_piece(symbol->name);
    gpointer found;
    if (g_hash_table_lookup_extended(by_name, base != NULL ? base : symbol->name, NULL, &found) &&
        (base != NULL || symbol->global))
        return GPOINTER_TO_UINT(found);
    g_autofree char *plain = fm_demangle(symbol->name);
    struct fm_proc proc = {
        .name = g_string_chunk_insert_const(storage->strings, plain),
        .linkage = symbol->name,
        .unit = "",
        .file = "",
        .arity = FM_ARITY_UNKNOWN,
        .external = symbol->global,
        .cplusplus = strncmp(symbol->name, "_Z", 2) == 0,
        .entry = symbol->address,
    };
    g_array_append_val(storage->procs, proc);
    uint32_t index = storage->procs->len - 1;
    g_hash_table_insert(by_name, (gpointer)(uintptr_t)symbol->name, GUINT_TO_POINTER(index));
    return index;
}

static bool covered(const struct fm_statics_storage *storage, uint64_t address)
{
    guint low = 0, high = storage->segments->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const struct fm_segment *segment =
            &g_array_index(storage->segments, struct fm_segment, middle);
        if (segment->high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < storage->segments->len &&
           g_array_index(storage->segments, struct fm_segment, low).low <= address;
}

static void add_symbol_body(struct fm_statics_storage *storage, GHashTable *by_name,
                            const struct symbol *symbol, uint64_t end)
{
    size_t size;
    if (fm_elf_bytes_at(storage, symbol->address, &size) == NULL || end <= symbol->address)
        return;
    end = MIN(end, symbol->address + size);
    struct fm_scope scope = {
        .proc = symbol_proc(storage, by_name, symbol),
        .parent = FM_NONE,
        .site = FM_NONE,
        .call_file = "",
    };
    uint32_t none = FM_NONE;
    g_array_append_val(storage->scopes, scope);
    g_array_append_val(storage->scope_unit, none);
    struct interval interval = {symbol->address, end, storage->scopes->len - 1, 0};
    g_array_append_val(storage->intervals, interval);
    struct entry entry = {symbol->address, scope.proc};
    g_array_append_val(storage->entries, entry);
}

void fm_statics_add_symbol_procs(struct fm_statics *statics)
{
    struct fm_statics_storage *storage = statics->storage;
    g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
    /* Whole functions first, then the pieces that belong to them. */
    for (int pieces = 0; pieces < 2; pieces++) {
        for (guint i = 0; i < storage->symbols->len; i++) {
            const struct symbol *symbol = &g_array_index(storage->symbols, struct symbol, i);
            if (!symbol->function || covered(storage, symbol->address))
                continue;
            g_autofree char *base = base_of_piece(symbol->name);
            if ((base != NULL) != (pieces == 1))
                continue;
            guint next = i + 1;
            while (next < storage->symbols->len &&
                   g_array_index(storage->symbols, struct symbol, next).address == symbol->address)
                next++;
            uint64_t end = next < storage->symbols->len
                               ? g_array_index(storage->symbols, struct symbol, next).address
                               : UINT64_MAX;
            if (symbol->size > 0)
                end = symbol->address + MIN(symbol->size, UINT64_MAX - symbol->address);
            add_symbol_body(storage, by_name, symbol, end);
        }
    }
}

static bool is_of_clang(const struct fm_statics_storage *storage, uint32_t scope)
{
    uint32_t unit = g_array_index(storage->scope_unit, uint32_t, scope);
    if (unit == FM_NONE)
        return false;
    Dwarf_Attribute attribute;
    Dwarf_Die *die = &g_array_index(storage->units, Dwarf_Die, unit);
    const char *producer = dwarf_formstring(dwarf_attr(die, DW_AT_producer, &attribute));
    return producer != NULL && strstr(producer, "clang") != NULL;
}

/* The inline functions of fathom's own headers say that they want no hooks, which debug information
 * does not tell. */
static bool is_own_header(const char *file)
{
    return g_str_has_suffix(file, "/fathom/eventlog.h") ||
           g_str_has_suffix(file, "/fathom/eventlog_types.h") ||
           g_str_has_suffix(file, "/fathom/fathom.h");
}

/* gcc keeps a body of its own, with hooks, of each function that has hooks. clang's hooks that come
 * after inlining leave none where all calls were inlined: such a function is recorded as much as
 * the others, but those of the system's headers. */
static void adopt_inlined(struct fm_statics_storage *storage)
{
    for (guint i = 0; i < storage->scopes->len; i++) {
        const struct fm_scope *scope = &g_array_index(storage->scopes, struct fm_scope, i);
        if (scope->parent != FM_NONE && scope->live)
            return; /* hooks came before inlining */
    }
    for (guint i = 0; i < storage->scopes->len; i++) {
        const struct fm_scope *scope = &g_array_index(storage->scopes, struct fm_scope, i);
        struct fm_proc *proc = &g_array_index(storage->procs, struct fm_proc, scope->proc);
        if (scope->parent != FM_NONE && proc->entry == 0 && !proc->instrumented &&
            !g_str_has_prefix(proc->file, "/usr/") && !is_own_header(proc->file) &&
            !fm_statics_is_hook(proc->linkage) && is_of_clang(storage, i))
            proc->instrumented = true;
    }
}

static void publish(struct fm_statics *statics)
{
    struct fm_statics_storage *storage = statics->storage;
    statics->procs = (struct fm_proc *)(void *)storage->procs->data;
    statics->proc_count = storage->procs->len;
    statics->scopes = (struct fm_scope *)(void *)storage->scopes->data;
    statics->scope_count = storage->scopes->len;
    statics->segments = (struct fm_segment *)(void *)storage->segments->data;
    statics->segment_count = storage->segments->len;
    statics->machine_sites = (struct fm_machine_site *)(void *)storage->machine_sites->data;
    statics->machine_site_count = storage->machine_sites->len;
    statics->sites = (struct fm_site *)(void *)storage->sites->data;
    statics->site_count = storage->sites->len;
    statics->points = (struct fm_point *)(void *)storage->points->data;
    statics->point_count = storage->points->len;
    statics->code_lines = (struct fm_code_line *)(void *)storage->code_lines->data;
    statics->code_line_count = storage->code_lines->len;
}

static struct fm_statics *new_statics(const char *path)
{
    struct fm_statics *statics = g_new0(struct fm_statics, 1);
    struct fm_statics_storage *storage = g_new0(struct fm_statics_storage, 1);
    statics->storage = storage;
    storage->strings = g_string_chunk_new(4096);
    statics->path = g_string_chunk_insert(storage->strings, path);
    storage->procs = g_array_new(FALSE, TRUE, sizeof(struct fm_proc));
    storage->scopes = g_array_new(FALSE, TRUE, sizeof(struct fm_scope));
    storage->intervals = g_array_new(FALSE, TRUE, sizeof(struct interval));
    storage->segments = g_array_new(FALSE, TRUE, sizeof(struct fm_segment));
    storage->machine_sites = g_array_new(FALSE, TRUE, sizeof(struct fm_machine_site));
    storage->sites = g_array_new(FALSE, TRUE, sizeof(struct fm_site));
    storage->marks = g_array_new(FALSE, TRUE, sizeof(struct mark));
    storage->points = g_array_new(FALSE, TRUE, sizeof(struct fm_point));
    storage->code_lines = g_array_new(FALSE, TRUE, sizeof(struct fm_code_line));
    storage->units = g_array_new(FALSE, TRUE, sizeof(Dwarf_Die));
    storage->scope_unit = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    storage->entries = g_array_new(FALSE, TRUE, sizeof(struct entry));
    storage->proc_by_die = g_hash_table_new(g_direct_hash, g_direct_equal);
    storage->proc_by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    storage->paths = g_hash_table_new(g_direct_hash, g_direct_equal);
    return statics;
}

static bool extract(struct fm_statics *statics, const struct fm_statics_opts *opts, GError **error)
{
    struct fm_statics_storage *storage = statics->storage;
    if (!fm_elf_open(statics, opts, error))
        return false;
    /* Foreign modules (libc, ...) need their symbols only. */
    if (!storage->uses_hooks)
        return true;
    if (!opts->ignore_debug && !fm_dwarf_walk(statics, error))
        return false;
    fm_statics_flatten(storage);
    fm_statics_add_symbol_procs(statics);
    fm_statics_flatten(storage);
    fold_entries(storage);
    if (!fm_disassemble(statics, opts->coverage, error))
        return false;
    if (!opts->physical)
        adopt_inlined(storage);
    publish(statics);
    fm_statics_leave_out(statics);
    fm_sites_build(statics, opts->physical);
    fm_points_build(statics, opts->physical);
    return true;
}

bool fm_statics_extract(const char *path, const struct fm_statics_opts *opts,
                        struct fm_statics **ret, GError **error)
{
    g_autoptr(FmStatics) statics = new_statics(path);
    if (!extract(statics, opts, error))
        return false;
    publish(statics);
    *ret = g_steal_pointer(&statics);
    return true;
}

void fm_statics_free(struct fm_statics *statics)
{
    if (statics == NULL)
        return;
    struct fm_statics_storage *storage = statics->storage;
    fm_elf_close(storage);
    GArray *arrays[] = {storage->procs,    storage->scopes,        storage->intervals,
                        storage->segments, storage->machine_sites, storage->sites,
                        storage->units,    storage->scope_unit,    storage->entries,
                        storage->marks,    storage->points,        storage->code_lines};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_array_unref(arrays[i]);
    g_hash_table_unref(storage->proc_by_die);
    g_hash_table_unref(storage->proc_by_key);
    g_hash_table_unref(storage->paths);
    g_string_chunk_free(storage->strings);
    g_free(storage);
    g_free(statics);
}

uint32_t fm_statics_scope_at(const struct fm_statics *statics, uint64_t address)
{
    uint32_t low = 0, high = statics->segment_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (statics->segments[middle].high <= address)
            low = middle + 1;
        else
            high = middle;
    }
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
    const GArray *entries = statics->storage->entries;
    guint low = 0, high = entries->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(entries, struct entry, middle).address < entry)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == entries->len || g_array_index(entries, struct entry, low).address != entry)
        return FM_NONE;
    return g_array_index(entries, struct entry, low).proc;
}

const char *fm_statics_symbol_at(const struct fm_statics *statics, uint64_t address,
                                 uint64_t *ret_offset)
{
    const struct symbol *symbol = fm_elf_symbol_at(statics->storage, address);
    if (symbol == NULL || (symbol->size > 0 && address - symbol->address >= symbol->size))
        return NULL;
    *ret_offset = address - symbol->address;
    return symbol->name;
}
