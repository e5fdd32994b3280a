/* SPDX-License-Identifier: Apache-2.0 */
/* A reader that knows the state of its traces. Seeks start from saved states (computation
 * "state"), and permanent hooks keep one state for each trace.
 *
 * A viewer that observes a state adds its observer in its request's before_chunk_traceset hook
 * and removes it in after_chunk_traceset, because other requests read between its chunks. */
#pragma once

#include "engine/engine.h"
#include "trace/state/state.h"

struct fm_reader_states;

/* Call once for a reader. Saved states are loaded for its present and later traces. */
struct fm_reader_states *fm_reader_states_new(struct fm_engine_reader *reader);
/* call after freeing the reader; NULL is allowed */
void fm_reader_states_free(struct fm_reader_states *states);
/* The state of a trace at the position of the reader's context; NULL for a trace that is not the
 * reader's. Valid until the reader's set of traces changes. */
struct fm_state *fm_reader_states_of(const struct fm_reader_states *states,
                                     const struct fm_trace *trace);
