/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/finish.h"
#include "record/finish/nodes.h"

/* Fills the css of all edges; makes sites that are not in the statics. Afterwards each edge's site
 * belongs to its caller's procedure: notes say where that was not so. */
void fm_resolve_sites(struct fm_raw_recording *recording, struct fm_nodes *nodes,
                      struct fm_finish_notes *notes);
