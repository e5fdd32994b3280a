/* SPDX-License-Identifier: Apache-2.0 */
#include "record/run/rotating.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/console/say.h"
#include "record/run/kept.h"
#include "runs/merge/merge.h"
#include "record/finish/finish.h"
#include "record/known/known.h"
#include "record/raw/of_run.h"
#include "record/raw/recording.h"
#include "record/running/control.h"

/* A copy of a recording, made at the end of a phase. */
struct copy {
    char *path;
    uint64_t ns; /* when it was made, by CLOCK_MONOTONIC */
};

struct fm_rotating {
    struct fm_finishing how;
    struct fm_rotation rotation;
    const char *name, *run;
    GPtrArray *before;
    struct fm_known *known;
    char *folder;            /* folder of the copies */
    GHashTable *copies;      /* path of a recording -> struct copy of the latest phase's end */
    GHashTable *taken;       /* paths of snapshots that were a phase's end */
    struct fm_kept_run kept; /* the phase that is recorded now */
    unsigned number;         /* number of copies */
    uint64_t next_ns;
};

static void copy_free(void *data)
{
    struct copy *copy = data;
    g_unlink(copy->path);
    g_free(copy->path);
    g_free(copy);
}

static uint64_t now_ns(void)
{
    return (uint64_t)g_get_monotonic_time() * 1000;
}

bool fm_rotating_begin(const struct fm_finishing *how, const struct fm_rotation *rotation,
                       const char *name, const char *run, GPtrArray *before,
                       struct fm_rotating **ret, GError **error)
{
    g_return_val_if_fail(rotation->keep > 0 && name != NULL && run != NULL, false);
    g_autofree char *folder = g_dir_make_tmp("fathom-rotate-XXXXXX", error);
    struct fm_kept_run kept;
    if (folder == NULL)
        return false;
    if (!fm_kept_begin(name, &kept, error)) {
        g_rmdir(folder);
        return false;
    }
    struct fm_rotating *rotating = g_new0(struct fm_rotating, 1);
    rotating->how = *how;
    rotating->rotation = *rotation;
    rotating->name = name;
    rotating->run = run;
    rotating->before = before;
    rotating->known = rotating->how.known = fm_known_new();
    rotating->folder = g_steal_pointer(&folder);
    rotating->copies = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, copy_free);
    rotating->taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    rotating->kept = kept;
    rotating->next_ns = now_ns() + rotation->every_ns;
    *ret = rotating;
    return true;
}

/* The part of a snapshot's name after that of its recording: ".snap3.rec". */
static const char *snapshot_part(const char *path)
{
    const char *part = g_strrstr(path, ".snap");
    size_t digits = part == NULL ? 0 : strspn(part + strlen(".snap"), "0123456789");
    return digits > 0 && strcmp(part + strlen(".snap") + digits, ".rec") == 0 ? part : NULL;
}

/* When a snapshot was whole, by CLOCK_MONOTONIC: its number may have been another's before. */
static uint64_t moment_of(const char *snapshot)
{
    struct stat status;
    if (stat(snapshot, &status) != 0)
        return now_ns();
    int64_t written = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
    int64_t ago = g_get_real_time() * 1000 - written;
    return now_ns() - (uint64_t)MAX(ago, 0);
}

static struct copy *copy_new(struct fm_rotating *rotating, const char *recording,
                             const char *snapshot, GError **error)
{
    struct copy *copy = g_new0(struct copy, 1);
    unsigned number = ++rotating->number;
    copy->path = g_strdup_printf("%s/%u.rec", rotating->folder, number);
    uint64_t ns = snapshot != NULL ? moment_of(snapshot) : 0;
    if (fm_control_copy(snapshot != NULL ? snapshot : recording, copy->path, number, &copy->ns,
                        error)) {
        copy->ns = snapshot != NULL ? ns : copy->ns;
        return copy;
    }
    copy_free(copy);
    return NULL;
}

/* --- a phase's profile --- */

struct phase {
    struct fm_rotating *rotating;
    struct fm_merge *merge; /* sum of several processes */
    struct fm_profile *first;
    struct fm_finish_notes notes; /* notes on the first one */
    unsigned count;
    GHashTable *copies; /* as those of rotating: theirs, when all is written */
    bool failed, unwritten;
};

static void tell(struct phase *phase, const char *recording, GError *error)
{
    fm_console_print_error("fathom record: %s: left out of this phase: %s", recording,
                           error->message);
    g_error_free(error);
    phase->failed = true;
}

/* Writes profiles that cannot be summed with the others (of another program) under the name of
 * their process. */
static void write_alone(struct phase *phase, struct fm_profile *profile)
{
    GError *error = NULL;
    g_autofree char *path = g_strdup_printf("%s.%u.data", phase->rotating->kept.base,
                                            (unsigned)profile->run_info.process.pid);
    if (!fm_run_write_profile(&phase->rotating->how, profile, path, &error)) {
        tell(phase, path, error);
        phase->unwritten = true;
    }
}

/* Copies that could not be written are part of the next phase, which begins where this one did. */
static void take_copies(struct phase *phase)
{
    GHashTableIter iter;
    gpointer recording, copy;
    g_hash_table_iter_init(&iter, phase->copies);
    while (!phase->unwritten && g_hash_table_iter_next(&iter, &recording, &copy)) {
        g_hash_table_iter_steal(&iter);
        g_hash_table_replace(phase->rotating->copies, recording, copy);
    }
    g_hash_table_unref(phase->copies);
}

/* False: the profile cannot be added to the others. A process that ended before the phase began is
 * left out. */
static bool add_to_sum(struct phase *phase, const struct fm_profile *profile,
                       const struct fm_finish_notes *notes, const char *recording, GError **error)
{
    uint8_t hash[FM_PART_HASH_BYTES];
    if (!fm_run_part_hash(profile, recording, hash, error) ||
        !fm_merge_add(phase->merge, profile, recording, error))
        return false;
    if (profile->csd_count > 0)
        fm_merge_add_part(phase->merge, profile, hash);
    if (notes->source_map != NULL)
        fm_merge_add_lines(phase->merge, notes->source_map);
    return true;
}

static void add_profile(struct phase *phase, struct fm_profile *profile,
                        struct fm_finish_notes *notes, const char *recording)
{
    static const struct fm_merge_options options = {0};
    if (phase->count++ == 0) {
        phase->first = profile;
        phase->notes = *notes;
        return;
    }
    if (phase->merge == NULL) {
        phase->merge = fm_merge_new(&options);
        GError *error = NULL;
        if (!add_to_sum(phase, phase->first, &phase->notes, recording, &error))
            tell(phase, recording, error);
    }
    if (!add_to_sum(phase, profile, notes, recording, NULL))
        write_alone(phase, profile);
    fm_profile_free(profile);
    fm_finish_notes_done(notes);
}

static void add_recording(struct phase *phase, const char *recording, const char *snapshot)
{
    struct fm_rotating *rotating = phase->rotating;
    GError *error = NULL;
    struct copy *copy = copy_new(rotating, recording, snapshot, &error);
    if (copy == NULL) {
        tell(phase, recording, error);
        return;
    }
    const struct copy *old = g_hash_table_lookup(rotating->copies, recording);
    const struct fm_finish_opts opts = {
        .debug_path = rotating->how.debug_path,
        .when = rotating->how.when,
        .known = rotating->known,
        .ended_ns = rotating->how.ended_ns != 0 ? rotating->how.ended_ns : copy->ns,
        .since = old == NULL ? NULL : old->path,
        .since_ns = old == NULL ? 0 : old->ns};
    struct fm_finish_notes notes;
    struct fm_profile *profile;
    if (!fm_finish(copy->path, &opts, &profile, &notes, &error)) {
        tell(phase, recording, error);
        copy_free(copy); /* the next phase has it */
        return;
    }
    add_profile(phase, profile, &notes, recording);
    g_hash_table_replace(phase->copies, g_strdup(recording), copy);
}

static bool write_phase(struct phase *phase, GError **error)
{
    struct fm_rotating *rotating = phase->rotating;
    g_autofree char *path = g_strconcat(rotating->kept.base, ".data", NULL);
    g_autoptr(FmProfile) sum = NULL;
    if (phase->merge == NULL)
        return fm_run_write_profile(&rotating->how, phase->first, path, error);
    return fm_merge_finish(g_steal_pointer(&phase->merge), &sum, error) &&
           fm_run_write_profile(&rotating->how, sum, path, error);
}

/* The phase ends now, or at the moment of a snapshot. */
static bool turn(struct fm_rotating *rotating, const char *snapshot)
{
    struct phase phase = {.rotating = rotating,
                          .copies =
                              g_hash_table_new_full(g_str_hash, g_str_equal, g_free, copy_free)};
    GError *error = NULL;
    g_autoptr(GPtrArray) found = fm_raw_recordings_of_run(rotating->run, rotating->before);
    const char *part = snapshot == NULL ? NULL : snapshot_part(snapshot);
    for (guint i = 0; i < found->len; i++) {
        const char *recording = found->pdata[i];
        size_t stem = strlen(recording) - strlen(".rec");
        bool own = part != NULL && stem == (size_t)(part - snapshot) &&
                   strncmp(recording, snapshot, stem) == 0;
        if (snapshot_part(recording) == NULL && fm_raw_recording_has_header(recording))
            add_recording(&phase, recording, own ? snapshot : NULL);
    }
    if (phase.count > 0 && !write_phase(&phase, &error)) {
        tell(&phase, rotating->kept.base, error);
        phase.unwritten = true;
    }
    take_copies(&phase);
    if (phase.count > 0) {
        fm_profile_free(phase.first);
        fm_finish_notes_done(&phase.notes);
    }
    fm_merge_free(phase.merge);
    fm_kept_end(rotating->name, rotating->rotation.keep, NULL, &rotating->kept);
    return !phase.failed;
}

static void begin_next(struct fm_rotating *rotating)
{
    g_autoptr(GError) error = NULL;
    rotating->next_ns = now_ns() + rotating->rotation.every_ns;
    if (!fm_kept_begin(rotating->name, &rotating->kept, &error))
        fm_console_print_error("fathom record: %s", error->message);
}

/* Returns a snapshot that is new and complete; NULL when there is none. */
static char *new_snapshot(struct fm_rotating *rotating)
{
    g_autofree char *folder = g_path_get_dirname(rotating->run);
    g_autofree char *base = g_path_get_basename(rotating->run);
    g_autofree char *prefix = g_strconcat(base, ".", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir != NULL && (name = g_dir_read_name(dir)) != NULL;) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (!g_str_has_prefix(name, prefix) || snapshot_part(name) == NULL ||
            g_hash_table_contains(rotating->taken, path) || !fm_raw_recording_has_header(path))
            continue;
        g_hash_table_add(rotating->taken, g_strdup(path));
        return g_steal_pointer(&path);
    }
    return NULL;
}

void fm_rotating_look(struct fm_rotating *rotating)
{
    g_autofree char *snapshot = NULL;
    if (rotating->kept.base == NULL) /* there was no name for it */
        begin_next(rotating);
    if (rotating->kept.base == NULL)
        return;
    if (rotating->rotation.every_ns == 0)
        snapshot = new_snapshot(rotating);
    if (snapshot == NULL && (rotating->rotation.every_ns == 0 || now_ns() < rotating->next_ns))
        return;
    turn(rotating, snapshot);
    if (snapshot != NULL && !rotating->how.keep && g_unlink(snapshot) == 0)
        g_hash_table_remove(rotating->taken, snapshot); /* the next one may have its name */
    begin_next(rotating);
}

bool fm_rotating_end(struct fm_rotating *rotating, uint64_t ended_ns)
{
    rotating->how.ended_ns = ended_ns;
    if (rotating->kept.base == NULL)
        begin_next(rotating);
    bool ok = rotating->kept.base != NULL && turn(rotating, NULL);
    g_autoptr(GPtrArray) found = fm_raw_recordings_of_run(rotating->run, rotating->before);
    for (guint i = 0; i < found->len && ok && !rotating->how.keep; i++) {
        const char *path = found->pdata[i];
        if (fm_raw_recording_writer(path) == 0)
            g_unlink(path);
    }
    g_hash_table_unref(rotating->copies);
    g_hash_table_unref(rotating->taken);
    fm_known_free(rotating->known);
    g_rmdir(rotating->folder);
    g_free(rotating->folder);
    g_free(rotating);
    return ok;
}
