/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a trace page, as in its address. Printed addresses are accepted.
 *
 *   file=PATH            a recording; several make one set on one time axis
 *   start=T end=T        the window; T is integer nanoseconds, or a number with ns, us, ms or s
 *   cursor=T             the selected instant
 *   event=POSITION       the selected event, exact among events of equal time
 *   filter=EXPRESSION    events that are counted and listed
 *   view=NAME            the panel below the timeline
 *   from=POSITION | until=POSITION | at=T   start, or end, of the list of events
 *   rows=N               rows of the list of events
 *   scope=trace|window   range of the statistics
 *   sort=NAME            order of the statistics
 *   area_start=T area_end=T   the area whose totals are shown; the window when not given
 *   in=LANE,LANE         lanes of the area: TRACE-KIND-KEY; all that are not hidden when not given
 *   by=NAME              what the totals of the area are put together by
 *   least=T most=T       durations that count in the area
 *   step=NAME            the segment to look for from the cursor on: next-name, ...
 *   like=TEXT            its name, or state
 *   selected=LANE:T:N    the selected segment: its lane, begin and level (0 = outermost)
 *   query=TEXT           the query of view=query
 *   pin=LANE,LANE        lanes that come first
 *   fold=LANE,LANE       lanes whose own lanes are left out
 *   order=NAME           order of the lanes: tree, name, number, busy
 *   busy=1               only lanes that work in the window
 *   dim=FILTER           segments that do not pass it are dimmed
 *   find=TEXT            show only lanes whose name contains the text
 *   hide=LANE,LANE       lanes to hide: TRACE-KIND-KEY
 *   reveal=LANE          a lane that has to be in that range, which is moved for it
 *   first=N lanes=N      range of the remaining lanes
 *   width=N              columns of the picture
 *   arrows=1             have arrows read also where the window is drawn from the summary
 *   follow=1             the window follows a growing recording
 *
 * Encoded like an HTML form sent with GET: "+" is a blank. Times are relative to the set's
 * origin. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define FM_TRACE_TIME_UNSET UINT64_MAX
#define FM_TRACE_FILES_MAX 16u
#define FM_TRACE_LANES_HIDDEN_MAX 512u
#define FM_TRACE_FILTER_BYTES_MAX 2000u
#define FM_TRACE_ROWS_MAX 500u
#define FM_TRACE_LANES_MAX 400u
#define FM_TRACE_WIDTH_MAX 4000u
/* Maximum number of tracefiles of a set in which events can be named. */
#define FM_TRACE_PLACES_MAX 256u

enum fm_trace_view {
    FM_TRACE_VIEW_EVENTS,
    FM_TRACE_VIEW_STATISTICS,
    FM_TRACE_VIEW_RESOURCES,
    FM_TRACE_VIEW_COUNTERS,
    FM_TRACE_VIEW_AREA,
    FM_TRACE_VIEW_PATH,    /* the critical path of a lane over the area */
    FM_TRACE_VIEW_DETAILS, /* the selected segment */
    FM_TRACE_VIEW_QUERY,
    FM_TRACE_VIEW_TIMELINE, /* only the timeline; also for the next two */
    FM_TRACE_VIEW_OVERVIEW,
    FM_TRACE_VIEW_STEP, /* the next or previous segment */
    FM_TRACE_VIEW_SET,  /* the recordings, and how much of them has been read */
    FM_TRACE_VIEW_COUNT
};
const char *fm_trace_view_name(enum fm_trace_view view); /* "events" */

enum fm_trace_sort {
    FM_TRACE_SORT_TIME,
    FM_TRACE_SORT_SELF,
    FM_TRACE_SORT_COUNT,
    FM_TRACE_SORT_LONGEST,
    FM_TRACE_SORT_EVENTS,
    FM_TRACE_SORT_NAME,
    FM_TRACE_SORT_KINDS
};
const char *fm_trace_sort_name(enum fm_trace_sort sort); /* "time" */

enum fm_trace_by {
    FM_TRACE_BY_NAME,
    FM_TRACE_BY_STATE,
    FM_TRACE_BY_LANE,
    FM_TRACE_BY_KIND,
    FM_TRACE_BY_STACK, /* a flame graph: which lies in which */
    FM_TRACE_BY_COUNT
};
const char *fm_trace_by_name(enum fm_trace_by by); /* "name" */

enum fm_trace_order {
    FM_TRACE_ORDER_TREE, /* with what they belong to */
    FM_TRACE_ORDER_NAME,
    FM_TRACE_ORDER_NUMBER,
    FM_TRACE_ORDER_BUSY,
    FM_TRACE_ORDER_COUNT
};

const char *fm_trace_order_name(enum fm_trace_order order); /* "tree" */

enum fm_trace_step {
    FM_TRACE_STEP_NEXT_NAME,
    FM_TRACE_STEP_PREVIOUS_NAME,
    FM_TRACE_STEP_NEXT_STATE,
    FM_TRACE_STEP_PREVIOUS_STATE,
    FM_TRACE_STEP_NEXT_LANE,
    FM_TRACE_STEP_PREVIOUS_LANE,
    FM_TRACE_STEP_COUNT
};

struct fm_trace_query {
    GPtrArray *files;              /* char * */
    uint64_t start, end;           /* ns; FM_TRACE_TIME_UNSET = the whole span */
    uint64_t cursor;               /* ns; FM_TRACE_TIME_UNSET = none */
    char *event;                   /* NULL = none; the text of a position, not checked here */
    char *from, *until;            /* NULL = none */
    uint64_t at;                   /* FM_TRACE_TIME_UNSET = the window's start */
    char *filter;                  /* NULL = none */
    char *find;                    /* NULL = none */
    GPtrArray *hidden;             /* char * */
    GPtrArray *pinned, *folded;    /* char * */
    GPtrArray *chosen;             /* char *: lanes of the area */
    uint64_t area_start, area_end; /* FM_TRACE_TIME_UNSET = the window's */
    uint64_t least, most;          /* FM_TRACE_TIME_UNSET = any */
    enum fm_trace_by by;
    enum fm_trace_step step;
    enum fm_trace_order order;
    char *like;     /* NULL = none */
    char *selected; /* NULL = none; not checked here */
    char *query;    /* NULL = none; not checked here */
    char *dim;      /* NULL = none; not checked here */
    char *reveal;   /* NULL = none; not checked here */
    enum fm_trace_view view;
    enum fm_trace_sort sort;
    bool whole_trace; /* scope=trace */
    bool follow, arrows, busy_only;
    unsigned rows, width; /* 0 = the default */
    unsigned first, lanes;
};

void fm_trace_query_init(struct fm_trace_query *query);
void fm_trace_query_done(struct fm_trace_query *query);
void fm_trace_query_copy(const struct fm_trace_query *query, struct fm_trace_query *ret);

/* text: after the question mark; NULL = nothing. Unknown keys are ignored when they begin with "_"
 * (keys of scripts); others are FM_ERROR_USAGE. */
FM_MUST_USE bool fm_trace_query_parse(const char *text, struct fm_trace_query *ret, GError **error);
/* Appends "file=...&start=..."; defaults are omitted. */
void fm_trace_query_print(const struct fm_trace_query *query, GString *out);

/* Parses "1.5s", "20ms", "300us", "4000ns"; without unit "1.5" is seconds and "4000"
 * nanoseconds. */
FM_MUST_USE bool fm_trace_time_parse(const char *text, uint64_t *ret, GError **error);
/* Returns "1.5s" or "20ms": the largest unit in which the time is exact to the nanosecond. The
 * caller frees it. */
char *fm_trace_time_print(uint64_t time);
