/* SPDX-License-Identifier: Apache-2.0 */
/* Counts events by type and capability, and summarises each block, without a call per event: it
 * reads only number, time and length of an event. */
#pragma once

#include "eventlog/reader/eventlog.h"

/* Events between two block boundaries, all of one capability. */
struct fm_eventlog_block {
    uint64_t offset, length; /* from the marker to the next block; length of what is in the file */
    bool marked;             /* false: events outside of a block */
    int32_t capability;      /* -1 = none */
    uint64_t begin_ns, end_ns; /* from the marker; end 0 = never closed */
    /* times of its first and last event in file order; all 0 when events is 0 */
    uint64_t first_ns, last_ns;
    uint64_t min_ns, max_ns;
    uint64_t events;         /* number of events, without markers */
    uint64_t backward_steps; /* steps back in time between events of this block */
    uint32_t header;         /* index of its header among those read, from 0 */
};

struct fm_eventlog_counts {
    uint64_t events, markers;
    uint64_t first_ns, last_ns, min_ns, max_ns; /* all 0 when events is 0 */
    uint64_t backward_steps;
    uint64_t headers, declared_types; /* types of all headers; a number counts once */
    uint64_t bytes;                   /* number of bytes read */
    bool has_wall;                    /* the program has told the wall clock */
    int64_t wall_ns;                  /* its time at the log's time 0: ns since 1970 */
    /* Called at the end of each block; may be NULL. */
    void (*on_block)(void *user, const struct fm_eventlog_block *block);
    void *user;
    uint64_t cut_bytes; /* events outside of blocks are reported in groups of about this size; 0 =
                           as one */
    struct fm_eventlog_counts_inner *inner;
};

struct fm_eventlog_counts *fm_eventlog_counts_new(void);
void fm_eventlog_counts_free(struct fm_eventlog_counts *counts);

/* Counts the events that the reader has. Returns what fm_eventlog_reader_next() would, but for
 * events. Use one counts object for one reader, from its start. */
enum fm_eventlog_status fm_eventlog_count(struct fm_eventlog_reader *reader,
                                          struct fm_eventlog_counts *counts, GError **error);

uint64_t fm_eventlog_counts_type(const struct fm_eventlog_counts *counts, uint16_t number);
/* capability: -1 = none. *ret_seen (may be NULL): the capability has a block or events. */
uint64_t fm_eventlog_counts_capability(const struct fm_eventlog_counts *counts, int32_t capability,
                                       bool *ret_seen);
/* Number of events of one type on one capability. Available while types times capabilities is below
 * 256 Ki; false beyond. */
bool fm_eventlog_counts_cell(const struct fm_eventlog_counts *counts, uint16_t number,
                             int32_t capability, uint64_t *ret);
