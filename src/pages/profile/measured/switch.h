/* SPDX-License-Identifier: Apache-2.0 */
/* The switch of the measure, on pages of ranked rows. */
#pragma once

#include "pages/profile/measured/measure.h"
#include "pages/profile/parts/page.h"

/* The measure of the page's order; for other orders the most informative one. */
enum fm_query_measure fm_measure_preferred(const struct fm_page *page);
/* The measure of a page about a function (0: all). By default the program's most informative one
 * or, if the function has hardly any of that, one that it has. */
void fm_measured_of_function(struct fm_measured *ret, const struct fm_page *page,
                             enum fm_query_measure asked, uint32_t ps);
/* Links to this page in other orders, for pages whose command has no measure. */
void fm_add_measure_orders(struct fm_page *page, enum fm_query_measure now);
/* Links to this page by other measures. */
void fm_add_measures(struct fm_page *page, enum fm_query_measure now);
