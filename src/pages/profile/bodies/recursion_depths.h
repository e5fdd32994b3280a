/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pages/profile/parts/page.h"

/* How deep a clique of a C program recursed, and what its levels cost, as far as that was recorded:
 * a table "depths" and facts greatest_depth (not there when it is not known) and
 * unknown_depth_count. */
void fm_add_recursion_depths(struct fm_page *page, uint32_t clique);
