/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from outside where the threads of a run sleep outside of recorded waits, some hundred
 * times a second, and writes it into their recordings (fm_rec_sleeps). The program is not
 * disturbed: only the kernel's data about its threads, and its recordings, are read. */
#pragma once

#include <glib.h>

/* How long after one look the next is due: no divisor of what programs like to sleep. */
#define FM_ASLEEP_PERIOD_US 10309

struct fm_asleep;

/* base, before: as of fm_raw_recordings_of_run(). Both are copied. */
struct fm_asleep *fm_asleep_new(const char *base, const GPtrArray *before);
void fm_asleep_free(struct fm_asleep *asleep); /* NULL is allowed */
/* One look at all threads. What cannot be read or written is left out. Microseconds to the next:
 * longer than a period where there is so much to look at that it would take more than a hundredth
 * of a processor. One thread at a time. */
gint64 fm_asleep_look(struct fm_asleep *asleep);
