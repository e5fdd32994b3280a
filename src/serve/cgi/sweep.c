/* SPDX-License-Identifier: Apache-2.0 */
/* What dead processes left behind. A name proves nothing; an unlocked want file means that its
 * client is dead. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "serve/cgi/internal.h"

#define TEMPORARY_AGE_S 60
#define STRANGER_AGE_S (24 * 60 * 60)

/* The names in the directory; NULL on failure. */
static GPtrArray *list_names(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL)
        g_ptr_array_add(names, g_strdup(entry->d_name));
    closedir(folder);
    return names;
}

/* Whether the client that made a want file still lives; probing never takes the lock. */
static bool is_live_want(int dir_fd, const char *name)
{
    int fd = fm_cgi_open_ours(dir_fd, name, O_RDWR, S_IFREG);
    if (fd < 0)
        return false;
    bool live = fm_cgi_lock_holder(fd) != 0;
    close(fd);
    return live;
}

/* Temporary want files are not locked at first: only old ones are debris. */
static void sweep_temporary(struct fm_cgi_place *place, const char *name)
{
    struct stat status;
    if (fstatat(place->dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        time(NULL) - status.st_mtime > TEMPORARY_AGE_S && !is_live_want(place->dir_fd, name))
        unlinkat(place->dir_fd, name, 0);
}

bool fm_cgi_sweep_wants(struct fm_cgi_place *place)
{
    g_autoptr(GPtrArray) names = list_names(place->dir_fd);
    g_autofree char *temporary = g_strconcat(place->key, ".tmp.", NULL);
    bool wanted = false;
    for (guint i = 0; names != NULL && i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (g_str_has_prefix(name, temporary))
            sweep_temporary(place, name);
        if (!g_str_has_prefix(name, place->want_prefix))
            continue;
        if (is_live_want(place->dir_fd, name)) {
            wanted = true;
            continue;
        }
        g_autofree char *reply =
            fm_cgi_place_name(place, ".reply.", name + strlen(place->want_prefix));
        unlinkat(place->dir_fd, reply, 0);
        unlinkat(place->dir_fd, name, 0);
    }
    return wanted;
}

static bool is_old(int dir_fd, const char *name)
{
    struct stat status;
    return fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           time(NULL) - status.st_mtime > STRANGER_AGE_S;
}

/* All names of one key but the mutex, when nobody lives there. The mutex is held. */
static void unlink_key(int dir_fd, GPtrArray *names, const char *key)
{
    g_autofree char *prefix = g_strconcat(key, ".", NULL);
    g_autofree char *want = g_strconcat(key, ".want.", NULL);
    g_autofree char *mutex = g_strconcat(key, ".mutex", NULL);
    g_autofree char *server = g_strconcat(key, ".server", NULL);
    if (is_live_want(dir_fd, server))
        return;
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (!g_str_has_prefix(name, prefix))
            continue;
        if (!is_old(dir_fd, name) || (g_str_has_prefix(name, want) && is_live_want(dir_fd, name)))
            return;
    }
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (g_str_has_prefix(name, prefix) && strcmp(name, mutex) != 0)
            unlinkat(dir_fd, name, 0);
    }
    unlinkat(dir_fd, mutex, 0);
}

void fm_cgi_sweep_strangers(struct fm_cgi_place *place)
{
    g_autoptr(GPtrArray) names = list_names(place->dir_fd);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_add(seen, g_strdup(place->key));
    for (guint i = 0; names != NULL && i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        const char *dot = strchr(name, '.');
        if (dot == NULL || dot == name || !is_old(place->dir_fd, name))
            continue;
        char *key = g_strndup(name, (gsize)(dot - name));
        if (!g_hash_table_add(seen, key)) /* the table owns it either way */
            continue;
        g_autofree char *mutex = g_strconcat(key, ".mutex", NULL);
        int fd = fm_cgi_lock(place->dir_fd, mutex, 0);
        if (fd < 0)
            continue;
        unlink_key(place->dir_fd, names, key);
        close(fd);
    }
}

void fm_cgi_sweep_query_fifos(struct fm_cgi_place *place)
{
    g_autoptr(GPtrArray) names = list_names(place->dir_fd);
    for (guint i = 0; names != NULL && i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (g_str_has_prefix(name, place->query_name))
            unlinkat(place->dir_fd, name, 0);
    }
}
