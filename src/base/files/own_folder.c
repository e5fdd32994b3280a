/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/own_folder.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/unfinished.h"

#define NAMES "fathom-"
#define RANDOM "XXXXXX"
#define MARK ".fathom-own"

/* The lock ends with the process, however it ends. */
static int lock_folder(const char *path)
{
    int lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        return lock;
    if (lock >= 0)
        close(lock);
    return -1;
}

static bool is_ours(int folder)
{
    struct stat status;
    return fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
           fstatat(folder, MARK, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid();
}

/* Removes the mark last: a folder that is left when the process is killed meanwhile can still be
 * recognised. */
static void remove_folder(const char *path, int folder)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
        if (strcmp(name, MARK) != 0)
            unlinkat(folder, name, 0);
    unlinkat(folder, MARK, 0);
    g_rmdir(path);
}

static void sweep(void)
{
    g_autoptr(GDir) dir = g_dir_open(g_get_tmp_dir(), 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        if (!g_str_has_prefix(name, NAMES))
            continue;
        g_autofree char *path = g_build_filename(g_get_tmp_dir(), name, NULL);
        int folder = lock_folder(path);
        if (folder >= 0 && is_ours(folder))
            remove_folder(path, folder);
        if (folder >= 0)
            close(folder);
    }
}

/* The folder gets its mark after its lock. */
bool fm_own_folder_make(struct fm_own_folder *folder, const char *kind, GError **error)
{
    g_return_val_if_fail(folder != NULL && kind != NULL, false);
    g_autofree char *template = g_strconcat(NAMES, kind, "-" RANDOM, NULL);
    *folder = (struct fm_own_folder){.lock = -1};
    sweep();
    folder->path = g_dir_make_tmp(template, error);
    if (folder->path == NULL)
        return false;
    folder->mark = g_build_filename(folder->path, MARK, NULL);
    folder->lock = lock_folder(folder->path);
    int mark = folder->lock < 0
                   ? -1
                   : openat(folder->lock, MARK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (mark >= 0)
        close(mark);
    return true;
}

void fm_own_folder_remove(struct fm_own_folder *folder)
{
    if (folder->path == NULL)
        return;
    g_unlink(folder->mark);
    g_rmdir(folder->path);
    fm_unfinished_forget(folder->mark);
    fm_unfinished_forget(folder->path);
    if (folder->lock >= 0)
        close(folder->lock);
    g_clear_pointer(&folder->mark, g_free);
    g_clear_pointer(&folder->path, g_free);
}
