/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder. */
#pragma once

#include "body/bodies.h"

struct fm_bodies {
    const struct fm_analysis *a;
    const struct fm_procrep *procrep;
    const char *message;
    GHashTable *pds;        /* pd -> struct kept_pd */
    GHashTable *recursions; /* clique -> struct fm_recursion; recursion.c makes it, NULL before */
    double runs;            /* that the profile is the sum of; 0 = not looked yet */
};
