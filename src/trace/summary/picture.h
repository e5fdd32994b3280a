/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of a store as a picture; seen by this folder only. */
#pragma once

#include "trace/summary/boxes.h"
#include "trace/summary/summary.h"

enum { FM_PICTURE_BOXES_MAX = 5000 };

/* lanes NULL = all, by index. Fills picture->boxes and clipped. trace: for the classes of values.
 */
void fm_picture_draw(const struct fm_box_store *store, const struct fm_trace *trace,
                     const uint32_t *lanes, unsigned lane_count, struct fm_picture *picture,
                     unsigned max_boxes);
