/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a live log in order of time, as far as that is possible while it arrives.
 *
 * A stream's block arrives when it is flushed, so events of several streams arrive in runs. Each
 * event is held back until one of these is true: every live stream has passed its time (the
 * streams become known in the first hold_us); it has been held for hold_us, since an idle stream
 * delivers nothing; bytes_max are held. An event that is earlier than one already delivered is
 * delivered at once and counted as late. Events without capability are rare and do not delay
 * others. Memory: at most bytes_max and one event. */
#pragma once

#include "eventlog/reader/eventlog.h"

struct fm_eventlog_reorder;

/* bytes_max 0 = 64 MiB. hold_us 0 delivers each event at once. */
struct fm_eventlog_reorder *fm_eventlog_reorder_new(uint64_t hold_us, size_t bytes_max);
void fm_eventlog_reorder_free(struct fm_eventlog_reorder *reorder);
/* Copies the event; also takes block markers. Its type must live until the event is delivered:
 * release all before another header. now_us: any monotonic clock. */
void fm_eventlog_reorder_push(struct fm_eventlog_reorder *reorder,
                              const struct fm_eventlog_event *event, uint64_t now_us);
/* The next event to deliver; false when there is none yet. Valid until the next call. */
bool fm_eventlog_reorder_pop(struct fm_eventlog_reorder *reorder, uint64_t now_us,
                             struct fm_eventlog_event *ret);
/* The log, or this part of it, has ended: all held events may be delivered. */
void fm_eventlog_reorder_release(struct fm_eventlog_reorder *reorder);
/* Time until the next event may be delivered if nothing arrives; -1 = none is held. */
int64_t fm_eventlog_reorder_wait_us(const struct fm_eventlog_reorder *reorder, uint64_t now_us);
size_t fm_eventlog_reorder_bytes(const struct fm_eventlog_reorder *reorder); /* held at present */
/* number of late events */
uint64_t fm_eventlog_reorder_late(const struct fm_eventlog_reorder *reorder);
