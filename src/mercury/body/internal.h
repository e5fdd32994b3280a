/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder. */
#pragma once

#include "mercury/body/bodies.h"

struct fm_bodies {
    const struct fm_analysis *a;
    const struct fm_procrep *procrep;
    const char *message;
    GHashTable *pds; /* pd -> struct kept_pd */
    /* clique -> struct fm_recursion; made by recursion.c when first needed */
    GHashTable *recursions;
    double runs; /* number of runs that the profile sums up; 0 = not yet computed */
};
