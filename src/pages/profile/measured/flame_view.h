/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph on a page: the layout of digest/, with labels, colours by file and links. */
#pragma once

#include "pages/profile/measured/measure.h"
#include "pages/profile/parts/page.h"
#include "profile/digest/flame.h"

struct fm_flame_wish {
    const struct fm_measured *measured;
    struct fm_digest_focus focus;
    bool up;
    bool upwards;   /* row 0 at the bottom; picture only, without data for scripts and readers */
    unsigned flags; /* enum fm_flame_flags */
    unsigned width; /* device pixels; 0 = 1200 */
    unsigned boxes_max, rows_max; /* 0 = as many as there may be */
    const char *id;
};

/* Adds it to the page's body. Returns how many boxes it has; 0 = nothing was added, as there is
 * nothing of the measure. *ret_deeper: rows were left out. */
unsigned fm_flame_add(struct fm_page *page, const struct fm_flame_wish *wish, bool *ret_deeper);
