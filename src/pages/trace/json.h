/* SPDX-License-Identifier: Apache-2.0 */
/* Viewers' answers as JSON for scripts: in /trace.json and in a page's stream. */
#pragma once

#include "base/text/json.h"
#include "pages/viewers/viewers.h"

/* Writes {"viewer": ..., ...}; name as in base/text/json.h. The job may arrange its lanes. */
void fm_trace_page_json_job(struct fm_json *json, const char *name, struct fm_viewer_job *job);
/* As above, for the set itself: its files, and the progress of passes over them. */
void fm_trace_page_json_set(struct fm_json *json, const char *name,
                            const struct fm_viewer_set *set);

/* An event as an object. */
void fm_trace_page_json_event(struct fm_json *json, const struct fm_viewer_job *job,
                              const struct fm_viewer_event_row *row);
/* Members of the answer of a segment's details, of a query, and of an area by stack. */
void fm_trace_page_json_details(struct fm_json *json, struct fm_viewer_job *job);
void fm_trace_page_json_query(struct fm_json *json, struct fm_viewer_job *job);
void fm_trace_page_json_trees(struct fm_json *json, const struct fm_viewer_area *area);
/* Members of the answer of a timeline, or of resources (timeline_json.c). */
void fm_trace_page_json_timeline(struct fm_json *json, struct fm_viewer_job *job);
