/* SPDX-License-Identifier: Apache-2.0 */
/* How long single calls of chosen functions took, by context. */
#pragma once

#include <stdint.h>

/* Steps are less than one part in 128 wide: of 1 ns below 128 ns, then 128 in each power of two. */
#define FM_DURATION_STEPS 128u
#define FM_DURATION_STEP_END (58u * FM_DURATION_STEPS)
struct fm_duration_step {
    uint32_t step;
    uint64_t calls; /* at least 1 */
};

struct fm_durations {
    uint32_t csd;
    uint64_t timed; /* timed calls of the csd; 0: none, as the function has no exit hook */
    uint64_t ns;    /* time of all of them */
    uint64_t shortest_ns, longest_ns;
    uint64_t left; /* timed calls left by longjmp, an exception, or a thread's end */
    uint32_t step_count;
    struct fm_duration_step *steps; /* ascending; their calls are `timed` or, of a program that was
                                       killed, one fewer or more */
};

struct fm_duration_info {
    uint32_t count;
    struct fm_durations *of; /* ascending by csd */
};

/* The duration that `share` (0 to 1) of the timed calls do not exceed, to one part in 128; 0 where
 * none were timed. */
double fm_durations_quantile(const struct fm_durations *durations, double share);
/* Adds calls; csd stays. The steps of sum are its own (g_free). */
void fm_durations_add(struct fm_durations *sum, const struct fm_durations *more);
