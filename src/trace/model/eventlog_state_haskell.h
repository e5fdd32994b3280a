/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of Haskell programs' events that stand in files of their own. */
#pragma once

#include "trace/model/eventlog_state.h"

void fm_eventlog_heap_number(struct happening *at, enum heap_key key, const char *name,
                             double value);
/* eventlog_state_sparks.c */
event_handler fm_eventlog_spark_counters, fm_eventlog_spark, fm_eventlog_spark_steal;
/* eventlog_state_heap.c */
event_handler fm_eventlog_cost_centre, fm_eventlog_heap_begin, fm_eventlog_heap_cost_centre,
    fm_eventlog_heap_string, fm_eventlog_heap_end, fm_eventlog_time_sample;
