/* SPDX-License-Identifier: Apache-2.0 */
/* The first page, pages that it links to, and pages shown instead of others. */
#pragma once

#include "display/ranked.h"
#include "pages/profile/parts/page.h"

bool fm_page_menu(struct fm_page *page, GError **error);
bool fm_page_about(struct fm_page *page, GError **error);
bool fm_page_recursions(struct fm_page *page, GError **error);
bool fm_page_flame(struct fm_page *page, GError **error);
bool fm_page_tree(struct fm_page *page, GError **error);
bool fm_page_memory(struct fm_page *page, GError **error);
bool fm_page_leaks(struct fm_page *page, GError **error);
bool fm_page_waits(struct fm_page *page, GError **error);
bool fm_page_durations(struct fm_page *page, GError **error);
bool fm_page_ranks(struct fm_page *page, GError **error);
bool fm_page_find(struct fm_page *page, GError **error);
bool fm_page_help(struct fm_page *page, GError **error);

/* The page for an ambiguous name (find.c). */
struct fm_subject;
bool fm_page_which(struct fm_page *page, const struct fm_subject *subject);
/* Instead of a page that cannot be made yet. */
bool fm_page_unfinished(struct fm_page *page, GError **error);

/* --- pieces of these pages --- */

/* The table of the menu: the file's header, and counts (menu.c). */
void fm_add_summary(struct fm_page *page);
/* The longest waits, as a table of at most that many rows (waiting.c). */
struct fm_wait_digest;
void fm_add_waiting_contexts(struct fm_page *page, const struct fm_wait_digest *digest,
                             unsigned rows);
/* Live memory over time, or that it was not recorded (memory_time.c). */
void fm_add_memory_over_time(struct fm_page *page);
/* Temporary blocks, as a table of at most that many rows (temporary.c). */
void fm_add_temporary(struct fm_page *page, uint32_t rows);
/* Sleep outside of recorded waits, or that it was not recorded (sleeps.c). */
void fm_add_sleeps(struct fm_page *page, enum fm_time_unit unit);
/* Notes, phases and snapshots of a C program's recording (run_info.c). */
void fm_add_run_info(struct fm_page *page);
/* The invariants of the profile, and whether each holds (run_info.c). */
void fm_add_invariants(struct fm_page *page);
/* Says in front of all figures how far they can be trusted. */
void fm_add_quality(struct fm_page *page);
/* For a sum of processes with several roles: cost by role, most expensive first. */
void fm_add_roles(struct fm_page *page);
