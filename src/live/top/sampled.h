/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is sampled from outside, in the form of a recording that is followed: times and
 * sleeps by function and context. Calls and allocations are not known. */
#pragma once

#include "record/running/followed.h"

struct fm_top_sampled;

/* Begins to sample. The calling process has no other threads. Errors: those of
 * fm_sampler_start(). */
FM_MUST_USE bool fm_top_sampled_new(uint32_t pid, struct fm_top_sampled **ret, GError **error);
void fm_top_sampled_free(struct fm_top_sampled *sampled);
/* Reads what was sampled up to now, unless the last reading took so long that it is too early.
 * *ret_running: whether sampling goes on. */
FM_MUST_USE bool fm_top_sampled_read(struct fm_top_sampled *sampled, bool *ret_running,
                                     GError **error);
/* Counts of the latest reading, for fm_followed_rows() and the like. Functions, contexts and edges
 * keep their numbers. */
const struct fm_followed *fm_top_sampled_watch(const struct fm_top_sampled *sampled);
const char *fm_top_sampled_name(const struct fm_top_sampled *sampled, uint32_t function);
