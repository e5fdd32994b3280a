/* SPDX-License-Identifier: Apache-2.0 */
/* A trace whose clock is corrected: its classes are replaced by ones that convert the times. */
#pragma once

#include "trace/core/trace.h"

struct fm_correction {
    double drift;
    double offset_ns;
};

/* From now on all times of the trace are corrected ones, for every context; the generation goes up.
 * Drift from 0.5 to 2. {1, 0} is as recorded. FM_ERROR_LIMIT for others. */
FM_MUST_USE bool fm_trace_set_correction(struct fm_trace *trace, struct fm_correction correction,
                                         GError **error);
struct fm_correction fm_trace_correction(const struct fm_trace *trace);
/* Traces of this identity (open.h) that are opened from now on are corrected. Thread-safe. */
void fm_trace_expect_correction(const char *identity, struct fm_correction correction);
/* For openers: applies what is expected; what cannot be applied is left out. */
void fm_trace_apply_expected(struct fm_trace *trace);
/* A time as it was recorded: of the event where the cursor of its tracefile stands. */
uint64_t fm_trace_recorded_time(const struct fm_tracefile_context *at);
