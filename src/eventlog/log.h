/* SPDX-License-Identifier: Apache-2.0 */
/* A whole log in a regular file, for random access: its blocks with their places, times and counts
 * are found in one pass; then any part can be read, and all of it in the order of time.
 *
 * The pass reads the file in steps and keeps 100 bytes a block. Thread safety: after opening, a log
 * is constant; any number of threads may have merges over it, each its own. */
#pragma once

#include "base/progress.h"
#include "eventlog/count.h"

struct fm_eventlog_log {
    char *name;
    int fd;
    uint64_t size;                /* bytes that were read */
    GPtrArray *headers;           /* of struct fm_eventlog_header; more than one when logs stand
                                     one after the other */
    GArray *blocks;               /* of struct fm_eventlog_block, in file order */
    GArray *gaps;                 /* of struct fm_eventlog_gap */
    struct fm_eventlog_tail tail; /* whether it is finished, and what is left over */
    struct fm_eventlog_counts *counts; /* totals */
    GPtrArray *steps;                  /* internal: what reading needs of each header */
};

struct fm_eventlog_log *fm_eventlog_log_open(const char *path, const struct fm_progress *progress,
                                             GError **error);
void fm_eventlog_log_free(struct fm_eventlog_log *log);

/* ---- All events in the order of time ----
 *
 * Ties: events without capability first, then by capability, then by place in the file. Blocks are
 * read side by side only while their times overlap (in GHC's logs one a capability), each through
 * a window of at most 256 KiB; 16 bytes more for each event that stands out of order in its
 * block. Block markers are left out. */

struct fm_eventlog_merge;

struct fm_eventlog_merge *fm_eventlog_merge_new(const struct fm_eventlog_log *log);
void fm_eventlog_merge_free(struct fm_eventlog_merge *merge);
/* The next event; false at the end or with an error (FM_ERROR_IO, or FM_ERROR_FORMAT when the file
 * changed after it was opened). The payload is valid until the next call. */
bool fm_eventlog_merge_next(struct fm_eventlog_merge *merge, struct fm_eventlog_event *ret,
                            GError **error);
/* The header that the last event belongs to. */
const struct fm_eventlog_header *fm_eventlog_merge_header(const struct fm_eventlog_merge *merge);
/* Goes to the first event at or after that time. Costs reading the blocks that hold it up to it. */
bool fm_eventlog_merge_seek_time(struct fm_eventlog_merge *merge, uint64_t time_ns, GError **error);
/* Goes to an event that was read before (its time, capability and offset): it comes next. */
bool fm_eventlog_merge_seek_event(struct fm_eventlog_merge *merge, uint64_t time_ns,
                                  int32_t capability, uint64_t offset, GError **error);
/* Bytes of memory that the merge holds now. */
size_t fm_eventlog_merge_memory(const struct fm_eventlog_merge *merge);

/* ---- One block, in file order ---- */

struct fm_eventlog_run;

/* block: of the log. skip_to: stream offset of the event to begin with, 0 = the block's begin. */
struct fm_eventlog_run *fm_eventlog_run_new(const struct fm_eventlog_log *log,
                                            const struct fm_eventlog_block *block,
                                            uint64_t skip_to);
void fm_eventlog_run_free(struct fm_eventlog_run *run);
/* Block markers are left out. false at the end of the block or with an error. */
bool fm_eventlog_run_next(struct fm_eventlog_run *run, struct fm_eventlog_event *ret,
                          GError **error);
