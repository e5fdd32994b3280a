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

#include "base/files/beside.h"
#include "runs/mpi/internal.h"
#include "runs/merge/told.h"

#define FOLDERS "fathom-mpi-"
/* marks this program's folders: others may have such names, too */
#define MARK ".fathom-merge-mpi"

/* Removes the mark last: a folder that is left when the process is killed meanwhile can still be
 * recognised. */
static void remove_folder(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autofree char *mark = g_build_filename(folder, MARK, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (strcmp(name, MARK) != 0)
            g_remove(path);
    }
    g_remove(mark);
    g_rmdir(folder);
}

/* The process that makes a folder holds its lock, which ends with the process however that ends. */
static int lock_folder(const char *path)
{
    int lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        return lock;
    if (lock >= 0)
        close(lock);
    return -1;
}

/* Removes folders that killed processes of this user left. */
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
        bool own = lock >= 0 && fstat(lock, &status) == 0 && status.st_uid == geteuid();
        bool ours = own && fstatat(lock, MARK, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISREG(status.st_mode) && status.st_uid == geteuid();
        if (ours)
            remove_folder(path);
        else if (own)
            g_rmdir(path); /* if it is empty: the mark is removed just before the folder */
        if (lock >= 0)
            close(lock);
    }
}

/* Gets its final name only after it was locked. */
static char *make_folder(int *ret_lock, GError **error)
{
    g_autofree char *begun = g_dir_make_tmp("fathom-mpi.XXXXXX", error);
    if (begun == NULL)
        return NULL;
    *ret_lock = lock_folder(begun); /* no lock: then no other process can get one either */
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

void fm_mpi_remove_sum(const char *path)
{
    g_remove(path);
    g_autofree char *bodies = fm_path_beside(path, FM_BESIDE_BODIES);
    g_remove(bodies);
}

/* heard: file for its output; NULL = this process's own. Returns its status as of waitpid(), -1:
 * not started. */
static int start(char **words, const char *heard)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        /* It ends when its parent is killed. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (heard == NULL || freopen(heard, "w", stderr) != NULL)
            execv(words[0], words);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Output of the command, in lines, without its name; NULL when it cannot be obtained. */
static char *run(char **words, const char *heard, int *ret_status)
{
    char *text = NULL;
    *ret_status = start(words, heard);
    return *ret_status != -1 && g_file_get_contents(heard, &text, NULL, NULL) ? text : NULL;
}

/* Takes lines of the command without its name. The last one gives the number of files left out:
 * returned, UINT32_MAX = missing. */
static uint32_t take_report(GString *report, const char *text)
{
    static const char name[] = "fathom merge: ";
    uint32_t left_out = UINT32_MAX;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        const char *words = g_str_has_prefix(*line, name) ? *line + strlen(name) : *line;
        unsigned of = 0;
        if (sscanf(words, FM_TOLD_LEFT_OUT, &left_out, &of) != 2 && *words != '\0')
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

/* Sums that were rejected count as files left out; the report uses their names. */
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

/* Words of `fathom merge`: fixed, the options, and the list of files, ended by NULL. */
static GPtrArray *words_for(const struct fm_mpi_share *share, const char *const *fixed,
                            const char *list)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(words, g_strdup(share->fathom));
    g_ptr_array_add(words, g_strdup("merge"));
    for (; *fixed != NULL; fixed++)
        g_ptr_array_add(words, g_strdup(*fixed));
    for (char **option = share->options; *option != NULL; option++)
        g_ptr_array_add(words, g_strdup(*option));
    g_ptr_array_add(words, g_strconcat("@", list, NULL));
    g_ptr_array_add(words, NULL);
    return words;
}

/* Whether the output exists. Messages go to the report; *ret_left_out: files, or sums of them,
 * according to the command. */
static bool add_up(struct fm_mpi_share *share, char **paths, uint32_t count,
                   const char *const *fixed, uint32_t *ret_left_out, int *ret_status)
{
    g_autofree char *list = g_build_filename(share->folder, "list", NULL);
    g_autofree char *heard = g_build_filename(share->folder, "heard", NULL);
    g_autoptr(GError) error = NULL;
    uint32_t left_out = UINT32_MAX;
    *ret_status = -1;
    if (!write_list(list, paths, count, &error)) {
        g_string_append_printf(share->report, "%s\n", error->message);
    } else {
        g_autoptr(GPtrArray) words = words_for(share, fixed, list);
        g_autofree char *text = run((char **)words->pdata, heard, ret_status);
        left_out = take_report(share->report, text == NULL ? "" : text);
    }
    g_remove(list);
    g_remove(heard);
    *ret_left_out = left_out == UINT32_MAX ? 0 : left_out;
    return *ret_status != -1 && WIFEXITED(*ret_status) &&
           (WEXITSTATUS(*ret_status) == 0 ||
            (WEXITSTATUS(*ret_status) == 1 && left_out != UINT32_MAX));
}

static void report_signal(struct fm_mpi_share *share, uint32_t files, int status)
{
    if (status != -1 && WIFSIGNALED(status))
        g_string_append_printf(share->report, "%u files are not added up: killed by signal %d\n",
                               files, WTERMSIG(status));
}

static uint32_t lines_of(const char *text, char state)
{
    uint32_t lines = 0;
    for (const char *line = text; line != NULL && *line != '\0';) {
        lines += state == '\0' || *line == state;
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return lines;
}

char *fm_mpi_share_try(struct fm_mpi_share *share, char **paths, uint32_t count)
{
    if (share->folder == NULL)
        return NULL;
    g_autofree char *output = g_build_filename(share->folder, "tried.data", NULL);
    g_autofree char *tell = g_build_filename(share->folder, "told", NULL);
    const char *const fixed[] = {
        "--keep-going", "--allow-repeats", "--ranks-later", "--tell", tell, "-o", output, NULL};
    gsize said = share->report->len;
    uint32_t left_out;
    int status;
    char *told = NULL;
    (void)add_up(share, paths, count, fixed, &left_out, &status);
    g_string_truncate(share->report, said);
    if (!g_file_get_contents(tell, &told, NULL, NULL))
        told = NULL;
    g_remove(tell);
    fm_mpi_remove_sum(output);
    return told;
}

void fm_mpi_share_look(struct fm_mpi_share *share, char **paths, uint32_t count)
{
    if (count == 0)
        return;
    if (share->folder == NULL) {
        share->left_out += count;
        return;
    }
    g_autofree char *output = g_build_filename(share->folder, "share.data", NULL);
    g_autofree char *tell = g_build_filename(share->folder, "told", NULL);
    const char *const fixed[] = {"--keep-going", "--ranks-later", "--tell", tell,
                                 "-o",           output,          NULL};
    gsize said = share->report->len;
    uint32_t left_out;
    int status;
    bool made = add_up(share, paths, count, fixed, &left_out, &status);
    report_signal(share, count, status);
    if (!g_file_get_contents(tell, &share->told, NULL, NULL))
        share->told = NULL;
    g_remove(tell);
    bool whole = lines_of(share->told, '\0') == count;
    share->merged = whole ? lines_of(share->told, FM_TOLD_ADDED) : 0;
    if (made && whole && share->merged > 0) {
        share->path = g_steal_pointer(&output);
        return;
    }
    if (whole && share->merged == 0) { /* its message is about each file */
        g_string_truncate(share->report, said);
        return;
    }
    g_clear_pointer(&share->told, g_free);
    share->merged = 0;
    share->left_out += count;
}

void fm_mpi_share_add(struct fm_mpi_share *share, char **paths, uint32_t count,
                      const uint32_t *counts, char **names, const char *output)
{
    g_return_if_fail(count > 0);
    uint32_t files = sum_of(counts, count), left_out;
    int status;
    if (share->folder == NULL) {
        share->left_out += files;
        return;
    }
    /* Statistics over ranks need all files at once: ranks.c. */
    g_autofree char *own =
        g_build_filename(share->folder, counts == NULL ? "share.data" : "sum.data", NULL);
    const char *path = output == NULL ? own : output;
    const char *const fixed[] = {
        "--keep-going", "--allow-repeats", "--ranks-later", "-o", path, NULL};
    gsize from = share->report->len;
    bool made = add_up(share, paths, count, fixed, &left_out, &status);
    report_signal(share, files, status);
    if (made && counts != NULL)
        left_out = look_for_sums(share->report, from, paths, count, counts, names);
    left_out = made ? MIN(left_out, files) : files;
    share->left_out += left_out;
    share->merged = files - left_out;
    g_clear_pointer(&share->path, g_free);
    if (made && share->merged > 0)
        share->path = g_strdup(path);
}

int fm_mpi_share_alone(struct fm_mpi_share *share, char **paths, uint32_t count, const char *output)
{
    g_autoptr(GError) error = NULL;
    int status = -1;
    if (share->folder == NULL) {
        fprintf(stderr, "fathom merge: %s", share->report->str);
        return EXIT_FAILURE;
    }
    const char *const fixed[] = {"--keep-going", "-o", output, NULL};
    g_autofree char *list = g_build_filename(share->folder, "list", NULL);
    g_autoptr(GPtrArray) words = words_for(share, fixed, list);
    if (!write_list(list, paths, count, &error))
        fprintf(stderr, "fathom merge: %s\n", error->message);
    else
        status = start((char **)words->pdata, NULL);
    g_remove(list);
    if (status != -1 && WIFSIGNALED(status))
        fprintf(stderr, "fathom merge: %u files are not added up: killed by signal %d\n", count,
                WTERMSIG(status));
    return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

void fm_mpi_share_done(struct fm_mpi_share *share)
{
    if (share->folder != NULL)
        remove_folder(share->folder);
    if (share->lock >= 0)
        close(share->lock);
    g_free(share->folder);
    g_free(share->path);
    g_free(share->told);
    g_string_free(share->report, TRUE);
}
