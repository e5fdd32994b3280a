/* SPDX-License-Identifier: Apache-2.0 */
#include "record/run/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "base/files/beside.h"
#include "base/files/kept_name.h"
#include "record/raw/recording.h"

#define NAMES_TRIED 1000u
#define FAILED ".failed"
#define NS_PER_SECOND 1000000000

/* The files of a run. */
struct run {
    char *stem;       /* NAME.YYYYMMDD-HHMMSSZ, without the folder */
    GPtrArray *names; /* char *, of files */
    bool recorded;    /* there is a profile or recording among them */
    bool failed;      /* soon after its start: FAILED is among them */
    gint64 newest_ns; /* when one of them was written last */
};

static void run_free(gpointer data)
{
    struct run *run = data;
    g_free(run->stem);
    g_ptr_array_unref(run->names);
    g_free(run);
}

/* Whether recording or finishing writes files of such names; other files are left alone. */
static bool is_written_by_us(const char *name)
{
    static const char *const endings[] = {FM_PROFILE_ENDING,
                                          ".rec",
                                          FM_BESIDE_CODE,
                                          FM_BESIDE_LINES,
                                          FM_BESIDE_SOURCES,
                                          FM_BESIDE_BODIES,
                                          ".calls.eventlog",
                                          ".lock",
                                          FAILED};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(name, endings[i]))
            return true;
    return false;
}

/* A profile or a recording by how it begins. */
static bool begins_as_ours(const char *path)
{
    static const char profile[] = FM_PROFILE_BEGINS_C;
    char bytes[sizeof profile - 1] = "";
    if (!g_str_has_suffix(path, FM_PROFILE_ENDING) && !g_str_has_suffix(path, ".rec"))
        return false;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t count = file < 0 ? 0 : read(file, bytes, sizeof bytes);
    if (file >= 0)
        close(file);
    return (count == sizeof bytes && memcmp(bytes, profile, sizeof bytes) == 0) ||
           (count >= (ssize_t)strlen(FM_REC_MAGIC) &&
            memcmp(bytes, FM_REC_MAGIC, strlen(FM_REC_MAGIC)) == 0);
}

static gint by_time(gconstpointer left, gconstpointer right)
{
    const struct run *a = *(struct run *const *)left, *b = *(struct run *const *)right;
    if (a->newest_ns != b->newest_ns)
        return a->newest_ns > b->newest_ns ? -1 : 1;
    return strverscmp(b->stem, a->stem); /* -10 began after -9 */
}

/* struct run, the newest first. */
static GPtrArray *runs_of(const char *base)
{
    GPtrArray *runs = g_ptr_array_new_with_free_func(run_free);
    g_autoptr(GHashTable) by_stem = g_hash_table_new(g_str_hash, g_str_equal);
    g_autofree char *folder = g_path_get_dirname(base), *name = g_path_get_basename(base);
    g_autofree char *prefix = g_strconcat(name, ".", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *file;
    while (dir != NULL && (file = g_dir_read_name(dir)) != NULL) {
        struct stat status;
        size_t length =
            g_str_has_prefix(file, prefix) ? fm_kept_stamp_length(file + strlen(prefix)) : 0;
        g_autofree char *path = g_build_filename(folder, file, NULL);
        if (length == 0 || !is_written_by_us(file + strlen(prefix) + length) ||
            lstat(path, &status) != 0 || !S_ISREG(status.st_mode))
            continue;
        g_autofree char *stem = g_strndup(file, strlen(prefix) + length);
        struct run *run = g_hash_table_lookup(by_stem, stem);
        if (run == NULL) {
            run = g_new0(struct run, 1);
            run->stem = g_steal_pointer(&stem);
            run->names = g_ptr_array_new_with_free_func(g_free);
            g_hash_table_insert(by_stem, run->stem, run);
            g_ptr_array_add(runs, run);
        }
        g_ptr_array_add(run->names, g_strdup(file));
        run->recorded = run->recorded || begins_as_ours(path);
        run->failed = run->failed || g_str_has_suffix(file, FAILED);
        run->newest_ns = MAX(run->newest_ns, (gint64)status.st_mtim.tv_sec * NS_PER_SECOND +
                                                 status.st_mtim.tv_nsec);
    }
    g_ptr_array_sort(runs, by_time);
    return runs;
}

bool fm_kept_begin(const char *base, struct fm_kept_run *ret, GError **error)
{
    g_return_val_if_fail(base != NULL && ret != NULL, false);
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *stamp = g_date_time_format(now, "%Y%m%d-%H%M%SZ");
    *ret = (struct fm_kept_run){.lock = -1};
    for (unsigned n = 1; n <= NAMES_TRIED; n++) {
        g_autofree char *own = n == 1 ? g_strdup_printf("%s.%s", base, stamp)
                                      : g_strdup_printf("%s.%s-%u", base, stamp, n);
        g_autofree char *path = g_strconcat(own, ".lock", NULL);
        g_autofree char *data = g_strconcat(own, ".data", NULL);
        if (g_file_test(data, G_FILE_TEST_EXISTS))
            continue;
        ret->lock = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (ret->lock < 0 && errno == EEXIST)
            continue;
        if (ret->lock < 0 || flock(ret->lock, LOCK_EX) != 0) {
            g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
            if (ret->lock >= 0)
                close(ret->lock);
            return false;
        }
        ret->base = g_steal_pointer(&own);
        return true;
    }
    g_set_error(error, FM_ERROR, FM_ERROR_IO,
                "%s.%s: %u runs of this second already have this name", base, stamp, NAMES_TRIED);
    return false;
}

/* Whether its recorder lives, or a process writes a recording of it. */
static bool is_in_use(const char *folder, const struct run *run)
{
    for (guint i = 0; i < run->names->len; i++) {
        const char *name = run->names->pdata[i];
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_str_has_suffix(name, ".rec") && fm_raw_recording_writer(path) != 0)
            return true;
        int lock = g_str_has_suffix(name, ".lock") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        bool held = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0;
        if (lock >= 0)
            close(lock);
        if (held)
            return true;
    }
    return false;
}

/* Whether a run has no more than its lock and its error file. A recorder that was killed early
 * leaves only a lock, and an error without profile is useless. */
static bool is_rest(const struct run *run)
{
    for (guint i = 0; i < run->names->len; i++) {
        if (!g_str_has_suffix(run->names->pdata[i], ".lock") &&
            !g_str_has_suffix(run->names->pdata[i], FAILED))
            return false;
    }
    return true;
}

static struct run *find_run(const GPtrArray *runs, const char *base)
{
    g_autofree char *stem = g_path_get_basename(base);
    for (guint i = 0; i < runs->len; i++) {
        struct run *run = runs->pdata[i];
        if (strcmp(run->stem, stem) == 0)
            return run;
    }
    return NULL;
}

/* Makes the run that has just ended the newest by the times of its files, even if the clock was set
 * back or is too coarse. */
static void make_newest(const char *folder, struct run *own, GPtrArray *runs)
{
    gint64 newest_ns = G_MININT64;
    for (guint i = 0; i < runs->len; i++) {
        const struct run *other = runs->pdata[i];
        if (other != own)
            newest_ns = MAX(newest_ns, other->newest_ns);
    }
    if (own->newest_ns > newest_ns)
        return;
    own->newest_ns = newest_ns + 1;
    const struct timespec times[] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_sec = own->newest_ns / NS_PER_SECOND, .tv_nsec = own->newest_ns % NS_PER_SECOND}};
    for (guint i = 0; i < own->names->len; i++) {
        g_autofree char *path = g_build_filename(folder, own->names->pdata[i], NULL);
        if (!g_str_has_suffix(path, ".lock"))
            (void)utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
    }
    g_ptr_array_sort(runs, by_time);
}

/* Stored beside the profile, so that later runs find it. */
static void mark_failed(const char *base, const char *failure, struct run *own)
{
    g_autofree char *path = g_strconcat(base, FAILED, NULL);
    g_autofree char *line = g_strconcat(failure, "\n", NULL);
    own->failed = g_file_set_contents(path, line, -1, NULL);
    if (own->failed)
        g_ptr_array_add(own->names, g_path_get_basename(path));
}

void fm_kept_end(const char *base, unsigned keep, const char *failure, struct fm_kept_run *run)
{
    g_return_if_fail(base != NULL && keep > 0 && run != NULL && run->base != NULL);
    g_autofree char *folder = g_path_get_dirname(base);
    g_autofree char *own_lock = g_strconcat(run->base, ".lock", NULL);
    g_autoptr(GPtrArray) runs = runs_of(base);
    struct run *own = find_run(runs, run->base);
    unsigned kept = 0, kept_failed = 0;
    if (own != NULL && own->recorded && failure != NULL)
        mark_failed(run->base, failure, own);
    if (own != NULL && own->recorded)
        make_newest(folder, own, runs);
    for (guint i = 0; i < runs->len; i++) {
        const struct run *old = runs->pdata[i];
        unsigned *count = old->failed ? &kept_failed : &kept;
        bool ours = old->recorded || is_rest(old);
        /* One that goes on has not ended, and is none of the last ones. */
        bool stays =
            !ours || (old != own && is_in_use(folder, old)) || (old->recorded && ++*count <= keep);
        for (guint k = 0; !stays && k < old->names->len; k++) {
            g_autofree char *path = g_build_filename(folder, old->names->pdata[k], NULL);
            g_unlink(path);
        }
    }
    g_unlink(own_lock);
    close(run->lock);
    g_free(run->base);
    *run = (struct fm_kept_run){.lock = -1};
}

static gint by_name(gconstpointer left, gconstpointer right)
{
    const char *a = *(char *const *)left, *b = *(char *const *)right;
    size_t one = strlen(a), other = strlen(b); /* NAME.STAMP.data is the shortest */
    return one != other ? (one < other ? -1 : 1) : strcmp(a, b);
}

GPtrArray *fm_kept_newest(const char *base)
{
    g_return_val_if_fail(base != NULL, NULL);
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *folder = g_path_get_dirname(base);
    g_autoptr(GPtrArray) runs = runs_of(base);
    for (guint i = 0; i < runs->len && paths->len == 0; i++) {
        const struct run *run = runs->pdata[i];
        g_ptr_array_sort(run->names, by_name);
        for (guint k = 0; k < run->names->len; k++) {
            g_autofree char *path = g_build_filename(folder, run->names->pdata[k], NULL);
            if (g_str_has_suffix(path, FM_PROFILE_ENDING) && begins_as_ours(path))
                g_ptr_array_add(paths, g_steal_pointer(&path));
        }
    }
    return paths;
}
