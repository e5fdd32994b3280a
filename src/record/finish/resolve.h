/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/finish.h"
#include "record/finish/nodes.h"

/* Fills the css of all edges; sites that the statics do not know are made. Afterwards each edge's
 * site is one of its caller's procedure: notes tell where that was not so. */
void fm_resolve_sites(struct fm_raw_recording *recording, struct fm_nodes *nodes,
                      struct fm_finish_notes *notes);
