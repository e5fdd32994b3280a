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

bool fm_cgi_directory_open(const char *configured, int *ret_fd, GError **error)
{
    g_autofree char *path = configured != NULL ? g_strdup(configured) : default_directory();
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return refuse(error, path, g_strerror(errno));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        struct stat link;
        bool is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
        return refuse(error, path,
                      is_link ? "is a symbolic link, expected a directory" : g_strerror(errno));
    }
    struct stat status;
    const char *why = NULL;
    if (fstat(fd, &status) != 0)
        why = g_strerror(errno);
    else if (status.st_uid != geteuid())
        why = "belongs to another user";
    else if ((status.st_mode & 077) != 0)
        why = "other users may enter it, expected mode 0700";
    else if (faccessat(fd, ".", W_OK, AT_EACCESS) != 0)
        why = g_strerror(errno);
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
    digest[24] = '\0'; /* 96 bits: names stay short, chance meetings impossible in practice */
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

bool fm_cgi_place_init(const struct fm_cgi_options *options, const char *data_path,
                       struct fm_cgi_place *ret, GError **error)
{
    struct fm_cgi_place place = {.dir_fd = -1};
    if (stat(data_path, &place.data) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", data_path, g_strerror(errno));
        return false;
    }
    if (!fm_cgi_directory_open(options->runtime_dir, &place.dir_fd, error))
        return false;
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
    return stat(place->data_path, &now) == 0 && same_identity(&place->data, &now);
}

char *fm_cgi_place_name(const struct fm_cgi_place *place, const char *suffix, const char *token)
{
    return g_strconcat(place->key, suffix, token, NULL);
}
