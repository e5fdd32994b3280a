/* SPDX-License-Identifier: Apache-2.0 */
/* One segment and what belongs to it: those around it, what is nested in it, and the arrows that
 * lead to its lane and away from it meanwhile. */
#pragma once

#include "trace/segments/segments.h"

enum { FM_DETAILS_INNERMOST = UINT16_MAX, FM_DETAILS_ARROWS_MAX = 50, FM_DETAILS_PARTS_MAX = 100 };

/* The segments of one value that lie directly in the one asked for. */
struct fm_details_part {
    uint32_t value;
    uint64_t count, total, longest, longest_at;
};

struct fm_details;

/* The segment of a lane at that time and depth (0 = outermost). Where one ends and another begins
 * at that time, it is the one that begins. */
struct fm_details *fm_details_new(struct fm_segments *segments, uint32_t lane, uint64_t time,
                                  uint16_t depth);
void fm_details_free(struct fm_details *details); /* NULL is allowed */
/* Reads that many blocks; false when all is known. */
bool fm_details_step(struct fm_details *details, unsigned blocks);

struct fm_segments *fm_details_segments(const struct fm_details *details);
/* NULL: there is none. This and the others: once all is known. */
const struct fm_segment *fm_details_found(const struct fm_details *details);
/* Holds struct fm_segment: those around it, the outermost first. */
const GArray *fm_details_around(const struct fm_details *details);
/* Holds struct fm_details_part, most time first. */
const GArray *fm_details_inside(const struct fm_details *details);
/* Its time without that of what is nested in it. */
uint64_t fm_details_self(const struct fm_details *details);
/* Holds struct fm_arrow: the first FM_DETAILS_ARROWS_MAX to its lane, or from it, from its begin to
 * its end. */
const GArray *fm_details_arrows(const struct fm_details *details, bool to);
/* All of them. */
uint64_t fm_details_arrow_count(const struct fm_details *details, bool to);
