/* SPDX-License-Identifier: Apache-2.0 */
/* The library opens the files of a trace by name, and somebody with write access could replace one
 * by a link after a check. So each file is opened here, beneath the folder's descriptor, and the
 * library gets a private folder with links to these descriptors. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/ctf/ctf_import.h"

struct copying {
    struct ctf_private *result;
    GString *notes;
};

/* The link refers to the open file, whatever its name means later. */
static void add_file(struct copying *copying, int folder, const char *path, const char *name,
                     const char *copy)
{
    struct stat stat_;
    int fd = fm_ctf_open_file(folder, name, true);
    if (fd < 0) {
        g_string_append_printf(copying->notes, "%s/%s: %s\n", path, name,
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

static bool add_trace(int folder, const char *path, void *user)
{
    struct copying *copying = user;
    g_autofree char *copy = g_build_filename(g_get_tmp_dir(), "fathom-ctf-XXXXXX", NULL);
    if (g_mkdtemp_full(copy, 0700) == NULL) {
        g_string_append_printf(copying->notes, "%s: %s\n", copy, g_strerror(errno));
        return true;
    }
    g_autoptr(GPtrArray) names = fm_ctf_names_in(folder);
    for (guint i = 0; i < names->len; i++)
        add_file(copying, folder, path, names->pdata[i], copy);
    g_ptr_array_add(copying->result->names, g_strdup(path));
    g_ptr_array_add(copying->result->copies, g_steal_pointer(&copy));
    return true;
}

/* One descriptor is needed for each file. */
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
    struct copying copying = {.result = ret, .notes = notes};
    allow_many_files();
    fm_ctf_search(folder, path, true, add_trace, &copying);
}
