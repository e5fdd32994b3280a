/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of a query: segments or events are counted one by one, then told as rows. */
#pragma once

#include "trace/grouping/grouping.h"
#include "trace/segments/totals.h"

/* Groups; and those whose percentiles are known, as they take a KiB and more each. */
enum { FM_GROUPS_MAX = 200000, FM_GROUPS_PERCENTILES_MAX = 8192 };

struct fm_groups_cell {
    enum {
        FM_GROUPS_NOTHING, /* not recorded */
        FM_GROUPS_TEXT,
        FM_GROUPS_NUMBER, /* whole */
        FM_GROUPS_REAL,
        FM_GROUPS_TIME, /* ns, in `real` */
    } kind;
    const char *text;
    uint64_t number;
    bool negative; /* the number is int64_t */
    double real;
};

struct fm_groups;

/* segments: NULL for a query of events. area: start, end and lanes count; of events none does. The
 * grouping is borrowed, and is one groups' alone. */
struct fm_groups *fm_groups_new(struct fm_grouping *grouping, struct fm_segments *segments,
                                const struct fm_totals_area *area);
void fm_groups_free(struct fm_groups *groups); /* NULL is allowed */
/* Counts some blocks of segments; false when all have been counted. */
bool fm_groups_step(struct fm_groups *groups, unsigned blocks);
/* Counts an event. state: after it; NULL where the query does not need it. */
void fm_groups_take_event(struct fm_groups *groups, const struct fm_tracefile_context *at,
                          const struct fm_state *state);

/* Sorts; the number of rows, at most the query's limit. Cells are of these rows until more is
 * counted. */
unsigned fm_groups_rows(struct fm_groups *groups);
unsigned fm_groups_all(const struct fm_groups *groups);     /* groups, also beyond the limit */
uint64_t fm_groups_counted(const struct fm_groups *groups); /* segments or events that passed */
/* The number that found no room, as there are FM_GROUPS_MAX groups. */
uint64_t fm_groups_lost(const struct fm_groups *groups);
void fm_groups_cell(const struct fm_groups *groups, unsigned row, unsigned column,
                    struct fm_groups_cell *ret);
/* The segment with the greatest value of what is measured first; false when there is none. */
bool fm_groups_greatest(const struct fm_groups *groups, unsigned row, struct fm_segment *ret);
struct fm_segments *fm_groups_segments(const struct fm_groups *groups); /* NULL: of events */
