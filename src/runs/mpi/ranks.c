/* SPDX-License-Identifier: Apache-2.0 */
/* The sum goes down the tree; statistical moments, as integers, come up and are added here without
 * knowledge of the profile. Whatever fails, every process sends and receives its part. */
#include <mpi.h>
#include <sys/wait.h>

#include <glib/gstdio.h>

#include "base/files/mapped.h"
#include "profile/file/facts/ranks.h"
#include "runs/mpi/internal.h"

#define MEASURES_END 256u

/* Exit status of `fathom merge --ranks-of` when the files allow no statistics, after a message. */
#define STATUS_UNFIT 3

/* Data of a process, and of those below it. */
struct gathered {
    struct fm_rank_info info;
    bool any;    /* info is set */
    bool unfit;  /* statistics are impossible */
    bool failed; /* some statistics are missing */
};

static void add_file(struct fm_mpi_share *share, struct gathered *all, const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(FmMappedFile) file = NULL;
    struct fm_rank_info info;
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return;
    bool ok = fm_mapped_file_open(path, &file, &error);
    if (ok) {
        struct fm_reader in = {.start = file->bytes,
                               .at = file->bytes,
                               .end = file->bytes + file->size,
                               .name = "statistics over ranks"};
        ok = fm_rank_info_read(&in, UINT32_MAX, MEASURES_END, &info, &error);
    }
    if (!ok) {
        g_string_append_printf(share->report, "%s\n", error->message);
        all->failed = true;
    } else if (!all->any) {
        all->info = info;
        all->any = true;
    } else {
        if (!fm_rank_info_add(&all->info, &info)) {
            g_string_append(share->report,
                            "statistics over ranks of other contexts are left out\n");
            all->failed = true;
        }
        fm_rank_info_done(&info);
    }
}

/* False: the process from which the sum should come is lost, or has none. */
static bool spread_sum(const struct fm_mpi_share *share, int rank, int count, char **ret)
{
    g_autofree char *own =
        share->folder == NULL ? NULL : g_build_filename(share->folder, "whole.data", NULL);
    g_autoptr(GError) error = NULL;
    bool ok = true;
    if (rank == 0)
        *ret = g_strdup(share->path);
    else
        ok = fm_mpi_receive_file(fm_mpi_above(rank), own, &error);
    if (rank != 0)
        *ret = ok && own != NULL && g_file_test(own, G_FILE_TEST_EXISTS) ? g_steal_pointer(&own)
                                                                         : NULL;
    for (unsigned i = 0; fm_mpi_below(rank, count, i) >= 0; i++)
        ok = fm_mpi_send_file(fm_mpi_below(rank, count, i), *ret) && ok;
    return ok;
}

static void compute_own(struct fm_mpi_share *share, struct gathered *all, const char *sum,
                        char **paths, uint32_t count, const char *path)
{
    g_autofree char *list = g_build_filename(share->folder, "list", NULL);
    g_autofree char *at_list = g_strconcat("@", list, NULL);
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    const char *const words[] = {"--ranks-of", sum, "-o", path, at_list, NULL};
    for (uint32_t i = 0; i < count; i++)
        g_string_append_printf(text, "%s\n", paths[i]);
    if (!g_file_set_contents(list, text->str, (gssize)text->len, &error)) {
        g_string_append_printf(share->report, "%s\n", error->message);
        all->failed = true;
        return;
    }
    int status = fm_mpi_share_run(share, words);
    bool ended = status != -1 && WIFEXITED(status);
    all->unfit = ended && WEXITSTATUS(status) == STATUS_UNFIT;
    all->failed = !all->unfit && (!ended || WEXITSTATUS(status) != 0);
    if (all->failed)
        g_string_append(share->report,
                        "statistics over ranks: those of a process could not be computed\n");
    else if (!all->unfit)
        add_file(share, all, path);
}

static bool receive(struct fm_mpi_share *share, struct gathered *all, int from)
{
    uint64_t numbers[3]; /* bytes of the report, unfit, failed */
    g_autoptr(GError) error = NULL;
    g_autofree char *path =
        share->folder == NULL ? NULL : g_build_filename(share->folder, "ranks.from", NULL);
    if (!fm_mpi_receive(from, numbers, sizeof numbers))
        return false;
    g_autofree char *report = g_malloc0(numbers[0] + 1);
    if (!fm_mpi_receive(from, report, numbers[0]))
        return false;
    g_string_append(share->report, report);
    all->unfit = all->unfit || numbers[1] != 0;
    all->failed = all->failed || numbers[2] != 0;
    bool ok = fm_mpi_receive_file(from, path, &error);
    if (ok && path != NULL)
        add_file(share, all, path);
    if (path != NULL)
        g_remove(path);
    return ok;
}

static bool write_all(struct fm_mpi_share *share, const struct gathered *all, const char *path)
{
    struct fm_writer *writer;
    g_autoptr(GError) error = NULL;
    if (path != NULL && all->any && fm_writer_new(path, &writer, &error)) {
        fm_rank_info_write(writer, &all->info);
        if (fm_writer_finish(writer, &error))
            return true;
    }
    if (error != NULL)
        g_string_append_printf(share->report, "%s\n", error->message);
    return false;
}

/* Sends only messages added since the sums went up. */
static bool send(const struct fm_mpi_share *share, const struct gathered *all, gsize said, int to,
                 const char *path)
{
    const uint64_t numbers[3] = {share->report->len - said, all->unfit, all->failed};
    return fm_mpi_send(to, numbers, sizeof numbers) &&
           fm_mpi_send(to, share->report->str + said, numbers[0]) && fm_mpi_send_file(to, path);
}

/* Writes the sum itself if nothing is known of its ranks. */
static bool write_result(struct fm_mpi_share *share, bool unfit, const char *sum, const char *ranks,
                         const char *output)
{
    const char *const words[] = {"--ranks-of",
                                 sum,
                                 "-o",
                                 output,
                                 unfit           ? "--no-ranks"
                                 : ranks == NULL ? NULL
                                                 : "--ranks-from",
                                 unfit ? NULL : ranks,
                                 NULL};
    int status = fm_mpi_share_run(share, words);
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool fm_mpi_add_ranks(struct fm_mpi_share *share, char **paths, uint32_t count, const char *output)
{
    int rank, processes;
    gsize said = share->report->len;
    struct gathered all = {0};
    g_autofree char *sum = NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    g_autofree char *own =
        share->folder == NULL ? NULL : g_build_filename(share->folder, "ranks.own", NULL);
    bool ok = spread_sum(share, rank, processes, &sum);
    if (sum != NULL && own != NULL && count > 0)
        compute_own(share, &all, sum, paths, count, own);
    for (unsigned i = 0; fm_mpi_below(rank, processes, i) >= 0; i++)
        ok = receive(share, &all, fm_mpi_below(rank, processes, i)) && ok;
    const char *written = write_all(share, &all, own) ? own : NULL;
    if (rank != 0)
        ok = send(share, &all, said, fm_mpi_above(rank), written) && ok;
    else if (sum != NULL)
        ok = write_result(share, all.unfit, sum, written, output) && ok;
    if (all.any)
        fm_rank_info_done(&all.info);
    return ok && !all.failed;
}
