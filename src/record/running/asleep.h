/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from outside where the threads of a run sleep outside of recorded waits, some hundred
 * times a second, and writes it into their recordings (fm_rec_sleeps). The program is not
 * disturbed: only the kernel's data about its threads, and its recordings, are read. */
#pragma once

#include <glib.h>

/* Sampling period: not a divisor of usual sleep times. */
#define FM_ASLEEP_PERIOD_US 10309

struct fm_asleep;

/* base, before: as of fm_raw_recordings_of_run(). Both are copied. */
struct fm_asleep *fm_asleep_new(const char *base, const GPtrArray *before);
void fm_asleep_free(struct fm_asleep *asleep); /* NULL is allowed */
/* Samples all threads. What cannot be read or written is left out. Returns microseconds to the next
 * sample: longer than a period if sampling would take more than a hundredth of a CPU. Use one
 * thread at a time. */
gint64 fm_asleep_look(struct fm_asleep *asleep);
