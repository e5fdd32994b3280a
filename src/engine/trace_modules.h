/* SPDX-License-Identifier: Apache-2.0 */
/* The computations of traces: "state", "statistics", "summary", "segments". One pass computes all
 * that are requested together, with one state. Results are attributes of the trace, valid while the
 * computation is ready:
 *
 *   state/checkpoints       struct fm_checkpoints
 *   statistics/statistics   struct fm_statistics
 *   summary/summary         struct fm_summary
 *   segments/segments       struct fm_segments: asked for only by those who need it
 *   summary/state           struct fm_state at the end of that pass; the summary refers to its
 * lanes
 *
 * During a pass, pass/state is the current state. One that follows a trace that is being written
 * (fm_engine_follow()) changes the results between two turns of the main loop. */
#pragma once

#include "engine/engine.h"

struct fm_statistics;

#define FM_SUMMARY_BUDGET ((size_t)48 << 20) /* bytes a trace */

#define FM_SEGMENTS_BUDGET ((size_t)64 << 20) /* bytes a trace; the rest is on disk */

#define FM_STATE_BUDGET ((size_t)32 << 20) /* bytes a trace */

/* Loads the saved states that the computation "state" wrote beside the trace earlier. If they exist
 * and fit, that computation is done. Tries only once, before anything of the trace is read (called
 * by a reader with states, and by the first request for "state"). Attribute state/damage: a text,
 * if the file is damaged. */
bool fm_engine_load_states(struct fm_trace *trace);

/* A copy of the statistics of a pass that follows a trace, with what is open as far as it is known.
 * The caller frees it. NULL: the pass has ended, statistics/statistics is all. */
struct fm_statistics *fm_engine_statistics_so_far(struct fm_trace *trace, uint64_t *ret_until);

/* Registers the modules with the engine and requires them. */
FM_MUST_USE bool fm_engine_modules_load(struct fm_engine *engine, GError **error);
