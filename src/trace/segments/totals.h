/* SPDX-License-Identifier: Apache-2.0 */
/* Totals and durations of the segments of an area: an interval of time on chosen lanes. */
#pragma once

#include "trace/segments/histogram.h"
#include "trace/segments/segments.h"

enum fm_totals_by {
    FM_TOTALS_BY_NAME,  /* value and kind of lane */
    FM_TOTALS_BY_STATE, /* class and kind of lane */
    FM_TOTALS_BY_LANE,
    FM_TOTALS_BY_KIND, /* kind of lane */
    FM_TOTALS_BY_COUNT
};
const char *fm_totals_by_name(enum fm_totals_by by); /* "name" */

/* Chosen lanes, by index: 1 = chosen; NULL = all. */
static inline bool fm_lanes_hold(const GByteArray *lanes, uint32_t lane)
{
    return lanes == NULL || (lane < lanes->len && lanes->data[lane] != 0);
}
GByteArray *fm_lanes_dup(const GByteArray *lanes); /* NULL of NULL */

struct fm_totals_area {
    uint64_t start, end; /* [start, end) */
    enum fm_totals_by by;
    const GByteArray *lanes; /* by index: 1 = chosen; NULL = all */
    uint64_t least, most;    /* durations that count: [least, most]; most 0 = any */
};

/* Segments of one name, state, lane or kind. */
struct fm_totals_group {
    uint32_t number; /* value, class or lane; of kinds 0 */
    enum fm_lane_kind kind;
    uint64_t count;       /* segments that are in the area, in part or whole */
    uint64_t total, self; /* ns within the area; self: nested ones taken off */
    uint64_t busy;        /* the part of self whose class of state is work */
    uint64_t whole;       /* how many of them have a known end; the rest is of those */
    uint64_t longest, longest_at, shortest; /* whole durations; the begin of the longest */
    uint32_t longest_lane;
    double sum;         /* of whole durations */
    bool has_durations; /* false: there were too many groups to keep their durations apart */
    struct fm_histogram durations;
};

struct fm_totals;

struct fm_totals *fm_totals_new(struct fm_segments *segments, const struct fm_totals_area *area);
void fm_totals_free(struct fm_totals *totals); /* NULL is allowed */
struct fm_segments *fm_totals_segments(const struct fm_totals *totals);
/* Counts some blocks; false when all have been counted. */
bool fm_totals_step(struct fm_totals *totals, unsigned blocks);
/* Groups with the most time first: struct fm_totals_group. Valid until the next step. */
const GPtrArray *fm_totals_groups(struct fm_totals *totals);
/* fm_histogram_percentile(), not beyond the shortest and the longest. */
uint64_t fm_totals_percentile(const struct fm_totals_group *group, double part);
/* Borrowed from the trace, or constant. */
const char *fm_totals_name(const struct fm_totals *totals, const struct fm_totals_group *group);
