/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a profile of sampled stacks, which are said before its figures are. */
#pragma once

#include "profile/analysis/analysis.h"

/* Shares of the main measure, 0 to 1. */
struct fm_quality {
    bool sampled;           /* stacks were sampled; false: the rest is not known */
    double one_frame;       /* stands in stacks of one function */
    double cut;             /* in stacks that do not begin where a thread begins */
    double outermost;       /* in stacks whose outermost function has no name */
    double unnamed;         /* in functions without a name */
    unsigned cut_functions; /* how many different ones such stacks begin with */
    uint64_t samples;       /* 0 = not known */
};

/* O(calls in context). */
void fm_quality_measure(const struct fm_analysis *a, struct fm_quality *ret);

#define FM_QUALITY_SENTENCES 3u
/* Sentences for what is beyond its limit, the worst first, and of notes that are warnings;
 * g_ptr_array_unref(). At most FM_QUALITY_SENTENCES. */
GPtrArray *fm_quality_sentences(const struct fm_profile *profile, const struct fm_quality *quality);
