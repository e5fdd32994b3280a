/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runs/compare/compare.h"

/* Pairs of procedures and call sites of two profiles. */
struct fm_pairs {
    uint32_t *ps;         /* [before's ps + 1] the one of after, 0 = none */
    uint32_t *ps_back;    /* [after's ps + 1] the one of before */
    uint32_t *css_back;   /* [after's css + 1] the one of before, 0 = none */
    enum fm_matched *how; /* [before's ps + 1] */
    double *similarity;   /* [before's ps + 1] */
};

void fm_pairs_init(struct fm_pairs *pairs, const struct fm_profile *before,
                   const struct fm_profile *after, bool renames);
void fm_pairs_done(struct fm_pairs *pairs);
/* Pairs the remaining procedures by their callers and callees. */
void fm_pairs_find_renames(struct fm_pairs *pairs, const struct fm_profile *before,
                           const struct fm_profile *after);
/* Call sites of paired procedures: the longest common subsequence. */
void fm_pairs_find_sites(struct fm_pairs *pairs, const struct fm_profile *before,
                         const struct fm_profile *after);
/* If one side lacks the line numbers of a procedure's calls, they are removed on the other side,
 * too: otherwise sites with and without line would not match, and each call would seem to vanish
 * and appear. The tables of sites must be the profiles' own. Returns the number of procedures that
 * lost lines. */
uint32_t fm_pairs_fold_sites(const struct fm_pairs *pairs, struct fm_profile *before,
                             struct fm_profile *after);

/* Finds what of the calls the builds' inlining makes incomparable: uncounted, uneven, frame. */
void fm_compare_find_levels(struct fm_compare *compare, const struct fm_pairs *pairs);
/* Whether an edge of the graph is a call that may be a loop in the other build. */
bool fm_compare_is_loop(const struct fm_compare *compare, uint32_t csd);
/* A context of one build alone, whose calls are not counted on both sides, of a function that both
 * have, or that called what the other's frame now calls:
 * the other has no name for the same code. u: the context above it; 0 = none. */
bool fm_compare_is_inlined(const struct fm_compare *compare, uint32_t pd, uint32_t u);
/* [pd + 1] the context to which its own code belongs: for contexts inlined in one build only, the
 * one that contains it in the other build; g_free. */
uint32_t *fm_compare_homes(const struct fm_compare *compare);

/* How many quanta of the common graph are one of the run. */
uint64_t fm_compare_factor(const struct fm_compare *compare, enum fm_side side,
                           const struct fm_profile *run);

/* Finds the causes that chance does not explain, of a sampled measure. False: it is not sampled. */
bool fm_causes_judge(struct fm_causes *causes, const struct fm_compare *compare);
