/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the graph of calls. */
#pragma once

#include "pages/profile/parts/page.h"

bool fm_report_root(struct fm_page *page, GError **error);
bool fm_report_clique(struct fm_page *page, GError **error);
bool fm_report_proc(struct fm_page *page, GError **error);
bool fm_report_contexts(struct fm_page *page, GError **error);
bool fm_report_graph(struct fm_page *page, GError **error);
bool fm_report_proc_callers(struct fm_page *page, GError **error);

/* The page of the clique, whichever command leads there (clique.c). */
void fm_clique_page(struct fm_page *page, uint32_t clique);
