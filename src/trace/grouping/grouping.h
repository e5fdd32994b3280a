/* SPDX-License-Identifier: Apache-2.0 */
/* A query over the segments or the events of a trace: which of them count, what they are put
 * together by, what is told of each group, and in which order.
 *
 *   segments | where segment.state = waiting | group by segment.name, lane.name
 *   | show count, sum, p99 | order by p99 desc | limit 20
 *
 *   query  := [ "segments" | "events" ] clause { "|" clause }
 *   clause := [ "where" ] FILTER               (trace/filter/filter.h; several are joined by &)
 *           | "group by" KEY { "," KEY }       KEY  := FIELD [ "every" STEP ]
 *           | "show" WHAT { "," WHAT }         WHAT := "count" | FUNCTION [ "(" FIELD ")" ]
 *           | "order by" KEY or WHAT [ "asc" | "desc" ]
 *           | "limit" NUMBER
 *   FUNCTION: sum, mean, min, max, p50, p99.9...; without a field that of segment.duration
 *
 * Without the first word it is of events when it names a field of events. The parts of a query may
 * be left out: all segments, in one group, with their number and durations. */
#pragma once

#include "trace/filter/filter.h"

enum fm_grouping_function {
    FM_GROUPING_COUNT,
    FM_GROUPING_SUM,
    FM_GROUPING_MEAN,
    FM_GROUPING_MIN,
    FM_GROUPING_MAX,
    FM_GROUPING_PERCENTILE,
};

enum { FM_GROUPING_KEYS_MAX = 8, FM_GROUPING_SHOWN_MAX = 24, FM_GROUPING_MEASURED_MAX = 8 };

struct fm_grouping_key {
    struct fm_filter_path *path;
    uint64_t every; /* values are put together by steps of that size; 0 = each by itself */
    char *title;
};

struct fm_grouping_shown {
    enum fm_grouping_function function;
    unsigned measured; /* index; of COUNT none */
    double part;       /* PERCENTILE: 0 to 1 */
    char *title;       /* "p99(segment.duration)" */
};

struct fm_grouping {
    enum fm_filter_of of;
    struct fm_filter *filter; /* NULL = all */
    GArray *keys;             /* holds struct fm_grouping_key */
    GArray *shown;            /* holds struct fm_grouping_shown */
    GPtrArray *measured;      /* struct fm_filter_path * */
    bool needs_state;         /* events: of the state after them */
    unsigned order;           /* column: a key, or behind the keys one of `shown` */
    bool ascending;
    uint64_t limit; /* rows */
};

/* FM_ERROR_USAGE tells what was found, and what was expected. */
FM_MUST_USE struct fm_grouping *fm_grouping_new(const char *text, GError **error);
void fm_grouping_free(struct fm_grouping *grouping); /* NULL is allowed */
/* Keys, then what is shown. */
unsigned fm_grouping_columns(const struct fm_grouping *grouping);
const char *fm_grouping_title(const struct fm_grouping *grouping, unsigned column);
/* A time in ns, a text or a number: by it columns are laid out. */
enum fm_filter_type fm_grouping_type(const struct fm_grouping *grouping, unsigned column);
