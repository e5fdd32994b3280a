/* SPDX-License-Identifier: Apache-2.0 */
/* Locations of the procedures' instructions, and the time spent on each. */
#pragma once

#include "profile/file/machine/machine_code.h"
#include "record/finish/nodes.h"

/* Time that fell on code of an image. */
struct fm_fallen {
    uint32_t image;
    uint64_t address, quanta;
};
/* struct fm_fallen, by image and address, one of each. Caller unrefs. */
GArray *fm_code_samples(const struct fm_raw_recording *recording, const struct fm_images *images);
/* The code of the procedures with contexts in the profile. samples: NULL = time was not recorded.
 * ps_ids: ids in the profile, for each ps. Notes say what a file lacks. The caller owns it. */
struct fm_machine_code *fm_code_make(const struct fm_nodes *nodes, const GArray *samples,
                                     const uint32_t *ps_ids, const struct fm_profile *profile,
                                     struct fm_finish_notes *notes);
