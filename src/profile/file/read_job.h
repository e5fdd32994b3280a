/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a profile in small steps, for schedulers that do other things in between.
 * fm_profile_read() is the loop over the steps. */
#pragma once

#include "base/files/mapped.h"
#include "base/job.h"
#include "profile/file/profile.h"

struct fm_profile_job;

/* Reads an open file, which it takes. */
struct fm_profile_job *fm_profile_job_new_file(struct fm_mapped_file *file);
/* Call before the first step: a second thread prefaults memory, and does half of the checks at the
 * end. The result is the same. */
void fm_profile_job_set_beside(struct fm_profile_job *job);
/* While nodes are read, where that thread is: pages of an array that will be filled when they have
 * been. It must outlive the job. */
void fm_profile_job_ask_for(struct fm_profile_job *job, void *array, size_t bytes);
/* Does work for about `nodes` nodes (> 0), which takes the order of 100 ns each. Errors: those of
 * fm_profile_read(). The first step reads the header alone. */
enum fm_job_state fm_profile_job_step(struct fm_profile_job *job, uint32_t nodes, GError **error);
/* How much of the whole is done, 0 to 1. */
double fm_profile_job_fraction(const struct fm_profile_job *job);
/* A profile of which only data from the header may be used: names, counts, totals; no nodes. NULL
 * before the first step, and after taking. */
const struct fm_profile *fm_profile_job_header(const struct fm_profile_job *job);
/* The result, after FM_JOB_DONE; the caller owns it. */
struct fm_profile *fm_profile_job_take(struct fm_profile_job *job);
void fm_profile_job_free(struct fm_profile_job *job); /* NULL is allowed */
