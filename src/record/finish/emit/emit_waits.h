/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the waits of threads after the graph: by kind, locks by name, their holders, times. */
#pragma once

#include "profile/file/build.h"
#include "record/finish/images.h"

/* csd_ids: of the profile, per csd of the recording; 0 = none. Names that cannot be found are
 * noted. */
void fm_emit_waits(const struct fm_raw_recording *recording, const struct fm_images *images,
                   const uint32_t *csd_ids, const char *const *thread_names, struct fm_build *build,
                   struct fm_finish_notes *notes);
