/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles added up into one; one alone in its canonical form. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/files/helper.h"
#include "base/files/writer.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/profile/merge_memory.h"
#include "base/console/output.h"
#include "runs/merge/bodies.h"
#include "runs/ranks/merge_ranks.h"
#include "runs/merge/told_writer.h"
#include "profile/file/attached/attached.h"
#include "profile/file/write.h"
#include "runs/merge/merge.h"
#include "runs/merge/told.h"

#define PROFILE_VERSION 9

struct merging {
    gboolean across_builds, common, union_programs, keep_going, allow_repeats, mpi, ranks, no_ranks;
    char *output;
    char *ranks_of, *ranks_from; /* internal options of fathom-merge-mpi: merge_ranks.h */
    gboolean ranks_later;        /* likewise: it will, when all is added */
    char *tell;                  /* likewise: the file in which each file is told of */
};

static bool is_stdout(const char *output)
{
    return g_strcmp0(output, "-") == 0;
}

/* Whether the file was seen before, even under another name. */
static bool is_repeat(GHashTable *seen, const char *path)
{
    struct stat status;
    if (path == NULL || stat(path, &status) != 0)
        return false;
    return !g_hash_table_add(seen, g_strdup_printf("%lu:%lu", (unsigned long)status.st_dev,
                                                   (unsigned long)status.st_ino));
}

/* The next file is read while the one before it is added, so at most two inputs are in memory. The
 * reading thread frees the added one before it reads, as freeing takes nearly as long as
 * reading. */
struct reading {
    GThread *thread;
    struct fm_profile *added; /* NULL = none */
    const char *path;
    struct fm_profile *profile; /* NULL: error */
    uint8_t hash[FM_PART_HASH_BYTES];
    struct fm_source_map *lines;  /* for a C program; NULL = none */
    struct fm_machine_code *code; /* likewise */
    GError *error;
};

static gpointer read_file(gpointer data)
{
    struct reading *reading = data;
    fm_merge_memory_watch_reader();
    g_clear_pointer(&reading->added, fm_profile_free);
    if (!fm_profile_read(reading->path, NULL, &reading->profile, &reading->error))
        reading->profile = NULL;
    if (reading->profile != NULL && reading->profile->run_info.part_count == 0 &&
        !fm_content_hash(reading->path, reading->hash, &reading->error))
        g_clear_pointer(&reading->profile, fm_profile_free);
    if (reading->profile != NULL && reading->profile->flavour == FM_FLAVOUR_C &&
        !fm_source_map_find(NULL, reading->path, reading->profile, &reading->lines, NULL))
        reading->lines = NULL; /* the profile is merged without: its pages say what is wrong */
    if (reading->profile != NULL && reading->profile->flavour == FM_FLAVOUR_C &&
        !fm_machine_code_find(NULL, reading->path, reading->profile, &reading->code, NULL))
        reading->code = NULL;
    return NULL;
}

/* Files of Mercury's tools do not name their process: a file with the same bytes as an earlier one
 * is taken for a copy. *ret: the path of the earlier one. */
static bool is_copy(GHashTable *contents, const struct reading *done, const char **ret)
{
    if (done->profile->flavour != FM_FLAVOUR_MERCURY)
        return false;
    g_autoptr(GBytes) hash = g_bytes_new(done->hash, sizeof done->hash);
    *ret = g_hash_table_lookup(contents, hash);
    return *ret != NULL;
}

static void begin_reading(struct reading *reading, const char *path, struct fm_profile *added)
{
    *reading = (struct reading){.path = path, .added = added};
    reading->thread = g_thread_try_new("reading", read_file, reading, NULL);
    if (reading->thread == NULL)
        read_file(reading); /* no thread can be had: not meanwhile, then */
}

/* Facts about the files read so far. */
struct seen {
    GHashTable *files;    /* by device and inode */
    GHashTable *contents; /* hash -> path, of Mercury's */
    struct fm_merge_bodies bodies;
    struct fm_merge_told *told;
    GPtrArray *of_ranks; /* paths of those added that are of one process each, of one rank, or sums
                            with statistics */
    GArray *ranks_of;    /* uint32_t: each one's rank + 1; 0 = none */
    bool sums;           /* there were others */
    bool statistics;     /* some had statistics: they are kept without being asked for */
    struct fm_rank_info ranks; /* statistics of the last sum */
};

/* Takes the statistics of a sum. */
static void see_ranks(struct seen *seen, struct fm_profile *profile, const char *path)
{
    const uint32_t rank = fm_profile_rank(profile);
    if (profile->run_info.part_count > 0) {
        fm_rank_info_done(&seen->ranks);
        seen->ranks = profile->run_info.rank_info;
        profile->run_info.rank_info = (struct fm_rank_info){0};
        seen->statistics |= seen->ranks.count > 0;
    }
    if (profile->run_info.part_count > 1 && rank == 0 && seen->ranks.count == 0) {
        seen->sums = true;
        return;
    }
    g_ptr_array_add(seen->of_ranks, (gpointer)(uintptr_t)path);
    g_array_append_val(seen->ranks_of, rank);
}

/* Adds a file that was read and is no copy of an earlier one. */
static bool add_profile(struct fm_merge *merge, struct seen *seen, const struct reading *done,
                        const struct fm_merge_body *body, GError **error)
{
    if (!fm_merge_add(merge, done->profile, done->path, error))
        return false;
    if (done->profile->flavour == FM_FLAVOUR_MERCURY) {
        fm_merge_bodies_see(&seen->bodies, body);
        g_hash_table_insert(seen->contents, g_bytes_new(done->hash, sizeof done->hash),
                            (gpointer)(uintptr_t)done->path);
    }
    see_ranks(seen, done->profile, done->path);
    fm_merge_add_part(merge, done->profile, done->hash);
    if (done->lines != NULL)
        fm_merge_add_lines(merge, done->lines);
    if (done->code != NULL)
        fm_merge_add_code(merge, done->code);
    return true;
}

/* Whether the same process is in the sum already, as far as the files tell. */
static bool is_again(const struct fm_merge *merge, const struct seen *seen,
                     const struct reading *done, GError **error)
{
    const char *first = NULL;
    if (fm_merge_has_part(merge, done->profile, done->hash)) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, FM_TOLD_PART, done->path);
        return true;
    }
    if (!is_copy(seen->contents, done, &first))
        return false;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, FM_TOLD_COPY, done->path, first);
    return true;
}

/* Releases the data of files beside the profile, whose ownership has moved. */
static void clear_beside(struct reading *reading)
{
    g_clear_pointer(&reading->lines, fm_source_map_free);
    g_clear_pointer(&reading->code, fm_machine_code_free);
}

/* Adds the file that was read; *reading goes on with the next file, unless it is NULL. *added: the
 * profile added before on entry, this one on return. */
static bool add_file(const struct merging *o, struct fm_merge *merge, struct seen *seen,
                     struct reading *reading, const char *next, struct fm_profile **added,
                     GError **error)
{
    if (reading->thread != NULL)
        g_thread_join(reading->thread);
    struct reading done = *reading;
    *reading = (struct reading){0};
    if (next != NULL)
        begin_reading(reading, next, g_steal_pointer(added));
    g_clear_pointer(added, fm_profile_free);
    *added = done.profile;
    if (done.error != NULL) {
        clear_beside(&done);
        g_propagate_error(error, done.error);
        return false;
    }
    struct fm_merge_body body = {0};
    if (done.profile->flavour == FM_FLAVOUR_MERCURY)
        fm_merge_body_look(&body, done.path);
    fm_merge_told_file(seen->told, merge, done.profile, done.hash, &body);
    bool ok = (o->allow_repeats || !is_again(merge, seen, &done, error)) &&
              add_profile(merge, seen, &done, &body, error);
    fm_merge_body_done(&body);
    clear_beside(&done);
    return ok;
}

static void end_reading(struct reading *reading)
{
    if (reading->thread != NULL)
        g_thread_join(reading->thread);
    fm_profile_free(reading->profile);
    clear_beside(reading);
    g_clear_error(&reading->error);
    *reading = (struct reading){0};
}

/* How many files could not be added; all of them when one could not and the others are not wanted.
 */
static unsigned add_files(const struct merging *o, struct fm_merge *merge, struct seen *seen,
                          char **paths, unsigned count, bool *ret_stopped)
{
    unsigned failed = 0;
    struct fm_progress progress;
    struct reading reading;
    g_autoptr(FmProfile) added = NULL;
    fm_console_progress_begin(&progress);
    begin_reading(&reading, paths[0], NULL);
    for (unsigned i = 0; i < count && !*ret_stopped; i++) {
        GError *error = NULL;
        const char *next = i + 1 < count ? paths[i + 1] : NULL;
        /* When facts are reported for each file, fathom-merge-mpi decides about repeats, so none is
         * an error here. */
        if (!o->allow_repeats && seen->told == NULL && is_repeat(seen->files, paths[i])) {
            g_set_error(&error, FM_ERROR, FM_ERROR_UNAVAILABLE, FM_TOLD_TWICE, paths[i]);
            end_reading(&reading);
            if (next != NULL)
                begin_reading(&reading, next, NULL);
        } else if (add_file(o, merge, seen, &reading, next, &added, &error) &&
                   progress.report != NULL) {
            progress.report(progress.user, "merging", i + 1, count);
        }
        fm_merge_told_end(seen->told, error);
        if (error == NULL)
            continue;
        failed++;
        if (seen->told == NULL)
            fm_console_fail("merge", error);
        else
            g_clear_error(&error);
        *ret_stopped = !o->keep_going;
    }
    end_reading(&reading);
    fm_console_progress_end(&progress);
    return failed;
}

/* To a file, or to standard output. */
static bool write_profile(const struct fm_profile *profile, const char *output, GError **error)
{
    struct fm_writer *writer;
    if (!is_stdout(output)) {
        if (!fm_profile_write(profile, output, false, error))
            return false;
        fm_attached_remove_beside(output);
        return true;
    }
    return fm_console_output_begin(output, &writer, error) &&
           fm_profile_encode(profile, "standard output", PROFILE_VERSION, false, writer, error) &&
           fm_console_output_finish(output, writer, error);
}

static struct fm_merge_ranks ranks_options(const struct merging *o)
{
    return (struct fm_merge_ranks){.options = {.across_builds = o->across_builds,
                                               .common = o->common,
                                               .union_programs = o->union_programs},
                                   .asked = o->ranks,
                                   .no = o->no_ranks};
}

static int compare_ranks(const void *a, const void *b, void *user)
{
    const uint32_t *ranks = user, i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    return ranks[i] != ranks[j] ? (ranks[i] < ranks[j] ? -1 : 1) : i < j ? -1 : i > j;
}

/* Sorts files by rank. */
static GPtrArray *files_by_rank(const struct seen *seen)
{
    GPtrArray *paths = g_ptr_array_new();
    guint count = seen->of_ranks->len;
    g_autofree uint32_t *order = g_new(uint32_t, count + 1u);
    for (guint i = 0; i < count; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)count, sizeof *order, compare_ranks, seen->ranks_of->data);
    for (guint i = 0; i < count; i++)
        g_ptr_array_add(paths, seen->of_ranks->pdata[order[i]]);
    return paths;
}

/* One sum alone is its own canonical form, and keeps its statistics, which are of its contexts: a
 * root above them makes others. */
static bool add_ranks(const struct merging *o, struct seen *seen, unsigned added,
                      struct fm_profile *sum)
{
    struct fm_merge_ranks ranks = ranks_options(o);
    ranks.kept = seen->statistics;
    if (added == 1 && seen->ranks.count > 0 && !o->no_ranks && !o->union_programs) {
        fm_profile_set_ranks(sum, &seen->ranks);
        return true;
    }
    if (o->ranks_later)
        return true;
    g_autoptr(GPtrArray) paths = files_by_rank(seen);
    return fm_merge_ranks_add(&ranks, (char **)paths->pdata, paths->len, seen->sums, sum);
}

static void tell_left_out(unsigned failed, unsigned count)
{
    if (failed > 0)
        fprintf(stderr, "fathom merge: " FM_TOLD_LEFT_OUT "\n", failed, count);
}

static int merge_files(const struct merging *o, struct seen *seen, char **paths, unsigned count)
{
    GError *untold = NULL;
    if (!fm_merge_told_new(o->tell, &seen->told, &untold))
        return fm_console_fail("merge", untold);
    const struct fm_merge_options options = ranks_options(o).options;
    struct fm_merge *merge = fm_merge_new(&options);
    g_autoptr(FmProfile) profile = NULL;
    GError *error = NULL;
    bool stopped = false;
    unsigned failed = add_files(o, merge, seen, paths, count, &stopped);
    bool told = fm_merge_told_finish(seen->told, &error);
    if (stopped || !told) {
        fm_merge_free(merge);
        return told ? FM_EXIT_FAILED : fm_console_fail("merge", error);
    }
    if (failed == count) {
        fm_merge_free(merge);
        tell_left_out(failed, count);
        return FM_EXIT_FAILED;
    }
    for (const char *const *note = fm_merge_notes(merge); *note != NULL; note++)
        fprintf(stderr, "fathom merge: note: %s\n", *note);
    if (seen->bodies.differ)
        fputs("fathom merge: " FM_TOLD_BODIES_DIFFER "\n", stderr);
    if (!fm_merge_finish(merge, &profile, &error))
        return fm_console_fail("merge", error);
    bool whole = add_ranks(o, seen, count - failed, profile);
    bool written =
        write_profile(profile, o->output, &error) &&
        (is_stdout(o->output) || fm_merge_bodies_write(&seen->bodies, o->output, &error));
    if (!written)
        return fm_console_fail("merge", error);
    tell_left_out(failed, count);
    return failed > 0 || !whole ? FM_EXIT_FAILED : FM_EXIT_DONE;
}

/* @LIST stands for the files whose names are the lines of LIST, of which empty ones are none:
 * more than a command line holds. NULL: it cannot be read, or nothing is in all lists. */
static GPtrArray *name_files(char **words, unsigned count, GError **error)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < count; i++) {
        g_autofree char *text = NULL;
        if (words[i][0] != '@') {
            g_ptr_array_add(paths, g_strdup(words[i]));
            continue;
        }
        if (!g_file_get_contents(words[i] + 1, &text, NULL, error))
            return NULL;
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line != NULL; line++) {
            if (**line != '\0')
                g_ptr_array_add(paths, g_strdup(*line));
        }
    }
    if (paths->len > 0)
        return g_steal_pointer(&paths);
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: the list names no files", words[0] + 1);
    return NULL;
}

/* The names of the files, each ended by NUL, behind a descriptor that the next program has, too. */
static int pass_names(const GPtrArray *paths, GError **error)
{
    int descriptor = memfd_create("fathom-merge", 0);
    FILE *names = descriptor < 0 ? NULL : fdopen(dup(descriptor), "w");
    bool ok = names != NULL;
    for (guint i = 0; ok && i < paths->len; i++)
        ok = fwrite(paths->pdata[i], 1, strlen(paths->pdata[i]) + 1, names) > 0;
    ok = (names == NULL || fclose(names) == 0) && ok && lseek(descriptor, 0, SEEK_SET) == 0;
    if (!ok)
        g_set_error_literal(error, FM_ERROR, FM_ERROR_IO,
                            "cannot pass the names of the files on to fathom-merge-mpi");
    return ok ? descriptor : -1;
}

/* Replaces this process with the program that talks to the others: under mpirun this process is one
 * of many. Returns only when it cannot be run. */
static int merge_on_mpi(const struct merging *o, const GPtrArray *paths)
{
    const struct {
        gboolean given;
        const char *option;
    } passed[] = {{o->across_builds, "--across-builds"},
                  {o->common, "--common"},
                  {o->union_programs, "--union"},
                  {o->allow_repeats, "--allow-repeats"},
                  {o->ranks, "--ranks"},
                  {o->no_ranks, "--no-ranks"}};
    GError *error = NULL;
    g_autofree char *program = fm_helper_path("fathom-merge-mpi", "runs/mpi");
    g_autofree char *self = fm_program_path();
    for (guint i = 0; i < paths->len; i++) {
        if (strchr(paths->pdata[i], '\n') != NULL)
            return fm_console_usage("merge", "%s: --mpi: expected a name without line breaks",
                                    (const char *)paths->pdata[i]);
    }
    int names = program == NULL || self == NULL ? -1 : pass_names(paths, &error);
    if (names >= 0) {
        g_autofree char *descriptor = g_strdup_printf("%d", names);
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        const char *const first[] = {program, self, o->output, descriptor};
        for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
            g_ptr_array_add(words, (gpointer)(uintptr_t)first[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(passed); i++) {
            if (passed[i].given)
                g_ptr_array_add(words, (gpointer)(uintptr_t)passed[i].option);
        }
        g_ptr_array_add(words, NULL);
        execv(program, (char **)words->pdata);
    }
    if (error == NULL)
        g_set_error_literal(&error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                            "--mpi: the program fathom-merge-mpi is not installed; it is only "
                            "built when OpenMPI (libopenmpi-dev) is installed");
    return fm_console_fail("merge", error);
}

/* -1, or the status when they do not go together. */
static int check_options(const struct merging *o, bool has_files)
{
    if (!has_files)
        return fm_console_usage("merge", "expected a FILE; see --help");
    if (o->output == NULL)
        return fm_console_usage("merge", "expected --output FILE");
    if (o->ranks && o->no_ranks && o->ranks_of == NULL)
        return fm_console_usage("merge", "--ranks and --no-ranks exclude each other");
    if (o->mpi && is_stdout(o->output))
        return fm_console_usage("merge", "--mpi writes to a file, not to standard output");
    return -1;
}

int fm_cmd_merge(int argc, char **argv)
{
    struct merging o = {0};
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o.output, "Write to FILE; - = standard output",
         "FILE"},
        {"across-builds", 0, 0, G_OPTION_ARG_NONE, &o.across_builds,
         "Add different builds up, of C or Mercury: match procedures by name, wherever they stand",
         NULL},
        {"common", 0, 0, G_OPTION_ARG_NONE, &o.common,
         "Leave out measures that not all profiles have", NULL},
        {"union", 0, 0, G_OPTION_ARG_NONE, &o.union_programs,
         "Keep different programs apart below one root", NULL},
        {"keep-going", 0, 0, G_OPTION_ARG_NONE, &o.keep_going,
         "Leave out files that cannot be merged; the exit status is still 1", NULL},
        {"allow-repeats", 0, 0, G_OPTION_ARG_NONE, &o.allow_repeats,
         "Add a file as often as it is given", NULL},
        {"mpi", 0, 0, G_OPTION_ARG_NONE, &o.mpi,
         "Share the work with the other processes that mpirun started; implies --keep-going", NULL},
        {"ranks", 0, 0, G_OPTION_ARG_NONE, &o.ranks,
         "Keep per-rank statistics, also for non-MPI programs", NULL},
        {"no-ranks", 0, 0, G_OPTION_ARG_NONE, &o.no_ranks, "Keep no per-rank statistics", NULL},
        {"ranks-of", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &o.ranks_of, NULL, NULL},
        {"ranks-from", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &o.ranks_from, NULL, NULL},
        {"tell", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &o.tell, NULL, NULL},
        {"ranks-later", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &o.ranks_later, NULL, NULL},
        {NULL},
    };
    fm_merge_memory_watch();
    int status = fm_cli_parse(&argc, &argv, entries, "FILE|@LIST...",
                              "Adds up profiles of one program. The result does not depend on "
                              "their order or grouping. A single profile is written in its "
                              "canonical form.",
                              "fathom merge monday.data tuesday.data -o both.data");
    bool joins = o.ranks_of != NULL && argc < 2;
    if (status < 0)
        status = check_options(&o, argc > 1 || joins);
    GError *error = NULL;
    g_autoptr(GPtrArray) paths =
        status < 0 && !joins ? name_files(argv + 1, (unsigned)argc - 1, &error) : NULL;
    if (error != NULL)
        status = fm_console_fail("merge", error);
    const struct fm_merge_ranks ranks = ranks_options(&o);
    if (status < 0 && joins)
        status = fm_merge_ranks_join(&ranks, o.ranks_of, o.ranks_from, o.output);
    else if (status < 0 && o.ranks_of != NULL)
        status =
            fm_merge_ranks_share(&ranks, o.ranks_of, (char **)paths->pdata, paths->len, o.output);
    if (status < 0 && o.mpi)
        status = merge_on_mpi(&o, paths);
    if (status < 0 && paths != NULL) {
        struct seen seen = {.of_ranks = g_ptr_array_new(),
                            .ranks_of = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                            .files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                            .contents = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                                              (GDestroyNotify)g_bytes_unref, NULL)};
        status = merge_files(&o, &seen, (char **)paths->pdata, paths->len);
        g_hash_table_unref(seen.files);
        g_hash_table_unref(seen.contents);
        fm_merge_bodies_done(&seen.bodies);
        g_ptr_array_unref(seen.of_ranks);
        g_array_unref(seen.ranks_of);
        fm_rank_info_done(&seen.ranks);
    }
    g_free(o.output);
    g_free(o.ranks_of);
    g_free(o.ranks_from);
    g_free(o.tell);
    return status;
}
