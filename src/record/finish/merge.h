/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/raw/recording.h"

/* Of csds that are one, one remains, with the counts of all; the others' callers are FM_RAW_NONE.
 * Callers and callees are the first pds of their classes. pd_ps: procedure of each pd. Returns the
 * classes of the pds, for fm_merge_class(); caller frees. */
uint32_t *fm_merge_edges(struct fm_raw_recording *recording, const uint32_t *pd_ps);
/* The pd that stands for a pd. */
uint32_t fm_merge_class(uint32_t *classes, uint32_t pd);
