/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/nodes.h"

/* Fills the css of all edges; sites that the statics do not know are made. */
void fm_resolve_sites(struct fm_raw_recording *recording, struct fm_nodes *nodes);
