/* SPDX-License-Identifier: Apache-2.0 */
/* Deep profiles in the engine: a trace without events, whose computations (loading, cliques,
 * callers, costs, summaries, checks, recursion) are work in steps. Each needs the one before it, so
 * requesting the last one requests all. */
#pragma once

#include "open/deep.h"
#include "engine/engine.h"

#define FM_PROFILE_LAST_MODULE "recursion"
#define FM_PROFILE_SUMS_MODULE "summaries" /* when it is done, most pages are complete */

void fm_profile_register(struct fm_engine *engine);
/* As fm_engine_opener: opens the file, beneath roots (NULL = anywhere), and reads its header.
 * Errors: those of fm_profile_read() and fm_roots_open(). */
FM_MUST_USE struct fm_trace *fm_profile_open(const char *path, const char *identity,
                                             struct fm_roots *roots, GError **error);
bool fm_trace_is_profile(const struct fm_trace *trace);

/* The part that is known so far: borrowed until the engine's next step. NULL when the file could
 * not be opened again after a change. */
const struct fm_open_profile *fm_open_profile_of(const struct fm_trace *trace);
/* Why it cannot be completed; NULL when nothing has failed. Borrowed likewise. */
const GError *fm_profile_error(const struct fm_trace *trace);

/* Progress of the computations. */
struct fm_profile_progress {
    const char *module; /* the current or next one; NULL = none is left */
    const char *doing;  /* "the profile is being read" */
    double fraction;    /* fraction of that module */
    double whole;       /* fraction of all modules, by the time that they take */
};
void fm_profile_progress(struct fm_engine *engine, struct fm_trace *trace,
                         struct fm_profile_progress *ret);

/* Opens, computes everything, closes: for commands. Errors: those of fm_open_profile_open(). */
FM_MUST_USE bool fm_profile_open_now(const char *path, const struct fm_progress *progress,
                                     struct fm_open_profile **ret, GError **error);
