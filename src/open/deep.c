/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a profile in steps: reading, analysis, checks. */
#include "open/deep_job.h"

#include <string.h>

#include "profile/analysis/job.h"
#include "base/error.h"
#include "base/worker.h"
#include "mercury/body/recursion_types.h"
#include "profile/file/read_job.h"
#include "profile/digest/calls/site_cache.h"
#include "profile/digest/flame_cache.h"
#include "profile/digest/hottest.h"
#include "profile/digest/identity/identities.h"
#include "profile/digest/lines/source_index.h"

#define NODES_A_STEP 200000
#define NODES_LARGE (1u << 20) /* profiles with more nodes are checked in a second thread */
#define NODES_A_CHECK 20000    /* in one step of that thread */
/* larger files are read with the help of a second thread */
#define BYTES_LARGE ((size_t)16 << 20)
#define WAIT_US 1000         /* maximum wait for it in a step */
#define RESERVE_FRACTION 0.2 /* fraction of a file after which its measures are known */

struct fm_open_profile_job {
    struct fm_open_profile *recording;
    struct fm_roots *roots; /* folders in which files beside it are opened; NULL = anywhere */
    enum fm_open_profile_part part; /* the next part */
    struct fm_profile_job *reading;
    struct fm_analysis_job *analysing;
    struct fm_checking *checking;
    /* for a large profile: checks it while the last summaries are computed */
    struct fm_worker *checker;
    bool recursions_found;         /* found by that thread; no other looks at it */
    struct fm_procrep_job *bodies; /* NAME.procrep, while it is read */
    unsigned extras;               /* number of extras of FM_PART_SUMMARIES that are done */
    bool alone;                    /* there are no files beside it */
    bool large;                    /* it is read with the help of a second thread */
};

const char *fm_open_profile_part_name(enum fm_open_profile_part part)
{
    static const char *const names[FM_PARTS] = {"loading",   "cliques", "callers",  "costs",
                                                "summaries", "checks",  "recursion"};
    return names[part];
}

static struct fm_open_profile_job *job_new(const char *path)
{
    struct fm_open_profile_job *job = g_new0(struct fm_open_profile_job, 1);
    job->recording = g_new0(struct fm_open_profile, 1);
    job->recording->path = g_strdup(path);
    job->recording->name = g_path_get_basename(path);
    job->recording->contour_state = FM_CONTOUR_NO_FILE;
    return job;
}

static void begin_analysis(struct fm_open_profile_job *job)
{
    job->recording->known = FM_KNOWN_PROFILE;
    if (job->analysing == NULL)
        job->analysing = fm_analysis_job_new(job->recording->profile);
    job->part = FM_PART_CLIQUES;
}

static void ask_for_pages(void *reading, void *array, size_t bytes)
{
    fm_profile_job_ask_for(reading, array, bytes);
}

/* Allocates arrays that the analysis will need, one a step, while the second thread has little to
 * do. */
static void reserve(struct fm_open_profile_job *job)
{
    if (!job->large || fm_profile_job_fraction(job->reading) < RESERVE_FRACTION)
        return;
    if (job->analysing == NULL)
        job->analysing = fm_analysis_job_new(job->recording->profile);
    (void)fm_analysis_job_reserve(job->analysing, ask_for_pages, job->reading);
}

/* While it is read, the profile belongs to the reader. */
static enum fm_job_state step_reading(struct fm_open_profile_job *job, uint32_t nodes,
                                      GError **error)
{
    enum fm_job_state state = fm_profile_job_step(job->reading, nodes, error);
    const struct fm_profile *header = fm_profile_job_header(job->reading);
    if (state == FM_JOB_MORE && header != NULL) {
        job->recording->profile = (struct fm_profile *)(uintptr_t)header;
        job->recording->known = FM_KNOWN_HEADER;
        reserve(job);
    } else if (state == FM_JOB_DONE) {
        job->recording->profile = fm_profile_job_take(job->reading);
        g_clear_pointer(&job->reading, fm_profile_job_free);
        begin_analysis(job);
    }
    return state;
}

/* Opens the file and reads its header, which is short for any size. Errors: those of
 * fm_profile_read(). */
static bool job_open(const char *path, struct fm_open_profile_job **ret, GError **error)
{
    struct fm_mapped_file *file;
    return fm_mapped_file_open(path, &file, error) &&
           fm_open_profile_job_new_file(file, NULL, ret, error);
}

bool fm_open_profile_job_new_file(struct fm_mapped_file *file, struct fm_roots *roots,
                                  struct fm_open_profile_job **ret, GError **error)
{
    struct fm_open_profile_job *job = job_new(file->path);
    job->roots = fm_roots_ref(roots);
    size_t bytes = file->size;
    job->reading = fm_profile_job_new_file(file);
    job->large = bytes >= BYTES_LARGE && fm_worker_pays();
    if (job->large)
        fm_profile_job_set_beside(job->reading);
    if (step_reading(job, 1, error) == FM_JOB_FAILED) {
        fm_open_profile_job_free(job);
        return false;
    }
    *ret = job;
    return true;
}

struct fm_open_profile_job *fm_open_profile_job_new_profile(const char *path,
                                                            struct fm_profile *profile)
{
    struct fm_open_profile_job *job = job_new(path);
    job->recording->profile = profile;
    begin_analysis(job);
    return job;
}

struct fm_open_profile_job *fm_open_profile_job_new_recount(const char *path,
                                                            struct fm_profile *profile,
                                                            struct fm_analysis *base,
                                                            struct fm_identities *identities,
                                                            struct fm_source_map *lines)
{
    struct fm_open_profile_job *job = job_new(path);
    job->alone = true;
    job->recording->profile = profile;
    job->recording->known = FM_KNOWN_PROFILE;
    job->recording->source_map = lines;
    job->recording->identities = fm_identities_ref(identities);
    job->analysing = fm_analysis_job_new_recount(base, profile);
    job->part = FM_PART_COSTS;
    return job;
}

/* Lines, sources and code: attached to the profile, or beside an older one. */
static void read_source_map(struct fm_open_profile_job *job)
{
    struct fm_open_profile *recording = job->recording;
    g_autoptr(GError) error = NULL;
    if (!fm_source_map_find(job->roots, recording->path, recording->profile, &recording->source_map,
                            &error) &&
        !g_error_matches(error, FM_ERROR, FM_ERROR_NOT_FOUND))
        recording->source_map_message = g_strdup(error->message);
    g_clear_error(&error);
    if (!fm_source_texts_find(job->roots, recording->path, recording->profile,
                              &recording->source_texts, &error) &&
        !g_error_matches(error, FM_ERROR, FM_ERROR_NOT_FOUND))
        recording->source_texts_message = g_strdup(error->message);
    g_clear_error(&error);
    if (!fm_machine_code_find(job->roots, recording->path, recording->profile,
                              &recording->machine_code, &error) &&
        !g_error_matches(error, FM_ERROR, FM_ERROR_NOT_FOUND))
        recording->machine_code_message = g_strdup(error->message);
}

/* Reads NAME.procrep beside NAME.data. Its modules are listed even if nothing in them was called.
 * True when it has been read, or cannot be. */
static bool step_procrep(struct fm_open_profile_job *job, uint32_t procs)
{
    struct fm_open_profile *recording = job->recording;
    g_autoptr(GError) error = NULL;
    enum fm_job_state state = FM_JOB_MORE;
    if (job->bodies == NULL &&
        !fm_procrep_job_new_beside(job->roots, recording->path, &job->bodies, &error)) {
        if (!g_error_matches(error, FM_ERROR, FM_ERROR_NOT_FOUND))
            recording->procrep_message = g_strdup(error->message);
        return true;
    }
    state = fm_procrep_job_step(job->bodies, procs, &error);
    if (state == FM_JOB_MORE)
        return false;
    if (state == FM_JOB_DONE)
        recording->procrep = fm_procrep_job_take(job->bodies);
    else
        recording->procrep_message = g_strdup(error->message);
    g_clear_pointer(&job->bodies, fm_procrep_job_free);
    return true;
}

static void list_modules(struct fm_open_profile *recording)
{
    if (recording->procrep == NULL)
        return;
    const struct fm_procrep *procrep = recording->procrep;
    g_autofree const char **names = g_new(const char *, procrep->module_count + 1u);
    for (uint32_t i = 0; i < procrep->module_count; i++)
        names[i] = procrep->modules[i].name;
    fm_analysis_add_modules(recording->analysis, names, procrep->module_count);
}

/* Computes the recursions of the first page, for which a reader waits, then checks. */
static bool check_beside(void *user)
{
    struct fm_open_profile_job *job = user;
    if (!job->recursions_found) {
        job->recursions_found = fm_hot_step_recursions(job->recording->hot, NODES_A_CHECK);
        return true;
    }
    return !fm_checking_step(job->checking, NODES_A_CHECK);
}

/* Both threads only read the analysis. */
static void begin_checks(struct fm_open_profile_job *job)
{
    struct fm_open_profile *recording = job->recording;
    recording->hot = fm_hot_new(recording->analysis);
    job->checking = fm_checking_new(recording->analysis);
    if (!fm_worker_pays() || recording->profile->csd_count < NODES_LARGE)
        return;
    if (job->alone)
        job->recursions_found = true; /* by the first thread that needs them */
    else
        fm_hot_recursions_beside(recording->hot);
    job->checker = fm_worker_new(check_beside, job);
}

/* Computes the summaries other than sums, one a step. True when all are done. */
static bool step_extras(struct fm_open_profile_job *job, uint32_t nodes)
{
    struct fm_open_profile *recording = job->recording;
    if (job->extras == 0 && recording->profile->flavour == FM_FLAVOUR_MERCURY &&
        !step_procrep(job, nodes))
        return false;
    switch (job->extras++) {
    case 0:
        list_modules(recording); /* from here on the analysis does not change */
        begin_checks(job);
        return false;
    case 1:
        if (!job->alone &&
            /* otherwise no contour file can belong to it */
            g_str_has_suffix(recording->path, ".data"))
            recording->contour_state =
                fm_contour_read(job->roots, recording->path, recording->analysis,
                                &recording->contour, &recording->contour_message);
        return false;
    case 2:
        if (recording->profile->flavour == FM_FLAVOUR_C) {
            recording->source_index = fm_source_index_new(recording->profile);
            if (!job->alone)
                read_source_map(job);
        }
        recording->flames = fm_flame_cache_new();
        recording->sites = fm_site_cache_new();
        if (recording->identities == NULL)
            recording->identities = fm_identities_new();
        return false;
    default: /* the first page's rows; for profiles that are remade, only when they are viewed */
        if (!job->alone && fm_hot_waits(recording->hot))
            (void)fm_worker_wait(job->checker, WAIT_US);
        if (!job->alone && !fm_hot_step(recording->hot, nodes))
            return false;
    }
    recording->known = FM_KNOWN_COSTS;
    job->part = FM_PART_CHECKS;
    return true;
}

/* The analysis names the part of its next step by the same words. */
static enum fm_job_state step_analysis(struct fm_open_profile_job *job, uint32_t nodes,
                                       GError **error)
{
    enum fm_open_profile_part part = job->part;
    if (job->analysing == NULL)
        return step_extras(job, nodes) ? FM_JOB_DONE : FM_JOB_MORE;
    enum fm_job_state state = fm_analysis_job_step(job->analysing, nodes, error);
    if (state == FM_JOB_DONE) {
        job->recording->analysis = fm_analysis_job_take(job->analysing);
        g_clear_pointer(&job->analysing, fm_analysis_job_free);
        job->part = FM_PART_SUMMARIES;
        return part == FM_PART_SUMMARIES ? FM_JOB_MORE : FM_JOB_DONE;
    }
    while (state == FM_JOB_MORE && job->part < FM_PART_SUMMARIES &&
           strcmp(fm_analysis_job_name(job->analysing), fm_open_profile_part_name(job->part)) != 0)
        job->part++;
    return state == FM_JOB_MORE && job->part > part ? FM_JOB_DONE : state;
}

static enum fm_job_state step_checks(struct fm_open_profile_job *job, uint32_t nodes)
{
    struct fm_open_profile *recording = job->recording;
    if (job->checker != NULL ? !fm_worker_wait(job->checker, WAIT_US)
                             : !fm_checking_step(job->checking, nodes))
        return FM_JOB_MORE;
    g_clear_pointer(&job->checker, fm_worker_free);
    fm_checking_finish(job->checking, &recording->invariants, &recording->invariant_count);
    g_clear_pointer(&job->checking, fm_checking_free);
    recording->known = FM_KNOWN_CHECKED;
    job->part = FM_PART_RECURSION;
    return FM_JOB_DONE;
}

/* For Mercury programs nothing is known without bodies; the page says why. */
static enum fm_job_state step_recursion(struct fm_open_profile_job *job, uint32_t nodes)
{
    struct fm_open_profile *recording = job->recording;
    if (recording->recursion_types == NULL)
        recording->recursion_types = fm_recursion_types_new(recording->analysis, recording->procrep,
                                                            recording->procrep_message);
    bool possible = recording->profile->flavour == FM_FLAVOUR_C || recording->procrep != NULL;
    if (possible && !fm_recursion_types_step(recording->recursion_types, nodes))
        return FM_JOB_MORE;
    recording->known = FM_KNOWN_ALL;
    job->part = FM_PARTS;
    return FM_JOB_DONE;
}

enum fm_job_state fm_open_profile_job_step(struct fm_open_profile_job *job,
                                           enum fm_open_profile_part part, uint32_t nodes,
                                           GError **error)
{
    if (job->part > part)
        return FM_JOB_DONE;
    g_return_val_if_fail(job->part == part, FM_JOB_DONE);
    if (part == FM_PART_LOADING)
        return step_reading(job, nodes, error);
    if (part == FM_PART_RECURSION)
        return step_recursion(job, nodes);
    return part == FM_PART_CHECKS ? step_checks(job, nodes) : step_analysis(job, nodes, error);
}

double fm_open_profile_job_fraction(const struct fm_open_profile_job *job,
                                    enum fm_open_profile_part part)
{
    if (job->part != part)
        return job->part > part;
    if (job->reading != NULL)
        return fm_profile_job_fraction(job->reading);
    if (job->analysing != NULL)
        return fm_analysis_job_part_fraction(job->analysing);
    if (part == FM_PART_SUMMARIES)
        return 1; /* the rest is short */
    if (part == FM_PART_RECURSION)
        return job->recording->recursion_types == NULL
                   ? 0
                   : fm_recursion_types_fraction(job->recording->recursion_types);
    return job->checker != NULL ? 0 : fm_checking_fraction(job->checking);
}

const struct fm_open_profile *fm_open_profile_job_profile(const struct fm_open_profile_job *job)
{
    return job->recording;
}

struct fm_open_profile *fm_open_profile_job_take(struct fm_open_profile_job *job)
{
    g_return_val_if_fail(job->part >= FM_PART_RECURSION, NULL);
    job->recording->known = FM_KNOWN_ALL;
    return g_steal_pointer(&job->recording);
}

void fm_open_profile_job_free(struct fm_open_profile_job *job)
{
    if (job == NULL)
        return;
    if (job->recording != NULL && job->reading != NULL)
        job->recording->profile = NULL;
    fm_profile_job_free(job->reading);
    fm_analysis_job_free(job->analysing);
    fm_worker_free(job->checker);
    fm_checking_free(job->checking);
    fm_procrep_job_free(job->bodies);
    fm_open_profile_free(job->recording);
    fm_roots_unref(job->roots);
    g_free(job);
}

/* Runs all parts that every page needs. */
static bool run(struct fm_open_profile_job *job, const struct fm_progress *progress,
                struct fm_open_profile **ret, GError **error)
{
    enum fm_job_state state = FM_JOB_MORE;
    while (job->part <= FM_PART_CHECKS && state != FM_JOB_FAILED) {
        enum fm_open_profile_part part = job->part;
        uint64_t done = (uint64_t)(fm_open_profile_job_fraction(job, part) * 1000);
        if (progress && progress->report &&
            !progress->report(progress->user, fm_open_profile_part_name(part), done, 1000)) {
            g_set_error(error, FM_ERROR, FM_ERROR_CANCELLED, "%s: opening was cancelled",
                        job->recording->path);
            state = FM_JOB_FAILED;
        } else {
            state = fm_open_profile_job_step(job, part, NODES_A_STEP, error);
        }
    }
    if (state != FM_JOB_FAILED)
        *ret = fm_open_profile_job_take(job);
    fm_open_profile_job_free(job);
    return state != FM_JOB_FAILED;
}

bool fm_open_profile_open(const char *path, const struct fm_progress *progress,
                          struct fm_open_profile **ret, GError **error)
{
    struct fm_open_profile_job *job;
    return job_open(path, &job, error) && run(job, progress, ret, error);
}

bool fm_open_profile_new(const char *path, struct fm_profile *profile,
                         const struct fm_progress *progress, struct fm_open_profile **ret,
                         GError **error)
{
    return run(fm_open_profile_job_new_profile(path, profile), progress, ret, error);
}

void fm_open_profile_free(struct fm_open_profile *recording)
{
    if (!recording)
        return;
    fm_hot_free(recording->hot);
    fm_flame_cache_free(recording->flames);
    fm_site_cache_free(recording->sites);
    fm_identities_free(recording->identities);
    fm_recursion_types_free(recording->recursion_types);
    fm_source_index_free(recording->source_index);
    fm_source_map_free(recording->source_map);
    g_free(recording->source_map_message);
    fm_source_texts_free(recording->source_texts);
    g_free(recording->source_texts_message);
    fm_machine_code_free(recording->machine_code);
    g_free(recording->machine_code_message);
    fm_procrep_free(recording->procrep);
    g_free(recording->procrep_message);
    fm_invariants_free(recording->invariants, recording->invariant_count);
    g_free(recording->contour_message);
    fm_contour_free(recording->contour);
    fm_analysis_free(recording->analysis);
    fm_profile_free(recording->profile);
    g_free(recording->name);
    g_free(recording->path);
    g_free(recording);
}
