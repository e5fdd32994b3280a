/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines with the most self time. A line of an inlined body belongs to several
 * functions: it is one line here. */
#pragma once

#include "profile/file/attached/source_map.h"

struct fm_hot_line {
    const char *file; /* belongs to the profile */
    uint32_t line;
    uint64_t amount; /* self time in quanta, in all contexts; of allocating lines, their measure */
    uint32_t ps;     /* the function that has most of it there */
    uint32_t functions;  /* number of functions that have some of it there */
    uint32_t more_lines; /* further lines of the function that share the amount: allocating lines */
    uint64_t blocks;     /* allocating lines */
};

/* At most max lines, most time first. *ret: g_free. None where the map has no times. */
uint32_t fm_hot_lines(const struct fm_profile *profile, const struct fm_source_map *map,
                      uint32_t max, struct fm_hot_line **ret);

/* Joins lines of equal places, orders them, largest amount first, and keeps max of them; takes the
 * array of struct fm_hot_line. Returns their number; *ret: g_free. */
uint32_t fm_hot_lines_rank(GArray *lines, uint32_t max, struct fm_hot_line **ret);
