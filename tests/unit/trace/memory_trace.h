/* SPDX-License-Identifier: Apache-2.0 */
/* A trace in memory, for tests of what reads traces: one tracefile for each list of events. */
#pragma once

#include "trace/core/trace.h"

struct memory_event {
    uint64_t time;
    uint32_t id;
    const char *label;
};

/* Adds a tracefile; the events (ending with a NULL label) are borrowed. */
void memory_trace_add(struct fm_trace *trace, const char *channel,
                      const struct memory_event *events);
/* The label of the event that a hook is called for. */
const char *memory_event_label(const struct fm_tracefile_context *context);
