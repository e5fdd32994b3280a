/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of traces, as the files of this folder see them.
 *
 *   trace_file   a trace that requests may name; the server holds a reference, so that what was
 *                computed of it stays from page to page
 *   trace_set    traces on one time axis: a reader of the engine, with the state of each
 *   trace_job    one viewer's answer being made: a set of its own, with ad hoc requests
 *
 * A job is run to its end (or until patience ends) for a page without scripts, and goes on in the
 * main loop for a page with a stream of events. */
#pragma once

#include "display/display.h"
#include "query/trace_query.h"
#include "schedule/schedule.h"
#include "serve/serve_internal.h"
#include "trace/filter/filter.h"
#include "trace/format/open.h"
#include "trace/statistics/statistics.h"
#include "trace/summary/summary.h"

#define TRACE_WIDTH_DEFAULT 1000u
#define TRACE_LANES_DEFAULT 40u
#define TRACE_ROWS_DEFAULT 40u
#define TRACE_BOXES_MAX 5000u
#define TRACE_MARKS_MAX 1000u
#define TRACE_ARROWS_MAX 500u
#define TRACE_COUNTERS_MAX 32u
#define TRACE_LOAD_COLUMNS_MAX 1000u

/* --- files.c --- */

struct trace_file {
    char *name; /* as given, in links and on pages */
    char *real; /* real path, or the address */
    bool added; /* by fm_server_add() */
    uint64_t last_used;
    struct fm_trace *trace; /* a reference of the engine's */
    uint64_t unread;        /* bytes of the log that the passes have not seen */
    int64_t grown_us;       /* when it last grew, by the monotonic clock */
    bool aligned;           /* its times are shifted: by the wall clock, to those of others */
    uint64_t shift_ns;
};
struct trace_file *trace_file_of(const struct fm_server *server, const struct fm_trace *trace);
/* Bytes of a trace's log that its passes have not seen: what was added, which will be read, and
 * what is not whole yet. */
uint64_t trace_file_unread(const struct fm_server *server, const struct fm_trace *trace);

/* --- set.c --- */

/* The three passes over a trace that viewers want. */
enum { TRACE_STATE, TRACE_STATISTICS, TRACE_SUMMARY, TRACE_PASSES };
extern const char *const trace_pass_names[TRACE_PASSES];

struct trace_part { /* one trace of a set */
    struct fm_trace *trace;
    const char *name; /* as in the query: borrowed */
    char *kept_name;  /* or the set's own */
    struct fm_state *state;
};

struct trace_set {
    struct fm_server *server;
    struct fm_engine *engine;
    struct fm_trace_reader *reader;
    struct trace_part *parts;
    unsigned count;
    struct fm_chunk_hooks permanent;
    uint64_t origin;     /* ns: what times on pages are relative to */
    uint64_t start, end; /* ns, relative: the span, with its last event */
};

/* Opens what the query names. Errors: FM_ERROR_NOT_FOUND for what may not be opened, those of
 * fm_trace_open(). */
FM_MUST_USE bool trace_set_open(struct fm_server *server, const struct fm_trace_query *query,
                                struct trace_set **ret, GError **error);
/* The same traces with a reader and states of its own. A state is true only while one reader moves
 * through the trace: so each viewer's answer has its own. */
struct trace_set *trace_set_clone(const struct trace_set *set);
void trace_set_free(struct trace_set *set); /* ends its requests; NULL is allowed */
/* From now on the query may go. */
void trace_set_keep_names(struct trace_set *set);
/* Traces that are shown together and tell the wall clock get times by it, unless their clocks have
 * been corrected by messages. */
void trace_set_align(struct trace_set *set);
/* The traces have grown: the span is taken again. */
void trace_set_renew(struct trace_set *set);
/* Asks for the passes that are not made yet. True when there is nothing to wait for. */
bool trace_set_precompute(struct trace_set *set);
bool trace_set_is_ready(const struct trace_set *set, unsigned pass);
/* Whether a trace has grown since its passes: what they have computed is of less than there is. */
bool trace_set_is_behind(const struct trace_set *set);
/* 0 to 1, over all passes of all traces. */
double trace_set_progress(const struct trace_set *set);
/* The window of a query, absolute; within the span, at least 1 ns. */
void trace_set_window(const struct trace_set *set, const struct fm_trace_query *query,
                      uint64_t *ret_start, uint64_t *ret_end);
/* What could not be read, of all traces; NULL = nothing. Caller frees. */
char *trace_set_damage(const struct trace_set *set);
bool trace_set_grows(const struct trace_set *set);

uint64_t trace_set_bytes(const struct trace_set *set);
uint64_t trace_part_bytes(const struct trace_part *part);             /* 0 = not a file */
struct fm_summary *trace_part_summary(const struct trace_part *part); /* NULL until it is ready */
const struct fm_state *trace_part_summary_state(const struct trace_part *part);
struct fm_statistics *trace_part_statistics(const struct trace_part *part);

/* "t.l_t.l", hexadecimal. */
char *trace_position_print(const struct fm_position *position);
FM_MUST_USE struct fm_position *trace_position_parse(const struct trace_set *set, const char *text,
                                                     GError **error);

/* --- lanes.c --- */

/* A lane, copied from a state: states come and go. */
struct trace_lane {
    unsigned part;
    uint32_t index; /* in its state */
    uint32_t parent;
    enum fm_lane_kind kind;
    uint64_t key, born;
    bool ended, has_number;
    char *name;
    /* Filled in by trace_lanes_order(). */
    unsigned indent;
    unsigned levels; /* deepest box + 1 */
};

struct trace_lanes {
    GArray *all;      /* of struct trace_lane */
    GPtrArray *order; /* struct trace_lane *: those to show, all of them, in order */
};

void trace_lanes_init(struct trace_lanes *lanes);
void trace_lanes_clear(struct trace_lanes *lanes);
/* Adds the lanes of a state that are not there yet; renews names. */
void trace_lanes_take(struct trace_lanes *lanes, unsigned part, const struct fm_state *state);
struct trace_lane *trace_lanes_find(const struct trace_lanes *lanes, unsigned part, uint32_t index);
/* Which kinds of lanes a viewer has. */
typedef bool trace_lane_test(const struct trace_lane *lane);
/* Traces in order; in each one trees of lanes, by kind, key and birth. Without hidden lanes and
 * those whose name does not hold the text that is looked for. */
void trace_lanes_order(struct trace_lanes *lanes, const struct fm_trace_query *query,
                       trace_lane_test *test);
/* "0-1-12": trace, kind, key. Caller frees. */
char *trace_lane_id(const struct trace_lane *lane);
bool trace_lane_is_resource(const struct trace_lane *lane);
bool trace_lane_is_counter(const struct trace_lane *lane);
bool trace_lane_is_timeline(const struct trace_lane *lane);
/* Colour of boxes in drawings and scripts: the class of the value, or for spans one by name. */
unsigned trace_colour(const struct fm_trace *trace, uint32_t value);

/* --- job.c --- */

struct trace_job;

struct trace_viewer {
    const char *name;
    size_t size; /* of the viewer's struct, whose first member is struct trace_job */
    /* Submits requests, or fills the answer at once. */
    bool (*begin)(struct trace_job *job, GError **error);
    void (*write_json)(struct trace_job *job, GString *out); /* members, without brackets */
    void (*clear)(struct trace_job *job);
};
extern const struct trace_viewer trace_viewer_timeline, trace_viewer_overview, trace_viewer_events,
    trace_viewer_statistics, trace_viewer_resources, trace_viewer_counters;

struct trace_job {
    const struct trace_viewer *viewer;
    struct trace_set *set; /* its own */
    struct fm_trace_query query;
    uint64_t start, end; /* window, absolute */
    unsigned columns;
    GPtrArray *readings;  /* struct trace_reading */
    unsigned requests;    /* not yet done */
    uint64_t known_until; /* absolute: read so far */
    bool provisional;     /* will be better when the passes are ready */
    bool from_summary;
    struct fm_filter *filter; /* NULL = none */
    /* For a stream: called when something was read. May be NULL. */
    void (*progressed)(struct trace_job *job, void *user);
    void *user;
    bool wants_picture; /* take one at the end of the next chunk */
};

/* Makes the job and begins it. The set is cloned. Errors: FM_ERROR_USAGE (a filter, a position).
 */
FM_MUST_USE bool trace_job_new(const struct trace_viewer *viewer, struct trace_set *set,
                               const struct fm_trace_query *query, struct trace_job **ret,
                               GError **error);
void trace_job_free(struct trace_job *job); /* withdraws its requests; NULL is allowed */
static inline bool trace_job_is_done(const struct trace_job *job)
{
    return job->requests == 0;
}
/* Steps their readers until the jobs are done, or for patience_us; returns whether all are done. */
bool trace_jobs_run(struct trace_job *const *jobs, unsigned count, int64_t patience_us);
/* {"viewer": ..., ...} */
void trace_job_write_json(struct trace_job *job, GString *out);
/* "Nothing is known of ... yet", or NULL. */
bool trace_job_is_incomplete(const struct trace_job *job);

/* A pass over the window by one viewer for one trace (or all: part_index -1), as hooks. */
struct trace_reading {
    struct trace_job *job;
    int part;                                     /* -1 = all */
    void *viewer;                                 /* the viewer's own */
    void (*begin)(struct trace_reading *reading); /* the state is that at the begin */
    bool (*event)(struct trace_reading *reading, struct fm_tracefile_context *at); /* NULL = none */
    const struct fm_state_observer *(*observer)(struct trace_reading *reading);    /* NULL = none */
    void (*pause)(struct trace_reading *reading, uint64_t time); /* at the end of a chunk */
    void (*end)(struct trace_reading *reading, uint64_t time);   /* once */
    bool begun;
    struct fm_events_request *request;
};
/* Reads [start, end), or from a position. The reading is copied; the copy is returned, and belongs
 * to the request. */
struct trace_reading *trace_job_read(struct trace_job *job, const struct trace_reading *reading,
                                     uint64_t start, const struct fm_position *from, uint64_t end,
                                     const struct fm_position *until);

/* --- the viewers' answers, for pages --- */

struct trace_boxes { /* of one trace */
    struct fm_picture picture;
    bool filled;
    GByteArray *active; /* by lane: something happened there in the window */
};
/* --- activity.c --- */

/* How many lanes of a trace are in each class of state: of its capabilities, else its CPUs, else
 * its threads. */
struct trace_activity {
    enum fm_lane_kind kind;
    unsigned rank;        /* of that kind; 0 = the trace has none of these */
    unsigned lanes;       /* of that kind, that are known */
    struct fm_load ended; /* of entries that have ended */
    struct fm_load load;  /* with those that are open: what is shown */
    uint64_t known_until; /* absolute */
    bool from_summary, complete;
};
void trace_activity_init(struct trace_activity *activity, const struct trace_job *job);
void trace_activity_clear(struct trace_activity *activity);
/* Looks which lanes there are. */
void trace_activity_look(struct trace_activity *activity, const struct fm_state *state);
/* An entry ended at that time. */
void trace_activity_count(struct trace_activity *activity, const struct fm_state *state,
                          const struct fm_lane *lane, uint32_t depth,
                          const struct fm_state_entry *entry, uint64_t end);
/* All up to this time has been told; what is open is taken as it is. complete: that is the end of
 * the window, and what came before it is known too. */
void trace_activity_show(struct trace_activity *activity, struct fm_state *state, uint64_t time,
                         bool complete);
void trace_activity_from_summary(struct trace_activity *activity, const struct fm_summary *summary,
                                 const struct fm_state *state);
bool trace_activity_is_empty(const struct trace_activity *activity);
/* Lanes at work on average, over what is known; 0 when nothing is. */
double trace_activity_mean(const struct trace_activity *activity);
/* What the height of a graph stands for: all lanes; of threads, the most that work at once. */
unsigned trace_activity_scale(const struct trace_activity *activity);
/* Lanes in that class in a column. */
double trace_activity_at(const struct trace_activity *activity, enum fm_state_class state_class,
                         unsigned column);
/* "2 capabilities"; caller frees. */
char *trace_activity_name(const struct trace_activity *activity);
/* An array of objects. */
void trace_activity_write_json(const struct trace_activity *activities, unsigned count,
                               uint64_t origin, GString *out);

struct trace_point {
    unsigned part;
    uint32_t lane, value;
    uint64_t time;
};
struct trace_arrow {
    unsigned part;
    uint32_t from, to;
    uint64_t from_time, to_time;
};
struct trace_timeline {
    struct trace_job job;
    trace_lane_test *test;
    struct trace_lanes lanes;
    struct trace_boxes *boxes;       /* one a part */
    GArray *marks;                   /* of struct trace_point */
    GArray *arrows;                  /* of struct trace_arrow */
    GHashTable *usage;               /* of struct trace_usage by key; of resources only */
    struct trace_activity *activity; /* one a part; NULL of resources */
    GPtrArray *paintings;
    bool clipped;
};
/* Orders the lanes and tells which are shown: [first, end). */
void trace_timeline_arrange(struct trace_timeline *timeline, unsigned *ret_first,
                            unsigned *ret_end);
/* For the viewers. */
bool trace_timeline_begin(struct trace_job *job, GError **error);
bool trace_timeline_begin_resources(struct trace_job *job, GError **error);
void trace_timeline_clear(struct trace_job *job);
/* The time in which one value was the innermost on one lane within the window. */
struct trace_usage {
    uint64_t key;
    unsigned part;
    uint32_t lane, value;
    int64_t time; /* ns */
};
/* Of one lane, greatest first. Free the array. */
GPtrArray *trace_timeline_usage(const struct trace_timeline *timeline,
                                const struct trace_lane *lane);
/* Fraction of the window in which the lane was busy; negative when nothing is known. */
double trace_timeline_busy(const struct trace_timeline *timeline, const struct trace_lane *lane);
/* Boxes of one lane, in order of depth and start. */
const struct fm_box *trace_timeline_boxes(const struct trace_timeline *timeline,
                                          const struct trace_lane *lane, unsigned *ret_count);

struct trace_overview {
    struct trace_job job;
    uint64_t *counts;         /* columns */
    uint64_t total, greatest; /* trace_overview_add_up() */
};
void trace_overview_add_up(struct trace_overview *overview);

struct trace_event_row {
    char *position;
    uint64_t time;
    unsigned part;
    int32_t cpu;
    char *source; /* where: for people */
    char *name;
    GPtrArray *fields; /* char *: name, text, name, text, ... */
};
struct trace_events {
    struct trace_job job;
    GPtrArray *rows; /* of struct trace_event_row */
    unsigned wanted;
    bool backward;
    bool at_start, at_end; /* nothing comes before the first, after the last row */
    char *next;            /* position after the last row; NULL at the end */
    /* for going backward */
    struct fm_position *until;
    uint64_t window_end, offset;
    GPtrArray *found;
    uint64_t searched;
};

struct trace_statistics_row {
    const struct fm_statistics_node *node;
    int parent; /* row number, -1 = none */
    unsigned depth, part;
    double share;      /* of the window; NAN where lanes are added up */
    unsigned left_out; /* children that are not rows */
};
struct trace_statistics {
    struct trace_job job;
    struct fm_statistics **own; /* of the window; one a part */
    bool whole;                 /* the passes' own are shown */
    bool resources_only;
    uint64_t length;
    GArray *rows; /* of struct trace_statistics_row; made by trace_statistics_fill() */
};
void trace_statistics_fill(struct trace_statistics *statistics);

struct trace_series {
    unsigned part;
    uint32_t lane;
    uint64_t key;
    char *name;
    enum fm_lane_kind kind;
    double *numbers;              /* least, greatest, last: 3 a column */
    double least, greatest, last; /* trace_counters_bounds() */
};
struct trace_counters {
    struct trace_job job;
    GPtrArray *series; /* of struct trace_series */
    GPtrArray *watching;
    unsigned left_out;
};
void trace_counters_bounds(struct trace_counters *counters);

/* --- show.c, page.c: as items of pages --- */

/* "?file=...&..." with one thing changed; caller frees. */
char *trace_url(const struct fm_trace_query *query);
