/* SPDX-License-Identifier: Apache-2.0 */
/* The source text of C procedures with what their calls cost. */
#pragma once

#include "pages/profile/parts/page.h"

struct fm_source_index; /* procedures by place, to know where one ends */
struct fm_source_index *fm_source_index_new(const struct fm_profile *profile);
void fm_source_index_free(struct fm_source_index *index);
/* pd 0: over all contexts, else in that one. */
void fm_source_add(struct fm_page *page, uint32_t ps, uint32_t pd);
