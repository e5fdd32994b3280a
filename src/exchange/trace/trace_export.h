/* SPDX-License-Identifier: Apache-2.0 */
/* Traces in other tools' formats. What is written is the state of the lanes over time: what a
 * thread, a CPU, a lock was in and for how long, counters, marks, and arrows between lanes. */
#pragma once

#include "base/files/writer.h"
#include "trace/state/state.h"

struct fm_trace_export;

struct fm_trace_export_format {
    const char *name;    /* "chrome" */
    const char *suffix;  /* suffix of files: "json" */
    const char *summary; /* for --help */
    void (*begin)(struct fm_trace_export *x);
    void (*end)(struct fm_trace_export *x);
    const struct fm_state_observer *observer;
};

/* Ends with a NULL name. */
extern const struct fm_trace_export_format fm_trace_export_formats[];
const struct fm_trace_export_format *fm_trace_export_format_named(const char *name); /* NULL */

/* Begins to write to out what a state will be told of, which must read its trace from the begin.
 * Both stay the caller's and must outlive the result. */
struct fm_trace_export *fm_trace_export_new(const struct fm_trace_export_format *format,
                                            struct fm_state *state, struct fm_writer *out);
/* The trace has been read: entries that are open end with it. Frees the export. */
void fm_trace_export_finish(struct fm_trace_export *x);
