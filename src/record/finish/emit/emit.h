/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/coverage.h"

/* Node numbers of the profile for those of the recording; fm_emitted_done(). */
struct fm_emitted {
    uint32_t *ps_ids, *pd_ids, *csd_ids;
};
void fm_emitted_done(struct fm_emitted *emitted);

/* Writes the profile of a joined recording. To save memory, the edges of the recording,
 * nodes->pd_ps and *classes (fm_merge_edges()) are freed once they are in the build, unless
 * ret_emitted asks for the ids. code: put machine code into the notes. Fills the source map of the
 * notes. FM_ERROR_LIMIT. */
FM_MUST_USE bool fm_emit_profile(struct fm_raw_recording *recording, struct fm_nodes *nodes,
                                 uint32_t **classes, const struct fm_coverage *coverage, bool code,
                                 struct fm_emitted *ret_emitted, struct fm_finish_notes *notes,
                                 struct fm_profile **ret, GError **error);
/* As above, with other counts of the same nodes; base: the result of that time. Without coverage,
 * and without calls that were timed one by one. FM_ERROR_FORMAT: something other than counts
 * differs. */
FM_MUST_USE bool fm_emit_again(struct fm_raw_recording *recording, struct fm_nodes *nodes,
                               uint32_t *classes, const struct fm_coverage *coverage,
                               const struct fm_emitted *emitted, struct fm_profile *base,
                               struct fm_finish_notes *notes, struct fm_profile **ret,
                               GError **error);
