/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a page that shows a function between its callers and callees. */
#pragma once

#include "pages/profile/measured/measure.h"
#include "pages/profile/parts/page.h"

/* Adds a line with its cost, the picture, and a table of each side. The rows add up to the total;
 * if not, as for a damaged file, the page says so. clique: one context; 0 = all. */
void fm_add_butterfly_lead(struct fm_page *page, const struct fm_measured *measured, uint32_t ps,
                           uint32_t clique);
void fm_add_butterfly(struct fm_page *page, const struct fm_measured *measured, uint32_t ps,
                      uint32_t clique);
