/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/images.h"

/* Takes away what was not within calls of the function of that name (as in the source, or the
 * linker's, or C++'s with its parameters): of the contexts that lead to it calls and costs, all
 * else whole. Adds to *gone (NULL: none yet), which is as of fm_leave_out(). FM_ERROR_NOT_FOUND
 * when no call of it was recorded. */
FM_MUST_USE bool fm_only_below(struct fm_raw_recording *recording, const struct fm_images *images,
                               const char *function, bool **gone, GError **error);
