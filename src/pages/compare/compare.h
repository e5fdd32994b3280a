/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a comparison: differences and their causes. */
#pragma once

#include "runs/compare/compare.h"
#include "display/display.h"

struct fm_compare_page_options {
    enum fm_measure_id by;       /* measure of the causes; may be FM_COMPARE_CALLS */
    unsigned causes_max;         /* number of rows; the rest is one row */
    unsigned contexts_max;       /* maximum for each cause */
    const char *names[FM_SIDES]; /* names of the two files */
    bool numbers;                /* for programs (JSON, CSV): each number in its own column */
    bool picture;                /* both profiles in one flame graph: HTML, JSON, SVG */
    uint32_t focus;              /* focus of the picture: a context; 0 = the whole program */
    /* Address of the same comparison by a measure and with a focus, for pages that have one; NULL =
     * none. g_free. */
    char *(*address)(void *user, enum fm_measure_id by, uint32_t focus);
    void *user;
    const char *left_out; /* runs that were disturbed, as a sentence; NULL = none */
};

/* The caller owns the result. */
struct fm_display *fm_compare_page(const struct fm_compare *compare,
                                   const struct fm_compare_page_options *options);
