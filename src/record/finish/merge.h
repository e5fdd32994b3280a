/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/raw/recording.h"

/* Of csds that are one, one remains, with the counts of all; the others' callers are FM_RAW_NONE.
 * Callers and callees are the first pds of their classes. pd_ps: procedure of each pd. Returns the
 * classes of the pds, for fm_merge_class(); caller frees. steps, if not NULL: struct fm_merge_step,
 * what was done. */
uint32_t *fm_merge_edges(struct fm_raw_recording *recording, const uint32_t *pd_ps, GArray *steps);
struct fm_merge_step {
    uint32_t from; /* csd; pd whose depths were forgotten */
    uint32_t to;   /* csd; FM_RAW_NONE: depths */
};
/* The same with other counts, of the nodes as they are after it. */
void fm_merge_again(struct fm_raw_recording *recording, const GArray *steps);
/* The pd that stands for a pd. */
uint32_t fm_merge_class(uint32_t *classes, uint32_t pd);
