/* SPDX-License-Identifier: Apache-2.0 */
/* Removes files of dead processes. The existence of a name proves nothing; an unlocked want file
 * means that its client is dead. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "serve/cgi/internal.h"

#define TEMPORARY_AGE_S 60
#define STRANGER_AGE_S (24L * 60 * 60)

/* State of a lock file's process. */
enum life { LIFE_NONE, LIFE_HELD, LIFE_UNKNOWN };

/* Only tests the lock. If a file cannot be opened because descriptors ran out, its process is not
 * taken for dead. */
static enum life look_at_life(int dir_fd, const char *name)
{
    int fd = fm_cgi_open_ours(dir_fd, name, O_RDWR, S_IFREG);
    if (fd < 0)
        return fm_cgi_is_exhaustion(errno) ? LIFE_UNKNOWN : LIFE_NONE;
    enum life life = fm_cgi_lock_holder(fd) != 0 ? LIFE_HELD : LIFE_NONE;
    close(fd);
    return life;
}

/* New want files are not locked at first, so only old ones are removed. */
static void cleanup_temporary(struct fm_cgi_place *place, const char *name)
{
    struct stat status;
    if (fstatat(place->dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        time(NULL) - status.st_mtime > TEMPORARY_AGE_S &&
        look_at_life(place->dir_fd, name) == LIFE_NONE)
        unlinkat(place->dir_fd, name, 0);
}

bool fm_cgi_cleanup_wants(struct fm_cgi_place *place)
{
    g_assert(place->dir_fd >= 0);
    g_autoptr(GPtrArray) names = fm_cgi_list_names(place->dir_fd);
    if (names == NULL)
        return true; /* not known: assume that it lives */
    bool wanted = false;
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        enum fm_cgi_name_kind kind = fm_cgi_name_kind(name);
        if (!fm_cgi_name_has_key(name, place->key))
            continue;
        if (kind == FM_CGI_NAME_NEW_WANT)
            cleanup_temporary(place, name);
        if (kind != FM_CGI_NAME_WANT)
            continue;
        if (look_at_life(place->dir_fd, name) != LIFE_NONE) {
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
    return fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == geteuid() &&
           time(NULL) - status.st_mtime > STRANGER_AGE_S;
}

/* Whether no process uses a key, and none of its files is recent. The mutex is held, which makes
 * its file recent. */
static bool is_deserted(int dir_fd, GPtrArray *names, const char *key)
{
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        enum fm_cgi_name_kind kind = fm_cgi_name_kind(name);
        if (kind == FM_CGI_NAME_FOREIGN || kind == FM_CGI_NAME_MUTEX ||
            !fm_cgi_name_has_key(name, key))
            continue;
        if (!is_old(dir_fd, name))
            return false;
        if ((kind == FM_CGI_NAME_SERVER || kind == FM_CGI_NAME_WANT) &&
            look_at_life(dir_fd, name) != LIFE_NONE)
            return false;
    }
    return true;
}

/* Unlinks all names of a key, the mutex last. The mutex is held. */
static void unlink_key(int dir_fd, GPtrArray *names, const char *key, const char *mutex)
{
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        enum fm_cgi_name_kind kind = fm_cgi_name_kind(name);
        if (kind != FM_CGI_NAME_FOREIGN && kind != FM_CGI_NAME_MUTEX &&
            fm_cgi_name_has_key(name, key))
            unlinkat(dir_fd, name, 0);
    }
    unlinkat(dir_fd, mutex, 0);
}

/* While the mutex is held no client starts. While the life lock is held no server starts (a server
 * may start without the mutex, when the client that forked it was killed). So with both locks, no
 * process uses the key. */
static void clean_key(int dir_fd, GPtrArray *names, const char *key)
{
    g_autofree char *mutex = g_strconcat(key, ".mutex", NULL);
    g_autofree char *server = g_strconcat(key, ".server", NULL);
    bool had_server = g_ptr_array_find_with_equal_func(names, server, g_str_equal, NULL);
    int mutex_fd = fm_cgi_lock(dir_fd, mutex, 0);
    if (mutex_fd < 0)
        return;
    fm_cgi_stop_point("cleanup.locked");
    /* checked again, now that no process can start */
    bool deserted = is_deserted(dir_fd, names, key);
    int life_fd = deserted ? fm_cgi_lock(dir_fd, server, 0) : -1;
    if (life_fd >= 0)
        unlink_key(dir_fd, names, key, mutex);
    if (life_fd >= 0 && !had_server)
        unlinkat(dir_fd, server, 0); /* created by locking */
    if (life_fd >= 0)
        close(life_fd);
    close(mutex_fd);
}

void fm_cgi_cleanup_strangers(struct fm_cgi_place *place)
{
    g_assert(place->dir_fd >= 0);
    g_autoptr(GPtrArray) names = fm_cgi_list_names(place->dir_fd);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_add(seen, g_strdup(place->key));
    for (guint i = 0; names != NULL && i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (fm_cgi_name_kind(name) == FM_CGI_NAME_FOREIGN || !is_old(place->dir_fd, name))
            continue;
        char *key = g_strndup(name, FM_CGI_KEY_SIZE - 1);
        if (g_hash_table_add(seen, key) && is_deserted(place->dir_fd, names, key))
            clean_key(place->dir_fd, names, key); /* the table owns the key either way */
    }
}

void fm_cgi_cleanup_query_fifos(struct fm_cgi_place *place)
{
    g_assert(place->dir_fd >= 0);
    g_autoptr(GPtrArray) names = fm_cgi_list_names(place->dir_fd);
    for (guint i = 0; names != NULL && i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        enum fm_cgi_name_kind kind = fm_cgi_name_kind(name);
        if ((kind != FM_CGI_NAME_QUERY && kind != FM_CGI_NAME_NEW_QUERY) ||
            !fm_cgi_name_has_key(name, place->key))
            continue;
        if (unlinkat(place->dir_fd, name, 0) != 0 && (errno == EISDIR || errno == EPERM))
            /* a foreign directory with one of the protocol's names */
            unlinkat(place->dir_fd, name, AT_REMOVEDIR);
    }
}
