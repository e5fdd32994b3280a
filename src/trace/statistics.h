/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics tree: where events, time and bytes went, by lane and state.
 *
 *   trace / KIND of lane / LANE / VALUE / ...nested VALUEs      spans and functions keep their
 * nesting trace / event types / NAME
 *
 * Over the whole trace by the computation "statistics", over an interval by an ad hoc request. */
#pragma once

#include "trace/state.h"

struct fm_statistics_node {
    const char *name; /* borrowed from the trace or the tree */
    enum fm_state_class state_class;
    uint64_t count;      /* of segments, or of events */
    uint64_t time;       /* ns in it, nested ones included */
    uint64_t self_time;  /* ns, nested ones taken off */
    uint64_t longest;    /* ns: the longest segment */
    uint64_t longest_at; /* ns: its begin */
    uint64_t events;     /* that happened while this was the innermost state of its lane */
    GPtrArray *children; /* of struct fm_statistics_node; NULL = none */
    struct fm_statistics_node *parent;
};

struct fm_statistics;

/* Observes the state and counts events; the state is borrowed and must live longer. */
struct fm_statistics *fm_statistics_new(struct fm_trace *trace);
void fm_statistics_free(struct fm_statistics *statistics);
const struct fm_state_observer *fm_statistics_observer(struct fm_statistics *statistics);
/* Event hook, FM_HOOK_DEFAULT: hook_data = the statistics. */
bool fm_statistics_hook(void *statistics, void *tracefile_context);
/* Segments are clipped to [start, end). */
void fm_statistics_set_interval(struct fm_statistics *statistics, uint64_t start, uint64_t end);
/* What is known so far; valid until more is counted. */
const struct fm_statistics_node *fm_statistics_root(struct fm_statistics *statistics);
void fm_statistics_add(struct fm_statistics *to, const struct fm_statistics *from);
