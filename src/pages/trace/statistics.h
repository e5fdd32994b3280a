/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a trace as tables, for every format that pages have. */
#pragma once

#include "display/display.h"
#include "trace/statistics/statistics.h"

/* by: "state" (all lanes together), "type" (of events), "tree" (everything), or a kind of lane:
 * "thread", "lock", "counter", ... with "-" for blanks ("soft-interrupt"). start and end: the
 * interval, ns. FM_ERROR_USAGE for another word. Caller frees. */
FM_MUST_USE struct fm_display *fm_trace_page_statistics_page(const struct fm_statistics_node *root,
                                                             const char *by, uint64_t start,
                                                             uint64_t end, GError **error);
