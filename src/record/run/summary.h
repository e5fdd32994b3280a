/* SPDX-License-Identifier: Apache-2.0 */
/* The summary that `fathom record` and `fathom finish` print when a run's profile is made. */
#pragma once

#include "profile/file/profile.h"
#include "record/finish/finish.h"

/* A line on standard error: calls, contexts, threads, CPU time, heap. */
void fm_run_print_totals(const struct fm_profile *profile, const struct fm_finish_notes *notes);
/* That, what was waited for, what the hooks took, the dearest functions, the phases, and how to
 * open the pages. data_path: where the profile is. */
void fm_run_print_summary(const struct fm_profile *profile, const struct fm_finish_notes *notes,
                          const char *data_path);
