/* SPDX-License-Identifier: Apache-2.0 */
/* Live bytes over time. */
#pragma once

#include "internal.h"

/* Begins the curve of a file that has a held record. */
void fm_held_curve_make(void);
/* The file is another process's. */
void fm_held_curve_forget(void);
/* Notes that so many bytes were live since the last note, and so many are now. */
void fm_held_curve_note(int64_t before, int64_t live);
/* Notes what is held, at a tick of the thread. */
void fm_held_on_tick(const struct fm_thread *thread);
