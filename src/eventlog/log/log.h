/* SPDX-License-Identifier: Apache-2.0 */
/* A whole log in a regular file, for random access. One pass finds the offsets, times and counts
 * of its blocks; then any part can be read, and all of it in order of time.
 *
 * The pass reads the file in steps and keeps 100 bytes a block. Merges add to the log what they
 * find out about blocks, so a log and its merges belong to one thread. */
#pragma once

#include "base/progress.h"
#include "eventlog/reader/count.h"

struct fm_eventlog_log {
    char *name;
    int fd;
    uint64_t size;      /* bytes that were read */
    GPtrArray *headers; /* elements: struct fm_eventlog_header; more than one when logs stand
                           one after the other */
    GArray *blocks;     /* elements: struct fm_eventlog_block, in file order */
    GArray *gaps;       /* elements: struct fm_eventlog_gap */
    struct fm_eventlog_tail tail;      /* whether the log is finished; bytes that are left over */
    struct fm_eventlog_counts *counts; /* totals */
    GPtrArray *steps; /* internal: per header, lengths of its event types for fast reading */
    GPtrArray *facts; /* internal: struct fm_eventlog_facts or NULL, one a block */
    GPtrArray *spare_windows; /* internal: windows of blocks that were read, for reuse */
    size_t stray_bytes;
    guint first_new;               /* fm_eventlog_log_extend(): blocks from this index on are new */
    struct fm_eventlog_scan *scan; /* internal; NULL when the log was opened whole */
    void (*free_scan)(struct fm_eventlog_scan *scan);
    /* Called with each text that a program interned (event 42) when its block is read for the first
     * time. May be NULL. */
    void (*on_text)(void *user, uint32_t header, uint32_t id, const uint8_t *text, uint32_t length);
    void *user;
};

struct fm_eventlog_log *fm_eventlog_log_open(const char *path, const struct fm_progress *progress,
                                             GError **error);
void fm_eventlog_log_free(struct fm_eventlog_log *log);

/* ---- Opening a large or growing file without reading it ----
 *
 * Blocks are found by hopping from marker to marker. The content of a block is read when a merge
 * first comes near it. The file is read only where markers do not fit together. Until a block
 * has been read (fm_eventlog_log_is_known), its min_ns, max_ns, counts and damage are not known,
 * and the time of its marker stands for them. An event that is more than 10 ms earlier than the
 * marker of its block is then delivered late, once. `counts` is not set. */

/* Takes the descriptor of a regular file; name is for messages. Reads nothing yet. */
struct fm_eventlog_log *fm_eventlog_log_take(int fd, const char *name);

enum fm_eventlog_extent {
    FM_EVENTLOG_EXTENT_MORE,   /* the budget is used up: call again */
    FM_EVENTLOG_EXTENT_DONE,   /* everything in the file has been found; it may grow */
    FM_EVENTLOG_EXTENT_SHRUNK, /* the file is shorter than what was found: start over */
    FM_EVENTLOG_EXTENT_FAILED, /* no event log, or not readable */
};
/* Finds blocks beyond those known. final: nobody writes the file, so a cut last block is taken as
 * it is; if the file grows after all, the last blocks change. When blocks were added, merges must
 * be made anew. budget: about that many bytes are read before it answers MORE; a marker costs 4
 * KiB. */
enum fm_eventlog_extent fm_eventlog_log_extend(struct fm_eventlog_log *log, bool final,
                                               uint64_t budget, GError **error);
/* End of the last whole block found; what follows is unknown yet. With `final`, the file's size
 * then. */
uint64_t fm_eventlog_log_whole(const struct fm_eventlog_log *log);
/* Reads a block if that has not been done, so that all its fields are known. */
bool fm_eventlog_log_learn(struct fm_eventlog_log *log, guint block, GError **error);
bool fm_eventlog_log_is_known(const struct fm_eventlog_log *log, guint block);

/* ---- All events in order of time ----
 *
 * Ties: events without capability first, then by capability, then by file offset. Blocks are
 * open at the same time only while their times overlap (in GHC's logs one a capability). Each
 * has a window of at most 64 KiB, and 16 bytes for each event out of order. Block markers are
 * left out. */

struct fm_eventlog_merge;

struct fm_eventlog_merge *fm_eventlog_merge_new(struct fm_eventlog_log *log);
void fm_eventlog_merge_free(struct fm_eventlog_merge *merge);
/* Returns the next event; false at the end or with an error (FM_ERROR_IO; FM_ERROR_FORMAT when the
 * file changed after it was opened). After an error, reading can go on after that block. The
 * payload is valid until the next call. */
bool fm_eventlog_merge_next(struct fm_eventlog_merge *merge, struct fm_eventlog_event *ret,
                            GError **error);
/* As above without a copy: NULL instead of false; the event is valid until the next call. */
const struct fm_eventlog_event *fm_eventlog_merge_take(struct fm_eventlog_merge *merge,
                                                       GError **error);
/* The header that the last event belongs to. */
const struct fm_eventlog_header *fm_eventlog_merge_header(const struct fm_eventlog_merge *merge);
/* Its index in the log's headers. */
uint32_t fm_eventlog_merge_header_index(const struct fm_eventlog_merge *merge);
/* Moves to the first event at or after that time. Costs reading each block that spans that time, up
 * to it. */
bool fm_eventlog_merge_seek_time(struct fm_eventlog_merge *merge, uint64_t time_ns, GError **error);
/* Moves to an event that was read before (by its time, capability and offset): it is the next
 * one. */
bool fm_eventlog_merge_seek_event(struct fm_eventlog_merge *merge, uint64_t time_ns,
                                  int32_t capability, uint64_t offset, GError **error);

/* ---- One block, in file order ---- */

struct fm_eventlog_run;

/* block: belongs to the log. skip_to: stream offset of the first event to read, 0 = the block's
 * first. */
struct fm_eventlog_run *fm_eventlog_run_new(const struct fm_eventlog_log *log,
                                            const struct fm_eventlog_block *block,
                                            uint64_t skip_to);
void fm_eventlog_run_free(struct fm_eventlog_run *run);
/* Block markers are left out. false at the end of the block or with an error. */
bool fm_eventlog_run_next(struct fm_eventlog_run *run, struct fm_eventlog_event *ret,
                          GError **error);
