/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/nodes.h"

/* Adds pds and csds to the recording for bodies without hooks; nodes->pd_ps grows with them. gone:
 * fm_nodes_make(). */
void fm_inlined_insert(struct fm_raw_recording *recording, struct fm_nodes *nodes,
                       const bool *gone);
