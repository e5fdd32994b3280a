/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a trace: enough, at every zoom, to draw any window without reading its events.
 *
 * For each lane and depth the segments are kept as boxes, short ones merged with their neighbours:
 * a box has its time, its number of segments and the time by value (the three longest). Over them
 * stand merged boxes, so that a window is drawn from a few boxes a pixel. Within a budget of bytes:
 * when it is met, boxes that lie in one cell of time are merged, and the cells become wider.
 * Numbers of events are kept by runs (128 events at first). */
#pragma once

#include "trace/state/tape.h"
#include "trace/summary/load.h"

struct fm_summary;

struct fm_summary *fm_summary_new(struct fm_trace *trace, size_t memory_budget);
void fm_summary_free(struct fm_summary *summary);
size_t fm_summary_memory(const struct fm_summary *summary);
/* fm_tape_add(tape, fm_summary_take, summary) makes it. */
void fm_summary_take(void *summary, const struct fm_tape_batch *batch);
/* Nothing more comes (until the trace grows): the open record is closed at time. */
void fm_summary_end(struct fm_summary *summary, uint64_t time);
/* What is open in the state at time is shown up to there, until it is hidden: more may come. All of
 * the tape must have been taken. */
void fm_summary_show_open(struct fm_summary *summary, struct fm_state *state, uint64_t time);
void fm_summary_hide_open(struct fm_summary *summary);
uint64_t fm_summary_known_until(const struct fm_summary *summary); /* ns */

/* Parts of a box that are not in the picture. */
enum fm_box_cut {
    FM_BOX_BEGINS_BEFORE = 1, /* the window */
    FM_BOX_ENDS_AFTER = 2,
    FM_BOX_BEGIN_UNKNOWN = 4, /* start is where reading began; it began before */
    FM_BOX_END_UNKNOWN = 8,   /* end is up to where it has been read; it goes on */
};

/* A box of a picture: one value on one lane and depth over [start, end), or several segments. Its
 * times are its own, also where it reaches out of the window. */
struct fm_box {
    uint32_t lane;
    uint32_t depth;
    uint32_t value; /* the one that took most of the time, of those at work if there are any */
    float share;    /* part of the box's time that value took: 1 = all of it */
    float load; /* fraction of the box's time that was work; if none was, the fraction that is known
                 */
    uint32_t count;      /* segments in it; more than 1 = detail is hidden */
    uint64_t start, end; /* ns */
    uint64_t detail;
    unsigned cut; /* enum fm_box_cut */
};

/* A picture being made: at most 5,000 boxes whatever the window. */
struct fm_picture {
    uint64_t start, end; /* the window */
    unsigned columns;    /* pixels */
    GArray *boxes;       /* holds struct fm_box, by lane, depth, start */
    GArray *events;      /* holds uint32_t: number of events by column */
    bool clipped;        /* boxes were left out: the lanes that did not fit */
};

/* Boxes shorter than that may stand for several segments: ns; 0 = every segment is kept. */
uint64_t fm_summary_resolution(const struct fm_summary *summary);
/* Events in [start, end), exact to a run at each end. Parts add up to the whole. */
uint64_t fm_summary_events(const struct fm_summary *summary, uint64_t start, uint64_t end);
/* Lanes active in [start, end): indexes, ascending. */
GArray *fm_summary_lanes(const struct fm_summary *summary, uint64_t start, uint64_t end);
/* The end of the segment on that lane and depth that begins at start. False when it has been merged
 * with others, which may be where it is shorter than the resolution. */
bool fm_summary_end_of(const struct fm_summary *summary, uint32_t lane, uint32_t depth,
                       uint64_t start, uint64_t *ret_end);
/* Time by value on one lane at one depth in [start, end), the longest first. A box that sticks out
 * of the window counts in proportion; where short segments were merged, values that were not among
 * the three longest of their box are missing. */
struct fm_value_time {
    uint32_t value;
    uint64_t count; /* number of segments; merged ones count by their longest value */
    double time;    /* ns */
};
GArray *fm_summary_values(const struct fm_summary *summary, uint32_t lane, uint32_t depth,
                          uint64_t start, uint64_t end);
/* How many of these lanes have states within states: those take their number of columns each in
 * fm_summary_load(), the others almost nothing. */
unsigned fm_summary_nested(const struct fm_summary *summary, const uint32_t *lanes,
                           unsigned lane_count);
/* Adds the time that these lanes spent, by the innermost entry, column and class of state. Exact to
 * a column; where short segments were merged, what was not among the three longest is missing. */
void fm_summary_load(const struct fm_summary *summary, const uint32_t *lanes, unsigned lane_count,
                     struct fm_load *load);
/* Draws the chosen lanes (NULL = all) into the picture, whose start, end and columns are set, and
 * whose arrays are made when they are NULL. max_boxes at most 5,000: when there is more to draw,
 * boxes are merged over several pixels, and only then lanes are left out. */
void fm_summary_draw(const struct fm_summary *summary, const uint32_t *lanes, unsigned lane_count,
                     struct fm_picture *picture, unsigned max_boxes);
/* A counter's least, greatest and last value by column; NaN where nothing is known. ret: 3 doubles
 * a column. */
void fm_summary_numbers(const struct fm_summary *summary, uint32_t lane, uint64_t start,
                        uint64_t end, unsigned columns, double *ret);

/* The same picture, made while events are read (an ad hoc request) by an observer that paints. */
struct fm_painter;
struct fm_painter *fm_painter_new(const struct fm_state *state, uint64_t start, uint64_t end,
                                  unsigned columns, unsigned max_boxes);
void fm_painter_free(struct fm_painter *painter);
const struct fm_state_observer *fm_painter_observer(struct fm_painter *painter);
bool fm_painter_hook(void *painter, void *tracefile_context); /* counts events by column */
/* The chosen lanes (NULL = all), as painted up to time; the painter goes on. Free with
 * fm_picture_done. */
void fm_painter_picture(struct fm_painter *painter, uint64_t time, const uint32_t *lanes,
                        unsigned lane_count, struct fm_picture *ret);
void fm_picture_done(struct fm_picture *picture);
