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
    bool numbers;                /* for programs (JSON, CSV): each number in a column of its own */
    bool picture;                /* both over one another, as a flame graph: HTML, JSON, SVG */
    uint32_t focus;              /* of the picture: a context; 0 = the whole program */
    /* Of pages that have one: the address of the same comparison by a measure and with a focus;
     * NULL = none. g_free. */
    char *(*address)(void *user, enum fm_measure_id by, uint32_t focus);
    void *user;
    const char *left_out; /* runs that were disturbed, as a sentence; NULL = none */
};

/* The caller owns the result. */
struct fm_display *fm_compare_page(const struct fm_compare *compare,
                                   const struct fm_compare_page_options *options);
