/* SPDX-License-Identifier: Apache-2.0 */
/* Writes which contexts freed memory that others had allocated, after the graph. */
#pragma once

#include "profile/file/build.h"
#include "record/raw/recording.h"

/* csd_ids: ids in the profile, per csd of the recording; 0 = none. No effect if live memory was not
 * recorded. */
void fm_emit_heap(const struct fm_raw_recording *recording, const uint32_t *csd_ids,
                  struct fm_build *build);
