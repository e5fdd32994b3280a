/* SPDX-License-Identifier: Apache-2.0 */
/* Totals inside recursions, from the contexts of the recording to those of the profile. */
#pragma once

#include "record/finish/nodes.h"

/* Finds totals of the recording's pds, if ticks charged them. Call once, before the recording is
 * changed. */
void fm_totals_find(struct fm_raw_recording *recording);

struct fm_emit_totals {
    uint32_t count; /* one more than the highest pd; 0 = nothing is known */
    uint64_t *values;
    uint8_t *states;
};

/* pd_ids: of the profile, by class. */
void fm_emit_totals_init(struct fm_emit_totals *totals, const struct fm_raw_recording *recording,
                         const struct fm_nodes *nodes, uint32_t *classes, const uint32_t *pd_ids);
/* Call when the profile has been built, NULL: that failed; frees totals. */
void fm_emit_totals_tell(struct fm_emit_totals *totals, struct fm_profile *profile);
