/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines with the most self time. A line of an inlined body belongs to several
 * functions: it is one line here. */
#pragma once

#include "profile/file/attached/source_map.h"

struct fm_hot_line {
    const char *file; /* belongs to the profile */
    uint32_t line;
    uint64_t quanta;    /* self time, in all contexts */
    uint32_t ps;        /* the function that spent most of it there */
    uint32_t functions; /* number of functions that spent time there */
};

/* At most max lines, most time first. *ret: g_free. None where the map has no times. */
uint32_t fm_hot_lines(const struct fm_profile *profile, const struct fm_source_map *map,
                      uint32_t max, struct fm_hot_line **ret);
