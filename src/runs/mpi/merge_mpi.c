/* SPDX-License-Identifier: Apache-2.0 */
/* fathom-merge-mpi FATHOM OUT LIST [OPTION...]: the program that `fathom merge --mpi` executes.
 * LIST is the number of a descriptor with the names of the files, each ended by NUL. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/files/beside.h"
#include "runs/mpi/internal.h"
#include "runs/merge/told.h"

enum { FILES_NAMED = 4 };

struct work {
    int rank, processes;
    char **paths;
    uint32_t count;
    struct fm_mpi_files files;
    struct fm_mpi_share share;
};

static void read_list(int descriptor, GByteArray *names)
{
    uint8_t bytes[65536];
    ssize_t size;
    while ((size = read(descriptor, bytes, sizeof bytes)) > 0)
        g_byte_array_append(names, bytes, (guint)size);
}

static char **split(const GByteArray *names, uint32_t *ret_count)
{
    GPtrArray *paths = g_ptr_array_new();
    for (guint at = 0; at < names->len; at += (guint)strlen((const char *)names->data + at) + 1)
        g_ptr_array_add(paths, g_strdup((const char *)names->data + at));
    *ret_count = paths->len;
    g_ptr_array_add(paths, NULL);
    return (char **)g_ptr_array_free(paths, FALSE);
}

/* Every Nth file, N being the number of processes. */
static GPtrArray *own_files(const struct work *w)
{
    GPtrArray *mine = g_ptr_array_new();
    for (uint32_t i = (uint32_t)w->rank; i < w->count; i += (uint32_t)w->processes)
        g_ptr_array_add(mine, w->paths[i]);
    return mine;
}

/* Repeats the share's sum if its files differ from those in the sum of all. */
static void correct_share(struct work *w, gsize said)
{
    g_autoptr(GPtrArray) wanted = g_ptr_array_new();
    const char *line = w->share.told;
    bool same = true;
    for (uint32_t i = (uint32_t)w->rank; line != NULL && i < w->count;
         i += (uint32_t)w->processes) {
        bool add = w->files.what[i] == FM_MPI_ADD;
        same = same && add == (*line == FM_TOLD_ADDED);
        if (add)
            g_ptr_array_add(wanted, w->paths[i]);
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    if (w->share.told == NULL || same)
        return;
    if (w->share.path != NULL)
        fm_mpi_remove_sum(w->share.path);
    g_clear_pointer(&w->share.path, g_free);
    g_string_truncate(w->share.report, said);
    w->share.merged = 0;
    if (wanted->len > 0)
        fm_mpi_share_add(&w->share, (char **)wanted->pdata, wanted->len, NULL, NULL, NULL);
}

/* Bodies that are equal within a share may differ from those of others. */
static void drop_bodies(const struct work *w)
{
    g_autofree char *bodies =
        w->share.path == NULL ? NULL : fm_path_beside(w->share.path, FM_BESIDE_BODIES);
    if (bodies != NULL && w->files.bodies_differ)
        g_remove(bodies);
}

/* The files for whose ranks this process computes statistics: all files of a rank go to the process
 * that has the first of them, grouped by rank. */
static GPtrArray *files_of_ranks(const struct work *w)
{
    GPtrArray *mine = g_ptr_array_new();
    g_autoptr(GHashTable) of_rank =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    g_autoptr(GPtrArray) ranks = g_ptr_array_new(); /* this process's, in order of arrival */
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t what = w->files.what[i];
        gpointer rank = GUINT_TO_POINTER(w->files.ranks[i]);
        bool own = i % (uint32_t)w->processes == (uint32_t)w->rank;
        if (what != FM_MPI_ADD)
            continue;
        if (rank == NULL) {
            if (own)
                g_ptr_array_add(mine, w->paths[i]);
            continue;
        }
        GPtrArray *files = g_hash_table_lookup(of_rank, rank);
        if (files == NULL) {
            files = g_ptr_array_new();
            g_hash_table_insert(of_rank, rank, files);
            if (own)
                g_ptr_array_add(ranks, files);
        }
        g_ptr_array_add(files, w->paths[i]);
    }
    for (guint r = 0; r < ranks->len; r++) {
        const GPtrArray *files = ranks->pdata[r];
        for (guint i = 0; i < files->len; i++)
            g_ptr_array_add(mine, files->pdata[i]);
    }
    return mine;
}

/* --- sums go up --- */

static bool send_sum(struct work *w)
{
    int to = fm_mpi_above(w->rank);
    const uint64_t numbers[3] = {w->share.merged, w->share.left_out, w->share.report->len};
    bool ok = fm_mpi_send(to, numbers, sizeof numbers) &&
              fm_mpi_send(to, w->share.report->str, w->share.report->len) &&
              fm_mpi_send_file(to, w->share.path);
    g_autofree char *bodies =
        w->share.path == NULL ? NULL : fm_path_beside(w->share.path, FM_BESIDE_BODIES);
    return ok && fm_mpi_send_file(to, bodies);
}

/* Number of files given to a process and those below it. */
static uint32_t files_below(const struct work *w, int rank)
{
    uint32_t files = 0, size = (uint32_t)(rank & -rank);
    for (uint32_t r = (uint32_t)rank; r < (uint32_t)rank + size && r < (uint32_t)w->processes; r++)
        files += r < w->count ? (w->count - r - 1) / (uint32_t)w->processes + 1 : 0;
    return files;
}

static bool receive_numbers(struct work *w, int from, uint64_t numbers[3])
{
    if (!fm_mpi_receive(from, numbers, 3 * sizeof *numbers))
        return false;
    g_autofree char *report = g_malloc0(numbers[2] + 1);
    if (!fm_mpi_receive(from, report, numbers[2]))
        return false;
    g_string_append(w->share.report, report);
    return true;
}

/* NULL: nothing arrived; losses are reported. */
static char *receive_sum(struct work *w, int from, uint32_t *ret_files)
{
    uint64_t numbers[3];
    g_autoptr(GError) error = NULL;
    g_autofree char *name = g_strdup_printf("from-%d.data", from);
    g_autofree char *path =
        w->share.folder == NULL ? NULL : g_build_filename(w->share.folder, name, NULL);
    *ret_files = 0;
    if (!receive_numbers(w, from, numbers)) {
        uint32_t files = files_below(w, from);
        g_string_append_printf(w->share.report, "process %d is lost, with %u files\n", from, files);
        w->share.left_out += files;
        return NULL;
    }
    w->share.left_out += (uint32_t)numbers[1];
    bool ok = fm_mpi_receive_file(from, path, &error);
    g_autofree char *bodies = path == NULL ? NULL : fm_path_beside(path, FM_BESIDE_BODIES);
    ok = fm_mpi_receive_file(from, bodies, ok ? &error : NULL) && ok;
    *ret_files = (uint32_t)numbers[0];
    if (ok && *ret_files > 0 && path != NULL)
        return g_steal_pointer(&path);
    if (*ret_files > 0)
        g_string_append_printf(w->share.report, "%u files of process %d are not added: %s\n",
                               *ret_files, from, error == NULL ? "no folder" : error->message);
    w->share.left_out += *ret_files;
    return NULL;
}

/* Name of a sum for reports, with the first of the files that were to be in it. */
static char *name_of_sum(const struct work *w, int rank, bool with_below)
{
    GString *name = g_string_new(NULL);
    uint32_t end = (uint32_t)rank + (with_below ? (uint32_t)(rank & -rank) : 1), named = 0;
    g_string_printf(name, "the sum of process %d (", rank);
    for (uint32_t i = 0; i < w->count && named <= FILES_NAMED; i++) {
        uint32_t of = i % (uint32_t)w->processes;
        if (of < (uint32_t)rank || of >= end)
            continue;
        if (named < FILES_NAMED)
            g_string_append_printf(name, "%s%s", named == 0 ? "" : ", ", w->paths[i]);
        named++;
    }
    g_string_append(name, named > FILES_NAMED ? ", ...)" : ")");
    return g_string_free(name, FALSE);
}

/* Adds up the own sum and those of the processes below. Process 0 writes the result. */
static void add_sums(struct work *w, const char *output)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (w->share.path != NULL) {
        g_ptr_array_add(paths, g_strdup(w->share.path));
        g_ptr_array_add(names, name_of_sum(w, w->rank, false));
        g_array_append_val(counts, w->share.merged);
    }
    for (unsigned i = 0; fm_mpi_below(w->rank, w->processes, i) >= 0; i++) {
        uint32_t files;
        int from = fm_mpi_below(w->rank, w->processes, i);
        char *path = receive_sum(w, from, &files);
        if (path == NULL)
            continue;
        g_ptr_array_add(paths, path);
        g_ptr_array_add(names, name_of_sum(w, from, true));
        g_array_append_val(counts, files);
    }
    w->share.merged = 0;
    if (paths->len == 1 && output == NULL) { /* a single sum is already in canonical form */
        w->share.merged = g_array_index(counts, uint32_t, 0);
        g_free(w->share.path);
        w->share.path = g_strdup(paths->pdata[0]);
        return;
    }
    if (paths->len > 0)
        fm_mpi_share_add(&w->share, (char **)paths->pdata, paths->len,
                         (const uint32_t *)(const void *)counts->data, (char **)names->pdata,
                         output);
    for (guint i = 0; i < paths->len; i++)
        fm_mpi_remove_sum(paths->pdata[i]);
}

/* Compares numbers in them by value. */
static gint compare_lines(gconstpointer a, gconstpointer b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static void say(const char *line)
{
    fprintf(stderr, "fathom merge: %s\n", line);
}

/* Prints each line once, whatever its source: first lines that are not notes, then notes, then one
 * of those that begin with last, as one process gives only its first reason. */
static void print_lines(const char *text, const char *last)
{
    static const char note[] = "note: ";
    g_autoptr(GHashTable) said = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) notes = g_ptr_array_new(), behind = g_ptr_array_new();
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        if (**line == '\0' || !g_hash_table_add(said, *line))
            continue;
        if (g_str_has_prefix(*line, last))
            g_ptr_array_add(behind, *line);
        else if (g_str_has_prefix(*line, note))
            g_ptr_array_add(notes, *line);
        else
            say(*line);
    }
    g_ptr_array_sort(notes, compare_lines);
    for (guint i = 0; i < notes->len; i++)
        say(notes->pdata[i]);
    g_ptr_array_sort(behind, compare_lines);
    if (behind->len > 0)
        say(behind->pdata[0]);
}

/* Prints in the order that one process would use. ranks: offset of lines about ranks. */
static void print_report(const struct work *w, gsize ranks)
{
    g_autofree char *of_sums = g_strndup(w->share.report->str, ranks);
    g_auto(GStrv) files = g_strsplit(w->files.why == NULL ? "" : w->files.why->str, "\n", -1);
    for (char **line = files; *line != NULL; line++) {
        if (**line != '\0')
            say(*line);
    }
    print_lines(of_sums, FM_TOLD_BODIES_DIFFER);
    print_lines(w->share.report->str + ranks, "note: statistics over ranks are left out");
    uint32_t left_out = w->share.left_out + w->files.left_out;
    if (left_out > 0)
        fprintf(stderr, "fathom merge: " FM_TOLD_LEFT_OUT "\n", left_out, w->count);
}

static bool has_option(char **options, const char *name)
{
    return g_strv_contains((const char *const *)options, name);
}

/* No process ends before the result is written: launchers treat an early end as a failure of the
 * others. */
static int end_together(struct work *w, bool failed)
{
    uint8_t status = failed;
    g_autoptr(GByteArray) statuses = g_byte_array_new();
    if (w->rank == 0)
        g_byte_array_append(statuses, &status, 1);
    bool told = fm_mpi_spread(statuses);
    fm_mpi_share_done(&w->share);
    fm_mpi_files_done(&w->files);
    return told && statuses->len == 1 ? statuses->data[0] : 1;
}

static int merge(struct work *w, const char *fathom, const char *output, char **options)
{
    fm_mpi_share_init(&w->share, fathom, options, w->rank);
    g_autoptr(GPtrArray) mine = own_files(w);
    if (w->processes == 1)
        return end_together(w, fm_mpi_share_alone(&w->share, w->paths, w->count, output) !=
                                   EXIT_SUCCESS);
    gsize said = w->share.report->len;
    fm_mpi_share_look(&w->share, (char **)mine->pdata, mine->len);
    bool known = fm_mpi_look_at_files(&w->share, w->paths, w->count,
                                      has_option(options, "--allow-repeats"), &w->files);
    bool ranked = known && (w->files.ranked || has_option(options, "--ranks")) &&
                  !has_option(options, "--no-ranks");
    bool ok = known;
    if (known) {
        correct_share(w, said);
        drop_bodies(w);
    }
    if (w->files.bodies_differ)
        g_string_append(w->share.report, FM_TOLD_BODIES_DIFFER "\n");
    /* With statistics over ranks, the sum is not the whole result. */
    add_sums(w, w->rank == 0 && !ranked ? output : NULL);
    if (w->rank != 0)
        ok = send_sum(w);
    gsize before = w->share.report->len;
    if (ranked) {
        g_autoptr(GPtrArray) of_ranks = files_of_ranks(w);
        ok = fm_mpi_add_ranks(&w->share, (char **)of_ranks->pdata, of_ranks->len, output) && ok;
    }
    if (w->rank == 0)
        print_report(w, before);
    return end_together(w,
                        !ok || w->share.left_out + w->files.left_out > 0 || w->share.path == NULL);
}

int main(int argc, char **argv)
{
    struct work w = {0};
    if (argc < 4) {
        fputs("fathom-merge-mpi: started by `fathom merge --mpi`\n", stderr);
        return 2;
    }
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
        fputs("fathom merge: MPI cannot be started\n", stderr);
        return 1;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.processes);
    g_autoptr(GByteArray) names = g_byte_array_new();
    if (w.rank == 0)
        read_list(atoi(argv[3]), names);
    close(atoi(argv[3]));
    bool told = fm_mpi_spread(names);
    w.paths = split(names, &w.count);
    int status = told ? merge(&w, argv[1], argv[2], argv + 4) : 1;
    g_strfreev(w.paths);
    MPI_Finalize();
    /* The result is written, or the reason was reported. Exit statuses of other processes would
     * only add noise, and so would leak checks on memory that MPI does not free. */
    fflush(NULL);
    _exit(w.rank == 0 ? status : 0);
}
