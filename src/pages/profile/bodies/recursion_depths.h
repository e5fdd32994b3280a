/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pages/profile/parts/page.h"

/* Adds the recursion depths of a clique of a C program, and the cost of its levels, as far as
 * recorded: a table "depths" and the facts greatest_depth (missing when not known) and
 * unknown_depth_count. */
void fm_add_recursion_depths(struct fm_page *page, uint32_t clique);
