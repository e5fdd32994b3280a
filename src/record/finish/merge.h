/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/raw/recording.h"

/* When csds are equal, one remains, with the counts of all; the others' callers become FM_RAW_NONE.
 * Callers and callees are the first pds of their classes. pd_ps: procedure of each pd. Returns the
 * classes of the pds, for fm_merge_class(); the caller frees it. steps, if not NULL: struct
 * fm_merge_step, the operations done. */
uint32_t *fm_merge_edges(struct fm_raw_recording *recording, const uint32_t *pd_ps, GArray *steps);
struct fm_merge_step {
    uint32_t from; /* csd; or pd whose depths were dropped */
    uint32_t to;   /* csd; FM_RAW_NONE: depths */
};
/* Repeats the same steps with other counts of the nodes. */
void fm_merge_again(struct fm_raw_recording *recording, const GArray *steps);
/* The pd that represents a pd. */
uint32_t fm_merge_class(uint32_t *classes, uint32_t pd);
