/* SPDX-License-Identifier: Apache-2.0 */
/* Time in code without hooks, in each context. */
#pragma once

#include "profile/file/build.h"
#include "record/finish/nodes.h"

/* Whether it was recorded. */
bool fm_emits_unhooked(const struct fm_raw_recording *recording);
/* Nothing where it was not. csd_ids: per csd of the recording, as it is now, the profile's. */
void fm_emit_unhooked(const struct fm_raw_recording *recording, const struct fm_nodes *nodes,
                      const uint32_t *csd_ids, struct fm_build *build);
