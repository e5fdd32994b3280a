/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/coverage.h"

/* Writes the profile from what was joined. Memory is short here: the edges of the recording,
 * nodes->pd_ps and *classes (fm_merge_edges()) are freed once they are in the build. Fills the
 * source map of the notes. FM_ERROR_LIMIT. */
FM_MUST_USE bool fm_emit_profile(struct fm_raw_recording *recording, struct fm_nodes *nodes,
                                 uint32_t **classes, const struct fm_coverage *coverage,
                                 struct fm_finish_notes *notes, struct fm_profile **ret,
                                 GError **error);
