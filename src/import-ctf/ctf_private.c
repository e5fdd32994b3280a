/* SPDX-License-Identifier: Apache-2.0 */
/* The library opens the files of a trace by name, and whoever may write into the folder could put a
 * link there after somebody looked. So, of a folder that was opened for us, each file is opened
 * beneath it first, and the library gets a folder of our own, of links to these descriptors. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif

#include "import-ctf/ctf_import.h"

#define FILE_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* As fm_ctf_find(): a folder given by mistake must not be searched for long. */
enum { DEPTH_MAX = 8, FOLDERS_MAX = 3000 };

struct search {
    struct ctf_private *result;
    GString *notes;
    unsigned looked_at;
};

/* Links within the folder are followed where the kernel can see to it that they stay there. */
static int open_beneath(int folder, const char *name, int flags)
{
#if defined(SYS_openat2) && defined(RESOLVE_BENEATH)
    struct open_how how = {.flags = (unsigned)flags,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, folder, name, &how, sizeof how);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
        return (int)fd;
#endif
    return openat(folder, name, flags | O_NOFOLLOW);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted; without those that begin with a dot. */
static GPtrArray *names_in(int folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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

/* The link keeps the descriptor's file, whatever its name comes to mean. */
static void add_file(struct search *search, int folder, const char *path, const char *name,
                     const char *copy)
{
    struct stat stat_;
    int fd = open_beneath(folder, name, FILE_FLAGS);
    if (fd < 0) {
        g_string_append_printf(search->notes, "%s/%s: %s\n", path, name,
                               errno == EXDEV || errno == ELOOP
                                   ? "a link that leads out of the folder: left out"
                                   : g_strerror(errno));
        return;
    }
    g_autofree char *target = g_strdup_printf("/proc/self/fd/%d", fd);
    g_autofree char *link = g_build_filename(copy, name, NULL);
    if (fstat(fd, &stat_) < 0 || !S_ISREG(stat_.st_mode) || symlink(target, link) < 0)
        close(fd);
}

static void add_trace(struct search *search, int folder, const char *path)
{
    g_autofree char *copy = g_build_filename(g_get_tmp_dir(), "fathom-ctf-XXXXXX", NULL);
    if (g_mkdtemp_full(copy, 0700) == NULL) {
        g_string_append_printf(search->notes, "%s: %s\n", copy, g_strerror(errno));
        return;
    }
    g_autoptr(GPtrArray) names = names_in(folder);
    for (guint i = 0; i < names->len; i++)
        add_file(search, folder, path, names->pdata[i], copy);
    g_ptr_array_add(search->result->names, g_strdup(path));
    g_ptr_array_add(search->result->copies, g_steal_pointer(&copy));
}

static bool has_metadata(int folder)
{
    uint8_t begin[FM_CTF_METADATA_BEGIN];
    int fd = open_beneath(folder, "metadata", FILE_FLAGS);
    if (fd < 0)
        return false;
    ssize_t length = pread(fd, begin, sizeof begin, 0); /* fails for what is no file */
    close(fd);
    return length > 0 && fm_ctf_is_metadata(begin, (size_t)length);
}

static void search_folder(struct search *search, int folder, const char *path, unsigned depth)
{
    if (has_metadata(folder)) {
        add_trace(search, folder, path);
        return;
    }
    if (depth == DEPTH_MAX)
        return;
    g_autoptr(GPtrArray) names = names_in(folder);
    for (guint i = 0; i < names->len && search->looked_at < FOLDERS_MAX; i++) {
        const char *name = names->pdata[i];
        int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below < 0)
            continue;
        g_autofree char *path_below = g_build_filename(path, name, NULL);
        search->looked_at++;
        search_folder(search, below, path_below, depth + 1);
        close(below);
    }
}

/* A descriptor for each file. */
static void allow_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void fm_ctf_private(int folder, const char *path, struct ctf_private *ret, GString *notes)
{
    *ret = (struct ctf_private){g_ptr_array_new_with_free_func(g_free),
                                g_ptr_array_new_with_free_func(g_free)};
    struct search search = {.result = ret, .notes = notes};
    allow_many_files();
    search_folder(&search, folder, path, 0);
}
