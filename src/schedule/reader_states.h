/* SPDX-License-Identifier: Apache-2.0 */
/* A reader that knows the state of its traces: seeks go by way of the saved states (computation
 * "state"), and permanent hooks keep one state for each trace.
 *
 * A viewer that observes a state adds its observer in its request's before_chunk_traceset hook and
 * removes it in after_chunk_traceset: between chunks others read, and seeks are read through. */
#pragma once

#include "schedule/schedule.h"
#include "trace/state/state.h"

struct fm_reader_states;

/* From now on; to be called once for a reader. Saved states of its traces are loaded, also of those
 * that it gets later. */
struct fm_reader_states *fm_reader_states_new(struct fm_trace_reader *reader);
void fm_reader_states_free(struct fm_reader_states *states); /* after the reader; NULL is allowed */
/* The state at the place where the reader's context reads; NULL for a trace that is not the
 * reader's. Valid until the reader's set of traces changes. */
struct fm_state *fm_reader_states_of(const struct fm_reader_states *states,
                                     const struct fm_trace *trace);
