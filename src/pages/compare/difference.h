/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of a comparison: one flame graph of both runs. A box is as wide as the larger of its
 * two totals, so both have one scale, and functions of only one run are visible. */
#pragma once

#include "runs/compare/compare.h"
#include "display/flame.h"

struct fm_difference_options {
    enum fm_measure_id by;
    uint32_t focus; /* pd that fills the width; 0 = the whole program */
    /* The address of the page with another focus; NULL: boxes lead nowhere. g_free. */
    char *(*address)(void *user, uint32_t focus);
    void *user;
};

/* Adds the picture, with the path from the root to the focus above it. False when there is nothing
 * to draw. FM_COMPARE_CALLS is drawn as calls including those below. */
bool fm_difference_add(struct fm_list *to, const struct fm_compare *compare,
                       const struct fm_difference_options *options);
