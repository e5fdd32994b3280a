/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of procedures: of a module, of the top. */
#pragma once

#include "pages/profile/parts/page.h"

/* sorted: the procedures are already in the preferred order. */
void fm_proc_table(struct fm_page *page, const char *name, const uint32_t *ps, uint32_t count,
                   bool sorted);
