/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exchange/trace/trace_export.h"

struct fm_trace_export {
    const struct fm_trace_export_format *format;
    struct fm_state *state;
    struct fm_trace *trace;
    struct fm_writer *out;
    struct fm_state_observer observer; /* the format's, with this as user */
    GString *text;                     /* chrome: the event that is made */
    uint64_t arrows;                   /* chrome: so many so far */
    GPtrArray *lanes;                  /* perfetto: GArray of items, by index; NULL = none */
    bool any;                          /* chrome: an event has been written */
};

extern const struct fm_state_observer fm_chrome_observer, fm_perfetto_observer;
void fm_chrome_begin(struct fm_trace_export *x);
void fm_chrome_end(struct fm_trace_export *x);
void fm_perfetto_begin(struct fm_trace_export *x);
void fm_perfetto_end(struct fm_trace_export *x);
/* "threads": what lanes of a kind are together. */
const char *fm_trace_export_group(enum fm_lane_kind kind);
