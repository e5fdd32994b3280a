/* SPDX-License-Identifier: Apache-2.0 */
/* A page of traces without a stream of events. */
#pragma once

#include "pages/render.h"
#include "pages/viewers/viewers.h"

/* Writes the page in one of the formats, from what is known after patience_us (0 = a default); an
 * incomplete page says so. Errors: those of opening, of the filter and of positions. */
FM_MUST_USE bool fm_trace_page_write(struct fm_open_files *recordings, int64_t patience_us,
                                     struct fm_trace_query *query, enum fm_format format,
                                     GString *out, GError **error);
/* NULL for the set itself. */
const struct fm_viewer *fm_trace_page_viewer_of(enum fm_trace_view view);
