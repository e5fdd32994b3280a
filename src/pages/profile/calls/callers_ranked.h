/* SPDX-License-Identifier: Apache-2.0 */
/* Callers as in a window: by one measure, most expensive first. */
#pragma once

#include "pages/profile/calls/callers_groups.h"
#include "pages/profile/measured/measure.h"

/* Ways to the other groupings, and to the other measures. */
void fm_callers_choices(struct fm_page *page, const struct fm_measured *measured);
/* The groups at places [first, last), and the rows that complete the procedure's total; recursive:
 * some calls are made inside a recursion. */
void fm_callers_ranked(struct fm_page *page, const struct fm_measured *measured,
                       const struct fm_caller_groups *groups, uint32_t first, uint32_t last,
                       bool recursive);
