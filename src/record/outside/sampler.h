/* SPDX-License-Identifier: Apache-2.0 */
/* Samples a process from outside in a process of fathom's own, which writes the profile so far when
 * it is asked to. A copy of the sampler (fork) makes and writes each, so sampling goes on. */
#pragma once

#include "record/outside/outside.h"

struct fm_sampler;

struct fm_sampler_options {
    pid_t pid;
    enum fm_outside_way way;
    uint64_t for_ns;  /* 0 = without end */
    const char *path; /* of the profiles so far; borrowed until the sampler has ended */
    /* Called in the sampler's process when it has begun. NULL: none. */
    void (*begun)(const struct fm_outside *outside, void *user);
    /* Called in the sampler's process when the process or the time has ended, or it was asked to
     * end. Returns its exit status. NULL: the last profile is written to path, too. */
    int (*finish)(struct fm_outside *outside, void *user);
    void *user;
};

/* Starts to sample. The calling process has no other threads. Errors: those of
 * fm_outside_begin(). */
FM_MUST_USE bool fm_sampler_start(const struct fm_sampler_options *options, struct fm_sampler **ret,
                                  GError **error);
const char *fm_sampler_program(const struct fm_sampler *sampler);
pid_t fm_sampler_pid(const struct fm_sampler *sampler); /* of the process that is sampled */
/* Has the profile so far written to the path, and waits for it. *ret_running false: sampling has
 * ended; without finish() the profile is the whole one. One thread at a time. Errors: those of
 * making and writing a profile. */
FM_MUST_USE bool fm_sampler_write(struct fm_sampler *sampler, bool *ret_running, GError **error);
/* Whether sampling has ended, so that the next profile is the last. */
bool fm_sampler_has_ended(const struct fm_sampler *sampler);
/* Asks the sampler to end, and waits for it. Returns its exit status. Once. */
int fm_sampler_end(struct fm_sampler *sampler);
void fm_sampler_free(struct fm_sampler *sampler); /* NULL is allowed; ends it, if it runs */
