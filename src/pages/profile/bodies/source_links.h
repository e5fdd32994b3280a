/* SPDX-License-Identifier: Apache-2.0 */
/* Links above source text: to its hottest lines, and to the lines where a function was inlined. */
#pragma once

#include "pages/profile/bodies/source.h"

/* The lines of the span with the most time of their own; page_link: the page that shows them. */
void fm_source_link_hottest(struct fm_page *page, const struct fm_query *page_link,
                            struct fm_line_span span, const struct fm_line_cost *costs);
/* The lines of other functions that a copy of the function's body was inlined at. */
void fm_source_link_copies(struct fm_page *page, uint32_t ps);
