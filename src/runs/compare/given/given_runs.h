/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of one side of a comparison, as files. */
#pragma once

#include "runs/compare/compare.h"

struct fm_given_runs {
    GPtrArray *paths;    /* char*, borrowed */
    GPtrArray *profiles; /* struct fm_profile, owned; those that were not left out */
    unsigned middle;     /* index of the run whose counts are compared */
};

void fm_given_runs_init(struct fm_given_runs *ret);
void fm_given_runs_done(struct fm_given_runs *runs);
/* Reads all. by: the measure by which one is in the middle; NULL = calls, or time where nobody
 * counted them. left_out: where runs that were disturbed are named and not kept; NULL keeps them.
 * -1, or the exit status of an error that was told. */
int fm_given_runs_read(struct fm_given_runs *runs, const char *command, const char *by,
                       GString *left_out);
struct fm_compare_runs fm_given_runs_compared(const struct fm_given_runs *runs);
