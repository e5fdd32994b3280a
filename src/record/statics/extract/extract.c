/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which statics are made. Data shared by the steps lives as long as this; the result
 * is plain data. */
#include <string.h>

#include "base/error.h"
#include "record/statics/extract/bodies.h"
#include "record/statics/extract/choice.h"
#include "record/statics/extract/disassemble.h"
#include "record/statics/extract/dwarf_walk.h"
#include "record/statics/extract/only.h"
#include "record/statics/extract/points.h"
#include "record/statics/extract/sites.h"
#include "record/statics/hooks_named.h"

/* The inline functions of fathom's own headers request no hooks, which debug information does not
 * contain. */
static bool is_own_header(const char *file)
{
    return g_str_has_suffix(file, "/fathom/eventlog.h") ||
           g_str_has_suffix(file, "/fathom/eventlog_types.h") ||
           g_str_has_suffix(file, "/fathom/fathom.h");
}

/* Whether, for each unit, hooks are in functions' own bodies only. */
static bool *units_after_inlining(const struct fm_bodies *bodies)
{
    uint32_t most = 0;
    for (guint i = 0; i < bodies->scopes->len; i++) {
        uint32_t unit = g_array_index(bodies->unit_of_scope, uint32_t, i);
        if (unit != FM_NONE && unit > most)
            most = unit;
    }
    bool *own = g_new0(bool, (gsize)most + 1);
    for (int inlined = 0; inlined < 2; inlined++) {
        for (guint i = 0; i < bodies->scopes->len; i++) {
            const struct fm_scope *scope = fm_bodies_scope(bodies, i);
            uint32_t unit = g_array_index(bodies->unit_of_scope, uint32_t, i);
            if (unit != FM_NONE && scope->live && (scope->parent != FM_NONE) == inlined)
                own[unit] = !inlined;
        }
    }
    return own;
}

static bool is_in_system(const GPtrArray *choices, const char *file)
{
    for (guint i = 0; i < choices->len; i++) {
        if (strcmp(g_ptr_array_index(choices, i), "+system:") == 0)
            return false;
    }
    return g_str_has_prefix(file, "/usr/");
}

/* Hooks that are put in after inlining leave none where all calls of a function were inlined: it is
 * recorded as much as the others, but those of the system's headers. */
static void adopt_inlined(const struct fm_bodies *bodies, const GPtrArray *choices)
{
    g_autofree bool *after = units_after_inlining(bodies);
    for (guint i = 0; i < bodies->scopes->len; i++) {
        const struct fm_scope *scope = fm_bodies_scope(bodies, i);
        uint32_t unit = g_array_index(bodies->unit_of_scope, uint32_t, i);
        struct fm_proc *proc = fm_bodies_proc(bodies, scope->proc);
        if (scope->parent != FM_NONE && unit != FM_NONE && after[unit] && proc->entry == 0 &&
            !proc->instrumented && !is_in_system(choices, proc->file) &&
            !is_own_header(proc->file) && !fm_statics_is_hook(proc->linkage))
            proc->instrumented = true;
    }
}

/* The array's elements; the array is gone. */
static void *take(GArray **array, uint32_t *ret_count)
{
    *ret_count = (*array)->len;
    return g_array_free(g_steal_pointer(array), FALSE);
}

static void take_bodies(struct fm_statics *statics, struct fm_bodies *bodies)
{
    statics->procs = take(&bodies->procs, &statics->proc_count);
    statics->scopes = take(&bodies->scopes, &statics->scope_count);
    statics->segments = take(&bodies->segments, &statics->segment_count);
    statics->entries = take(&bodies->entries, &statics->entry_count);
}

/* Sites and points of the bodies that are there. */
static bool describe_code(struct fm_statics *statics, const struct fm_elf *elf,
                          struct fm_units *units, struct fm_bodies *bodies,
                          const struct fm_statics_opts *opts, GError **error)
{
    GArray *machine_sites = g_array_new(FALSE, TRUE, sizeof(struct fm_machine_site));
    g_autoptr(GArray) bounds = g_array_new(FALSE, TRUE, sizeof(struct fm_block_bound));
    g_autoptr(GArray) counters = g_array_new(FALSE, TRUE, sizeof(struct fm_counter));
    bool ok = fm_disassemble(elf, units, bodies, machine_sites, opts->coverage ? bounds : NULL,
                             opts->coverage ? counters : NULL, error);
    statics->machine_sites = take(&machine_sites, &statics->machine_site_count);
    if (!ok)
        return false;
    if (opts->only != NULL)
        fm_only_mark(bodies);
    if (!opts->physical)
        adopt_inlined(bodies, elf->choices);
    take_bodies(statics, bodies);
    fm_choice_leave_out(statics, elf->choices);
    fm_sites_build(statics, opts->physical);
    fm_points_build(statics, units, bodies, bounds, counters, opts->physical);
    return true;
}

static bool extract(struct fm_statics *statics, struct fm_elf *elf, struct fm_units *units,
                    struct fm_bodies *bodies, const struct fm_statics_opts *opts, GError **error)
{
    if (!fm_elf_open(elf, statics->path, statics->strings, opts, error))
        return false;
    bool ok = true;
    /* Foreign modules (libc, ...) need their symbols only. */
    if (elf->uses_hooks || opts->only != NULL) {
        ok = opts->ignore_debug ||
             fm_dwarf_walk(elf, opts, units, bodies, &statics->debug_note, error);
        statics->has_debug = ok && !opts->ignore_debug && statics->debug_note == NULL;
        if (ok) {
            fm_bodies_flatten(bodies);
            if (opts->only != NULL)
                fm_only_add_bodies(bodies, elf, opts);
            else
                fm_bodies_add_symbols(bodies, elf);
            fm_bodies_flatten(bodies);
            fm_bodies_fold_entries(bodies);
            ok = describe_code(statics, elf, units, bodies, opts, error);
        }
    }
    statics->symbols = take(&elf->symbols, &statics->symbol_count);
    return ok;
}

bool fm_statics_extract(const char *path, const struct fm_statics_opts *opts,
                        struct fm_statics **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && opts != NULL && ret != NULL, false);
    g_autoptr(FmStatics) statics = g_new0(struct fm_statics, 1);
    statics->strings = g_string_chunk_new(4096);
    statics->path = g_string_chunk_insert(statics->strings, path);
    struct fm_elf elf;
    struct fm_units units;
    struct fm_bodies bodies;
    fm_units_init(&units, statics->strings);
    fm_bodies_init(&bodies);
    bool ok = extract(statics, &elf, &units, &bodies, opts, error);
    fm_bodies_done(&bodies);
    fm_units_done(&units);
    fm_elf_close(&elf);
    if (ok)
        *ret = g_steal_pointer(&statics);
    return ok;
}
