/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/job.h"

#include <string.h>

#include "analysis/analysis_internal.h"
#include "base/error.h"
#include "base/memory.h"

#define NODES_A_PAGE 4000

/* weight: share of the whole, measured. */
static const struct {
    const char *name;
    fm_phase_run *run;
    enum { OVER_NOTHING, OVER_PDS, OVER_CSDS, OVER_CSSS, OVER_CLIQUES } over;
    double weight;
} phases[] = {
    {"cliques", fm_phase_cliques, OVER_PDS, 0.20},
    {"cliques", fm_phase_members, OVER_PDS, 0.02},
    {"cliques", fm_phase_parents, OVER_PDS, 0.06},
    {"callers", fm_phase_entries, OVER_CSDS, 0.04},
    {"callers", fm_phase_callers, OVER_CSDS, 0.07},
    {"callers", fm_phase_sites, OVER_PDS, 0.09},
    {"callers", fm_phase_sort_sites, OVER_CSSS, 0.04},
    {"callers", fm_phase_procs, OVER_PDS, 0.02},
    {"costs", fm_phase_propagate, OVER_CLIQUES, 0.20},
    {"costs", fm_phase_nested, OVER_NOTHING, 0.10},
    {"summaries", fm_phase_sum_csds, OVER_CSDS, 0.11},
    {"summaries", fm_phase_sum_pds, OVER_PDS, 0.04},
    {"summaries", fm_phase_modules, OVER_NOTHING, 0.01},
};

struct fm_analysis_job *fm_analysis_job_new(const struct fm_profile *profile)
{
    struct fm_analysis_job *job = g_new0(struct fm_analysis_job, 1);
    job->analysis = g_new0(struct fm_analysis, 1);
    job->analysis->profile = profile;
    job->untouched = g_array_new(FALSE, FALSE, sizeof(struct fm_untouched));
    job->analysis->storage = g_new0(struct fm_analysis_storage, 1);
    job->analysis->storage->inherited = profile->measure_count - FM_FIRST_INHERITED;
    return job;
}

/* A page for every so many nodes. */
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

enum fm_job_state fm_analysis_job_step(struct fm_analysis_job *job, uint32_t nodes, GError **error)
{
    if (job->phase == G_N_ELEMENTS(phases))
        return FM_JOB_DONE;
    if (fm_job_must_touch(job)) {
        touch(job, nodes);
        return FM_JOB_MORE;
    }
    if (!job->failed && phases[job->phase].run(job, MAX(nodes, 1)) && !job->failed) {
        job->phase++;
        job->cursor = job->inner = job->stage = 0;
    }
    if (job->failed) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "not enough memory to analyse the profile");
        return FM_JOB_FAILED;
    }
    return job->phase == G_N_ELEMENTS(phases) ? FM_JOB_DONE : FM_JOB_MORE;
}

const char *fm_analysis_job_name(const struct fm_analysis_job *job)
{
    return phases[MIN(job->phase, G_N_ELEMENTS(phases) - 1)].name;
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
    return total == 0 ? 0 : (double)job->cursor / total;
}

/* Of the phases of one name, NULL = all. */
static double fraction(const struct fm_analysis_job *job, const char *name)
{
    double done = 0, all = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(phases); i++) {
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
    return job->phase == G_N_ELEMENTS(phases) ? 1 : fraction(job, NULL);
}

double fm_analysis_job_part_fraction(const struct fm_analysis_job *job)
{
    return job->phase == G_N_ELEMENTS(phases) ? 1 : fraction(job, fm_analysis_job_name(job));
}

struct fm_analysis *fm_analysis_job_take(struct fm_analysis_job *job)
{
    return g_steal_pointer(&job->analysis);
}

void fm_analysis_job_free(struct fm_analysis_job *job)
{
    if (!job)
        return;
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
    g_free(storage->pd_in_first);
    g_free(storage->pd_in);
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++)
        g_free(storage->pd_total[m]);
    fm_map_clear(&storage->pd_total_wide);
    fm_map_clear(&storage->clique_total);
    fm_sparse_clear(&storage->nested_csd);
    fm_sparse_clear(&storage->nested_pd);
    g_free(storage->ps_own);
    g_free(storage->ps_desc);
    g_free(storage->css_own);
    g_free(storage->css_desc);
    g_free(storage->module_ps);
    fm_arcs_clear(storage);
    g_free(storage);
}

void fm_analysis_free(struct fm_analysis *analysis)
{
    if (!analysis)
        return;
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
    g_free(analysis->modules);
    g_free(analysis->ps_zeroed);
    storage_free(analysis->storage);
    g_free(analysis);
}
