/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a recording in small steps, so that a scheduler can do other work in between. The parts
 * come in this order; each is the work of one computation module. */
#pragma once

#include "base/files/mapped.h"
#include "base/job.h"
#include "open/deep.h"

enum fm_open_profile_part {
    FM_PART_LOADING,
    FM_PART_CLIQUES,
    FM_PART_CALLERS,
    FM_PART_COSTS,
    FM_PART_SUMMARIES,
    FM_PART_CHECKS,
    FM_PART_RECURSION,
    FM_PARTS,
};

/* "loading", "cliques", ...: names of modules. */
const char *fm_open_profile_part_name(enum fm_open_profile_part part);

struct fm_open_profile_job;

/* As above, for an open file; takes ownership. Files beside it are also opened beneath roots; NULL:
 * anywhere. */
FM_MUST_USE bool fm_open_profile_job_new_file(struct fm_mapped_file *file, struct fm_roots *roots,
                                              struct fm_open_profile_job **ret, GError **error);
/* For a profile in memory; takes ownership. Files beside it are looked up at path. */
struct fm_open_profile_job *fm_open_profile_job_new_profile(const char *path,
                                                            struct fm_profile *profile);
/* For a profile that shares the nodes of an earlier one (fm_build_new_recount()), and so also data
 * that depends on the nodes only. Takes ownership of the profile, and of the lines instead of
 * reading them from files. */
struct fm_open_profile_job *fm_open_profile_job_new_recount(const char *path,
                                                            struct fm_profile *profile,
                                                            struct fm_analysis *base,
                                                            struct fm_identities *identities,
                                                            struct fm_source_map *lines);
/* Works on a part for about `nodes` nodes (> 0); earlier parts must be done. FM_JOB_DONE when that
 * part is done. Do not call it again after FM_JOB_FAILED. */
enum fm_job_state fm_open_profile_job_step(struct fm_open_profile_job *job,
                                           enum fm_open_profile_part part, uint32_t nodes,
                                           GError **error);
/* Fraction of the part that is done, 0 to 1. */
double fm_open_profile_job_fraction(const struct fm_open_profile_job *job,
                                    enum fm_open_profile_part part);
/* The part that is known so far: the field `known` says what may be used. Owned by the job. */
const struct fm_open_profile *fm_open_profile_job_profile(const struct fm_open_profile_job *job);
/* Returns the recording, after FM_PART_CHECKS or later; the caller owns it. Results of the last
 * part are NULL before it. */
struct fm_open_profile *fm_open_profile_job_take(struct fm_open_profile_job *job);
void fm_open_profile_job_free(struct fm_open_profile_job *job); /* NULL is allowed */
