/* SPDX-License-Identifier: Apache-2.0 */
/* The line between two clocks by convex hulls; seen by this folder only. */
#pragma once

#include "trace/clock/synchronize.h"

/* Points (x, y): x on the clock of the lesser trace, y on that of the greater. */
struct hull_point {
    double x, y; /* ns from the first message of the pair: exact while under 2^53 */
};

struct hulls {
    uint64_t origin_x, origin_y;
    bool has_origin;
    GArray *above; /* the line passes above these: messages to the lesser trace */
    GArray *below; /* and below these: messages from it */
    guint above_sorted, below_sorted; /* so many are a hull; the others were added since */
};

void fm_hulls_init(struct hulls *hulls);
void fm_hulls_done(struct hulls *hulls);
void fm_hulls_add(struct hulls *hulls, uint64_t x, uint64_t y, bool is_above);
/* Fills in all but messages and exchanges. */
void fm_hulls_solve(struct hulls *hulls, struct fm_synchronize_pair *ret);
