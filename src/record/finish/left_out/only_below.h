/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/images.h"

/* Removes costs outside of calls of the function with that name (as in the source, or the linker's,
 * or C++'s with its parameters): contexts that lead to it lose calls and costs, others are removed
 * completely. Adds to *gone (NULL: none yet), as in fm_leave_out(). FM_ERROR_NOT_FOUND when no call
 * of it was recorded. */
FM_MUST_USE bool fm_only_below(struct fm_raw_recording *recording, const struct fm_images *images,
                               const char *function, bool **gone, GError **error);
