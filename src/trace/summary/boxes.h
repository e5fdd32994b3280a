/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of time kept within a budget of bytes, for drawing; seen by this folder only.
 *
 *   store -> lane -> track (one a depth) -> chunks of up to 512 boxes, in order of time
 *
 * A box is one segment, or several short ones of one track that lie in the same cell of time. The
 * cell's width is the store's resolution; when the budget is met it grows by a factor of four and
 * the chunks are made denser one by one, a few at each step. Over the boxes of a finished chunk
 * stand merged boxes of 8, of 64 and of all of them, so that a picture touches few boxes whatever
 * its window: it descends only where a merged box is wider than a pixel. */
#pragma once

#include "trace/state/state.h"

enum { FM_BOX_VALUES = 3 };

struct fm_stored_box {
    uint64_t start, end;           /* ns */
    uint32_t count;                /* number of segments, or of changes of a number */
    uint32_t value[FM_BOX_VALUES]; /* the longest ones, the longest first; time 0 = none */
    union {
        uint64_t time[FM_BOX_VALUES]; /* ns in each; when count is 1 time[1] is the detail */
        double number[FM_BOX_VALUES]; /* for a track of numbers: minimum, maximum, last */
    };
};

struct fm_box_chunk {
    uint16_t count, capacity;
    bool finished;               /* it gets no more boxes: memory is counted for `merged` */
    struct fm_stored_box *boxes; /* count, in order */
    struct fm_stored_box
        *merged; /* boxes over all; then over each 64; then over each 8; NULL = not looked at */
};

struct fm_box_track {
    struct fm_box_chunk *chunks;
    uint32_t count, capacity;
    bool numbers;
    bool has_open;
    uint64_t cell_end;         /* ns: a short segment that begins before joins the open box */
    struct fm_stored_box open; /* the latest, behind those of the chunks */
    /* Stands for an entry that goes on: behind all others until it is taken away. */
    bool has_going_on;
    struct fm_stored_box going_on;
};

struct fm_box_lane {
    struct fm_box_track *tracks; /* by depth */
    uint32_t count;
    bool numbers;
    uint64_t first, last; /* ns: where it has anything */
};

struct fm_box_store {
    struct fm_box_lane *lanes;
    uint32_t lane_count;
    size_t memory, budget; /* bytes */
    uint64_t origin;       /* begin of the cells */
    uint64_t resolution;   /* ns; 0 = all segments are kept */
    bool thinning;         /* chunks are being made denser */
    uint32_t lane_at, track_at, chunk_at, kept;
};

enum { FM_BOX_DEPTH_MAX = 256 }; /* deeper levels are not kept */

void fm_box_store_init(struct fm_box_store *store, size_t budget, uint64_t origin,
                       uint64_t resolution);
void fm_box_store_done(struct fm_box_store *store);
void fm_box_store_add(struct fm_box_store *store, uint32_t lane, uint32_t depth, uint64_t start,
                      uint64_t end, uint32_t value, uint64_t detail);
void fm_box_store_number(struct fm_box_store *store, uint32_t lane, uint64_t time, double value);
/* A box as it is; it begins after those that are there. */
void fm_box_store_put(struct fm_box_store *store, uint32_t lane, uint32_t depth,
                      const struct fm_stored_box *box);
/* The entry at depth goes on; up to end it is known. */
void fm_box_store_set_going_on(struct fm_box_store *store, uint32_t lane, uint32_t depth,
                               uint64_t start, uint64_t end, uint32_t value, uint64_t detail);
void fm_box_store_end_going_on(struct fm_box_store *store, uint32_t lane, uint32_t depth);
/* Some microseconds of work when the budget is met; call it now and then. */
void fm_box_store_tend(struct fm_box_store *store);

/* Adds b, which begins later, to a. */
void fm_box_merge(struct fm_stored_box *a, const struct fm_stored_box *b, bool numbers);

/* Boxes of a track that touch [start, end), in order, merged ones where they are no wider than
 * width. False from the visitor ends it. */
typedef bool fm_box_visitor(void *user, const struct fm_stored_box *box);
bool fm_box_track_visit(const struct fm_box_track *track, uint64_t start, uint64_t end,
                        uint64_t width, fm_box_visitor *visit, void *user);
/* The value of a track of numbers just before time; *ret stays when there is none. */
void fm_box_track_last_before(const struct fm_box_track *track, uint64_t time, double *ret);
