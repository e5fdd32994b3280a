/* SPDX-License-Identifier: Apache-2.0 */
/* Callers as a window shows them: by one measure, dearest first. */
#pragma once

#include "pages/profile/calls/callers_groups.h"
#include "pages/profile/measured/measure.h"

/* Ways to the other groupings, and to the other measures. */
void fm_callers_choices(struct fm_page *page, const struct fm_measured *measured);
/* The groups at places first to last, last excluded, and what adds them up to what the procedure
 * cost; recursive: some calls are made inside a recursion. */
void fm_callers_ranked(struct fm_page *page, const struct fm_measured *measured,
                       const struct fm_caller_groups *groups, uint32_t first, uint32_t last,
                       bool recursive);
