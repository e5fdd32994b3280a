/* SPDX-License-Identifier: Apache-2.0 */
/* Several runs of each side: what their totals are, and whether they differ by more than runs of
 * one build do. Sampled amounts scatter at least as samples do, and as much as the runs show beside
 * that (quasi-Poisson); two sides are told apart by Student's t with all runs' degrees of freedom.
 */
#pragma once

#include "deep/profile.h"

struct fm_runs_side {
    unsigned count; /* runs, 1 or more */
    double least, median, most, mean;
};

struct fm_runs_difference {
    struct fm_runs_side before, after;
    bool exact;       /* nothing is sampled, and all runs of a side agree */
    bool interval;    /* low and high are known: both sides have two runs or more */
    double low, high; /* of after's mean - before's, at 99 % */
    bool told;        /* exact and another, or an interval without 0 */
};

/* sample: how much stands for one sample; 0 = the amounts are counts. Arrays are not changed. */
void fm_runs_compare(const double *before, unsigned before_count, const double *after,
                     unsigned after_count, double sample, struct fm_runs_difference *ret);
/* The whole program's amount: "calls", "time" (quanta), "bytes" (words), a measure's own name.
 * False: the profile does not know it. */
bool fm_runs_total(const struct fm_profile *profile, const char *measure, double *ret);
/* The run whose amount is in the middle, of an even number the lesser. */
unsigned fm_runs_middle(const double *amounts, unsigned count);
