/* SPDX-License-Identifier: Apache-2.0 */
/* Counting events by type and capability, and the summary of each block, without a call per
 * event: only number, time and length of an event are looked at. */
#pragma once

#include "eventlog/reader/eventlog.h"

/* Events between two block boundaries, all of one capability. */
struct fm_eventlog_block {
    uint64_t offset, length;    /* from the marker to the next block; of what is there */
    bool marked;                /* false: events that stand in no block */
    int32_t capability;         /* -1 = none */
    uint64_t begin_ns, end_ns;  /* as the marker says; end 0 = never closed */
    uint64_t first_ns, last_ns; /* of its events in file order; all 0 when events is 0 */
    uint64_t min_ns, max_ns;
    uint64_t events;         /* markers not counted */
    uint64_t backward_steps; /* between events of this block */
    uint32_t header;         /* which of the headers read, from 0 */
};

struct fm_eventlog_counts {
    uint64_t events, markers;
    uint64_t first_ns, last_ns, min_ns, max_ns; /* all 0 when events is 0 */
    uint64_t backward_steps;
    uint64_t headers, declared_types; /* types of all headers, each number once */
    uint64_t bytes;                   /* how far it was read */
    /* Called at the end of each block; may be NULL. */
    void (*on_block)(void *user, const struct fm_eventlog_block *block);
    void *user;
    uint64_t cut_bytes; /* events in no block are told of in pieces of about that; 0 = as one */
    struct fm_eventlog_counts_inner *inner;
};

struct fm_eventlog_counts *fm_eventlog_counts_new(void);
void fm_eventlog_counts_free(struct fm_eventlog_counts *counts);

/* Counts what the reader has; answers what fm_eventlog_reader_next() answers, but for events. Use
 * one counts for one reader from its beginning on. */
enum fm_eventlog_status fm_eventlog_count(struct fm_eventlog_reader *reader,
                                          struct fm_eventlog_counts *counts, GError **error);

uint64_t fm_eventlog_counts_type(const struct fm_eventlog_counts *counts, uint16_t number);
/* capability: -1 = none. *ret_seen (may be NULL): it owns a block or has events. */
uint64_t fm_eventlog_counts_capability(const struct fm_eventlog_counts *counts, int32_t capability,
                                       bool *ret_seen);
/* Events of one type on one capability. Kept while types times capabilities is below a quarter of a
 * million; false beyond. */
bool fm_eventlog_counts_cell(const struct fm_eventlog_counts *counts, uint16_t number,
                             int32_t capability, uint64_t *ret);
