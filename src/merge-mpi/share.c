/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "merge-mpi/internal.h"

#define FOLDERS "fathom-mpi-"
#define MARK ".fathom-merge-mpi" /* stands in those that are ours: names alone may be anybody's */

static void remove_folder(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_remove(path);
    }
    g_rmdir(folder);
}

/* Who makes a folder holds its lock, which ends with the process however that does. */
static int lock_folder(const char *path)
{
    int lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        return lock;
    if (lock >= 0)
        close(lock);
    return -1;
}

/* Of processes of this user that were killed. */
static void sweep(void)
{
    g_autoptr(GDir) dir = g_dir_open(g_get_tmp_dir(), 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        struct stat status;
        if (!g_str_has_prefix(name, FOLDERS) || strlen(name) != strlen(FOLDERS "XXXXXX"))
            continue;
        g_autofree char *path = g_build_filename(g_get_tmp_dir(), name, NULL);
        int lock = lock_folder(path);
        bool ours = lock >= 0 && fstat(lock, &status) == 0 && status.st_uid == geteuid() &&
                    fstatat(lock, MARK, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISREG(status.st_mode) && status.st_uid == geteuid();
        if (ours)
            remove_folder(path);
        if (lock >= 0)
            close(lock);
    }
}

/* It has a name that others look at when it is locked, and not before. */
static char *make_folder(int *ret_lock, GError **error)
{
    g_autofree char *begun = g_dir_make_tmp("fathom-mpi.XXXXXX", error);
    if (begun == NULL)
        return NULL;
    *ret_lock = lock_folder(begun); /* none: nobody else can have it either */
    const char *random = strrchr(begun, '.') + 1;
    char *folder = g_strdup_printf("%s/%s%s", g_get_tmp_dir(), FOLDERS, random);
    int mark = *ret_lock < 0 ? -1 : openat(*ret_lock, MARK, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (mark >= 0)
        close(mark);
    if (mark >= 0 && g_rename(begun, folder) == 0)
        return folder;
    g_free(folder);
    return g_steal_pointer(&begun);
}

void fm_mpi_share_init(struct fm_mpi_share *share, const char *fathom, char **options, int rank)
{
    g_autoptr(GError) error = NULL;
    *share =
        (struct fm_mpi_share){.fathom = fathom, .options = options, .report = g_string_new(NULL)};
    share->lock = -1;
    sweep();
    share->folder = make_folder(&share->lock, &error);
    if (share->folder == NULL)
        g_string_append_printf(share->report, "process %d has no folder for its files: %s\n", rank,
                               error->message);
}

char *fm_mpi_beside(const char *path, const char *suffix)
{
    const char *end = g_str_has_suffix(path, ".data") ? strrchr(path, '.') : path + strlen(path);
    return g_strdup_printf("%.*s%s", (int)(end - path), path, suffix);
}

/* What the command says, a line each, without its name; NULL when it cannot be told. */
static char *run(char **words, const char *heard, int *ret_status)
{
    pid_t child = fork();
    if (child == 0) {
        /* Nobody waits for it when its process is killed. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (freopen(heard, "w", stderr) != NULL)
            execv(words[0], words);
        _exit(127);
    }
    *ret_status = -1;
    char *text = NULL;
    if (child < 0 || (waitpid(child, ret_status, 0) < 0 && errno != EINTR) ||
        !g_file_get_contents(heard, &text, NULL, NULL))
        return NULL;
    return text;
}

/* Lines of the command without its name; the last of them, with how many files are left out, is
 * read: UINT32_MAX = it did not say so. */
static uint32_t take_report(GString *report, const char *text)
{
    static const char name[] = "fathom merge: ";
    uint32_t left_out = UINT32_MAX;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        const char *words = g_str_has_prefix(*line, name) ? *line + strlen(name) : *line;
        unsigned of = 0;
        if (sscanf(words, "%" G_GUINT32_FORMAT " of %u files are left out", &left_out, &of) != 2 &&
            *words != '\0')
            g_string_append_printf(report, "%s\n", words);
    }
    return left_out;
}

static bool write_list(const char *path, char **paths, uint32_t count, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (uint32_t i = 0; i < count; i++)
        g_string_append_printf(text, "%s\n", paths[i]);
    return g_file_set_contents(path, text->str, (gssize)text->len, error);
}

static uint32_t sum_of(const uint32_t *counts, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += counts == NULL ? 1 : counts[i];
    return sum;
}

/* Sums that were refused are files that are left out; the report calls them by their names. */
static uint32_t look_for_sums(GString *report, gsize from, char **paths, uint32_t count,
                              const uint32_t *counts, char **names)
{
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (strstr(report->str + from, paths[i]) == NULL)
            continue;
        left_out += counts[i];
        g_autoptr(GString) rest = g_string_new(report->str + from);
        g_string_replace(rest, paths[i], names[i], 0);
        g_string_truncate(report, from);
        g_string_append(report, rest->str);
    }
    return left_out;
}

int fm_mpi_share_run(struct fm_mpi_share *share, const char *const *words)
{
    g_autofree char *heard = g_build_filename(share->folder, "heard", NULL);
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    int status = -1;
    g_ptr_array_add(all, (gpointer)(uintptr_t)share->fathom);
    g_ptr_array_add(all, (gpointer)(uintptr_t) "merge");
    for (char **option = share->options; *option != NULL; option++)
        g_ptr_array_add(all, *option);
    for (; *words != NULL; words++)
        g_ptr_array_add(all, (gpointer)(uintptr_t)*words);
    g_ptr_array_add(all, NULL);
    g_autofree char *text = run((char **)all->pdata, heard, &status);
    take_report(share->report, text == NULL ? "" : text);
    g_remove(heard);
    return text == NULL ? -1 : status;
}

static void add_up(struct fm_mpi_share *share, char **paths, uint32_t count, const uint32_t *counts,
                   char **names, const char *output)
{
    g_autofree char *list = g_build_filename(share->folder, "list", NULL);
    g_autofree char *heard = g_build_filename(share->folder, "heard", NULL);
    g_autofree char *at_list = g_strconcat("@", list, NULL);
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    /* Statistics over ranks need all files at once: ranks.c. */
    const char *const fixed[] = {share->fathom,   "merge", "--keep-going",
                                 "--ranks-later", "-o",    output};
    g_autoptr(GError) error = NULL;
    int status = -1;
    gsize from = share->report->len;
    uint32_t files = sum_of(counts, count), left_out = UINT32_MAX;
    for (size_t i = 0; i < G_N_ELEMENTS(fixed); i++)
        g_ptr_array_add(words, (gpointer)(uintptr_t)fixed[i]);
    for (char **option = share->options; *option != NULL; option++)
        g_ptr_array_add(words, *option);
    g_ptr_array_add(words, at_list);
    g_ptr_array_add(words, NULL);
    if (!write_list(list, paths, count, &error)) {
        g_string_append_printf(share->report, "%s\n", error->message);
    } else {
        g_autofree char *text = run((char **)words->pdata, heard, &status);
        left_out = take_report(share->report, text == NULL ? "" : text);
    }
    bool made = status != -1 && WIFEXITED(status) &&
                (WEXITSTATUS(status) == 0 || (WEXITSTATUS(status) == 1 && left_out != UINT32_MAX));
    if (status != -1 && WIFSIGNALED(status))
        g_string_append_printf(share->report, "%u files are not added up: killed by signal %d\n",
                               files, WTERMSIG(status));
    left_out = made && left_out == UINT32_MAX ? 0 : left_out;
    if (made && counts != NULL)
        left_out = look_for_sums(share->report, from, paths, count, counts, names);
    left_out = made ? MIN(left_out, files) : files;
    share->left_out += left_out;
    share->merged = files - left_out;
    g_clear_pointer(&share->path, g_free);
    if (made && share->merged > 0)
        share->path = g_strdup(output);
    g_remove(list);
    g_remove(heard);
}

void fm_mpi_share_add(struct fm_mpi_share *share, char **paths, uint32_t count,
                      const uint32_t *counts, char **names, const char *output)
{
    g_return_if_fail(count > 0);
    if (share->folder == NULL) {
        share->left_out += sum_of(counts, count);
        return;
    }
    g_autofree char *own =
        g_build_filename(share->folder, counts == NULL ? "share.data" : "sum.data", NULL);
    add_up(share, paths, count, counts, names, output == NULL ? own : output);
}

void fm_mpi_share_done(struct fm_mpi_share *share)
{
    if (share->folder != NULL)
        remove_folder(share->folder);
    if (share->lock >= 0)
        close(share->lock);
    g_free(share->folder);
    g_free(share->path);
    g_string_free(share->report, TRUE);
}
