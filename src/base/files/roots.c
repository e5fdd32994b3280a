/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/roots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif

#include "base/error.h"

#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
/* Tries after files were renamed during the lookup. */
#define TRIES 8

struct fm_roots {
    GPtrArray *folders; /* char *, real paths */
};

struct fm_roots *fm_roots_new(void)
{
    struct fm_roots *roots = g_atomic_rc_box_new0(struct fm_roots);
    roots->folders = g_ptr_array_new_with_free_func(g_free);
    return roots;
}

struct fm_roots *fm_roots_ref(struct fm_roots *roots)
{
    return roots == NULL ? NULL : g_atomic_rc_box_acquire(roots);
}

static void clear(gpointer data)
{
    struct fm_roots *roots = data;
    g_ptr_array_unref(roots->folders);
}

void fm_roots_unref(struct fm_roots *roots)
{
    if (roots != NULL)
        g_atomic_rc_box_release_full(roots, clear);
}

/* Returns the real path, to be freed with g_free(). */
static char *real_path(const char *path)
{
    char *real = realpath(path, NULL);
    char *copy = g_strdup(real);
    free(real);
    return copy;
}

bool fm_roots_add(struct fm_roots *roots, const char *folder, GError **error)
{
    g_autofree char *real = real_path(folder);
    struct stat status;
    if (real == NULL || stat(real, &status) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot open: %s", folder, g_strerror(errno));
        return false;
    }
    if (!S_ISDIR(status.st_mode)) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: is not a folder", folder);
        return false;
    }
    g_ptr_array_add(roots->folders, g_steal_pointer(&real));
    return true;
}

unsigned fm_roots_count(const struct fm_roots *roots)
{
    return roots->folders->len;
}

const char *fm_roots_folder(const struct fm_roots *roots, unsigned index)
{
    g_return_val_if_fail(index < roots->folders->len, NULL);
    return roots->folders->pdata[index];
}

/* The part of a real path below a folder; NULL when it is not below. */
static const char *below(const char *real, const char *folder)
{
    size_t size = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    if (strncmp(real, folder, size) != 0 || real[size] != '/' || real[size + 1] == '\0')
        return NULL;
    return real + size + 1;
}

char *fm_roots_find(const struct fm_roots *roots, const char *name)
{
    g_return_val_if_fail(roots != NULL && name != NULL, NULL);
    for (unsigned i = 0; i < roots->folders->len; i++) {
        const char *folder = roots->folders->pdata[i];
        g_autofree char *path =
            g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(folder, name, NULL);
        g_autofree char *real = real_path(path);
        if (real != NULL && below(real, folder) != NULL)
            return g_steal_pointer(&real);
    }
    return NULL;
}

/* --- opening --- */

/* For kernels without openat2(), or with a filter that blocks it: opens component by component,
 * without following links. */
static int open_by_steps(int folder_fd, const char *path, int flags)
{
    g_auto(GStrv) parts = g_strsplit(path, "/", 0);
    int at = folder_fd;
    for (char **part = parts; *part != NULL; part++) {
        int part_flags = part[1] == NULL ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC;
        int next = openat(at, *part, part_flags | O_NOFOLLOW);
        int problem = errno;
        if (at != folder_fd)
            close(at);
        if (next < 0) {
            errno = problem;
            return -1;
        }
        at = next;
    }
    return at;
}

/* path is a real path, so any link in it was put there afterwards. */
static int open_without_links(int folder_fd, const char *path, int flags)
{
#if defined(SYS_openat2) && defined(RESOLVE_BENEATH)
    struct open_how how = {.flags = (unsigned)flags,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    long fd = syscall(SYS_openat2, folder_fd, path, &how, sizeof how);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
        return (int)fd;
#endif
    return open_by_steps(folder_fd, path, flags);
}

static int open_below(const char *folder, const char *path, int flags)
{
    int folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0)
        return -1;
    int fd = open_without_links(folder_fd, path, flags);
    int problem = errno;
    close(folder_fd);
    errno = problem;
    return fd;
}

/* Whether a file was exchanged after its real path was found. */
static bool has_moved(int problem)
{
    return problem == ELOOP || problem == EXDEV || problem == ENOTDIR || problem == ENOENT ||
           problem == EAGAIN || problem == EINTR;
}

/* Returns -1 with errno; ENOENT when the file is missing or outside the folders. */
static int open_beneath(const struct fm_roots *roots, const char *path, int flags)
{
    for (unsigned tries = 0; tries < TRIES; tries++) {
        g_autofree char *real = fm_roots_find(roots, path);
        if (real == NULL)
            break;
        for (unsigned i = 0; i < roots->folders->len; i++) {
            const char *folder = roots->folders->pdata[i];
            const char *rest = below(real, folder);
            int fd = rest == NULL ? -1 : open_below(folder, rest, flags);
            if (fd >= 0 || (rest != NULL && !has_moved(errno)))
                return fd;
        }
    }
    errno = ENOENT;
    return -1;
}

int fm_roots_open(const struct fm_roots *roots, const char *path, int flags, GError **error)
{
    g_return_val_if_fail((flags & ~O_DIRECTORY) == 0, -1);
    flags |= READ_FLAGS;
    int fd = roots == NULL ? open(path, flags) : open_beneath(roots, path, flags);
    if (fd >= 0)
        return fd;
    if (roots != NULL && errno == ENOENT)
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    "%s: there is no such file below the served folders", path);
    else
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
    return -1;
}
