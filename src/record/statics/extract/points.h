/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/statics/extract/bodies.h"
#include "record/statics/extract/units.h"

/* Makes the coverage points, and the lines that have code with their blocks. bodies: intervals and
 * units of scopes; bounds: struct fm_block_bound, sorted here; counters: struct fm_counter. */
void fm_points_build(struct fm_statics *statics, struct fm_units *units,
                     const struct fm_bodies *bodies, GArray *bounds, const GArray *counters,
                     bool physical);
