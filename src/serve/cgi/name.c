/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises exactly the protocol's names in the runtime directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "serve/cgi/internal.h"

#define HEX "0123456789abcdef"

static bool is_hex(const char *text, size_t digits)
{
    return strspn(text, HEX) == digits && text[digits] == '\0';
}

static bool starts_with_key(const char *name)
{
    return strspn(name, HEX) == FM_CGI_HASH_DIGITS && name[FM_CGI_HASH_DIGITS] == '-' &&
           strspn(name + FM_CGI_HASH_DIGITS + 1, HEX) == FM_CGI_HASH_DIGITS &&
           name[FM_CGI_KEY_SIZE - 1] == '.';
}

enum fm_cgi_name_kind fm_cgi_name_kind(const char *name)
{
    static const struct {
        const char *text;
        size_t digits; /* number of digits in the rest */
        enum fm_cgi_name_kind kind;
    } suffixes[] = {
        {"mutex", 0, FM_CGI_NAME_MUTEX},
        {"server", 0, FM_CGI_NAME_SERVER},
        {"query", 0, FM_CGI_NAME_QUERY},
        {"query.", FM_CGI_INSTANCE_SIZE - 1, FM_CGI_NAME_NEW_QUERY},
        {"want.", FM_CGI_TOKEN_SIZE - 1, FM_CGI_NAME_WANT},
        {"tmp.", FM_CGI_TOKEN_SIZE - 1, FM_CGI_NAME_NEW_WANT},
        {"reply.", FM_CGI_TOKEN_SIZE - 1, FM_CGI_NAME_REPLY},
    };
    if (!starts_with_key(name))
        return FM_CGI_NAME_FOREIGN;
    const char *suffix = name + FM_CGI_KEY_SIZE;
    for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        size_t length = strlen(suffixes[i].text);
        if (strncmp(suffix, suffixes[i].text, length) == 0 &&
            is_hex(suffix + length, suffixes[i].digits))
            return suffixes[i].kind;
    }
    return FM_CGI_NAME_FOREIGN;
}

bool fm_cgi_name_has_key(const char *name, const char *key)
{
    return strncmp(name, key, FM_CGI_KEY_SIZE - 1) == 0;
}

bool fm_cgi_name_means(int dir_fd, const char *name, int fd)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

void fm_cgi_unlink_same(int dir_fd, const char *name, int fd)
{
    if (fm_cgi_name_means(dir_fd, name, fd))
        unlinkat(dir_fd, name, 0);
}

const char *fm_cgi_file_kind(mode_t mode)
{
    return S_ISREG(mode)    ? "a file"
           : S_ISDIR(mode)  ? "a directory"
           : S_ISLNK(mode)  ? "a symbolic link"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

char *fm_cgi_describe_stranger(int dir_fd, const char *name, mode_t expected)
{
    struct stat status;
    if (fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return NULL;
    if ((status.st_mode & S_IFMT) != expected)
        return g_strdup_printf("%s: is %s, expected %s", name, fm_cgi_file_kind(status.st_mode),
                               fm_cgi_file_kind(expected));
    if (status.st_uid != geteuid())
        return g_strdup_printf("%s: belongs to user %u, expected %u", name, (unsigned)status.st_uid,
                               (unsigned)geteuid());
    return NULL;
}

GPtrArray *fm_cgi_list_names(int dir_fd)
{
    g_return_val_if_fail(dir_fd >= 0, NULL);
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
