/* SPDX-License-Identifier: Apache-2.0 */
/* The recordings of a service that is started again and again: each run has a name of its own,
 * NAME.YYYYMMDD-HHMMSSZ of its start (and -2, ... within a second), and the newest are kept. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"

/* A run that is being recorded. */
struct fm_kept_run {
    char *base; /* prefix of its files */
    int lock;   /* held until the run is ended: so nobody removes its files */
};

/* Takes a name for a run that begins now. base: NAME, with its folder. Errors: FM_ERROR_IO. */
FM_MUST_USE bool fm_kept_begin(const char *base, struct fm_kept_run *ret, GError **error);
/* Gives the name back; then removes the files of all runs of NAME but of those `keep` that ended
 * last, of as many that failed soon after their start, which are counted apart, and of those that
 * are being recorded or that a process still writes. failure: NULL, or how this one failed so, a
 * line that is kept in NAME.TIME.failed. */
void fm_kept_end(const char *base, unsigned keep, const char *failure, struct fm_kept_run *run);
/* Paths (char *) of the profiles of the newest run of NAME that has one: its own program's first,
 * then those of other processes that are no sum with it. Empty when there are none.
 * g_ptr_array_unref(). */
GPtrArray *fm_kept_newest(const char *base);
