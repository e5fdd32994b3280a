/* SPDX-License-Identifier: Apache-2.0 */
/* A table of functions with one measure: self, total, calls, name. With spread, sampled own time
 * has its uncertainty beside it. */
#pragma once

#include "pages/profile/measured/measure.h"
#include "pages/profile/parts/page.h"

void fm_function_table(struct fm_page *page, const struct fm_measured *measured, const char *name,
                       const uint32_t *ps, uint32_t count, bool spread);
