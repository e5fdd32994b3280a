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

/* The caller owns the result. */
struct fm_display *fm_compare_page(const struct fm_compare *compare,
                                   const struct fm_compare_page_options *options);
