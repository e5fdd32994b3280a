/* SPDX-License-Identifier: Apache-2.0 */
/* Texts and tables of pages about differences between ranks. */
#pragma once

#include "pages/profile/measured/measure.h"
#include "pages/profile/parts/page.h"

/* Whether there are statistics over ranks. */
bool fm_has_ranks(const struct fm_page *page);
/* FM_QUERY_BY_AUTO: time if each rank has 100 samples, else calls; for a measure without
 * statistics, calls. */
void fm_ranks_measured(struct fm_measured *ret, const struct fm_page *page,
                       enum fm_query_measure asked);
/* Says which ranks of the program are missing in the sum; nothing if none is known to be. */
void fm_add_missing_ranks(struct fm_page *page);
/* Why the requested measure has no data: it was not recorded, or is 0 for all ranks. NULL: it has
 * data, or any measure is acceptable. g_free. */
char *fm_ranks_why_none(const struct fm_page *page, enum fm_query_measure asked);
/* Adds contexts by loss, for a procedure or all (0); returns their number. rows: maximum shown. */
uint32_t fm_add_rank_losses(struct fm_page *page, const struct fm_measured *measured, uint32_t ps,
                            uint32_t rows);
/* "Rank 3 has 2 times the mean in main › relax › relaxed: 240,000 calls, the mean is 120,000.", of
 * the first of them; NULL: none. g_free. */
char *fm_ranks_lead(const struct fm_page *page, const struct fm_measured *measured);
/* Adds each rank's own value for one context, as bars and as a table. */
void fm_add_rank_values(struct fm_page *page, const struct fm_measured *measured, uint32_t clique);
/* Links to the page of ranks by the most informative measure, for "all", "proc/N" or "clique/N";
 * nothing without statistics. */
void fm_add_ranks_link(struct fm_page *page, const char *focus, const char *label);
