/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines with the most self time, with their text where the source is at hand. */
#pragma once

#include "pages/profile/parts/page.h"

/* The section of the first page, of at most that many rows. Nothing is added where no line stands
 * out: the first one has less than 4 samples or 5 % of the time. */
void fm_add_leading_lines(struct fm_page *page, uint32_t rows);
/* The table of lines by a measure of memory, of at most that many rows; nothing where that is not
 * recorded, or 0. */
void fm_add_allocating_lines(struct fm_page *page, enum fm_query_measure by, uint32_t rows);
