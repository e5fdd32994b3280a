/* SPDX-License-Identifier: Apache-2.0 */
/* Filters: which events are wanted, as text that people type.
 *
 *   event.name = RunThread | event.name = StopThread & event.field.status != 5
 *   !(state.process_name = "make" ^ event.time >= 1.5)
 *
 *   filter := or      or := xor { "|" xor }      xor := and { "^" and }
 *   and := not { "&" not }      not := "!" not | "(" or ")" | test      test := field op value
 *   op := "=" | "!=" | "<" | "<=" | ">" | ">="
 *
 * So ! binds first, then &, ^ and |, each from the left; && and || are & and |. The three kinds of
 * brackets mean the same. Names of fields are not case-sensitive, values are. A value is bare text
 * (outer blanks dropped) or "text" with \" and \\. In tests for = and != of text, * stands for any
 * text, in quotes too; \* is the character. Nothing at all accepts every event.
 *
 * A test about what the caller has not got (state.* without a state) is true. A test about what
 * this event has not got (a field of another event; the thread where none runs) is false, whatever
 * its operator.
 *
 * Threads: evaluating keeps what it learns of each event type in the filter, so a filter belongs to
 * one thread at a time. */
#pragma once

#include "trace/state/state.h"

struct fm_filter;

/* Filters are of one of these. Tests of lane.* and trace.name are for both. */
enum fm_filter_of { FM_FILTER_OF_EVENTS, FM_FILTER_OF_SEGMENTS };

/* FM_ERROR_USAGE: the message tells the byte where reading stopped, what is there and what was
 * expected. At most 64 KiB of text, 256 tests, 200 brackets in each other. */
FM_MUST_USE struct fm_filter *fm_filter_new(const char *text, GError **error);
FM_MUST_USE struct fm_filter *fm_filter_new_of_segments(const char *text, GError **error);
void fm_filter_free(struct fm_filter *filter); /* NULL is allowed */
/* From now on both: "(old) & (text)". On failure nothing has changed. */
FM_MUST_USE bool fm_filter_add(struct fm_filter *filter, const char *text, GError **error);
/* In one regular form, which fm_filter_new takes to mean the same. Caller frees. */
char *fm_filter_print(const struct fm_filter *filter);
/* Whether some test asks for state.* or lane.*. */
bool fm_filter_needs_state(const struct fm_filter *filter);

/* at: a context whose event is there (as for hooks). state: the state after the event, or NULL. */
bool fm_filter_accepts(struct fm_filter *filter, const struct fm_tracefile_context *at,
                       const struct fm_state *state);

/* A span or state, for tests of segment.* and lane.*. Texts last as long as its trace. */
struct fm_filter_segment {
    const struct fm_trace *trace;
    const char *name, *lane, *process; /* process: that the lane belongs to; NULL = none */
    enum fm_state_class state_class;
    enum fm_lane_kind kind;
    uint64_t number;           /* the lane's */
    uint64_t start, end, self; /* ns */
    uint32_t level;
    /* Equal numbers mean equal names and classes, and equal lanes. */
    uint32_t value, lane_index;
};
/* Whether some test asks for segment.self. */
bool fm_filter_needs_self(const struct fm_filter *filter);
bool fm_filter_accepts_segment(struct fm_filter *filter, const struct fm_filter_segment *segment);

/* --- values of fields, for tables --- */

struct fm_filter_value {
    enum {
        FM_FILTER_IS_NOTHING,
        FM_FILTER_IS_TEXT,
        FM_FILTER_IS_NUMBER, /* also ns */
        FM_FILTER_IS_SIGNED, /* in `number`, as int64_t */
        FM_FILTER_IS_REAL,
    } kind;
    bool lasting; /* the text stays where it is, and as it is */
    uint32_t length;
    const char *text; /* not ended by a zero byte */
    uint64_t number;
    double real;
};

/* A field by name. */
struct fm_filter_path;

/* FM_ERROR_USAGE: it is no field of that, or one that has only tests. */
FM_MUST_USE struct fm_filter_path *fm_filter_path_new(const char *text, enum fm_filter_of of,
                                                      GError **error);
void fm_filter_path_free(struct fm_filter_path *path); /* NULL is allowed */
const char *fm_filter_path_text(const struct fm_filter_path *path);
void fm_filter_path_of_segment(const struct fm_filter_path *path,
                               const struct fm_filter_segment *segment,
                               struct fm_filter_value *ret);
/* state: the state after the event. */
void fm_filter_path_of_event(const struct fm_filter_path *path,
                             const struct fm_tracefile_context *at, const struct fm_state *state,
                             struct fm_filter_value *ret);

/* Digits, a fraction, a unit: "1.5", "200ms"; exact to the nanosecond. False: it is none. */
bool fm_filter_read_time(const char *text, uint64_t *ret);

/* --- for who types a filter --- */

/* For a filter that has accepted no event: "No event passes the filter. No lane is named worker*;
 * the nearest: thread 1." states: of the traces, at their ends. Caller frees. */
char *fm_filter_explain_nothing(const struct fm_filter *filter,
                                const struct fm_state *const *states, unsigned state_count);

enum fm_filter_type {
    FM_FILTER_TEXT, /* = and != */
    FM_FILTER_NUMBER,
    FM_FILTER_TIME,  /* seconds with a fraction, or with a unit: 1.5, 200ms, 3us, 17ns */
    FM_FILTER_WORD,  /* one of a list of words; = and != */
    FM_FILTER_FIELD, /* event.field.*: what the field is */
};

struct fm_filter_field {
    const char *path;
    enum fm_filter_type type;
    const char *help;
};
enum fm_filter_type fm_filter_path_type(const struct fm_filter_path *path);

/* Completions at the cursor of a text being typed: fields, operators, values in the traces. Sorted
 * strings, each to replace text[*ret_at, cursor); at most 200. Free the array. */
GPtrArray *fm_filter_complete(const char *text, size_t cursor, struct fm_trace *const *traces,
                              unsigned trace_count, size_t *ret_at);
