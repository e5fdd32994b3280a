/* SPDX-License-Identifier: Apache-2.0 */
/* The header, every node and the facts of a profile as they stand in its file, as text and as JSON.
 * The text has the sections and fields of Mercury's mdprof_dump. It differs where that is wrong:
 * calls count exceptions, raw names are always printed, coverage points are in order, containers
 * and callers are known. */
#pragma once

#include <stdio.h>

#include "profile/file/profile.h"

enum fm_dump_section {
    FM_DUMP_CSD = 1,
    FM_DUMP_PD = 2,
    FM_DUMP_CSS = 4,
    FM_DUMP_PS = 8,
    FM_DUMP_FACTS = 16,
    FM_DUMP_ALL = 31
};

struct fm_dump_wish {
    unsigned sections; /* enum fm_dump_section bits */
    bool json;
    bool called_only; /* only procedures that were called, and their call sites */
};

/* Errors of writing are left to ferror(to). */
void fm_dump(const struct fm_profile *profile, const struct fm_dump_wish *wish, FILE *to);
