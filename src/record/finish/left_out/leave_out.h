/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/images.h"

/* Edges of left-out functions become those of their callers. Returns which pds are left out, NULL
 * when none is; caller frees. */
bool *fm_leave_out(struct fm_raw_recording *recording, const struct fm_images *images);
