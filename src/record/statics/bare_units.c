/* SPDX-License-Identifier: Apache-2.0 */
/* Finds objects of a program without hooks: usually left from a build without `fathom cc`. */
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

/* The path up to and including the last folder with that name; NULL: there is none. */
static char *up_to_folder(const char *path, const char *name)
{
    g_autofree char *folder = g_strdup_printf("/%s/", name);
    const char *found = g_strrstr(path, folder);
    return found == NULL ? NULL : g_strndup(path, (gsize)(found - path) + strlen(folder));
}

/* Whether it belongs to the recording runtime's objects: a program's, a shared object's. */
static bool is_in_runtime(const struct fm_proc *proc)
{
    return strcmp(proc->linkage, "fm_enter_slow_v1") == 0 ||
           strcmp(proc->linkage, "fm_library_leave") == 0;
}

/* Those named like the folder of such a function: objects of one library may come from several
 * builds. */
GPtrArray *fm_statics_runtime_folders(const struct fm_statics *statics)
{
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *own = NULL;
    for (uint32_t i = 0; i < statics->proc_count && own == NULL; i++)
        if (is_in_runtime(&statics->procs[i])) {
            g_autofree char *folder = g_path_get_dirname(statics->procs[i].unit);
            own = g_path_get_basename(folder);
        }
    for (uint32_t i = 0; i < statics->proc_count && own != NULL; i++) {
        if (!g_str_has_prefix(statics->procs[i].linkage, "fm_"))
            continue;
        g_autofree char *folder = up_to_folder(statics->procs[i].unit, own);
        if (folder != NULL && !g_ptr_array_find_with_equal_func(folders, folder, g_str_equal, NULL))
            g_ptr_array_add(folders, g_steal_pointer(&folder));
    }
    return folders;
}

bool fm_statics_is_in_folders(const GPtrArray *folders, const char *unit)
{
    for (guint i = 0; i < folders->len; i++)
        if (g_str_has_prefix(unit, g_ptr_array_index(folders, i)))
            return true;
    return false;
}

static gint by_path(gconstpointer left, gconstpointer right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

GPtrArray *fm_statics_bare_units(const struct fm_statics *statics)
{
    g_autoptr(GHashTable) with = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) own = fm_statics_runtime_folders(statics);
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
        if (known && !g_hash_table_contains(with, proc->unit) &&
            !fm_statics_is_in_folders(own, proc->unit) &&
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
