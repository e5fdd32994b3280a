/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that were timed one by one: how long they took, by context, and each of them. */
#pragma once

#include "profile/file/build.h"
#include "record/finish/finish.h"
#include "record/finish/nodes.h"
#include "record/raw/recording.h"

/* Sums a list of the recording's durations for a csd of the profile; free the steps. */
struct fm_durations fm_emit_durations_sum(const struct fm_raw_recording *recording, uint32_t csd,
                                          uint32_t first);
int fm_emit_durations_compare(const void *a, const void *b); /* by csd, for qsort */

/* csd_ids: of the profile, per csd of the recording; 0 = none. */
void fm_emit_durations(const struct fm_raw_recording *recording, const struct fm_nodes *nodes,
                       const uint32_t *csd_ids, struct fm_build *build,
                       struct fm_finish_notes *notes);
