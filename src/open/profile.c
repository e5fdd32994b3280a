/* SPDX-License-Identifier: Apache-2.0 */
#include "open/profile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "profile/digest/identity/identities.h"
#include "open/deep_job.h"
#include "open/prepared.h"

/* Nodes between two checks of the time: a fraction of a millisecond. */
#define NODES_A_LOOK 1000
#define NODES_PREPARED (1u << 30) /* all in one step, since nobody waits */

struct profile {
    struct fm_roots *roots;          /* folders in which the file may be; NULL = anywhere */
    struct fm_open_profile_job *job; /* NULL when the file could not be opened again */
    GError *problem;                 /* the reason */
    bool taken;                      /* job was prepared and not yet started: it is not discarded */
};

/* For each part: its name for readers, and its share of the time, as measured. */
static const struct {
    const char *doing;
    double weight;
} parts[FM_PARTS] = {
    [FM_PART_LOADING] = {"the profile is being read", 0.28},
    [FM_PART_CLIQUES] = {"cliques are being found", 0.20},
    [FM_PART_CALLERS] = {"callers are being collected", 0.18},
    [FM_PART_COSTS] = {"total costs are being added up", 0.15},
    [FM_PART_SUMMARIES] = {"costs are being added up by procedure", 0.10},
    [FM_PART_CHECKS] = {"the invariants are being checked", 0.04},
    [FM_PART_RECURSION] = {"cliques are being classified by how they recurse", 0.05},
};

static void free_profile(struct fm_trace *trace)
{
    struct profile *profile = trace->implementation;
    fm_open_profile_job_free(profile->job);
    fm_roots_unref(profile->roots);
    g_clear_error(&profile->problem);
    g_free(profile);
}

static const struct fm_trace_class profile_class = {.format = "deep profile"};

bool fm_trace_is_profile(const struct fm_trace *trace)
{
    return trace->class_ == &profile_class;
}

/* The file is closed after reading, so its inode may be reused for another file. */
static char *identity_of(int descriptor)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return NULL;
    return g_strdup_printf("%ju:%ju %jd.%09ld %jd", (uintmax_t)status.st_dev,
                           (uintmax_t)status.st_ino, (intmax_t)status.st_mtim.tv_sec,
                           status.st_mtim.tv_nsec, (intmax_t)status.st_size);
}

struct fm_trace *fm_profile_open(const char *path, const char *identity, struct fm_roots *roots,
                                 GError **error)
{
    struct fm_mapped_file *file;
    if (!fm_mapped_file_open_below(roots, path, &file, error))
        return NULL;
    /* Identity of the open file: its name may lead to another one by now. */
    g_autofree char *opened = identity_of(file->descriptor);
    struct fm_open_profile_job *job;
    if (!fm_open_profile_job_new_file(file, roots, &job, error))
        return NULL;
    struct fm_trace *trace = fm_trace_new(path, opened != NULL ? opened : identity);
    struct profile *profile = g_new0(struct profile, 1);
    profile->job = job;
    profile->roots = fm_roots_ref(roots);
    trace->class_ = &profile_class;
    trace->implementation = profile;
    trace->free_implementation = free_profile;
    return trace;
}

/* --- preparing outside of the engine --- */

struct fm_prepared_profile {
    char *path;
    char *identity; /* identity of its file; NULL = not yet written */
    bool recount;   /* it has no file */
    struct fm_open_profile_job *job;
};

struct fm_profile_shape {
    struct fm_profile *profile;
    struct fm_analysis *analysis;
    struct fm_identities *identities;
};

/* Works until the part is done. False when it failed; the job is freed then. */
static bool run_until(struct fm_open_profile_job *job, enum fm_open_profile_part first,
                      enum fm_open_profile_part last, GError **error)
{
    for (int part = first; part <= (int)last; part++) {
        enum fm_job_state state = FM_JOB_MORE;
        while (state == FM_JOB_MORE)
            state = fm_open_profile_job_step(job, (enum fm_open_profile_part)part, NODES_PREPARED,
                                             error);
        if (state == FM_JOB_FAILED) {
            fm_open_profile_job_free(job);
            return false;
        }
    }
    return true;
}

struct fm_prepared_profile *fm_profile_prepare(const char *path, struct fm_profile *of,
                                               GError **error)
{
    g_return_val_if_fail(path != NULL && of != NULL, NULL);
    struct fm_open_profile_job *job = fm_open_profile_job_new_profile(path, of);
    if (!run_until(job, FM_PART_CLIQUES, FM_PART_RECURSION, error))
        return NULL;
    /* Each page of a running program contains permanent addresses. */
    const struct fm_open_profile *recording = fm_open_profile_job_profile(job);
    if (recording->profile->pd_count > 0) {
        fm_identity_of_ps(recording->identities, recording->analysis, 1);
        fm_identity_of_clique(recording->identities, recording->analysis, 1);
    }
    struct fm_prepared_profile *prepared = g_new0(struct fm_prepared_profile, 1);
    prepared->path = g_strdup(path);
    prepared->job = job;
    return prepared;
}

struct fm_profile_shape *fm_prepared_profile_shape(const struct fm_prepared_profile *prepared)
{
    g_return_val_if_fail(prepared->job != NULL, NULL);
    const struct fm_open_profile *recording = fm_open_profile_job_profile(prepared->job);
    struct fm_profile_shape *shape = g_new0(struct fm_profile_shape, 1);
    shape->profile = fm_profile_ref(recording->profile);
    shape->analysis = fm_analysis_ref(recording->analysis);
    shape->identities = fm_identities_ref(recording->identities);
    return shape;
}

void fm_profile_shape_free(struct fm_profile_shape *shape)
{
    if (shape == NULL)
        return;
    fm_identities_free(shape->identities);
    fm_analysis_free(shape->analysis);
    fm_profile_free(shape->profile);
    g_free(shape);
}

struct fm_prepared_profile *fm_profile_prepare_recount(const struct fm_profile_shape *shape,
                                                       const char *path, struct fm_profile *profile,
                                                       struct fm_source_map *lines, GError **error)
{
    g_return_val_if_fail(shape != NULL && path != NULL && profile != NULL, NULL);
    struct fm_open_profile_job *job =
        fm_open_profile_job_new_recount(path, profile, shape->analysis, shape->identities, lines);
    if (!run_until(job, FM_PART_COSTS, FM_PART_SUMMARIES, error))
        return NULL;
    struct fm_prepared_profile *prepared = g_new0(struct fm_prepared_profile, 1);
    char *real = realpath(path, NULL); /* the key of recordings */
    prepared->path = g_strdup(real != NULL ? real : path);
    free(real);
    prepared->recount = true;
    prepared->job = job;
    return prepared;
}

bool fm_prepared_profile_is_recount(const struct fm_prepared_profile *prepared)
{
    return prepared->recount;
}

const struct fm_profile *fm_prepared_profile_borrow(const struct fm_prepared_profile *prepared)
{
    return fm_open_profile_job_profile(prepared->job)->profile;
}

const char *fm_prepared_profile_path(const struct fm_prepared_profile *prepared)
{
    return prepared->path;
}

bool fm_prepared_profile_written(struct fm_prepared_profile *prepared)
{
    struct fm_mapped_file *file;
    char *real = realpath(prepared->path, NULL);
    if (real == NULL || !fm_mapped_file_open(prepared->path, &file, NULL)) {
        free(real);
        return false;
    }
    g_free(prepared->path);
    prepared->path = g_strdup(real);
    free(real);
    g_free(prepared->identity);
    prepared->identity = identity_of(file->descriptor);
    fm_mapped_file_free(file);
    return prepared->identity != NULL;
}

void fm_prepared_profile_free(void *data)
{
    struct fm_prepared_profile *prepared = data;
    if (prepared == NULL)
        return;
    fm_open_profile_job_free(prepared->job);
    g_free(prepared->identity);
    g_free(prepared->path);
    g_free(prepared);
}

bool fm_profile_take_prepared(struct fm_trace *trace, struct fm_prepared_profile *prepared)
{
    g_return_val_if_fail(fm_trace_is_profile(trace), false);
    struct profile *profile = trace->implementation;
    bool is_its = prepared->recount ? strcmp(trace->path, prepared->path) == 0
                                    : g_strcmp0(trace->identity, prepared->identity) == 0;
    if (prepared->job == NULL || !is_its)
        return false;
    fm_open_profile_job_free(profile->job);
    profile->job = g_steal_pointer(&prepared->job);
    profile->taken = prepared->recount;
    return true;
}

const struct fm_open_profile *fm_open_profile_of(const struct fm_trace *trace)
{
    g_return_val_if_fail(fm_trace_is_profile(trace), NULL);
    const struct profile *profile = trace->implementation;
    return profile->job == NULL ? NULL : fm_open_profile_job_profile(profile->job);
}

const GError *fm_profile_error(const struct fm_trace *trace)
{
    for (int part = 0; part < FM_PARTS; part++) {
        const GError *error =
            fm_background_error(trace, fm_open_profile_part_name((enum fm_open_profile_part)part));
        if (error != NULL)
            return error;
    }
    return NULL;
}

/* --- the modules --- */

static enum fm_step_state step(struct fm_trace *trace, void *user, unsigned budget_us,
                               GError **error)
{
    enum fm_open_profile_part part = (enum fm_open_profile_part)GPOINTER_TO_INT(user);
    struct profile *profile = trace->implementation;
    if (!fm_trace_is_profile(trace)) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: not a deep profile", trace->path);
        return FM_STEP_FAILED;
    }
    if (profile->job == NULL) {
        if (error != NULL)
            *error = g_error_copy(profile->problem);
        return FM_STEP_FAILED;
    }
    gint64 end = g_get_monotonic_time() + budget_us;
    enum fm_job_state state = FM_JOB_MORE;
    while (state == FM_JOB_MORE && g_get_monotonic_time() < end)
        state = fm_open_profile_job_step(profile->job, part, NODES_A_LOOK, error);
    return state == FM_JOB_DONE     ? FM_STEP_DONE
           : state == FM_JOB_FAILED ? FM_STEP_FAILED
                                    : FM_STEP_MORE;
}

static double fraction(struct fm_trace *trace, void *user)
{
    const struct profile *profile = trace->implementation;
    if (!fm_trace_is_profile(trace) || profile->job == NULL)
        return 0;
    return fm_open_profile_job_fraction(profile->job,
                                        (enum fm_open_profile_part)GPOINTER_TO_INT(user));
}

/* Discards the first part, which all parts need: the job starts again. */
static void discard(struct fm_trace *trace, void *user)
{
    struct profile *profile = trace->implementation;
    (void)user;
    if (!fm_trace_is_profile(trace))
        return;
    g_clear_error(&profile->problem);
    if (profile->taken) {
        profile->taken = false;
        return;
    }
    g_clear_pointer(&profile->job, fm_open_profile_job_free);
    struct fm_mapped_file *file;
    if (!fm_mapped_file_open_below(profile->roots, trace->path, &file, &profile->problem))
        return;
    g_autofree char *opened = identity_of(file->descriptor);
    if (opened != NULL) {
        g_free(trace->identity);
        trace->identity = g_steal_pointer(&opened);
    }
    if (!fm_open_profile_job_new_file(file, profile->roots, &profile->job, &profile->problem))
        profile->job = NULL;
}

void fm_profile_register(struct fm_engine *engine)
{
    static const char *needs[FM_PARTS][2];
    for (int part = 0; part < FM_PARTS; part++) {
        const char *name = fm_open_profile_part_name((enum fm_open_profile_part)part);
        struct fm_computation computation = {
            .work = {step, fraction, part == 0 ? discard : NULL, GINT_TO_POINTER(part)},
            .needs = needs[part],
        };
        if (part > 0)
            needs[part][0] = fm_open_profile_part_name((enum fm_open_profile_part)(part - 1));
        fm_engine_register_computation(engine, name, &computation);
    }
}

void fm_profile_progress(struct fm_engine *engine, struct fm_trace *trace,
                         struct fm_profile_progress *ret)
{
    *ret = (struct fm_profile_progress){.fraction = 1};
    for (int part = 0; part < FM_PARTS; part++) {
        const char *name = fm_open_profile_part_name((enum fm_open_profile_part)part);
        if (fm_background_is_ready(trace, name)) {
            ret->whole += parts[part].weight;
            continue;
        }
        double now =
            fm_background_is_in_progress(trace, name) ? fm_background_progress(engine, trace) : 0;
        ret->module = name;
        ret->doing = parts[part].doing;
        ret->fraction = CLAMP(now, 0, 1);
        ret->whole += parts[part].weight * ret->fraction;
        return;
    }
}

/* --- at once --- */

static struct fm_trace *open_profile(const char *path, const char *identity, void *user,
                                     GError **error)
{
    (void)user;
    return fm_profile_open(path, identity, NULL, error);
}

bool fm_profile_open_now(const char *path, const struct fm_progress *progress,
                         struct fm_open_profile **ret, GError **error)
{
    struct fm_engine *engine = fm_engine_new(open_profile, NULL);
    fm_profile_register(engine);
    struct fm_trace *trace = fm_engine_open(engine, path, error);
    bool done =
        trace != NULL && fm_background_run(engine, trace, fm_open_profile_part_name(FM_PART_CHECKS),
                                           progress, error);
    if (done) {
        struct profile *profile = trace->implementation;
        *ret = fm_open_profile_job_take(profile->job);
    }
    fm_engine_free(engine);
    return done;
}
