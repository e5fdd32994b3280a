/* SPDX-License-Identifier: Apache-2.0 */
/* Viewers' answers as items of a page. */
#pragma once

#include "display/drawing.h"
#include "pages/render.h"
#include "pages/viewers/viewers.h"

struct fm_trace_page_show {
    const struct fm_viewer_set *set;
    const struct fm_trace_query *query;
    enum fm_format format;
    struct fm_list *body;
    uint64_t start, end; /* the window, absolute */
};

void fm_trace_page_show_overview(const struct fm_trace_page_show *show,
                                 struct fm_viewer_overview *overview);
void fm_trace_page_show_timeline(const struct fm_trace_page_show *show,
                                 struct fm_viewer_timeline *timeline);
void fm_trace_page_show_activity(const struct fm_trace_page_show *show,
                                 const struct fm_viewer_timeline *timeline);
void fm_trace_page_show_events(const struct fm_trace_page_show *show,
                               const struct fm_viewer_events *events);
void fm_trace_page_show_statistics(const struct fm_trace_page_show *show,
                                   struct fm_viewer_statistics *statistics);
void fm_trace_page_show_resources(const struct fm_trace_page_show *show,
                                  struct fm_viewer_timeline *resources);
void fm_trace_page_show_area(const struct fm_trace_page_show *show, struct fm_viewer_area *area);
void fm_trace_page_show_path(const struct fm_trace_page_show *show, struct fm_viewer_path *path);
void fm_trace_page_show_details(const struct fm_trace_page_show *show,
                                const struct fm_viewer_details *details);
void fm_trace_page_show_query(const struct fm_trace_page_show *show, struct fm_viewer_query *query);
/* The page with [start, end) and a margin as its window; user: struct fm_trace_page_show. Caller
 * frees. */
char *fm_trace_page_link_to(uint64_t start, uint64_t end, void *user);
/* form.c: hidden fields for the parts of the page's address that a form keeps. */
void fm_trace_page_form_keep(struct fm_form *form, const struct fm_trace_query *query);
/* As a field shows it; NULL: it is not set. g_free. */
char *fm_trace_page_time_or_nothing(uint64_t time);
/* rows: struct fm_viewer_event_row. */
void fm_trace_page_show_event_rows(const struct fm_trace_page_show *show, const GPtrArray *rows);
void fm_trace_page_show_step(const struct fm_trace_page_show *show,
                             const struct fm_viewer_step *step);
void fm_trace_page_show_counters(const struct fm_trace_page_show *show,
                                 struct fm_viewer_counters *counters);

/* "?file=...&..." with one change; the caller frees it. */
char *fm_trace_page_url(const struct fm_trace_query *query);

/* The page of the context named by an event in a log of timed calls, for the profile beside it:
 * "deep?clique/..."; NULL: it names none. The caller frees it. */
char *fm_trace_page_context_url(const struct fm_viewer_set *set,
                                const struct fm_viewer_event_row *row);

/* Each returns a text for the caller to free. */
char *fm_trace_page_duration_text(uint64_t ns); /* "1.23 ms" */
char *fm_trace_page_time_text(uint64_t ns,
                              unsigned decimals); /* "0.001234 s", relative to the origin */
double fm_trace_page_show_fraction(uint64_t time, uint64_t start, uint64_t end);
void fm_trace_page_show_cursor(const struct fm_trace_page_show *show, struct fm_drawing *drawing,
                               uint64_t start, uint64_t end);
void fm_trace_page_show_ticks(const struct fm_trace_page_show *show, struct fm_drawing *drawing,
                              uint64_t start, uint64_t end);
