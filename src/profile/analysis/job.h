/* SPDX-License-Identifier: Apache-2.0 */
/* The start-up analysis in small steps, for schedulers that do other things in between.
 * fm_analysis_new() is the loop over the steps. */
#pragma once

#include "profile/analysis/analysis.h"
#include "base/job.h"

struct fm_analysis_job;

/* profile is borrowed and must outlive the job and its analysis. */
struct fm_analysis_job *fm_analysis_job_new(const struct fm_profile *profile);
/* Analyses a profile that shares its nodes, and so also the indexes, with an earlier analysis
 * (fm_build_new_recount()). The earlier profile must still exist. */
struct fm_analysis_job *fm_analysis_job_new_recount(struct fm_analysis *base,
                                                    const struct fm_profile *profile);
/* Does some of the work in a second thread, or none; the result is the same. By default large
 * profiles use one if there is a CPU for it. Call before the first step. */
void fm_analysis_job_set_beside(struct fm_analysis_job *job, bool beside);
/* While the profile's nodes are still being read, and without reading them: allocates an array that
 * will be needed, and calls ask, which may request its pages from the kernel. False: there are no
 * more, or there is no second thread. Call before the first step. */
bool fm_analysis_job_reserve(struct fm_analysis_job *job,
                             void (*ask)(void *user, void *array, size_t bytes), void *user);
/* Does work for about `nodes` nodes (> 0), which takes the order of 100 ns each. On FM_JOB_FAILED
 * sets *error: FM_ERROR_LIMIT, not enough memory. */
enum fm_job_state fm_analysis_job_step(struct fm_analysis_job *job, uint32_t nodes, GError **error);
/* The computation that the next step belongs to: "cliques", "callers", "costs", "summaries". */
const char *fm_analysis_job_name(const struct fm_analysis_job *job);
/* How much of the whole is done, 0 to 1. */
double fm_analysis_job_fraction(const struct fm_analysis_job *job);
/* As above, for the computation to which the next step belongs. */
double fm_analysis_job_part_fraction(const struct fm_analysis_job *job);
/* The result, after FM_JOB_DONE; the caller owns it. */
struct fm_analysis *fm_analysis_job_take(struct fm_analysis_job *job);
void fm_analysis_job_free(struct fm_analysis_job *job); /* NULL is allowed */

/* --- the invariants in small steps; fm_analysis_invariants() is the loop over them --- */

struct fm_checking;

struct fm_checking *fm_checking_new(const struct fm_analysis *analysis);
/* Checks `nodes` nodes (> 0). True when all have been checked. */
bool fm_checking_step(struct fm_checking *checking, uint32_t nodes);
double fm_checking_fraction(const struct fm_checking *checking); /* 0 to 1 */
/* As fm_analysis_invariants(), after the last step. */
void fm_checking_finish(struct fm_checking *checking, struct fm_invariant **ret,
                        unsigned *ret_count);
/* Adds the invariants of waits to an array of struct fm_invariant; none when waits were not
 * recorded. */
void fm_invariants_of_heap(const struct fm_profile *profile, GArray *to);
void fm_invariants_of_waits(const struct fm_profile *profile, GArray *to);
void fm_invariants_of_durations(const struct fm_profile *profile, GArray *to);
/* Invariants of block lifetimes; live_blocks: the measure. */
void fm_invariants_of_lifetimes(const struct fm_profile *profile, unsigned live_blocks, GArray *to);
void fm_invariants_of_totals(const struct fm_analysis *a, GArray *to);
void fm_invariants_of_facts(const struct fm_analysis *a, GArray *to);
void fm_checking_free(struct fm_checking *checking); /* NULL is allowed */
