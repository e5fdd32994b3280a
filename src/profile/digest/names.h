/* SPDX-License-Identifier: Apache-2.0 */
/* Finds procedures by typed text, and the shortest text that is unambiguous. */
#pragma once

#include "profile/analysis/analysis.h"

/* The procedures that a text names exactly, ascending ids: by plain name ("insert", "append/3-0"),
 * with file or module before it ("btree.c:insert", "list.append"), or the linker's name. If some
 * match in full, only those. If none matches at all, C++ functions with that name without parameter
 * types. *ret: g_free. O(procedures). */
void fm_digest_named_procs(const struct fm_profile *profile, const char *text, uint32_t **ret,
                           uint32_t *ret_count);

/* For each of these procedures, a text that fm_digest_named_procs() resolves to that one only: the
 * plain name, else with its file, else NULL: then only the number is unambiguous. Each: g_free; the
 * array too. */
char **fm_digest_spellings(const struct fm_profile *profile, const uint32_t *ps, uint32_t count);

/* "ltable.c:luaH_resize" of C, the qualified name of Mercury; g_free. */
char *fm_digest_name_with_file(const struct fm_profile *profile, uint32_t ps);

enum fm_digest_match { FM_MATCH_EXACT, FM_MATCH_START, FM_MATCH_INSIDE, FM_MATCH_NEAR };
struct fm_digest_found {
    enum fm_digest_match match;
    uint32_t ps;                    /* 0: a module */
    const struct fm_module *module; /* else NULL */
    int64_t own, total;             /* by the measure; total for procedures only */
};
/* Procedures and modules whose names contain the text, ignoring case: exact matches first, then
 * prefixes, then others; most expensive own cost first. *ret_total counts all; *ret has at most max
 * (g_free). If none matches, the three most similar names. O(procedures). */
void fm_digest_find(const struct fm_analysis *a, const char *text, enum fm_measure_id measure,
                    uint32_t max, struct fm_digest_found **ret, uint32_t *ret_count,
                    uint32_t *ret_total);
