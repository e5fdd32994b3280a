/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of controls at the foot of the pages. */
#pragma once

#include "pages/profile/parts/page.h"

/* A list of controls; it is created when the first one is offered. */
struct fm_controls {
    struct fm_page *page;
    const char *title;
    struct fm_list *in; /* NULL = the page's body */
    struct fm_list *list;
};
/* Adds the control unless it leads to the present page. */
void fm_controls_offer(struct fm_controls *controls, const struct fm_query *query,
                       const char *label, const char *id);
void fm_controls_ancestors(struct fm_page *page);
void fm_controls_inactive_call_sites(struct fm_page *page);
void fm_controls_inactive_procs(struct fm_page *page);
void fm_controls_inactive_modules(struct fm_page *page);
void fm_controls_qualify(struct fm_page *page);
void fm_controls_fields(struct fm_page *page);
void fm_controls_format(struct fm_page *page);
void fm_controls_sort(struct fm_page *page);
void fm_controls_summarize(struct fm_page *page);
void fm_controls_proc_reports(struct fm_page *page, uint32_t ps);
void fm_controls_clique_reports(struct fm_page *page, uint32_t clique);
void fm_controls_general(struct fm_page *page);
void fm_controls_general_options(struct fm_page *page);
/* Group by call site, procedure, module, clique; proc and proc_callers pages. */
void fm_controls_grouping(struct fm_page *page, const char *title, uint32_t ps, uint32_t bunch_size,
                          bool contour);
