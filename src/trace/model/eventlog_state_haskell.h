/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of Haskell programs' events that stand in files of their own. */
#pragma once

#include "trace/model/eventlog_state.h"

void fm_eventlog_heap_number(struct happening *at, enum heap_key key, const char *name,
                             double value);
/* eventlog_state_gc.c */
event_handler fm_eventlog_gc_start, fm_eventlog_gc_end, fm_eventlog_gc_work, fm_eventlog_gc_idle,
    fm_eventlog_gc_done, fm_eventlog_gc_ask_sequential, fm_eventlog_gc_ask_parallel,
    fm_eventlog_gc_global_sync, fm_eventlog_gc_statistics, fm_eventlog_gc_mark_begin,
    fm_eventlog_gc_mark_end, fm_eventlog_gc_sync_begin, fm_eventlog_gc_sync_end,
    fm_eventlog_gc_sweep_begin, fm_eventlog_gc_sweep_end;
/* The capability has no part in a collection any more. */
void fm_eventlog_gc_leave(struct happening *at, struct capability *capability);
/* It runs a thread: a collection that it is in has ended unseen. */
void fm_eventlog_gc_missed(struct happening *at, struct capability *capability);
/* eventlog_state_sparks.c */
event_handler fm_eventlog_spark_counters, fm_eventlog_spark, fm_eventlog_spark_steal;
/* eventlog_state_heap.c */
event_handler fm_eventlog_cost_centre, fm_eventlog_heap_begin, fm_eventlog_heap_cost_centre,
    fm_eventlog_heap_string, fm_eventlog_heap_end, fm_eventlog_time_sample;
