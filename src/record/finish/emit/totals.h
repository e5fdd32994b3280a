/* SPDX-License-Identifier: Apache-2.0 */
/* Totals inside recursions, from the contexts of the recording to those of the profile. */
#pragma once

#include "record/finish/nodes.h"

/* Totals of the recording's pds, if ticks charged them: once, while all is as it was read. */
void fm_totals_find(struct fm_raw_recording *recording);

struct fm_emit_totals {
    uint32_t count; /* one more than the highest pd; 0 = nothing is known */
    uint64_t *values;
    uint8_t *states;
};

/* pd_ids: of the profile, by class. */
void fm_emit_totals_init(struct fm_emit_totals *totals, const struct fm_raw_recording *recording,
                         const struct fm_nodes *nodes, uint32_t *classes, const uint32_t *pd_ids);
/* When the profile is built, NULL: it failed; frees what totals has. */
void fm_emit_totals_tell(struct fm_emit_totals *totals, struct fm_profile *profile);
