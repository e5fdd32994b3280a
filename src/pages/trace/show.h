/* SPDX-License-Identifier: Apache-2.0 */
/* Viewers' answers as items of a page. */
#pragma once

#include "display/drawing.h"
#include "viewers/viewers.h"

struct trace_show {
    const struct trace_set *set;
    const struct fm_trace_query *query;
    enum fm_format format;
    struct fm_list *body;
    uint64_t start, end; /* the window, absolute */
};

void trace_show_overview(const struct trace_show *show, struct trace_overview *overview);
void trace_show_timeline(const struct trace_show *show, struct trace_timeline *timeline);
void trace_show_activity(const struct trace_show *show, const struct trace_timeline *timeline);
void trace_show_events(const struct trace_show *show, const struct trace_events *events);
void trace_show_statistics(const struct trace_show *show, struct trace_statistics *statistics);
void trace_show_resources(const struct trace_show *show, struct trace_timeline *resources);
void trace_show_counters(const struct trace_show *show, struct trace_counters *counters);

/* Each returns a text for the caller to free. */
char *trace_duration_text(uint64_t ns);                /* "1.23 ms" */
char *trace_time_text(uint64_t ns, unsigned decimals); /* "0.001234 s", relative to the origin */
double trace_show_fraction(uint64_t time, uint64_t start, uint64_t end);
void trace_show_cursor(const struct trace_show *show, struct fm_drawing *drawing, uint64_t start,
                       uint64_t end);
void trace_show_ticks(const struct trace_show *show, struct fm_drawing *drawing, uint64_t start,
                      uint64_t end);
