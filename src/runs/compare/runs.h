/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of several runs of each side: exact if all runs of a side agree. Otherwise, for programs
 * that do not repeat themselves, the sides are compared by Student's t with all runs' degrees of
 * freedom. Sampled amounts: timing.h. */
#pragma once

#include "profile/file/profile.h"

struct fm_runs_side {
    unsigned count; /* runs, 1 or more */
    double least, median, most, mean;
};

struct fm_runs_difference {
    struct fm_runs_side before, after;
    bool exact;       /* all runs of a side agree */
    bool interval;    /* low and high are known: both sides have two runs or more */
    double low, high; /* mean of after - mean of before, at 99 % */
    bool told;        /* exact and another, or an interval without 0 */
};

/* Arrays are not changed. */
void fm_runs_compare(const double *before, unsigned before_count, const double *after,
                     unsigned after_count, struct fm_runs_difference *ret);
/* The whole program's amount: "calls", "time" (quanta), "bytes" (words), a measure's own name.
 * False: the profile does not know it. */
bool fm_runs_total(const struct fm_profile *profile, const char *measure, double *ret);
/* The run with the median amount; of an even number, the lower one. */
unsigned fm_runs_middle(const double *amounts, unsigned count);
