/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of links in the temporary folder, and the limit on the work of a process: what all that
 * read damaged traces need. */
#include "trace/ctf/ctf_import.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

void fm_ctf_limit_work(unsigned seconds)
{
    const struct itimerval timer = {.it_value.tv_sec = seconds};
    (void)signal(SIGPROF, SIG_DFL);
    (void)setitimer(ITIMER_PROF, &timer, NULL);
}

void fm_ctf_folder_remove(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        (void)g_unlink(path);
    }
    if (dir != NULL)
        g_dir_close(dir);
    (void)g_rmdir(folder);
}

char *fm_ctf_folder_new(GString *notes)
{
    char *folder = g_build_filename(g_get_tmp_dir(), "fathom-ctf-XXXXXX", NULL);
    if (g_mkdtemp_full(folder, 0700) != NULL)
        return folder;
    g_string_append_printf(notes, "%s: %s\n", folder, g_strerror(errno));
    g_free(folder);
    return NULL;
}

/* For links to it; the links on the way stay, since those to descriptors keep more than a name. */
char *fm_ctf_absolute_path(const char *path)
{
    return g_canonicalize_filename(path, NULL);
}

bool fm_ctf_is_stream(const char *path)
{
    struct stat stat_;
    g_autofree char *base = g_path_get_basename(path);
    return strcmp(base, "metadata") != 0 && base[0] != '.' && stat(path, &stat_) == 0 &&
           S_ISREG(stat_.st_mode) && stat_.st_size > 0;
}

char *fm_ctf_folder_like(const char *folder, GString *notes)
{
    char *like = fm_ctf_folder_new(notes);
    GDir *dir = like == NULL ? NULL : g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autofree char *absolute = fm_ctf_absolute_path(path);
        g_autofree char *linked = g_build_filename(like, name, NULL);
        if (fm_ctf_is_stream(path) && symlink(absolute, linked) < 0)
            g_string_append_printf(notes, "%s: %s\n", linked, g_strerror(errno));
    }
    if (dir != NULL)
        g_dir_close(dir);
    return like;
}
