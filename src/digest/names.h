/* SPDX-License-Identifier: Apache-2.0 */
/* From what a reader types to procedures, and back to the shortest text that means only one. */
#pragma once

#include "analysis/analysis.h"

/* The procedures that a text names exactly, ascending ids: by their plain name ("insert",
 * "append/3-0"), with file or module before it ("btree.c:insert", "list.append"), or the linker's
 * name. Where some are so named in full, only those; where none is named so at all, functions of
 * C++ whose name it is without the types in parentheses. *ret: g_free. O(procedures). */
void fm_view_named_procs(const struct fm_profile *profile, const char *text, uint32_t **ret,
                         uint32_t *ret_count);

/* For each of these procedures a text that fm_view_named_procs() reads as that one alone: the
 * plain name, else with its file, else NULL: then only the number tells. Each: g_free; the array
 * too. */
char **fm_view_spellings(const struct fm_profile *profile, const uint32_t *ps, uint32_t count);

/* "ltable.c:luaH_resize" of C, the qualified name of Mercury; g_free. */
char *fm_view_name_with_file(const struct fm_profile *profile, uint32_t ps);

enum fm_view_match { FM_MATCH_EXACT, FM_MATCH_START, FM_MATCH_INSIDE, FM_MATCH_NEAR };
struct fm_view_found {
    enum fm_view_match match;
    uint32_t ps;                    /* 0: a module */
    const struct fm_module *module; /* else NULL */
    int64_t own, total;             /* by the measure; total for procedures only */
};
/* Procedures and modules that hold the text, whatever the case of its letters: exact ones first,
 * then those that begin with it, then others; dearest own cost first. *ret_total counts all; *ret
 * holds at most max (g_free). When none does, the three whose names are nearest. O(procedures). */
void fm_view_find(const struct fm_analysis *a, const char *text, enum fm_measure_id measure,
                  uint32_t max, struct fm_view_found **ret, uint32_t *ret_count,
                  uint32_t *ret_total);
