/* SPDX-License-Identifier: Apache-2.0 */
/* While `fathom record` runs a program: looks where its threads are asleep
 * (record/running/asleep.h), in a thread of its own. */
#pragma once

#include <glib.h>

struct fm_looks;

/* base, before: as in fm_raw_recordings_of_run(). It does not sample yet, because a program is
 * started by fork before there are threads. */
struct fm_looks *fm_looks_new(const char *base, const GPtrArray *before);
/* Once. The thread takes no signals. */
void fm_looks_begin(struct fm_looks *looks);
/* When the program has ended; NULL is allowed. */
void fm_looks_free(struct fm_looks *looks);
