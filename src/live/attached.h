/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom record --pid --live`: the pages of a process while it is sampled from outside, and of its
 * profile afterwards. */
#pragma once

#include "live/run.h"
#include "record/outside/sampler.h"

/* Samples, tells the address and serves until SIGINT, SIGTERM or a quit command. finished: the file
 * that sampler->finish() writes. *ret_status: what that returned. The calling process has no other
 * threads. Errors: those of fm_live_growing_sample(), fm_http_new() and fm_live_token_find(). */
FM_MUST_USE bool fm_live_attached(const struct fm_live_options *options,
                                  const struct fm_sampler_options *sampler, const char *finished,
                                  int *ret_status, GError **error);
