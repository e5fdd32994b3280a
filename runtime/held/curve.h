/* SPDX-License-Identifier: Apache-2.0 */
/* Live bytes over time, as ticks meet them. */
#pragma once

#include "internal.h"

/* Begins the curve of a file that has a held record. */
void fm_held_curve_make(void);
/* The file is another process's. */
void fm_held_curve_forget(void);
/* Notes what is held, at a tick of the thread. */
void fm_held_on_tick(const struct fm_thread *thread);
