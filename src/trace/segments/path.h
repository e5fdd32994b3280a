/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of a lane: why an interval took as long as it did, from its end backwards.
 * While the lane was not blocked the time is its own. Where it was blocked, it is that of the lane
 * that ended the wait, up to then, and of whom that waited for in turn; down to the begin of the
 * wait, where it is the first lane's again. So the pieces follow each other without gap or overlap.
 */
#pragma once

#include "trace/segments/segments.h"

enum fm_path_kind {
    FM_PATH_RUNNING,    /* the lane was not blocked */
    FM_PATH_READY,      /* it could have run, but had no CPU or capability: `value` */
    FM_PATH_COLLECTION, /* the same, while garbage was collected */
    FM_PATH_HANDED,     /* its wait was over, as the lock was free, but it did not know yet */
    FM_PATH_INTERRUPT,  /* blocked until an interrupt, `value`, woke it: a device or a timer */
    FM_PATH_UNKNOWN,    /* blocked in `value`, and nothing tells who ended that */
    FM_PATH_KIND_COUNT
};
const char *fm_path_kind_name(enum fm_path_kind kind); /* "running" */

struct fm_path_piece {
    uint64_t start, end;
    uint32_t lane, value; /* value 0: of what runs */
    enum fm_path_kind kind;
};

struct fm_path;

/* start < end. */
struct fm_path *fm_path_new(struct fm_segments *segments, uint32_t lane, uint64_t start,
                            uint64_t end);
void fm_path_free(struct fm_path *path); /* NULL is allowed */
/* Looks at that many segments and arrows; false when the path is known. */
bool fm_path_step(struct fm_path *path, unsigned count);
/* Holds struct fm_path_piece, the earliest first. Once the path is known. */
const GArray *fm_path_pieces(struct fm_path *path);

/* All pieces of one kind, lane and value. */
struct fm_path_part {
    enum fm_path_kind kind;
    uint32_t lane, value;
    uint64_t time, count, longest, longest_at;
};
/* Most time first; the caller unrefs it. */
GArray *fm_path_parts(struct fm_path *path);
