/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the most expensive paths, functions and recursions, and of the largest allocators. */
#pragma once

#include "pages/profile/measured/measure.h"
#include "pages/profile/parts/page.h"

/* Each adds a heading and its table to the page's body, unless the table is empty. rows: maximum
 * number. */
/* Returns how many there are. */
unsigned fm_add_hot_paths(struct fm_page *page, const struct fm_measured *measured, unsigned rows);
/* Whether the hottest paths say more than the hottest functions, of at most so many each: one
 * function has several of them, or one is not among the functions. Where no function stands out,
 * they do not. */
bool fm_hot_paths_differ(const struct fm_page *page, const struct fm_measured *measured,
                         unsigned paths, unsigned functions);
void fm_add_hot_functions(struct fm_page *page, const struct fm_measured *measured, unsigned rows);
/* By CPU time, if there are enough samples: for a program that mostly waits. */
void fm_add_busy_functions(struct fm_page *page, unsigned rows);
/* The share of the whole that the dearest recursion has. */
double fm_recursions_share(const struct fm_page *page, const struct fm_measured *measured);
/* Returns how many there are; none where the dearest has less than a twentieth. */
unsigned fm_add_hot_recursions(struct fm_page *page, const struct fm_measured *measured,
                               unsigned rows);
/* By bytes allocated; wrappers of malloc give way to their callers. */
void fm_add_hot_allocators(struct fm_page *page, unsigned rows);
/* As above for leaks and for memory live at the peak; nothing if that was not recorded, or is
 * empty. */
void fm_add_hot_holders(struct fm_page *page, unsigned rows);
void fm_add_hot_at_peak(struct fm_page *page, unsigned rows);
/* The one table of memory that tells most: leaks without those of few blocks
 * (profile/digest/run/held.h), else the peak where it is 16 MiB or more, else what was allocated.
 */
void fm_add_leading_memory(struct fm_page *page, unsigned rows);
/* Time in code without hooks by file, where it is a tenth or more: a part of the hottest functions'
 * own. */
void fm_add_unhooked(struct fm_page *page, unsigned rows);
/* Adds the contexts of a procedure, joined by path; returns their number. Adds nothing if there are
 * fewer than least. A row whose calls cost at least five times as much as elsewhere says so, if
 * that is significant. */
unsigned fm_add_contexts(struct fm_page *page, const struct fm_measured *measured, uint32_t ps,
                         unsigned least, unsigned rows);
