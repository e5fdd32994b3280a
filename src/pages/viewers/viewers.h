/* SPDX-License-Identifier: Apache-2.0 */
/* Answers about traces, independent of display and JSON, which pages/trace makes of them.
 *
 *   fm_viewer_set   traces on one time axis: a reader of the engine, with the state of each
 *   fm_viewer_job   one viewer's answer being made: a set of its own, with ad hoc requests
 *
 * A job runs to its end (or for limited time) for a page without scripts, and in the main loop
 * for a page with an event stream. */
#pragma once

#include "query/trace_query.h"
#include "engine/engine.h"
#include "open/open.h"
#include "trace/filter/filter.h"
#include "trace/format/open.h"
#include "trace/statistics/statistics.h"
#include "trace/grouping/groups.h"
#include "trace/segments/details.h"
#include "trace/segments/flame.h"
#include "trace/segments/path.h"
#include "trace/segments/search.h"
#include "trace/segments/totals.h"
#include "trace/summary/summary.h"

#define TRACE_WIDTH_DEFAULT 1000u
#define TRACE_LANES_DEFAULT 40u
#define TRACE_ROWS_DEFAULT 40u
#define TRACE_BOXES_MAX 5000u
#define TRACE_MARKS_MAX 1000u
#define TRACE_ARROWS_MAX 500u  /* in an answer: between its lanes, and to others */
#define TRACE_GROUPS_MAX 2000u /* rows of a query on a page */
#define TRACE_COUNTERS_MAX 32u
#define TRACE_COUNTERS_READ_MAX 1024u /* the counters shown are chosen from these */
#define TRACE_LOAD_COLUMNS_MAX 1000u

/* --- set.c --- */

/* The three passes over a trace that viewers use. */
enum { TRACE_STATE, TRACE_STATISTICS, TRACE_SUMMARY, TRACE_PASSES };
extern const char *const fm_trace_pass_names[TRACE_PASSES];

struct fm_viewer_part { /* one trace of a set */
    struct fm_trace *trace;
    const char *name; /* as in the query: borrowed */
    char *kept_name;  /* or owned by the set */
    struct fm_state *state;
};

struct fm_viewer_set {
    struct fm_open_files *recordings;
    struct fm_engine *engine;
    struct fm_engine_reader *reader;
    struct fm_viewer_part *parts;
    unsigned count;
    struct fm_chunk_hooks permanent;
    uint64_t origin;     /* ns: origin of times on pages */
    uint64_t start, end; /* ns, relative: range including the last event */
};

/* Opens the traces of a query. Errors: FM_ERROR_NOT_FOUND for files that may not be opened, those
 * of fm_trace_open(). */
FM_MUST_USE bool fm_viewer_set_open(struct fm_open_files *recordings,
                                    const struct fm_trace_query *query, struct fm_viewer_set **ret,
                                    GError **error);
/* Opens the same traces with their own reader and states. A state is right only while one reader
 * moves through the trace, so each viewer's answer needs its own. */
struct fm_viewer_set *fm_viewer_set_clone(const struct fm_viewer_set *set);
void fm_viewer_set_free(struct fm_viewer_set *set); /* ends its requests; NULL is allowed */
/* Copies names, so that the query may be freed. */
void fm_viewer_set_keep_names(struct fm_viewer_set *set);
/* Aligns traces by the wall clock if they know it, unless their clocks have been corrected by
 * messages. */
void fm_viewer_set_align(struct fm_viewer_set *set);
/* The wall clock at the set's time 0, by this trace: ns since 1970. False: it is not recorded, or
 * the clock has been corrected by messages. */
bool fm_viewer_part_wall_clock(const struct fm_viewer_set *set, const struct fm_viewer_part *part,
                               int64_t *ret_ns);
/* Computes the span again after the traces have grown. */
void fm_viewer_set_renew(struct fm_viewer_set *set);
/* Requests the passes that are missing. True when all are ready. */
bool fm_viewer_set_precompute(struct fm_viewer_set *set);
bool fm_viewer_set_is_ready(const struct fm_viewer_set *set, unsigned pass);
/* Whether a trace has grown since its passes, so that their results are incomplete. */
bool fm_viewer_part_is_behind(const struct fm_viewer_set *set, const struct fm_viewer_part *part);
bool fm_viewer_set_is_behind(const struct fm_viewer_set *set);
/* Progress of all passes of all traces, 0 to 1. */
double fm_viewer_set_progress(const struct fm_viewer_set *set);
/* The window of a query, absolute; within the span, at least 1 ns. */
void fm_viewer_set_window(const struct fm_viewer_set *set, const struct fm_trace_query *query,
                          uint64_t *ret_start, uint64_t *ret_end);
/* Lists what could not be read, of all traces; NULL = nothing. Caller frees. */
char *fm_viewer_set_damage(const struct fm_viewer_set *set);
bool fm_viewer_set_grows(const struct fm_viewer_set *set);

uint64_t fm_viewer_set_bytes(const struct fm_viewer_set *set);
uint64_t fm_viewer_part_bytes(const struct fm_viewer_part *part); /* 0 = not a file */
struct fm_summary *
fm_viewer_part_summary(const struct fm_viewer_part *part); /* NULL until it is ready */
const struct fm_state *fm_viewer_part_summary_state(const struct fm_viewer_part *part);
struct fm_statistics *fm_viewer_part_statistics(const struct fm_viewer_part *part);

/* "t.l_t.l", hexadecimal. */
char *fm_viewer_position_print(const struct fm_position *position);
FM_MUST_USE struct fm_position *fm_viewer_position_parse(const struct fm_viewer_set *set,
                                                         const char *text, GError **error);

/* --- lanes.c --- */

/* A lane, copied from a state, because states are temporary. */
struct fm_viewer_lane {
    unsigned part;
    uint32_t index; /* in its state */
    uint32_t parent;
    enum fm_lane_kind kind;
    uint64_t key, born;
    bool ended, has_number;
    char *name;
    /* Filled in by fm_viewer_lanes_order(). */
    unsigned indent;
    unsigned levels;                    /* deepest box + 1 */
    bool has_own, is_folded, is_pinned; /* has_own: lanes that belong to it are shown, or folded */
    uint64_t busy;                      /* ns of work in the window, where the order asks for it */
    const char *plain, *process; /* names without numbers, of the trace; process: NULL = none */
    uint64_t number;
};

struct fm_viewer_lanes {
    GArray *all;      /* holds struct fm_viewer_lane */
    GPtrArray *order; /* struct fm_viewer_lane *: all lanes to show, in order */
    bool fresh;       /* none was added since the viewer chose and ordered them */
};

void fm_viewer_lanes_init(struct fm_viewer_lanes *lanes);
void fm_viewer_lanes_done(struct fm_viewer_lanes *lanes);
/* Adds new lanes of a state; updates names. */
void fm_viewer_lanes_take(struct fm_viewer_lanes *lanes, unsigned part,
                          const struct fm_state *state);
/* Whether a viewer shows this kind of lane. */
typedef bool fm_viewer_lane_test(const struct fm_viewer_lane *lane);
/* Orders lanes: by trace, then as trees by kind, key and creation, or as the query says; pinned
 * ones first. Omits hidden lanes, those below folded ones, and those whose name does not contain
 * the text. */
void fm_viewer_lanes_order(struct fm_viewer_lanes *lanes, const struct fm_trace_query *query,
                           fm_viewer_lane_test *test);
/* "0-1-12": trace, kind, key. Caller frees. */
char *fm_viewer_lane_id(const struct fm_viewer_lane *lane);
/* The other way; false when it is none. */
bool fm_viewer_lane_parse(const char *id, struct fm_viewer_lane *ret);
bool fm_viewer_lane_is_resource(const struct fm_viewer_lane *lane);
bool fm_viewer_lane_is_timeline(const struct fm_viewer_lane *lane);
/* Colour of boxes in drawings and scripts: the class of the value; for spans, one by name. */
unsigned fm_viewer_colour(const struct fm_trace *trace, uint32_t value);

/* --- job.c --- */

struct fm_viewer_job;

struct fm_viewer {
    const char *name;
    size_t size; /* size of the viewer's struct, whose first member is struct fm_viewer_job */
    /* Submits requests, or fills the answer at once. */
    bool (*begin)(struct fm_viewer_job *job, GError **error);
    void (*clear)(struct fm_viewer_job *job);
};
extern const struct fm_viewer fm_viewer_of_timeline, fm_viewer_of_overview, fm_viewer_of_events,
    fm_viewer_of_statistics, fm_viewer_of_resources, fm_viewer_of_counters, fm_viewer_of_area,
    fm_viewer_of_path, fm_viewer_of_details, fm_viewer_of_query, fm_viewer_of_step;

enum fm_viewer_work { FM_VIEWER_WORK_DONE, FM_VIEWER_WORK_MORE, FM_VIEWER_WORK_WAITS };

struct fm_viewer_job {
    const struct fm_viewer *viewer;
    struct fm_viewer_set *set; /* owned by the job */
    struct fm_trace_query query;
    uint64_t start, end; /* window, absolute */
    unsigned columns;
    GPtrArray *readings;  /* struct fm_viewer_reading */
    unsigned requests;    /* number of those not done */
    uint64_t known_until; /* absolute: read up to here */
    uint64_t reaches;     /* absolute: the passes that it is made from have read up to there */
    bool provisional;     /* it will improve when the passes are ready */
    bool from_summary;
    struct fm_filter *filter; /* NULL = none */
    /* For a stream: called after some reading. May be NULL. */
    void (*progressed)(struct fm_viewer_job *job, void *user);
    void *user;
    bool wants_picture; /* take one at the end of the next chunk */
    enum fm_viewer_work (*work)(struct fm_viewer_job *job); /* fm_viewer_job_work(); NULL = none */
    guint work_source;
};

/* Makes and starts a job. The set is cloned. Errors: FM_ERROR_USAGE (a filter, a position). */
FM_MUST_USE bool fm_viewer_job_new(const struct fm_viewer *viewer, struct fm_viewer_set *set,
                                   const struct fm_trace_query *query, struct fm_viewer_job **ret,
                                   GError **error);
void fm_viewer_job_free(struct fm_viewer_job *job); /* withdraws its requests; NULL is allowed */
static inline bool fm_viewer_job_is_done(const struct fm_viewer_job *job)
{
    return job->requests == 0;
}
bool fm_viewer_jobs_are_done(struct fm_viewer_job *const *jobs, unsigned count);
/* A step of each. last: pictures are taken of what has been read. False: they are done, or wait for
 * what nobody computes. */
bool fm_viewer_jobs_turn(struct fm_viewer_job *const *jobs, unsigned count, bool last);
/* Whether the job is unfinished, or its answer will improve. */
bool fm_viewer_job_is_incomplete(const struct fm_viewer_job *job);

/* A pass over the window by one viewer for one trace (or all: part_index -1), as hooks. */
struct fm_viewer_reading {
    struct fm_viewer_job *job;
    int part;                                         /* -1 = all */
    void *viewer;                                     /* data of the viewer */
    void (*begin)(struct fm_viewer_reading *reading); /* called with the state at the begin */
    bool (*event)(struct fm_viewer_reading *reading,
                  struct fm_tracefile_context *at); /* NULL = none */
    const struct fm_state_observer *(*observer)(
        struct fm_viewer_reading *reading);                          /* NULL = none */
    void (*pause)(struct fm_viewer_reading *reading, uint64_t time); /* at the end of a chunk */
    void (*end)(struct fm_viewer_reading *reading, uint64_t time);   /* once */
    bool begun;
    struct fm_events_request *request;
};
/* Reads [start, end), or from a position. Copies the reading; returns the copy, which belongs to
 * the request. */
struct fm_viewer_reading *fm_viewer_job_read(struct fm_viewer_job *job,
                                             const struct fm_viewer_reading *reading,
                                             uint64_t start, const struct fm_position *from,
                                             uint64_t end, const struct fm_position *until);

/* Has the job work in small steps without reading events, until it is done: in the main loop, or by
 * fm_viewer_jobs_run(). WAITS: a pass over the trace has to end first. */
void fm_viewer_job_work(struct fm_viewer_job *job,
                        enum fm_viewer_work (*work)(struct fm_viewer_job *job));

/* The interval of the query's area, else the window; absolute, at least 1 ns. */
void fm_viewer_job_area(const struct fm_viewer_job *job, uint64_t *ret_start, uint64_t *ret_end);
/* The segments of a part; asks for their pass. NULL: they are not known yet, or, with a problem,
 * never. */
struct fm_segments *fm_viewer_part_segments(const struct fm_viewer_set *set, unsigned part,
                                            const char **ret_problem);

/* The lanes that were chosen, else all that are not hidden; NULL = all. The caller unrefs it. */
GByteArray *fm_viewer_area_lanes(const struct fm_viewer_job *job, unsigned part,
                                 const struct fm_segments *segments);
/* The lane of that id; of several that had the number the latest. FM_LANE_NONE: there is none. */
uint32_t fm_viewer_segments_lane(const struct fm_segments *segments, unsigned part, const char *id);

/* --- the viewers' answers, for pages --- */

struct fm_viewer_boxes { /* for one trace */
    struct fm_picture picture;
    bool filled, from_summary;
    GByteArray *active; /* by lane: it has events in the window */
};
/* --- activity.c --- */

/* Numbers of a trace's lanes in each class of state: of its capabilities, else CPUs, else
 * threads. */
struct fm_viewer_activity {
    enum fm_lane_kind kind;
    unsigned rank;        /* rank of that kind; 0 = the trace has none */
    unsigned lanes;       /* known lanes of that kind */
    struct fm_load ended; /* load of ended entries */
    struct fm_load load;  /* including open entries: this is shown */
    uint64_t known_until; /* absolute */
    bool from_summary, complete;
};
void fm_viewer_activity_init(struct fm_viewer_activity *activity, const struct fm_viewer_job *job);
void fm_viewer_activity_done(struct fm_viewer_activity *activity);
/* Counts an entry that ended at that time. */
void fm_viewer_activity_count(struct fm_viewer_activity *activity, const struct fm_state *state,
                              const struct fm_lane *lane, uint32_t depth,
                              const struct fm_state_entry *entry, uint64_t end);
/* All entries up to this time have been counted; open ones are counted up to now. complete: this is
 * the end of the window, and everything before is known. */
void fm_viewer_activity_show(struct fm_viewer_activity *activity, struct fm_state *state,
                             uint64_t time, bool complete);
void fm_viewer_activity_from_summary(struct fm_viewer_activity *activity,
                                     const struct fm_summary *summary,
                                     const struct fm_state *state);
bool fm_viewer_activity_is_empty(const struct fm_viewer_activity *activity);
/* Average number of working lanes over the known part; 0 when nothing is known. Garbage collection
 * does not count as work. */
double fm_viewer_activity_mean(const struct fm_viewer_activity *activity);
/* Average number of lanes in that class. */
double fm_viewer_activity_mean_of(const struct fm_viewer_activity *activity,
                                  enum fm_state_class state_class);
/* Fraction of work done by the program, not its garbage collector; negative without collections. */
double fm_viewer_activity_productivity(const struct fm_viewer_activity *activity);
/* Full height of a graph: all lanes; for threads, the maximum that work at the same time. */
unsigned fm_viewer_activity_scale(const struct fm_viewer_activity *activity);
/* Number of lanes in that class in a column. */
double fm_viewer_activity_at(const struct fm_viewer_activity *activity,
                             enum fm_state_class state_class, unsigned column);
/* "2 capabilities"; caller frees. */
char *fm_viewer_activity_name(const struct fm_viewer_activity *activity);

struct fm_viewer_point {
    unsigned part;
    uint32_t lane, value;
    uint64_t time;
};
/* --- arrows.c --- */

struct fm_viewer_arrow { /* one, or joined ones: their number, and the times of the first */
    unsigned part;
    uint32_t from, to, cell; /* cell: where in the window they end */
    uint64_t from_time, to_time, count;
};
struct fm_viewer_arrows {
    GPtrArray *all; /* struct fm_viewer_arrow */
    GHashTable *cells;
    uint64_t left_out; /* they found no room */
    bool known;        /* false: the window is drawn from the summary, which has none */
    /* reading the store of segments */
    struct fm_segments_view view;
    unsigned part;
    uint32_t block;
};
struct fm_viewer_timeline;
void fm_viewer_arrows_init(struct fm_viewer_arrows *arrows);
void fm_viewer_arrows_done(struct fm_viewer_arrows *arrows);
void fm_viewer_arrows_add(struct fm_viewer_arrows *arrows, const struct fm_viewer_job *job,
                          unsigned part, const struct fm_arrow *added);
/* The most joined ones first. */
const GPtrArray *fm_viewer_arrows_sorted(struct fm_viewer_arrows *arrows);
/* Whether they have to be read for parts that are drawn from the summary; and some of that. */
bool fm_viewer_arrows_are_wanted(struct fm_viewer_timeline *timeline);
enum fm_viewer_work fm_viewer_arrows_work(struct fm_viewer_timeline *timeline);

struct fm_viewer_timeline {
    struct fm_viewer_job job;
    struct fm_totals
        *totals;       /* a part's lanes are counted, for their order; NULL = not begun, or done */
    GArray **busy;     /* one a part, uint64_t by lane: ns of work; NULL = not asked for */
    unsigned counting; /* this part */
    struct fm_filter **dims; /* one a part; NULL = nothing is dimmed */
    fm_viewer_lane_test *test;
    struct fm_viewer_lanes lanes;
    struct fm_viewer_boxes *boxes; /* one a part */
    GArray *marks;                 /* holds struct fm_viewer_point */
    struct fm_viewer_arrows arrows;
    GHashTable *usage; /* holds struct fm_viewer_usage by key; of resources only */
    struct fm_viewer_activity *activity; /* one a part; NULL of resources */
    GPtrArray *paintings;
    GPtrArray *endings; /* ends.c: readings behind the window */
    unsigned drawing;   /* pictures and loads of parts that are drawn */
    bool clipped, is_chosen;
};
/* choice.c: some of the counting, part by part, and what it came to for the lanes. */
enum fm_viewer_work fm_viewer_busy_work(struct fm_viewer_timeline *timeline);
void fm_viewer_busy_take(struct fm_viewer_timeline *timeline);
/* The filters of the query's `dim`, which is there. */
FM_MUST_USE bool fm_viewer_dims_new(struct fm_viewer_timeline *timeline, GError **error);
/* Whether the filter of what is not dimmed refuses the box. */
bool fm_viewer_timeline_is_dimmed(const struct fm_viewer_timeline *timeline,
                                  const struct fm_viewer_lane *lane, const struct fm_box *box);
/* Orders the lanes, and returns the range to show: [first, end). */
void fm_viewer_timeline_arrange(struct fm_viewer_timeline *timeline, unsigned *ret_first,
                                unsigned *ret_end);
/* Time during which a value was the innermost on a lane, within the window. */
struct fm_viewer_usage {
    uint64_t key;
    unsigned part;
    uint32_t lane, value;
    int64_t time; /* ns */
};
/* Usage of one lane, largest first. Free the array. */
GPtrArray *fm_viewer_timeline_usage(const struct fm_viewer_timeline *timeline,
                                    const struct fm_viewer_lane *lane);
/* Fraction of the window in which the lane was busy; negative when nothing is known. */
double fm_viewer_timeline_busy(const struct fm_viewer_timeline *timeline,
                               const struct fm_viewer_lane *lane);
/* ends.c: corrects the ends of a part's picture, which was taken from a state read up to time.
 * Boxes of open entries get their real ends if the summary has them; others are marked. last: the
 * window has been read, so ends shortly after it are read, too. */
void fm_viewer_timeline_find_ends(struct fm_viewer_timeline *timeline, unsigned part, uint64_t time,
                                  bool last);
/* Boxes of one lane, in order of depth and start. */
const struct fm_box *fm_viewer_timeline_boxes(const struct fm_viewer_timeline *timeline,
                                              const struct fm_viewer_lane *lane,
                                              unsigned *ret_count);

struct fm_viewer_overview {
    struct fm_viewer_job job;
    uint64_t *counts;         /* columns */
    uint64_t total, greatest; /* fm_viewer_overview_add_up() */
};
void fm_viewer_overview_add_up(struct fm_viewer_overview *overview);
/* Why the filter accepts no event, when all have been counted; else NULL. Call after adding up. The
 * caller frees it. */
char *fm_viewer_overview_nothing(const struct fm_viewer_overview *overview);

struct fm_viewer_event_row {
    char *position;
    uint64_t time;
    unsigned part;
    int32_t cpu;
    char *source; /* location, for people */
    char *name;
    GPtrArray *fields; /* char *: name, text, name, text, ... */
};
/* Makes a row of the event that is being read. */
struct fm_viewer_event_row *fm_viewer_event_row_new(const struct fm_tracefile_context *at);
void fm_viewer_event_row_free(void *row);

struct fm_viewer_events {
    struct fm_viewer_job job;
    GPtrArray *rows; /* holds struct fm_viewer_event_row */
    unsigned wanted;
    bool backward;
    bool at_start, at_end; /* no event precedes the first row, or follows the last one */
    char *next;            /* position after the last row; NULL at the end */
    /* for reading backwards */
    struct fm_position *until;
    uint64_t window_end, offset;
    GPtrArray *found;
    uint64_t searched;
};

struct fm_viewer_statistics_row {
    const struct fm_statistics_node *node;
    int parent; /* row number, -1 = none */
    unsigned depth, part;
    double share;      /* share of the window; NAN when lanes are added up */
    unsigned left_out; /* number of children without row */
};
struct fm_viewer_statistics {
    struct fm_viewer_job job;
    struct fm_statistics **own; /* for the window; one for each part */
    bool whole;                 /* shows the results of the passes */
    bool resources_only;
    uint64_t length;
    GArray *rows; /* holds struct fm_viewer_statistics_row; made by fm_viewer_statistics_fill() */
};
void fm_viewer_statistics_fill(struct fm_viewer_statistics *statistics);

struct fm_viewer_series {
    unsigned part;
    uint32_t lane;
    uint64_t key;
    char *name;
    enum fm_lane_kind kind;
    double *numbers;              /* minimum, maximum, last: 3 for each column */
    bool band;                    /* a heap profile's: bytes, which add up with the others */
    double least, greatest, last; /* fm_viewer_counters_choose() */
};
struct fm_viewer_counters {
    struct fm_viewer_job job;
    GPtrArray *series;  /* struct fm_viewer_series to show: fm_viewer_counters_choose() */
    GPtrArray *all;     /* owns them */
    GHashTable *read;   /* part and lane -> series */
    GHashTable *unread; /* counters beyond TRACE_COUNTERS_READ_MAX */
    GPtrArray *watching;
    unsigned left_out;
    unsigned rest_count; /* bands that are not in `series` */
    double *rest;        /* their sum by column */
};
/* Fills `series` with the counters read: all in the trace's order or, if there are too many, those
 * with the largest values, largest first. */
void fm_viewer_counters_choose(struct fm_viewer_counters *counters);

/* Totals of an area. */
struct fm_viewer_area_row {
    unsigned part;
    const struct fm_totals_group *group;
};
struct fm_viewer_area {
    struct fm_viewer_job job;
    uint64_t start, end;       /* absolute */
    struct fm_totals **totals; /* one a part; NULL = the segments are not known yet */
    struct fm_flame **flames;  /* instead of totals, by stack */
    unsigned counting;         /* this part */
    const char *problem;       /* why segments are missing; NULL = none are */
    GArray *rows;              /* holds struct fm_viewer_area_row, most time first */
    unsigned left_out;         /* rows */
};
/* Makes the rows of what has been counted. */
void fm_viewer_area_fill(struct fm_viewer_area *area);

/* The critical path of a lane. */
struct fm_viewer_path {
    struct fm_viewer_job job;
    uint64_t start, end; /* absolute */
    unsigned part;
    uint32_t lane;
    struct fm_path *path;         /* NULL = not known yet, or there is none */
    struct fm_segments *segments; /* the part's; NULL as well */
    const char *problem;          /* why there is none; NULL = it is there, or will be */
};
bool fm_viewer_path_is_known(const struct fm_viewer_path *path);

/* One segment. */
struct fm_viewer_details {
    struct fm_viewer_job job;
    struct fm_viewer_lane lane; /* part, kind and key */
    char *lane_id;
    uint64_t time; /* absolute */
    uint16_t level;
    struct fm_details *details; /* NULL = not known yet, or there is none */
    GPtrArray *events;   /* struct fm_viewer_event_row: of its lane at its begin and its end */
    const char *problem; /* why it is not there; NULL = it is there, or will be */
};
bool fm_viewer_details_is_known(const struct fm_viewer_details *details);

/* A query over the area. */
struct fm_viewer_query {
    struct fm_viewer_job job;
    uint64_t start, end;            /* absolute */
    struct fm_grouping **groupings; /* one a part; NULL = there is no query, or it is wrong */
    struct fm_groups **groups;      /* one a part; NULL = the segments are not known yet */
    unsigned counting;              /* this part */
    const char *problem;            /* why there is no answer, or a part of it; NULL = none */
    char *wrong;                    /* the fault of the query; NULL = none */
};

/* A step from segment to segment. */
struct fm_viewer_step {
    struct fm_viewer_job job;
    unsigned part;               /* the one that is being searched */
    struct fm_search **searches; /* one a part; NULL = not known yet, or nothing to search there */
    struct fm_segments **segments; /* the searched ones */
    const char *problem;
};
/* NULL = there is none, or it is not known yet. */
const struct fm_segment *fm_viewer_step_found(const struct fm_viewer_step *step,
                                              unsigned *ret_part);
