/* SPDX-License-Identifier: Apache-2.0 */
/* The computations of traces: "state", "statistics", "summary". One pass serves all that are asked
 * for together, with one state. Results are attributes of the trace, valid while the computation is
 * ready:
 *
 *   state/checkpoints       struct fm_checkpoints
 *   statistics/statistics   struct fm_statistics
 *   summary/summary         struct fm_summary
 *   summary/state           struct fm_state at the end of that pass: its lanes are the summary's
 *
 * While a pass runs, pass/state is the state that it keeps. */
#pragma once

#include "schedule/schedule.h"

#define FM_SUMMARY_BUDGET ((size_t)48 << 20) /* bytes a trace */

#define FM_STATE_BUDGET ((size_t)32 << 20) /* bytes a trace */

/* What the computation "state" left beside the trace at another time: if it is there and fits, the
 * computation is done. Looks once; before anything of the trace is read (a reader with states does
 * it, and so does the first request for "state"). Attribute state/damage: a text, if the file was
 * damaged. */
bool fm_trace_load_states(struct fm_trace *trace);

/* Makes the modules known to the engine and requires them. */
FM_MUST_USE bool fm_trace_modules_load(struct fm_engine *engine, GError **error);
