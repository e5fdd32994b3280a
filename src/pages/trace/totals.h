/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of an area of a trace, queries and critical paths as tables, for every format that pages
 * have. */
#pragma once

#include "display/display.h"
#include "trace/grouping/groups.h"
#include "trace/segments/flame.h"
#include "trace/segments/path.h"
#include "trace/segments/totals.h"

/* The address of the page that shows [start, end), which holds the longest of a group; NULL = no
 * link. Caller frees. */
typedef char *fm_trace_page_link(uint64_t start, uint64_t end, void *user);

/* Adds a row for each group, at most `rows`; returns how many were left out. origin: the time that
 * times are told from. link may be NULL. */
unsigned fm_trace_page_add_totals(struct fm_list *body, struct fm_totals *totals, unsigned rows,
                                  uint64_t origin, fm_trace_page_link *link, void *user);

/* The largest nodes of a tree: at most `max` and the root, and none that is smaller than one of
 * `parts` of the whole, unless that is 0. The caller unrefs it. */
GArray *fm_trace_page_flame_nodes(const struct fm_flame *flame, unsigned max, unsigned parts,
                                  unsigned *ret_left_out);
/* Adds them as rows, each below the one that it lies in; returns how many were left out. */
unsigned fm_trace_page_add_flame(struct fm_list *body, const struct fm_flame *flame, unsigned rows);

/* The rows of a query. link: to the segment with the greatest value; may be NULL. */
void fm_trace_page_add_groups(struct fm_list *body, const struct fm_grouping *grouping,
                              struct fm_groups *groups, fm_trace_page_link *link, void *user);

/* The parts of a path, and its first `pieces` pieces. */
void fm_trace_page_add_path(struct fm_list *body, struct fm_segments *segments,
                            struct fm_path *path, unsigned pieces, uint64_t origin,
                            fm_trace_page_link *link, void *user);
