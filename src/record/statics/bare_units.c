/* SPDX-License-Identifier: Apache-2.0 */
/* Which objects of a program have no hooks: left from a build without `fathom cc`, most often. */
#include <string.h>

#include "record/statics/statics.h"

static bool is_header_or_assembly(const char *path)
{
    static const char *const endings[] = {".h", ".hh", ".hpp", ".hxx", ".inc", ".S", ".s", ".asm"};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(path, endings[i]))
            return true;
    return g_str_has_prefix(path, "/usr/include/") || g_str_has_prefix(path, "/usr/lib/");
}

/* Folders of the recording runtime's own objects, if they have debug information: those named like
 * the one of its slow path, as objects of one library may come from several builds. */
static GHashTable *runtime_folders(const struct fm_statics *statics)
{
    GHashTable *folders = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree char *own = NULL;
    for (uint32_t i = 0; i < statics->proc_count && own == NULL; i++)
        if (strcmp(statics->procs[i].linkage, "fm_enter_slow_v1") == 0) {
            g_autofree char *folder = g_path_get_dirname(statics->procs[i].unit);
            own = g_path_get_basename(folder);
        }
    for (uint32_t i = 0; i < statics->proc_count && own != NULL; i++) {
        if (!g_str_has_prefix(statics->procs[i].linkage, "fm_"))
            continue;
        char *folder = g_path_get_dirname(statics->procs[i].unit);
        g_autofree char *name = g_path_get_basename(folder);
        if (strcmp(name, own) == 0)
            g_hash_table_add(folders, folder);
        else
            g_free(folder);
    }
    return folders;
}

static bool is_of_runtime(GHashTable *folders, const char *unit)
{
    g_autofree char *folder = g_path_get_dirname(unit);
    return g_hash_table_contains(folders, folder);
}

static gint by_path(gconstpointer left, gconstpointer right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

GPtrArray *fm_statics_bare_units(const struct fm_statics *statics)
{
    g_autoptr(GHashTable) with = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) own = runtime_folders(statics);
    GPtrArray *bare = g_ptr_array_new();
    for (uint32_t i = 0; i < statics->proc_count; i++) {
        const struct fm_proc *proc = &statics->procs[i];
        if (proc->instrumented || proc->left_out)
            g_hash_table_add(with, (gpointer)(uintptr_t)proc->unit);
    }
    for (uint32_t i = 0; i < statics->proc_count; i++) {
        const struct fm_proc *proc = &statics->procs[i];
        bool known = proc->entry != 0 && proc->unit[0] != '\0' && proc->line > 0 &&
                     !is_header_or_assembly(proc->unit);
        if (known && !g_hash_table_contains(with, proc->unit) && !is_of_runtime(own, proc->unit) &&
            g_hash_table_add(seen, (gpointer)(uintptr_t)proc->unit))
            g_ptr_array_add(bare, (gpointer)(uintptr_t)proc->unit);
    }
    g_ptr_array_sort(bare, by_path);
    return bare;
}

bool fm_statics_file_has_hooks(const char *path)
{
    for (int physical = 0; physical < 2; physical++) {
        struct fm_statics_opts opts = {.physical = physical != 0};
        g_autoptr(FmStatics) statics = NULL;
        if (!fm_statics_extract(path, &opts, &statics, NULL))
            return true; /* not known */
        for (uint32_t i = 0; i < statics->proc_count; i++)
            if (statics->procs[i].instrumented || statics->procs[i].left_out)
                return true;
    }
    return false;
}
