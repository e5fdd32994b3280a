/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of `fathom log` that ask for all segments of a trace: latency,
 * critical-path. */
#pragma once

#include "cli/log/cmd_log.h"
#include "display/display.h"
#include "engine/trace_modules.h"
#include "trace/segments/segments.h"

struct fm_cmd_log_segments {
    struct fm_engine *engine;
    struct fm_trace *trace;
    struct fm_segments *segments;
};

/* Opens the trace, waits until all of it is there, and reads it. */
FM_MUST_USE bool fm_cmd_log_segments_open(struct fm_cmd_log_segments *reading, const char *path,
                                          GError **error);
/* Closes it and reports on standard error what could not be read. Returns the exit status. */
int fm_cmd_log_segments_done(struct fm_cmd_log_segments *reading);
/* 1 for each lane whose name one of the patterns fits: "*" any text, "?" a character. NULL: none
 * does, which is an error. */
GByteArray *fm_cmd_log_segments_lanes(const struct fm_cmd_log_segments *reading,
                                      char *const *patterns, GError **error);
/* Writes it to standard output; frees it. */
void fm_cmd_log_print_display(struct fm_display *display, bool json, bool csv);
