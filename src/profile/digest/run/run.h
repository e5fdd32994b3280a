/* SPDX-License-Identifier: Apache-2.0 */
/* A C program's run over time: the phases that it marked, CPU time and waiting. */
#pragma once

#include "profile/file/profile.h"

/* From one mark to the next, or to the end. */
struct fm_phase {
    const char *name; /* the profile's; NULL: before the first mark */
    uint64_t from_ns,
        to_ns;       /* since the program began; to 0 = not known: it ended without exit() */
    uint64_t quanta; /* CPU time */
};

/* struct fm_phase, in order, including the part before the first mark; empty without marks.
 * g_array_unref(); the profile must outlive it. */
GArray *fm_run_phases(const struct fm_profile *profile);

/* CPU time of all threads by the kernel's clock, including the recording's own work; false: not
 * recorded. Where it was spent is sampled. */
bool fm_run_cpu(const struct fm_profile *profile, uint64_t *ret_ns);

/* "2.31 s wall: 0.20 s CPU, 2.10 s waiting (mutex 2.00), up to 0.01 s ready but without a
 * processor, all threads together" (for a sum "all processes together"), "recorded 0.30 s of 2.31
 * s:" if it was stopped for long; without the wall time if that is not recorded, and without
 * unimportant parts. "up to": the kernel also counts such moments at the ends of waits, and waits
 * of other kinds may contain the rest. g_free. NULL: waiting is not recorded. */
char *fm_run_sentence(const struct fm_profile *profile);
