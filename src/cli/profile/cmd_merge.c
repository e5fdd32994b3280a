/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles added up into one; one alone in its canonical form. */
#include <stdio.h>
#include <sys/stat.h>

#include "base/files/writer.h"
#include "base/error.h"
#include "base/files/mapped.h"
#include "cli/cli.h"
#include "merge/merge.h"

#define HASHED_AT_ONCE ((size_t)1 << 20)

struct merging {
    gboolean across_builds, common, union_programs, keep_going, allow_repeats;
    char *output;
};

/* The same file again, whatever it is called. */
static bool is_repeat(GHashTable *seen, const char *path)
{
    struct stat status;
    if (path == NULL || stat(path, &status) != 0)
        return false;
    return !g_hash_table_add(seen, g_strdup_printf("%lu:%lu", (unsigned long)status.st_dev,
                                                   (unsigned long)status.st_ino));
}

/* A file is read while the one before it is added: two inputs are in memory, not more. What was
 * added is freed by the thread that reads, before it reads: that takes as long as reading, nearly.
 */
struct reading {
    GThread *thread;
    struct fm_profile *added; /* NULL = none */
    const char *path;
    struct fm_profile *profile; /* NULL: error */
    uint8_t hash[FM_PART_HASH_BYTES];
    struct fm_source_map *lines; /* of a C program; NULL = none */
    GError *error;
};

/* Of the bytes that were read, unless the file is exchanged meanwhile. */
static bool hash_file(const char *path, uint8_t ret[FM_PART_HASH_BYTES], GError **error)
{
    g_autoptr(FmMappedFile) file = NULL;
    if (!fm_mapped_file_open(path, &file, error))
        return false;
    gsize size = FM_PART_HASH_BYTES;
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    for (size_t at = 0; at < file->size; at += MIN(file->size - at, HASHED_AT_ONCE))
        g_checksum_update(checksum, file->bytes + at, (gssize)MIN(file->size - at, HASHED_AT_ONCE));
    g_checksum_get_digest(checksum, ret, &size);
    return fm_mapped_file_check(file, error);
}

static gpointer read_file(gpointer data)
{
    struct reading *reading = data;
    g_clear_pointer(&reading->added, fm_profile_free);
    if (!fm_profile_read(reading->path, NULL, &reading->profile, &reading->error))
        reading->profile = NULL;
    if (reading->profile == NULL || reading->profile->flavour != FM_FLAVOUR_C)
        return NULL;
    if (reading->profile->run_info.part_count == 0 &&
        !hash_file(reading->path, reading->hash, &reading->error))
        g_clear_pointer(&reading->profile, fm_profile_free);
    if (reading->profile != NULL &&
        !fm_source_map_read_beside(NULL, reading->path, reading->profile, &reading->lines, NULL))
        reading->lines = NULL; /* the profile alone then: its pages say what is wrong with them */
    return NULL;
}

static void begin_reading(struct reading *reading, const char *path, struct fm_profile *added)
{
    *reading = (struct reading){.path = path, .added = added};
    reading->thread = g_thread_new("reading", read_file, reading);
}

/* The file that is being read; *reading goes on with the next, unless it is NULL. *added: the
 * profile added before, then this one. */
static bool add_file(const struct merging *o, struct fm_merge *merge, struct reading *reading,
                     const char *next, struct fm_profile **added, GError **error)
{
    g_thread_join(reading->thread);
    struct reading done = *reading;
    reading->thread = NULL;
    if (next != NULL)
        begin_reading(reading, next, g_steal_pointer(added));
    g_clear_pointer(added, fm_profile_free);
    *added = done.profile;
    g_autoptr(FmSourceMap) lines = done.lines;
    if (done.error != NULL) {
        g_propagate_error(error, done.error);
        return false;
    }
    if (!o->allow_repeats && fm_merge_has_part(merge, done.profile, done.hash)) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: a profile that is in it was added before (--allow-repeats adds it twice)",
                    done.path);
        return false;
    }
    if (!fm_merge_add(merge, done.profile, done.path, error))
        return false;
    fm_merge_add_part(merge, done.profile, done.hash);
    if (lines != NULL)
        fm_merge_add_lines(merge, lines);
    return true;
}

static void end_reading(struct reading *reading)
{
    if (reading->thread == NULL)
        return;
    g_thread_join(reading->thread);
    fm_profile_free(reading->profile);
    fm_source_map_free(reading->lines);
    g_clear_error(&reading->error);
}

/* How many files could not be added; all of them when one could not and the others are not wanted.
 */
static unsigned add_files(const struct merging *o, struct fm_merge *merge, char **paths,
                          unsigned count, bool *ret_stopped)
{
    unsigned failed = 0;
    struct fm_progress progress;
    struct reading reading;
    g_autoptr(FmProfile) added = NULL;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    fm_cli_progress_begin(&progress);
    begin_reading(&reading, paths[0], NULL);
    for (unsigned i = 0; i < count && !*ret_stopped; i++) {
        GError *error = NULL;
        const char *next = i + 1 < count ? paths[i + 1] : NULL;
        if (!o->allow_repeats && is_repeat(seen, paths[i])) {
            g_set_error(&error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                        "%s: given twice (--allow-repeats adds it twice)", paths[i]);
            end_reading(&reading);
            reading.thread = NULL;
            if (next != NULL)
                begin_reading(&reading, next, NULL);
        } else if (add_file(o, merge, &reading, next, &added, &error) && progress.report != NULL) {
            progress.report(progress.user, "merging", i + 1, count);
        }
        if (error == NULL)
            continue;
        failed++;
        fm_cli_fail("merge", error);
        *ret_stopped = !o->keep_going;
    }
    end_reading(&reading);
    fm_cli_progress_end(&progress);
    return failed;
}

static bool write_lines(const struct fm_source_map *lines, const struct fm_profile *profile,
                        const char *output, GError **error)
{
    if (lines == NULL || fm_writer_is_stream(output))
        return true;
    g_autofree char *path = fm_source_map_path(output);
    return fm_source_map_write(lines, profile, path, error);
}

static int merge_files(const struct merging *o, char **paths, unsigned count)
{
    const struct fm_merge_options options = {.across_builds = o->across_builds,
                                             .common = o->common,
                                             .union_programs = o->union_programs};
    struct fm_merge *merge = fm_merge_new(&options);
    g_autoptr(FmProfile) profile = NULL;
    GError *error = NULL;
    bool stopped = false;
    unsigned failed = add_files(o, merge, paths, count, &stopped);
    if (stopped) {
        fm_merge_free(merge);
        return FM_EXIT_FAILED;
    }
    for (const char *const *note = fm_merge_notes(merge); *note != NULL; note++)
        fprintf(stderr, "fathom merge: note: %s\n", *note);
    g_autoptr(FmSourceMap) lines = NULL;
    if (!fm_merge_finish_lines(merge, &profile, &lines, &error) ||
        !fm_profile_write(profile, o->output, false, &error) ||
        !write_lines(lines, profile, o->output, &error))
        return fm_cli_fail("merge", error);
    if (failed > 0)
        fprintf(stderr, "fathom merge: %u of %u files are left out\n", failed, count);
    return failed > 0 ? FM_EXIT_FAILED : FM_EXIT_DONE;
}

int fm_cmd_merge(int argc, char **argv)
{
    struct merging o = {0};
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o.output, "The file to write", "FILE"},
        {"across-builds", 0, 0, G_OPTION_ARG_NONE, &o.across_builds,
         "Add different builds up, of C or Mercury: by names and labels, wherever they stand",
         NULL},
        {"common", 0, 0, G_OPTION_ARG_NONE, &o.common,
         "Leave out measures that not all profiles have", NULL},
        {"union", 0, 0, G_OPTION_ARG_NONE, &o.union_programs, "Keep programs apart below one root",
         NULL},
        {"keep-going", 0, 0, G_OPTION_ARG_NONE, &o.keep_going,
         "Leave out what cannot be merged; the status is 1 then, too", NULL},
        {"allow-repeats", 0, 0, G_OPTION_ARG_NONE, &o.allow_repeats,
         "Add a file as often as it is given", NULL},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, entries, "FILE...",
                              "Adds profiles of one program up. The result does not depend on "
                              "their order or grouping; one alone is written in its canonical "
                              "form.",
                              "fathom merge monday.data tuesday.data -o both.data");
    if (status < 0 && argc < 2)
        status = fm_cli_usage("merge", "expected a FILE; --help tells more");
    if (status < 0 && o.output == NULL)
        status = fm_cli_usage("merge", "expected --output FILE");
    if (status < 0)
        status = merge_files(&o, argv + 1, (unsigned)argc - 1);
    g_free(o.output);
    return status;
}
