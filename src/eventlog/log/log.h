/* SPDX-License-Identifier: Apache-2.0 */
/* A whole log in a regular file, for random access: its blocks with their places, times and counts
 * are found in one pass; then any part can be read, and all of it in the order of time.
 *
 * The pass reads the file in steps and keeps 100 bytes a block. Merges over a log note in it what
 * they find out about blocks, so a log and its merges belong to one thread. */
#pragma once

#include "base/progress.h"
#include "eventlog/reader/count.h"

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
    GPtrArray *facts;                  /* internal: struct fm_eventlog_facts or NULL, one a block */
    GPtrArray *spare_windows;          /* internal: of blocks that were read */
    size_t stray_bytes;
    guint first_new; /* fm_eventlog_log_extend(): blocks from here on were not there before */
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

/* ---- The same at once, for a large or growing file ----
 *
 * Blocks are found by hopping from marker to marker; what is in a block is looked at when a merge
 * first comes near it. Only where the markers do not fit together is the file read. Until a block
 * has been read its min_ns, max_ns, counts and damage are not known (fm_eventlog_log_is_known), and
 * the time of its marker stands for them: an event that is more than 10 ms earlier than the marker
 * of its block is given out late, at first. `counts` tells nothing. */

/* Takes the descriptor of a regular file; name is for messages. Reads nothing yet. */
struct fm_eventlog_log *fm_eventlog_log_take(int fd, const char *name);

enum fm_eventlog_extent {
    FM_EVENTLOG_EXTENT_MORE,   /* the budget is used up: call again */
    FM_EVENTLOG_EXTENT_DONE,   /* all that the file holds is found; it may grow */
    FM_EVENTLOG_EXTENT_SHRUNK, /* the file has become shorter than what was found: begin anew */
    FM_EVENTLOG_EXTENT_FAILED, /* no event log, or not readable */
};
/* Finds what the file holds beyond what is known. final: it is not being written, so a cut last
 * block is taken as it is; should the file grow after all, the last blocks become other ones.
 * Merges must be made anew when blocks were added. budget: about that many bytes are read before it
 * answers MORE; a marker counts for 4 KiB. */
enum fm_eventlog_extent fm_eventlog_log_extend(struct fm_eventlog_log *log, bool final,
                                               uint64_t budget, GError **error);
/* Where the last whole block ends that has been found: what follows is not known yet. When it was
 * looked at as final, all that the file held then. */
uint64_t fm_eventlog_log_whole(const struct fm_eventlog_log *log);
/* Reads a block if that has not been done: then all its fields are known. */
bool fm_eventlog_log_learn(struct fm_eventlog_log *log, guint block, GError **error);
bool fm_eventlog_log_is_known(const struct fm_eventlog_log *log, guint block);

/* ---- All events in the order of time ----
 *
 * Ties: events without capability first, then by capability, then by place in the file. Blocks are
 * read side by side only while their times overlap (in GHC's logs one a capability), each through
 * a window of at most 64 KiB; 16 bytes more for each event that stands out of order in its
 * block. Block markers are left out. */

struct fm_eventlog_merge;

struct fm_eventlog_merge *fm_eventlog_merge_new(struct fm_eventlog_log *log);
void fm_eventlog_merge_free(struct fm_eventlog_merge *merge);
/* The next event; false at the end or with an error (FM_ERROR_IO, or FM_ERROR_FORMAT when the file
 * changed after it was opened). After an error the rest of that block is left out and reading can
 * go on. The payload is valid until the next call. */
bool fm_eventlog_merge_next(struct fm_eventlog_merge *merge, struct fm_eventlog_event *ret,
                            GError **error);
/* The same without a copy: NULL for false; the event is valid until the next call. */
const struct fm_eventlog_event *fm_eventlog_merge_take(struct fm_eventlog_merge *merge,
                                                       GError **error);
/* The header that the last event belongs to. */
const struct fm_eventlog_header *fm_eventlog_merge_header(const struct fm_eventlog_merge *merge);
/* Its index in the log's headers. */
uint32_t fm_eventlog_merge_header_index(const struct fm_eventlog_merge *merge);
/* Goes to the first event at or after that time. Costs reading the blocks that hold it up to it. */
bool fm_eventlog_merge_seek_time(struct fm_eventlog_merge *merge, uint64_t time_ns, GError **error);
/* Goes to an event that was read before (its time, capability and offset): it comes next. */
bool fm_eventlog_merge_seek_event(struct fm_eventlog_merge *merge, uint64_t time_ns,
                                  int32_t capability, uint64_t offset, GError **error);

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
