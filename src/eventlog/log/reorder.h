/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a live log in the order of time, as far as can be told while it comes.
 *
 * A stream's block arrives when it is flushed, so that events of several streams come in runs. Each
 * event is held back until every living stream has come past its time (the streams are learnt in
 * the first hold_us), or until it has been held for hold_us since it came (a stream that is idle
 * delivers nothing), or until bytes_max are held. What comes still later than something that was
 * given out is given out at once and counted. Events without capability are rare and do not hold
 * the others up. Memory: at most bytes_max and one event. */
#pragma once

#include "eventlog/reader/eventlog.h"

struct fm_eventlog_reorder;

/* bytes_max 0 = 64 MiB. hold_us 0 gives everything out as it comes. */
struct fm_eventlog_reorder *fm_eventlog_reorder_new(uint64_t hold_us, size_t bytes_max);
void fm_eventlog_reorder_free(struct fm_eventlog_reorder *reorder);
/* Copies the event, block markers too. Its type must live until it is given out: release all before
 * another header. now_us: any clock that does not go back. */
void fm_eventlog_reorder_push(struct fm_eventlog_reorder *reorder,
                              const struct fm_eventlog_event *event, uint64_t now_us);
/* The next event whose turn has come; false when there is none yet. Valid until the next call. */
bool fm_eventlog_reorder_pop(struct fm_eventlog_reorder *reorder, uint64_t now_us,
                             struct fm_eventlog_event *ret);
/* The log, or this part of it, has ended: all that is held has its turn. */
void fm_eventlog_reorder_release(struct fm_eventlog_reorder *reorder);
/* How long until something has its turn if nothing comes; -1 = nothing is held. */
int64_t fm_eventlog_reorder_wait_us(const struct fm_eventlog_reorder *reorder, uint64_t now_us);
size_t fm_eventlog_reorder_bytes(const struct fm_eventlog_reorder *reorder);  /* held now */
uint64_t fm_eventlog_reorder_late(const struct fm_eventlog_reorder *reorder); /* came too late */
