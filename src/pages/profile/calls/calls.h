/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the graph of calls. */
#pragma once

#include "pages/profile/parts/page.h"

bool fm_page_root(struct fm_page *page, GError **error);
bool fm_page_clique(struct fm_page *page, GError **error);
bool fm_page_proc(struct fm_page *page, GError **error);
bool fm_page_contexts(struct fm_page *page, GError **error);
bool fm_page_graph(struct fm_page *page, GError **error);
bool fm_page_proc_callers(struct fm_page *page, GError **error);

/* The page of the clique, whichever command leads there (clique.c). */
void fm_clique_page(struct fm_page *page, uint32_t clique);
