/* SPDX-License-Identifier: Apache-2.0 */
/* Handles the recordings of a run's processes after its end in `fathom record`. */
#pragma once

#include "record/run/finishing.h"

/* Recordings of processes that were started without the run's environment get a name of the run and
 * are added to found. Tells of them, and of those that began meanwhile and may be of other
 * programs: their number. */
guint fm_run_take_astray(const struct fm_finishing *how, const char *base, GPtrArray *found);
/* Makes the profiles of the recordings of the run BASE, which are not among those that were there
 * before; tells of processes that go on. An exit status. program: what was run, for messages. */
int fm_run_end(const struct fm_finishing *how, const char *base, GPtrArray *before,
               const char *program);
