/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a comparison: what differs and why. */
#pragma once

#include "compare/compare.h"
#include "display/display.h"

struct fm_compare_page_options {
    enum fm_measure_id by;       /* whose causes are shown; FM_COMPARE_CALLS is allowed */
    unsigned causes_max;         /* rows; the rest is one row */
    unsigned contexts_max;       /* of each cause */
    const char *names[FM_SIDES]; /* of the two files */
};

/* What a reader looks at first: calls, or allocations where calls are equal, else time. */
enum fm_measure_id fm_compare_page_measure(const struct fm_compare *compare);
/* "calls", "time", "bytes", "allocs"; or a measure's own name. False: the profiles do not have
 * it. */
bool fm_compare_page_parse(const struct fm_compare *compare, const char *text,
                           enum fm_measure_id *ret);
/* The caller owns the result. */
struct fm_display *fm_compare_page(const struct fm_compare *compare,
                                   const struct fm_compare_page_options *options);
