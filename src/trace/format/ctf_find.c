/* SPDX-License-Identifier: Apache-2.0 */
/* Folders are opened, and what is in them beneath the descriptor: so what is found is in the folder
 * that was asked about, whatever its name comes to mean meanwhile. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif

#include "base/error.h"
#include "trace/format/ctf.h"

#define FILE_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* A folder given by mistake, such as the root, must not be searched for long. */
enum { DEPTH_MAX = 8, FOLDERS_MAX = 3000 };

/* The text form begins with a comment that says so, the packet form with a number, CTF 2 with the
 * separator of JSON texts (RFC 7464). */
static bool is_metadata(const uint8_t *begin, size_t length)
{
    static const uint8_t numbers[2][4] = {{0x57, 0x1d, 0xd1, 0x75}, {0x75, 0xd1, 0x1d, 0x57}};
    return length >= FM_CTF_METADATA_BEGIN &&
           (memcmp(begin, "/* CTF", 6) == 0 || fm_ctf_is_2((const char *)begin, length) ||
            memcmp(begin, numbers[0], 4) == 0 || memcmp(begin, numbers[1], 4) == 0);
}

int fm_ctf_open_file(int folder, const char *name, bool beneath)
{
    if (!beneath)
        return openat(folder, name, FILE_FLAGS);
#if defined(SYS_openat2) && defined(RESOLVE_BENEATH)
    struct open_how how = {.flags = FILE_FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, folder, name, &how, sizeof how);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
        return (int)fd;
#endif
    return openat(folder, name, FILE_FLAGS | O_NOFOLLOW);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *fm_ctf_names_in(int folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    int fd = openat(folder, ".", FOLDER_FLAGS);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.')
            g_ptr_array_add(names, g_strdup(entry->d_name));
    }
    if (dir != NULL)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    g_ptr_array_sort(names, compare_names);
    return names;
}

/* --- searching --- */

struct search {
    bool beneath;
    fm_ctf_visit visit;
    void *user;
    unsigned looked_at;
};

static bool has_metadata(int folder, bool beneath)
{
    uint8_t begin[FM_CTF_METADATA_BEGIN];
    int fd = fm_ctf_open_file(folder, "metadata", beneath);
    if (fd < 0)
        return false;
    ssize_t length = pread(fd, begin, sizeof begin, 0); /* fails for what is no file */
    close(fd);
    return length > 0 && is_metadata(begin, (size_t)length);
}

/* False when the visitor has had enough. */
static bool search_folder(struct search *search, int folder, const char *path, unsigned depth)
{
    if (has_metadata(folder, search->beneath))
        return search->visit(folder, path, search->user);
    if (depth == DEPTH_MAX)
        return true;
    g_autoptr(GPtrArray) names = fm_ctf_names_in(folder);
    bool on = true;
    for (guint i = 0; on && i < names->len && search->looked_at < FOLDERS_MAX; i++) {
        const char *name = names->pdata[i];
        int below = openat(folder, name, FOLDER_FLAGS | O_NOFOLLOW);
        if (below < 0)
            continue;
        g_autofree char *path_below = g_build_filename(path, name, NULL);
        search->looked_at++;
        on = search_folder(search, below, path_below, depth + 1);
        close(below);
    }
    return on;
}

void fm_ctf_search(int folder, const char *path, bool beneath, fm_ctf_visit visit, void *user)
{
    struct search search = {.beneath = beneath, .visit = visit, .user = user};
    (void)search_folder(&search, folder, path, 0);
}

struct comparing {
    bool beneath;
    char *path, *clock; /* of the first trace that has one */
    bool any;
    GError *error;
};

static bool compare_clock(int folder, const char *path, void *user)
{
    struct comparing *comparing = user;
    comparing->any = true;
    int fd = fm_ctf_open_file(folder, "metadata", comparing->beneath);
    g_autofree char *clock = fd < 0 ? NULL : fm_ctf_clock(fd);
    if (fd >= 0)
        close(fd);
    if (clock != NULL && comparing->clock == NULL) {
        comparing->path = g_strdup(path);
        comparing->clock = g_steal_pointer(&clock);
    } else if (clock != NULL && strcmp(clock, comparing->clock) != 0) {
        g_set_error(&comparing->error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "the clocks of its traces cannot be aligned: %s has %s, %s has %s; open each "
                    "of them by its own name",
                    comparing->path, comparing->clock, path, clock);
    }
    return comparing->error == NULL;
}

bool fm_ctf_is_trace(int folder, const char *path, bool beneath, GError **error)
{
    struct comparing comparing = {.beneath = beneath};
    fm_ctf_search(folder, path, beneath, compare_clock, &comparing);
    g_free(comparing.path);
    g_free(comparing.clock);
    bool alike = comparing.error == NULL;
    if (!alike)
        g_propagate_prefixed_error(error, comparing.error, "%s: ", path);
    return alike && comparing.any;
}

static bool note_path(int folder, const char *path, void *user)
{
    (void)folder;
    g_ptr_array_add(user, g_strdup(path));
    return true;
}

char **fm_ctf_find(const char *path)
{
    GPtrArray *found = g_ptr_array_new();
    int folder = open(path, FOLDER_FLAGS);
    if (folder >= 0) {
        fm_ctf_search(folder, path, false, note_path, found);
        close(folder);
    }
    g_ptr_array_sort(found, compare_names);
    g_ptr_array_add(found, NULL);
    return (char **)g_ptr_array_free(found, FALSE);
}
