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

/* Makes the modules known to the engine and requires them. */
FM_MUST_USE bool fm_trace_modules_load(struct fm_engine *engine, GError **error);
