/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics tree: where events, time and bytes went, by lane and state.
 *
 *   trace / KIND of lane / LANE / VALUE / ...nested VALUEs    spans and functions keep their
 * nesting trace / KIND of lane / LANE / marks / VALUE               instants, messages trace /
 * event types / NAME
 *
 * Over the whole trace by the computation "statistics", over an interval by an ad hoc request.
 * Sums: all_events of the root = events of all nodes but event types = number of events counted;
 * time of a node = its self_time + time of its children; of a lane: at most the length of the
 * interval for each living of its number. */
#pragma once

#include "trace/state/tape.h"

struct fm_statistics_node {
    const char *name; /* borrowed from the trace or the tree */
    enum fm_state_class state_class;
    uint64_t count;      /* number of segments, of marks, or of events */
    uint64_t time;       /* ns in it, nested ones included; of kinds and lanes: the sum */
    uint64_t self_time;  /* ns, nested ones taken off */
    uint64_t longest;    /* ns: the longest segment */
    uint64_t longest_at; /* ns: its begin */
    uint64_t events;     /* that happened while this was the innermost state of its lane */
    uint64_t all_events; /* here and below */
    uint64_t numbers;    /* lanes with a number: how often it was set; 0 = has none */
    double least, greatest, last, mean; /* mean over time, from its first to the last event */
    GPtrArray *children; /* holds struct fm_statistics_node, most time first; NULL = none */
    struct fm_statistics_node *parent;
    bool is_shared;      /* "others": stands for several lanes */
    uint64_t number;     /* the lane's: fm_lane_number() */
    const char *process; /* the lane's: "make (pid 10)"; NULL = not known */
};

struct fm_statistics;

/* Observes the state and counts events; the state is borrowed and must live longer, but need not
 * once nothing more is counted. Both the observer and the hook have to be added by the caller,
 * or the statistics to a tape. */
struct fm_statistics *fm_statistics_new(const struct fm_state *state);
void fm_statistics_free(struct fm_statistics *statistics);
/* Give it to fm_state_flush() at the end, for what is still open then; nothing after that. */
const struct fm_state_observer *fm_statistics_observer(struct fm_statistics *statistics);
/* Event hook, FM_HOOK_DEFAULT: hook_data = the statistics. */
bool fm_statistics_hook(void *statistics, void *tracefile_context);
/* Instead of both, the same from a tape: fm_tape_add(tape, fm_statistics_take, statistics). */
void fm_statistics_take(void *statistics, const struct fm_tape_batch *batch);
/* A copy, in which all that is open in the state ends at time; counting goes on in the original.
 * All of the tape must have been taken. */
struct fm_statistics *fm_statistics_so_far(const struct fm_statistics *from, struct fm_state *state,
                                           uint64_t time);
/* Segments are clipped to [start, end), events, marks and numbers outside are left out. */
void fm_statistics_set_interval(struct fm_statistics *statistics, uint64_t start, uint64_t end);
/* The state stands at the begin of the interval: counters have the values that they have there. */
void fm_statistics_begin(struct fm_statistics *statistics);
/* Returns what is known so far; valid until more is counted and it is asked for again. */
const struct fm_statistics_node *fm_statistics_root(struct fm_statistics *statistics);
/* A lane, kind, value... by its names, "thread", "worker", "parse"; NULL when there is none. The
 * list ends with NULL. */
const struct fm_statistics_node *fm_statistics_find(const struct fm_statistics_node *root,
                                                    ...) G_GNUC_NULL_TERMINATED;
/* Adds what another trace's statistics hold: by names. */
void fm_statistics_add(struct fm_statistics *to, struct fm_statistics *from);
