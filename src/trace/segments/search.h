/* SPDX-License-Identifier: Apache-2.0 */
/* The next segment that begins after a time, or the last one that begins before it, of some values
 * or on a lane. */
#pragma once

#include "trace/segments/segments.h"

struct fm_search;

/* values: by number, 1 = wanted; NULL = all. Copied. lane: FM_LANE_NONE = all. */
struct fm_search *fm_search_new(struct fm_segments *segments, const GByteArray *values,
                                uint32_t lane, uint64_t time, bool forward);
void fm_search_free(struct fm_search *search); /* NULL is allowed */
/* Reads that many blocks; false when the segment is known, or there is none. */
bool fm_search_step(struct fm_search *search, unsigned blocks);
/* NULL: none was found so far. */
const struct fm_segment *fm_search_found(const struct fm_search *search);
