/* SPDX-License-Identifier: Apache-2.0 */
/* Open deep profiles: detects changes of their files, and reads them again. */
#include <string.h>

#include "base/error.h"
#include "base/files/beside.h"
#include "open/internal.h"
#include "open/profile.h"

static const struct fm_open_files_options *options_of(const struct fm_profile_entry *profile)
{
    return &profile->base.all->options;
}

static struct fm_engine *engine_of(const struct fm_profile_entry *profile)
{
    return profile->base.all->engine;
}

/* Drops notifications of failure: nobody waits for them any more. */
static void close_profile(struct fm_open_file *recording)
{
    fm_background_notify_remove(recording->all->engine, recording);
}

const struct fm_open_file_class fm_profile_entry_class = {
    .noun = "recording",
    .found = "file",
    .close = close_profile,
};

static void take_identity(const char *path, struct fm_file_identity *ret)
{
    struct stat status;
    *ret = (struct fm_file_identity){0};
    if (stat(path, &status) != 0)
        return;
    *ret = (struct fm_file_identity){
        .there = true,
        .device = status.st_dev,
        .inode = status.st_ino,
        .size = status.st_size,
        .modified = status.st_mtim,
        .changed = status.st_ctim,
    };
}

static bool same_file(const struct fm_file_identity *a, const struct fm_file_identity *b)
{
    return a->there && b->there && a->device == b->device && a->inode == b->inode;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_content(const struct fm_file_identity *a, const struct fm_file_identity *b)
{
    if (!a->there || !b->there)
        return a->there == b->there;
    return same_file(a, b) && a->size == b->size && same_time(a->modified, b->modified) &&
           same_time(a->changed, b->changed);
}

static void take_identities(const char *path, struct fm_file_identity *ret_data,
                            struct fm_file_identity *ret_contour,
                            struct fm_file_identity *ret_procrep,
                            struct fm_file_identity *ret_lines)
{
    g_autofree char *lines = fm_path_beside(path, FM_BESIDE_LINES);
    g_autofree char *contour = fm_path_beside(path, ".contour");
    g_autofree char *procrep = fm_path_beside(path, FM_BESIDE_BODIES);
    take_identity(path, ret_data);
    take_identity(contour, ret_contour);
    take_identity(procrep, ret_procrep);
    take_identity(lines, ret_lines);
}

static void wait_for_failure(struct fm_profile_entry *profile);

static bool on_pass_end(void *hook_data, void *call_data)
{
    struct fm_profile_entry *profile = hook_data;
    const GError *error = fm_profile_error(profile->base.trace);
    (void)call_data;
    if (error != NULL)
        options_of(profile)->failed(options_of(profile)->failed_user, error);
    else if (!fm_background_is_ready(profile->base.trace, FM_PROFILE_LAST_MODULE))
        wait_for_failure(profile);
    return false;
}

static void wait_for_failure(struct fm_profile_entry *profile)
{
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, on_pass_end, profile, FM_HOOK_DEFAULT);
    fm_background_notify_queue(engine_of(profile), profile, profile->base.trace, FM_TIME_INF, NULL,
                               hooks);
}

/* Starts reading, also again. The identities are taken first, so a change while reading is detected
 * at the next use. Old data of the same file is dropped; another file of that name is another
 * recording. */
static bool begin_reading(struct fm_profile_entry *profile, GError **error)
{
    struct fm_file_identity before = profile->data;
    take_identities(profile->base.path, &profile->data, &profile->contour, &profile->procrep,
                    &profile->lines);
    if (profile->base.trace != NULL && same_file(&before, &profile->data)) {
        profile->recount = fm_open_files_take_prepared(profile->base.all, profile->base.trace);
        fm_background_discard(engine_of(profile), profile->base.trace);
    } else {
        fm_open_file_close(&profile->base);
        profile->recount = false;
        profile->base.trace = fm_engine_open(engine_of(profile), profile->base.path, error);
        if (profile->base.trace == NULL)
            return false;
        if (!fm_trace_is_profile(profile->base.trace)) {
            g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: not a deep profile",
                        profile->base.path);
            fm_open_file_close(&profile->base);
            return false;
        }
    }
    /* For a file that has just been opened, or opened again. */
    if (!profile->recount)
        profile->recount = fm_open_files_take_prepared(profile->base.all, profile->base.trace);
    fm_background_request(engine_of(profile), profile->base.trace,
                          profile->recount ? FM_PROFILE_SUMS_MODULE : FM_PROFILE_LAST_MODULE);
    if (options_of(profile)->background && options_of(profile)->failed != NULL) {
        fm_background_notify_remove(engine_of(profile), profile);
        wait_for_failure(profile);
    }
    return true;
}

/* Returns the part that may be shown: everything, unless profiles are read in the background. */
static bool give_recording(struct fm_profile_entry *profile, GError **error)
{
    profile->recording = NULL;
    if (!options_of(profile)->background) {
        if (!fm_background_run(engine_of(profile), profile->base.trace, FM_PROFILE_LAST_MODULE,
                               NULL, error))
            return false;
    } else {
        const GError *failed = fm_profile_error(profile->base.trace);
        if (failed == NULL && fm_open_profile_of(profile->base.trace) == NULL) {
            /* It could not be opened again: its first step gives the error. */
            fm_background_step(engine_of(profile), profile->base.trace);
            failed = fm_profile_error(profile->base.trace);
        }
        if (failed != NULL) {
            if (error != NULL)
                *error = g_error_copy(failed);
            return false;
        }
    }
    profile->recording = fm_open_profile_of(profile->base.trace);
    return true;
}

/* Whether its file is that one at present, not when it was read. After a file was replaced, its
 * inode may be reused. */
static bool is_file(const struct fm_open_file *recording, const struct fm_file_identity *identity)
{
    struct fm_file_identity now;
    if (recording->class_ != &fm_profile_entry_class)
        return false;
    take_identity(recording->path, &now);
    return same_file(&now, identity);
}

static struct fm_profile_entry *find(const struct fm_open_files *all, const char *path,
                                     const struct fm_file_identity *identity)
{
    struct fm_open_file *named = fm_open_files_find(all, &fm_profile_entry_class, path);
    for (unsigned i = 0; named == NULL && identity != NULL && i < all->list->len; i++)
        if (is_file(all->list->pdata[i], identity))
            named = all->list->pdata[i];
    return (struct fm_profile_entry *)named;
}

/* Opens a profile and adds it to the list. */
static struct fm_profile_entry *add(struct fm_open_files *all, const char *name, const char *real,
                                    GError **error)
{
    struct fm_profile_entry *profile = g_new0(struct fm_profile_entry, 1);
    fm_open_file_init(&profile->base, &fm_profile_entry_class, all, name, g_strdup(real));
    if (!begin_reading(profile, error) || !give_recording(profile, error)) {
        fm_open_file_free(&profile->base);
        return NULL;
    }
    g_ptr_array_add(all->list, profile);
    return profile;
}

bool fm_open_files_add_profile(struct fm_open_files *all, const char *path, const char *real,
                               GError **error)
{
    struct fm_file_identity identity;
    take_identity(path, &identity);
    if (find(all, path, &identity) != NULL)
        return true;
    struct fm_profile_entry *profile = add(all, path, real, error);
    if (profile != NULL)
        profile->base.added = true;
    return profile != NULL;
}

static struct fm_profile_entry *open_below_roots(struct fm_open_files *all, const char *file,
                                                 GError **error)
{
    g_autofree char *real = fm_open_files_below_roots(all, file);
    g_autofree char *beside =
        real != NULL ? NULL : fm_open_files_beside(all, file, FM_PROFILE_SUFFIX, FM_CALLS_SUFFIX);
    /* beside a log of calls that is open: allowed as if it had been named, too */
    if (beside != NULL) {
        struct fm_profile_entry *named = add(all, file, beside, error);
        if (named != NULL)
            named->base.added = true;
        return named;
    }
    if (real == NULL) {
        fm_open_files_not_found(all, &fm_profile_entry_class, file, error);
        return NULL;
    }
    struct fm_file_identity identity;
    take_identity(real, &identity);
    struct fm_profile_entry *profile = find(all, real, &identity);
    if (profile != NULL)
        return profile;
    profile = add(all, real, real, error);
    if (profile != NULL)
        fm_open_files_close_least_used(all, &profile->base, all->options.profiles_max);
    return profile;
}

bool fm_profile_entry_restart(struct fm_profile_entry *profile, GError **error)
{
    g_assert(profile->base.class_ == &fm_profile_entry_class);
    profile->reread++;
    return begin_reading(profile, error) && give_recording(profile, error);
}

/* Whether a newer result than the present data was handed over. A result with file is the one that
 * was read, unless there was none. */
static bool is_newer_offered(const struct fm_profile_entry *profile)
{
    enum fm_offered offered = fm_open_files_offered(profile->base.all, profile->base.path);
    return offered == FM_OFFERED_RECOUNT || (offered == FM_OFFERED_FILE && profile->recount);
}

/* Updates the trace, and what is known, to the present files. */
static bool bring_up_to_date(struct fm_profile_entry *profile, char **ret_notice, GError **error)
{
    struct fm_file_identity data, contour, procrep, lines;
    take_identities(profile->base.path, &data, &contour, &procrep, &lines);
    bool changed =
        !same_content(&data, &profile->data) || !same_content(&contour, &profile->contour) ||
        !same_content(&procrep, &profile->procrep) || !same_content(&lines, &profile->lines);
    /* With background, a failure stays until the file changes; otherwise each request tries
     * again. */
    bool failed = profile->base.trace == NULL || (!options_of(profile)->background &&
                                                  fm_profile_error(profile->base.trace) != NULL);
    if (!failed && !data.there) {
        *ret_notice = g_strdup("The file is gone; this is what was read from it before.");
    } else if (failed || changed || is_newer_offered(profile)) {
        profile->reread++;
        profile->recording = NULL;
        if (!begin_reading(profile, error))
            return false;
    }
    return give_recording(profile, error);
}

bool fm_open_files_get_profile(struct fm_open_files *all, const char *file,
                               struct fm_profile_entry **ret, char **ret_notice, GError **error)
{
    g_return_val_if_fail(file != NULL, false);
    *ret_notice = NULL;
    if (strlen(file) > FM_FILE_NAME_BYTES_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "the file name is longer than %d bytes",
                    FM_FILE_NAME_BYTES_MAX);
        return false;
    }
    struct fm_profile_entry *profile = find(all, file, NULL);
    if (profile == NULL)
        profile = open_below_roots(all, file, error);
    if (profile == NULL)
        return false;
    if (!bring_up_to_date(profile, ret_notice, error)) {
        g_clear_pointer(ret_notice, g_free);
        return false;
    }
    g_assert(profile->recording != NULL);
    fm_open_file_use(&profile->base);
    *ret = profile;
    return true;
}

void fm_profile_entry_append_identity(const struct fm_profile_entry *profile, GString *out)
{
    const struct fm_file_identity *all[] = {&profile->data, &profile->contour, &profile->procrep,
                                            &profile->lines};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        g_string_append_printf(
            out, "%d.%lx.%lx.%lx.%lx.%lx.%lx.%lx/", all[i]->there, (unsigned long)all[i]->device,
            (unsigned long)all[i]->inode, (unsigned long)all[i]->size,
            (unsigned long)all[i]->modified.tv_sec, (unsigned long)all[i]->modified.tv_nsec,
            (unsigned long)all[i]->changed.tv_sec, (unsigned long)all[i]->changed.tv_nsec);
    if (profile->recount)
        g_string_append_printf(out, "%" G_GINT64_MODIFIER "x/", (guint64)profile->reread);
}
