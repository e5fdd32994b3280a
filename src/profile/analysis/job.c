/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/analysis/job.h"

#include <string.h>

#include "profile/analysis/analysis_internal.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/worker.h"

#define NODES_A_PAGE 4000
#define NODES_BESIDE 20000     /* a step of the second thread */
#define NODES_LARGE (1u << 20) /* larger profiles use a second thread */
#define WAIT_US 1000           /* for it, in a step */

enum phase {
    PHASE_CLIQUES,
    PHASE_MEMBERS,
    PHASE_PARENTS,
    PHASE_ENTRIES,
    PHASE_CALLERS,
    PHASE_SITES,
    PHASE_SORT_SITES,
    PHASE_PROCS,
    PHASE_OWN,
    PHASE_PROPAGATE,
    PHASE_SUM_PDS,
    PHASE_NESTED,
    PHASE_SUM_CSDS,
    PHASE_MERGE,
    PHASE_SUBTRACT,
    PHASE_MODULES,
    PHASES,
};

/* weight: share of the whole, measured. */
static const struct {
    const char *name;
    fm_phase_run *run;
    enum { OVER_NOTHING, OVER_PDS, OVER_CSDS, OVER_CSSS, OVER_CLIQUES } over;
    double weight;
} phases[PHASES] = {
    [PHASE_CLIQUES] = {"cliques", fm_phase_cliques, OVER_PDS, 0.12},
    [PHASE_MEMBERS] = {"cliques", fm_phase_members, OVER_PDS, 0.03},
    [PHASE_PARENTS] = {"cliques", fm_phase_parents, OVER_PDS, 0.09},
    [PHASE_ENTRIES] = {"callers", fm_phase_entries, OVER_CSDS, 0.07},
    [PHASE_CALLERS] = {"callers", fm_phase_callers, OVER_CSDS, 0.07},
    [PHASE_SITES] = {"callers", fm_phase_sites, OVER_PDS, 0.12},
    [PHASE_SORT_SITES] = {"callers", fm_phase_sort_sites, OVER_CSSS, 0.06},
    [PHASE_PROCS] = {"callers", fm_phase_procs, OVER_PDS, 0.05},
    [PHASE_OWN] = {"costs", fm_phase_own, OVER_CSDS, 0.05},
    [PHASE_PROPAGATE] = {"costs", fm_phase_propagate, OVER_CLIQUES, 0.07},
    [PHASE_SUM_PDS] = {"costs", fm_phase_sum_pds, OVER_PDS, 0.04},
    [PHASE_NESTED] = {"costs", fm_phase_nested, OVER_NOTHING, 0.09},
    [PHASE_SUM_CSDS] = {"summaries", fm_phase_sum_csds, OVER_CSDS, 0.25},
    [PHASE_MERGE] = {"summaries", fm_phase_merge, OVER_NOTHING, 0.01},
    [PHASE_SUBTRACT] = {"summaries", fm_phase_subtract, OVER_NOTHING, 0.01},
    [PHASE_MODULES] = {"summaries", fm_phase_modules, OVER_NOTHING, 0.01},
};

struct fm_analysis_job *fm_analysis_job_new(const struct fm_profile *profile)
{
    struct fm_analysis_job *job = g_new0(struct fm_analysis_job, 1);
    job->analysis = g_new0(struct fm_analysis, 1);
    job->analysis->profile = profile;
    job->untouched = g_array_new(FALSE, FALSE, sizeof(struct fm_untouched));
    job->analysis->storage = g_new0(struct fm_analysis_storage, 1);
    g_atomic_ref_count_init(&job->analysis->storage->refs);
    job->analysis->storage->inherited = profile->measure_count - FM_FIRST_INHERITED;
    job->next_csd = &job->first_csd;
    fm_analysis_job_set_beside(job, fm_worker_pays() && profile->csd_count >= NODES_LARGE);
    return job;
}

/* Cliques, callers and sites follow from the nodes. */
struct fm_analysis_job *fm_analysis_job_new_recount(struct fm_analysis *base,
                                                    const struct fm_profile *profile)
{
    g_return_val_if_fail(base != NULL && profile->csd_callee == base->profile->csd_callee, NULL);
    struct fm_analysis_job *job = fm_analysis_job_new(profile);
    struct fm_analysis *a = job->analysis;
    fm_analysis_job_set_beside(job, false);
    a->clique_count = base->clique_count;
    a->pd_clique = base->pd_clique;
    a->clique_first = base->clique_first;
    a->clique_pds = base->clique_pds;
    a->clique_parent = base->clique_parent;
    a->clique_entries_extra = base->clique_entries_extra;
    a->ps_caller_first = base->ps_caller_first;
    a->ps_callers = base->ps_callers;
    a->css_csd_first = base->css_csd_first;
    a->css_csds = base->css_csds;
    a->ps_pd_first = base->ps_pd_first;
    a->ps_pds = base->ps_pds;
    a->ps_zeroed = base->ps_zeroed;
    a->storage->pd_in = base->storage->pd_in;
    a->storage->pd_in_lists = base->storage->pd_in_lists;
    a->storage->csd_enters = base->storage->csd_enters;
    a->storage->pd_alone = base->storage->pd_alone;
    a->storage->css_irregular = base->storage->css_irregular;
    a->storage->css_callee = base->storage->css_callee;
    a->storage->css_arc_first = base->storage->css_arc_first;
    a->storage->site_arcs = base->storage->site_arcs;
    a->storage->many_arcs = base->storage->many_arcs;
    a->storage->base = fm_analysis_ref(base);
    job->phase = PHASE_OWN;
    return job;
}

static void beside_free(struct fm_analysis_job *beside)
{
    if (beside == NULL)
        return;
    fm_nested_search_free(beside->nested);
    fm_reserved_done(&beside->reserved);
    fm_csd_sums_done(&beside->sums);
    g_array_unref(beside->untouched);
    g_free(beside);
}

void fm_analysis_job_set_beside(struct fm_analysis_job *job, bool beside)
{
    g_return_if_fail(job != NULL && job->worker == NULL);
    g_clear_pointer(&job->beside, beside_free);
    if (!beside)
        return;
    job->beside = g_new0(struct fm_analysis_job, 1);
    job->beside->analysis = job->analysis;
    job->beside->untouched = g_array_new(FALSE, FALSE, sizeof(struct fm_untouched));
    job->beside->next_csd = job->next_csd;
}

/* Arrays of totals: for measures that are not 0 in some call read so far. */
bool fm_analysis_job_reserve(struct fm_analysis_job *job,
                             void (*ask)(void *user, void *array, size_t bytes), void *user)
{
    g_return_val_if_fail(job != NULL && ask != NULL && job->phase == 0, false);
    const struct fm_profile *profile = job->analysis->profile;
    unsigned measures[FM_MEASURES_MAX];
    size_t pds = profile->pd_count + (size_t)2, csds = profile->csd_count;
    size_t totals = (pds - 1) * fm_total_measures(job->analysis, measures);
    const size_t counts[FM_RESERVED_MAX][2] = {
        {pds, totals}, {pds, pds}, {pds, csds}, {pds, csds}, {pds, pds}};
    struct fm_analysis_job *jobs[] = {job, job->beside};
    unsigned next = job->reserved_count;
    if (job->beside == NULL || next == 2 * FM_RESERVED_MAX)
        return false;
    struct fm_reserved *reserved = &jobs[next % 2]->reserved;
    size_t count = counts[next / 2][next % 2];
    uint32_t *array = fm_memory_try_array(count, sizeof(uint32_t));
    reserved->arrays[next / 2] = array; /* if it is NULL, the array is allocated later */
    reserved->counts[next / 2] = count;
    job->reserved_count++;
    if (array != NULL)
        ask(user, array, count * sizeof(uint32_t));
    return true;
}

/* Touches a page for every N nodes. */
static void touch(struct fm_analysis_job *job, uint32_t nodes)
{
    while (job->untouched->len > 0 && nodes > 0) {
        struct fm_untouched *last =
            &g_array_index(job->untouched, struct fm_untouched, job->untouched->len - 1);
        fm_memory_touch(last->array, last->bytes, last->at);
        last->at += FM_MEMORY_PAGE_BYTES;
        if (last->at >= last->bytes)
            g_array_set_size(job->untouched, job->untouched->len - 1);
        nodes -= MIN(nodes, NODES_A_PAGE);
    }
}

/* Some of the phase that is next. */
static void work(struct fm_analysis_job *job, uint32_t nodes)
{
    if (fm_job_must_touch(job)) {
        touch(job, nodes);
        return;
    }
    if (!job->failed && phases[job->phase].run(job, nodes) && !job->failed) {
        job->cursor = job->inner = job->stage = 0;
        job->phase++;
    }
}

/* --- the second thread ---
 *
 * here:   cliques, members, parents | propagate, sum_pds                | sum_csds         | merge
 * beside: own           | entries, callers, sites, sort_sites, procs    | nested, sum_csds |
 *
 * Phases after a bar need all phases before it. Exception: propagate, and sum_pds except in arc
 * profiles, need only `own` of the second thread's phases. Both threads sum up csds, in ranges, as
 * soon as they reach that phase; merge adds one thread's sums to the other's. */

static bool work_beside(void *user)
{
    struct fm_analysis_job *beside = user;
    work(beside, NODES_BESIDE);
    return !beside->failed && beside->phase < beside->end;
}

static void begin_beside(struct fm_analysis_job *job, enum phase phase, enum phase end)
{
    job->beside->phase = phase;
    job->beside->end = end;
    job->worker = fm_worker_new(work_beside, job->beside);
}

/* Whether what was begun there is done. */
static bool beside_is_done(struct fm_analysis_job *job, uint64_t wait_us)
{
    if (job->worker == NULL)
        return true;
    if (!fm_worker_wait(job->worker, wait_us))
        return false;
    g_clear_pointer(&job->worker, fm_worker_free);
    job->failed |= job->beside->failed;
    return true;
}

/* Starts the next computation in the second thread. */
static void go_on_beside(struct fm_analysis_job *job)
{
    if (job->phase == PHASE_CLIQUES && job->beside->end == 0)
        begin_beside(job, PHASE_OWN, PHASE_OWN + 1);
    else if (job->beside->end == PHASE_OWN + 1 && beside_is_done(job, 0))
        begin_beside(job, PHASE_ENTRIES, PHASE_OWN);
}

/* Before a phase begins or continues. False: its prerequisites are not ready. */
static bool may_go_on(struct fm_analysis_job *job)
{
    go_on_beside(job);
    if (job->phase == PHASE_ENTRIES)
        job->phase = PHASE_PROPAGATE;
    if (job->phase == PHASE_PROPAGATE && job->beside->end == PHASE_OWN + 1) {
        (void)beside_is_done(job, WAIT_US); /* the next step begins with what follows */
        return false;
    }
    if (job->phase == PHASE_SUM_PDS && fm_profile_is(job->analysis->profile, FM_NATURE_ARCS))
        return beside_is_done(job, WAIT_US);
    if (job->phase == PHASE_NESTED) {
        if (!beside_is_done(job, WAIT_US))
            return false;
        fm_reserved_done(&job->reserved); /* frees reserved arrays that were not used */
        fm_reserved_done(&job->beside->reserved);
        job->failed |= !fm_csd_sums_init(job->analysis, &job->beside->sums);
        begin_beside(job, PHASE_NESTED, PHASE_SUM_CSDS + 1);
        job->phase = PHASE_SUM_CSDS;
    }
    return job->phase != PHASE_MERGE || beside_is_done(job, WAIT_US);
}

enum fm_job_state fm_analysis_job_step(struct fm_analysis_job *job, uint32_t nodes, GError **error)
{
    if (job->phase == PHASES)
        return FM_JOB_DONE;
    if (job->beside == NULL || may_go_on(job))
        work(job, MAX(nodes, 1));
    if (job->failed) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "not enough memory to analyse the profile");
        return FM_JOB_FAILED;
    }
    return job->phase == PHASES ? FM_JOB_DONE : FM_JOB_MORE;
}

const char *fm_analysis_job_name(const struct fm_analysis_job *job)
{
    return phases[MIN(job->phase, PHASES - 1)].name;
}

/* How much of the phase that is being done is. */
static double phase_fraction(const struct fm_analysis_job *job)
{
    const struct fm_analysis *a = job->analysis;
    uint32_t items[] = {[OVER_NOTHING] = 0,
                        [OVER_PDS] = a->profile->pd_count,
                        [OVER_CSDS] = a->profile->csd_count,
                        [OVER_CSSS] = a->profile->css_count,
                        [OVER_CLIQUES] = a->clique_count};
    uint32_t total = items[phases[job->phase].over];
    return total == 0 ? 0 : MIN((double)job->cursor / total, 1);
}

/* Fraction done of the phases of one name; NULL = all. */
static double fraction(const struct fm_analysis_job *job, const char *name)
{
    double done = 0, all = 0;
    for (unsigned i = 0; i < PHASES; i++) {
        if (name != NULL && strcmp(phases[i].name, name) != 0)
            continue;
        all += phases[i].weight;
        done += i < job->phase    ? phases[i].weight
                : i == job->phase ? phases[i].weight * phase_fraction(job)
                                  : 0;
    }
    return MIN(done / all, 1);
}

double fm_analysis_job_fraction(const struct fm_analysis_job *job)
{
    return job->phase == PHASES ? 1 : fraction(job, NULL);
}

double fm_analysis_job_part_fraction(const struct fm_analysis_job *job)
{
    return job->phase == PHASES ? 1 : fraction(job, fm_analysis_job_name(job));
}

struct fm_analysis *fm_analysis_job_take(struct fm_analysis_job *job)
{
    return g_steal_pointer(&job->analysis);
}

void fm_analysis_job_free(struct fm_analysis_job *job)
{
    if (!job)
        return;
    fm_worker_free(job->worker);
    beside_free(job->beside);
    fm_reserved_done(&job->reserved);
    fm_clique_search_free(job->cliques);
    fm_nested_search_free(job->nested);
    fm_module_search_free(job->modules);
    g_array_unref(job->untouched);
    fm_analysis_free(job->analysis);
    g_free(job);
}

bool fm_analysis_new(const struct fm_profile *profile, const struct fm_progress *progress,
                     struct fm_analysis **ret, GError **error)
{
    struct fm_analysis_job *job = fm_analysis_job_new(profile);
    enum fm_job_state state = FM_JOB_MORE;
    while (state == FM_JOB_MORE) {
        if (progress && progress->report &&
            !progress->report(progress->user, fm_analysis_job_name(job),
                              (uint64_t)(fm_analysis_job_fraction(job) * 1000), 1000)) {
            g_set_error(error, FM_ERROR, FM_ERROR_CANCELLED, "the analysis was cancelled");
            state = FM_JOB_FAILED;
            break;
        }
        state = fm_analysis_job_step(job, 200000, error);
    }
    if (state == FM_JOB_DONE)
        *ret = fm_analysis_job_take(job);
    fm_analysis_job_free(job);
    return state == FM_JOB_DONE;
}

static void storage_free(struct fm_analysis_storage *storage)
{
    g_free(storage->pd_totals);
    fm_map_done(&storage->pd_total_wide);
    fm_map_done(&storage->clique_total);
    fm_map_done(&storage->clique_entered);
    fm_sparse_done(&storage->nested_csd);
    fm_sparse_done(&storage->nested_pd);
    g_free(storage->ps_own);
    g_free(storage->ps_desc);
    g_free(storage->css_own);
    g_free(storage->css_desc);
    g_free(storage->module_ps);
    fm_arcs_done(storage);
    g_free(storage);
}

struct fm_analysis *fm_analysis_ref(struct fm_analysis *analysis)
{
    g_atomic_ref_count_inc(&analysis->storage->refs);
    return analysis;
}

static void free_indexes(struct fm_analysis *analysis)
{
    g_free(analysis->storage->pd_in);
    g_free(analysis->storage->pd_in_lists);
    g_free(analysis->pd_clique);
    g_free(analysis->clique_first);
    g_free(analysis->clique_pds);
    g_free(analysis->clique_parent);
    g_free(analysis->ps_caller_first);
    g_free(analysis->ps_callers);
    g_free(analysis->css_csd_first);
    g_free(analysis->css_csds);
    g_free(analysis->ps_pd_first);
    g_free(analysis->ps_pds);
    g_free(analysis->ps_zeroed);
    g_free(analysis->storage->csd_enters);
    g_free(analysis->storage->pd_alone);
    fm_site_arcs_done(analysis->storage);
}

void fm_analysis_free(struct fm_analysis *analysis)
{
    if (!analysis || !g_atomic_ref_count_dec(&analysis->storage->refs))
        return;
    if (analysis->storage->base == NULL)
        free_indexes(analysis);
    fm_analysis_free(analysis->storage->base);
    g_free(analysis->modules);
    storage_free(analysis->storage);
    g_free(analysis);
}
