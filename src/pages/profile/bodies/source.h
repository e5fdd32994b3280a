/* SPDX-License-Identifier: Apache-2.0 */
/* The source text of C procedures with what their calls cost. */
#pragma once

#include "pages/profile/parts/page.h"

/* pd 0: over all contexts, else in that one. */
void fm_source_add(struct fm_page *page, uint32_t ps, uint32_t pd);
