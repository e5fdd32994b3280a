/* SPDX-License-Identifier: Apache-2.0 */
/* A page of traces without a stream of events, made in steps. */
#pragma once

#include "pages/render.h"
#include "pages/viewers/viewers.h"

/* A page being made. */
struct fm_trace_page;
/* patience_us: the page is made of what is known then (0 = a default); an incomplete one says so.
 * in_turns: others work on traces between the steps. Errors: those of opening and of the filter. */
FM_MUST_USE bool fm_trace_page_new(struct fm_open_files *recordings, int64_t patience_us,
                                   const struct fm_trace_query *query, enum fm_format format,
                                   bool in_turns, struct fm_trace_page **ret, GError **error);
/* Some milliseconds of work at most; false: it can be written. */
bool fm_trace_page_step(struct fm_trace_page *page);
/* Errors: those of positions. */
FM_MUST_USE bool fm_trace_page_write(struct fm_trace_page *page, GString *out, GError **error);
void fm_trace_page_free(struct fm_trace_page *page);
enum fm_format fm_trace_page_format(const struct fm_trace_page *page);
/* NULL for the set itself. */
const struct fm_viewer *fm_trace_page_viewer_of(enum fm_trace_view view);
