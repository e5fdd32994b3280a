/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts as readers see them: "main › ⟲ expr +4 › sum". */
#pragma once

#include "pages/profile/parts/page.h"
#include "pages/report.h"

/* "insert", of a recursion "⟲ expr +4", of a function that calls itself "walk ⟲". g_free. */
char *fm_clique_label(const struct fm_page *page, uint32_t clique);
/* The path from the program's entry to the clique, with at most steps_max steps: a longer one has
 * its first and last steps, with "…" between. g_free. */
char *fm_clique_path(const struct fm_page *page, uint32_t clique, unsigned steps_max);
/* The contexts from the program's entry down to the clique, inclusive. Returns how many there are;
 * the innermost max of them are stored, outermost first. */
uint32_t fm_clique_way(const struct fm_analysis *a, uint32_t clique, uint32_t *cliques,
                       uint32_t max);
/* Text that selects this clique on a command line: "main/insert" if it is unique; else its number.
 * g_free. */
char *fm_clique_spelling(const struct fm_analysis *a, uint32_t clique);
/* Whether two csds call the same function on the same path, as in several threads. 0: not known. */
bool fm_is_same_place(const struct fm_page *page, uint32_t csd, uint32_t other);
/* A cell of the context that the callee of csd is: "main › work › lock_queue", of which the last
 * leads to its page; "not known" for 0. */
void fm_context_cell(struct fm_page *page, struct fm_table *table, uint32_t csd);
