/* SPDX-License-Identifier: Apache-2.0 */
#include "live/imported.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "base/files/unfinished.h"
#include "exchange/hint/hint.h"
#include "exchange/import/import.h"

/* The name that pages will use: the file's own name; when two are equal, with the folder's name or
 * a number. */
static char *path_of(const struct fm_live_imported *imported, const char *path)
{
    g_autofree char *whole = g_canonicalize_filename(path, NULL);
    g_autofree char *name = g_path_get_basename(whole), *above = g_path_get_dirname(whole);
    g_autofree char *folder = g_path_get_basename(above);
    char *made = g_strdup_printf("%s/%s.data", imported->folder.path, name);
    for (guint number = 1;
         g_ptr_array_find_with_equal_func(imported->made, made, g_str_equal, NULL); number++) {
        g_free(made);
        made = number == 1
                   ? g_strdup_printf("%s/%s (%s).data", imported->folder.path, name,
                                     strcmp(folder, "/") == 0 ? "root" : folder)
                   : g_strdup_printf("%s/%s (%u).data", imported->folder.path, name, number);
    }
    return made;
}

bool fm_live_imported_take(struct fm_live_imported *imported, char **path, GError **error)
{
    static const struct fm_import_options options = {0};
    g_autoptr(FmProfile) profile = NULL;
    g_return_val_if_fail(path != NULL && *path != NULL, false);
    if (fm_hint_file_kind(*path) != FM_FILE_FOREIGN)
        return true;
    if (!fm_import(*path, &options, &profile, error))
        return false;
    if (imported->folder.path == NULL) {
        if (!fm_own_folder_make(&imported->folder, "import", error))
            return false;
        fm_unfinished_note(imported->folder.path);
        fm_unfinished_note(imported->folder.mark);
        imported->made = g_ptr_array_new_with_free_func(g_free);
    }
    g_autofree char *made = path_of(imported, *path);
    g_ptr_array_add(imported->made, g_strdup(made));
    fm_unfinished_note(g_ptr_array_index(imported->made, imported->made->len - 1));
    if (!fm_profile_write(profile, made, false, error))
        return false;
    g_free(*path);
    *path = g_steal_pointer(&made);
    return true;
}

void fm_live_imported_done(struct fm_live_imported *imported)
{
    for (guint i = 0; imported->made != NULL && i < imported->made->len; i++) {
        g_unlink(g_ptr_array_index(imported->made, i));
        fm_unfinished_forget(g_ptr_array_index(imported->made, i));
    }
    fm_own_folder_remove(&imported->folder);
    g_clear_pointer(&imported->made, g_ptr_array_unref);
}
