/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/nodes.h"

/* The inlined bodies that were inserted. */
struct fm_inlined;
/* Adds pds and csds to the recording for bodies without hooks; nodes->pd_ps grows with them. gone:
 * see fm_nodes_make(). The caller owns the result; recording and nodes must outlive it. */
struct fm_inlined *fm_inlined_insert(struct fm_raw_recording *recording, struct fm_nodes *nodes,
                                     const bool *gone);
void fm_inlined_free(struct fm_inlined *inlined); /* NULL is allowed */
/* Gives other samples of the same recording to the bodies that were put in. False: one is of a body
 * that was not. */
FM_MUST_USE bool fm_inlined_give_again(struct fm_inlined *inlined);
