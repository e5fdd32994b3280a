/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "serve/cgi/internal.h"

static char *default_directory(void)
{
    const char *runtime = g_getenv("XDG_RUNTIME_DIR");
    if (runtime != NULL && runtime[0] == '/')
        return g_build_filename(runtime, "fathom", NULL);
    return g_strdup_printf("/tmp/fathom-%u", (unsigned)geteuid());
}

static bool refuse(GError **error, const char *path, const char *why)
{
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "runtime directory %s: %s", path, why);
    return false;
}

/* A folder that is also used otherwise must not be cleaned, and its names cannot be trusted.
 * Returns the first name that is neither the protocol's nor the log's, or NULL. */
static char *find_foreign(int dir_fd, const struct fm_cgi_log *log)
{
    g_autoptr(GPtrArray) names = fm_cgi_list_names(dir_fd);
    for (guint i = 0; names != NULL && i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            g_str_has_prefix(name, FM_CGI_LOG_NAME) ||
            fm_cgi_name_kind(name) != FM_CGI_NAME_FOREIGN)
            continue;
        if (log->fd >= 0 && fm_cgi_name_means(dir_fd, name, log->fd))
            continue;
        return g_strdup(name);
    }
    return NULL;
}

/* Why an open folder cannot be used, or NULL; the caller frees it. */
static char *find_fault(int fd, const struct fm_cgi_log *log)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return g_strdup(g_strerror(errno));
    if (status.st_uid != geteuid())
        return g_strdup_printf("belongs to user %u, expected %u", (unsigned)status.st_uid,
                               (unsigned)geteuid());
    if ((status.st_mode & 077) != 0)
        return g_strdup_printf("other users may enter it (mode %04o), expected mode 0700",
                               (unsigned)(status.st_mode & 07777));
    if (faccessat(fd, ".", W_OK, AT_EACCESS) != 0)
        return g_strdup(g_strerror(errno));
    g_autofree char *foreign = find_foreign(fd, log);
    if (foreign != NULL)
        return g_strdup_printf("holds '%s', expected a folder for fathom alone", foreign);
    return NULL;
}

char *fm_cgi_directory_path(const char *configured)
{
    g_autofree char *path = configured != NULL ? g_strdup(configured) : default_directory();
    return g_canonicalize_filename(path, NULL); /* a server changes its working directory */
}

/* FM_ERROR_UNAVAILABLE: missing, not private to this user, or with foreign files in it. */
static bool open_directory(const char *path, const struct fm_cgi_log *log, int *ret_fd,
                           GError **error)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return refuse(error, path, g_strerror(errno));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        int why = errno;
        struct stat other;
        if (lstat(path, &other) != 0 || S_ISDIR(other.st_mode))
            return refuse(error, path, g_strerror(why));
        g_autofree char *found =
            g_strdup_printf("is %s, expected a directory", fm_cgi_file_kind(other.st_mode));
        return refuse(error, path, found);
    }
    g_autofree char *why = find_fault(fd, log);
    if (why != NULL) {
        close(fd);
        return refuse(error, path, why);
    }
    *ret_fd = fd;
    return true;
}

static bool same_identity(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static char *hash_text(const char *text)
{
    char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
    digest[24] = '\0'; /* 96 bits: names stay short, and collisions are practically impossible */
    return digest;
}

static char *make_key(const char *path, const struct stat *data, const char *build_id)
{
    g_autofree char *identity = g_strdup_printf(
        "%ju %ju %jd %jd.%09ld %jd.%09ld %d %s", (uintmax_t)data->st_dev, (uintmax_t)data->st_ino,
        (intmax_t)data->st_size, (intmax_t)data->st_mtim.tv_sec, data->st_mtim.tv_nsec,
        (intmax_t)data->st_ctim.tv_sec, data->st_ctim.tv_nsec, FM_CGI_PROTOCOL_VERSION,
        build_id != NULL ? build_id : "");
    g_autofree char *path_hash = hash_text(path);
    g_autofree char *identity_hash = hash_text(identity);
    return g_strdup_printf("%s-%s", path_hash, identity_hash);
}

/* Stats the file through a descriptor, since its name may lead elsewhere a moment later. */
static bool look_at_data(const struct fm_roots *roots, const char *path, struct stat *ret,
                         GError **error)
{
    int fd = fm_roots_open(roots, path, 0, error);
    if (fd < 0)
        return false;
    bool found = fstat(fd, ret) == 0;
    if (!found)
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
    close(fd);
    return found;
}

bool fm_cgi_place_init(const struct fm_cgi_options *options, const struct fm_cgi_log *log,
                       const char *data_path, struct fm_cgi_place *ret, GError **error)
{
    g_return_val_if_fail(data_path != NULL, false);
    struct fm_cgi_place place = {.dir_fd = -1, .roots = options->roots};
    if (!look_at_data(options->roots, data_path, &place.data, error))
        return false;
    g_autofree char *dir_path = fm_cgi_directory_path(options->runtime_dir);
    if (!open_directory(dir_path, log, &place.dir_fd, error))
        return false;
    place.dir_path = g_steal_pointer(&dir_path);
    place.data_path = g_strdup(data_path);
    place.key = make_key(data_path, &place.data, options->build_id);
    place.mutex_name = g_strconcat(place.key, ".mutex", NULL);
    place.server_name = g_strconcat(place.key, ".server", NULL);
    place.query_name = g_strconcat(place.key, ".query", NULL);
    place.want_prefix = g_strconcat(place.key, ".want.", NULL);
    *ret = place;
    return true;
}

void fm_cgi_place_done(struct fm_cgi_place *place)
{
    if (place->key == NULL)
        return;
    close(place->dir_fd);
    g_free(place->dir_path);
    g_free(place->data_path);
    g_free(place->key);
    g_free(place->mutex_name);
    g_free(place->server_name);
    g_free(place->query_name);
    g_free(place->want_prefix);
    *place = (struct fm_cgi_place){.dir_fd = -1};
}

bool fm_cgi_place_is_current(const struct fm_cgi_place *place)
{
    struct stat now;
    return look_at_data(place->roots, place->data_path, &now, NULL) &&
           same_identity(&place->data, &now);
}

bool fm_cgi_place_means_its_folder(const struct fm_cgi_place *place)
{
    struct stat named, opened;
    if (fstat(place->dir_fd, &opened) != 0)
        return false;
    if (stat(place->dir_path, &named) != 0)
        return errno == ENOMEM || errno == EIO; /* nothing is known about the file */
    return named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

char *fm_cgi_place_name(const struct fm_cgi_place *place, const char *suffix, const char *token)
{
    g_assert(suffix != NULL);
    return g_strconcat(place->key, suffix, token, NULL);
}
