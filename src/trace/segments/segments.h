/* SPDX-License-Identifier: Apache-2.0 */
/* Every segment of a trace, and every arrow between its lanes: for questions that a picture cannot
 * answer, such as totals of an area, the next one of a name, who woke a thread.
 *
 * Both are kept in blocks, in the order in which they ended. A block knows its times, so that a
 * window is read from few of them. Blocks beyond a number of bytes are written to a file without a
 * name. */
#pragma once

#include "trace/state/tape.h"

struct fm_segment {
    uint64_t start, end; /* ns */
    uint32_t lane, value;
    uint16_t depth;
    bool open; /* its end is where reading ended */
};

struct fm_arrow {
    uint64_t from_time, to_time;
    uint32_t from, to; /* lanes */
};

/* A lane as it was last named. */
struct fm_segments_lane {
    enum fm_lane_kind kind;
    uint32_t name, parent; /* a value; a lane or FM_LANE_NONE */
    uint64_t key, number;  /* fm_lane_number() */
};

enum { FM_SEGMENTS_BLOCK = 8192 }; /* segments, or arrows, of a block */

/* Times of what a block holds. */
struct fm_segments_span {
    uint64_t first_start, last_start, first_end, last_end;
    uint32_t count;
};

struct fm_segments;

/* memory: bytes of blocks that are not written to the file. */
struct fm_segments *fm_segments_new(struct fm_trace *trace, size_t memory);
/* Another owner: what is made of segments may outlive their pass. Returns them. */
struct fm_segments *fm_segments_ref(struct fm_segments *segments);
void fm_segments_free(struct fm_segments *segments); /* by the last owner; NULL is allowed */
/* fm_tape_add(tape, fm_segments_take, segments) fills it. */
void fm_segments_take(void *segments, const struct fm_tape_batch *batch);
/* Shows open entries of the state up to time, until they are hidden: more may come. */
void fm_segments_show_open(struct fm_segments *segments, struct fm_state *state, uint64_t time);
void fm_segments_hide_open(struct fm_segments *segments);
/* Why not all could be kept; NULL = all is there. */
const char *fm_segments_problem(const struct fm_segments *segments);

struct fm_trace *fm_segments_trace(const struct fm_segments *segments);
uint64_t fm_segments_count(const struct fm_segments *segments);
uint64_t fm_segments_arrow_count(const struct fm_segments *segments);
uint32_t fm_segments_lane_count(const struct fm_segments *segments);
const struct fm_segments_lane *fm_segments_lane(const struct fm_segments *segments, uint32_t index);
/* Its name, with its number where several may have that name: "make (7)". The caller frees it. */
char *fm_segments_lane_label(const struct fm_segments *segments, uint32_t index);

/* Segments and arrows as they are at one time: those that come later, of a trace that grows, are
 * not in it. Owns a share of the store. */
struct fm_segments_view {
    struct fm_segments *of;
    uint32_t blocks, last_count; /* full or not; segments of the last one */
    uint32_t arrow_blocks, arrow_last_count;
    uint32_t lanes;
    struct fm_segments_span open_span;
    struct fm_segment *open;
};
void fm_segments_view_init(struct fm_segments_view *view, struct fm_segments *of);
void fm_segments_view_clear(struct fm_segments_view *view);

/* Blocks by number. The last one holds what is open. */
uint32_t fm_segments_blocks(const struct fm_segments_view *view);
struct fm_segments_span fm_segments_span(const struct fm_segments_view *view, uint32_t block);
/* Returns span.count segments; they are valid until the next call for one of this store. */
const struct fm_segment *fm_segments_read(const struct fm_segments_view *view, uint32_t block);
uint32_t fm_segments_arrow_blocks(const struct fm_segments_view *view);
struct fm_segments_span fm_segments_arrow_span(const struct fm_segments_view *view, uint32_t block);
const struct fm_arrow *fm_segments_read_arrows(const struct fm_segments_view *view, uint32_t block);
