/* SPDX-License-Identifier: Apache-2.0 */
/* The totals of several runs of each side. */
#pragma once

#include "compare/compare.h"
#include "display/display.h"

struct fm_runs {
    const struct fm_profile *const *profiles[FM_SIDES]; /* borrowed */
    unsigned count[FM_SIDES];                           /* 1 or more */
};

/* compare: of a run of each side, which says what the measures are. */
void fm_runs_add(struct fm_list *body, const struct fm_compare *compare,
                 const struct fm_runs *runs);
