/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/statics/statics.h"

/* Makes the source sites and their slots from machine sites and live scopes. physical: struct
 * fm_statics_opts. */
void fm_sites_build(struct fm_statics *statics, bool physical);
