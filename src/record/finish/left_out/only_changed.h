/* SPDX-License-Identifier: Apache-2.0 */
/* For a recording that is the difference of two moments: removes contexts in which nothing was
 * counted. */
#pragma once

#include "record/raw/recording.h"

/* gone: the pds excluded so far, NULL if there are none; more are added. */
void fm_only_changed(struct fm_raw_recording *recording, bool **gone);
