/* SPDX-License-Identifier: Apache-2.0 */
#include "record/statics/found.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/build_id.h"

/* The best file so far. */
struct search {
    const struct fm_loaded_file *file;
    char *first; /* there, but not known to be the one */
};

static bool has_build_id(const struct fm_loaded_file *file, const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(descriptor, ELF_C_READ_MMAP, NULL);
    const void *bits;
    ssize_t size = elf == NULL ? -1 : dwelf_elf_gnu_build_id(elf, &bits);
    bool same = size > 0 && (size_t)size == file->build_id_size &&
                memcmp(bits, file->build_id, file->build_id_size) == 0;
    elf_end(elf);
    close(descriptor);
    return same;
}

/* Whether that is the file: *path is freed, or kept. */
static bool is_it(struct search *search, char *path)
{
    if (search->file->build_id_size > 0 && has_build_id(search->file, path))
        return true;
    if (search->first == NULL && g_file_test(path, G_FILE_TEST_IS_REGULAR))
        search->first = path;
    else
        g_free(path);
    return false;
}

static char *in_folder(struct search *search, const char *folder)
{
    const struct fm_loaded_file *file = search->file;
    g_autofree char *name = g_path_get_basename(file->path);
    g_autofree char *digits = fm_build_id_text(file->build_id, file->build_id_size);
    char *path = g_build_filename(folder, name, NULL);
    if (is_it(search, path))
        return path;
    if (strlen(digits) < 3)
        return NULL;
    path = g_strdup_printf("%s/.build-id/%.2s/%s", folder, digits, digits + 2);
    return is_it(search, path) ? path : NULL;
}

static char *find(struct search *search, const char *root, const char *debug_path)
{
    char *path;
    if (root != NULL && is_it(search, path = g_build_filename(root, search->file->path, NULL)))
        return path;
    if (is_it(search, path = g_strdup(search->file->path)))
        return path;
    g_auto(GStrv) folders = g_strsplit(debug_path == NULL ? "" : debug_path, ":", -1);
    for (char **folder = folders; *folder != NULL; folder++) {
        const char *name = **folder == '+' || **folder == '-' ? *folder + 1 : *folder;
        if (name[0] != '\0' && (path = in_folder(search, name)) != NULL)
            return path;
    }
    return NULL;
}

char *fm_statics_find(const struct fm_loaded_file *file, const char *root, const char *debug_path)
{
    g_return_val_if_fail(file != NULL && file->path != NULL, NULL);
    struct search search = {.file = file};
    char *found = find(&search, root, debug_path);
    if (found == NULL)
        return search.first != NULL ? search.first : g_strdup(file->path);
    g_free(search.first);
    return found;
}

char *fm_statics_debug_path(const char *root, const char *debug_path)
{
    if (root == NULL)
        return g_strdup(debug_path);
    /* An empty folder is that of the file itself, as in the default of elfutils. */
    return g_strdup_printf("%s:.debug:%s/usr/lib/debug", debug_path == NULL ? "" : debug_path,
                           root);
}
