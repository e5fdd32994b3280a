/* SPDX-License-Identifier: Apache-2.0 */
/* Where the ranks in a sum differ most: contexts ordered by the time lost while other ranks wait
 * for the slowest. */
#pragma once

#include "analysis/analysis.h"

/* A caller has what it calls: of contexts on one path the deepest is meant that still has so much
 * of what is lost above it. */
#define FM_RANK_LOSS_SHARE 0.9

struct fm_rank_loss {
    uint32_t clique, row; /* indices into fm_rank_info */
    double lost;          /* (greatest - mean) x ranks, in units of the measure */
    double ratio;         /* greatest / mean, at least 1 */
};

/* The index among fm_rank_info.measures; -1: nothing is kept of it. */
int fm_rank_measure(const struct fm_profile *profile, enum fm_measure_id measure);
/* "1, 3 to 5 and 9": the ranks of the program's number that no part of a sum has, of the first
 * FM_RANKS_NAMED stretches; *ret_count of them in all, of *ret_of. NULL: none, or it is not known
 * how many there should be, or all of the sum is of one rank. g_free(). */
#define FM_RANKS_NAMED 20u
char *fm_ranks_missing(const struct fm_profile *profile, uint32_t *ret_count, uint32_t *ret_of);
/* "ranks 1, 3 to 5 and 9 of 64 are missing"; NULL likewise. g_free(). */
char *fm_ranks_missing_sentence(const struct fm_profile *profile);
/* struct fm_rank_loss, greatest loss first, equal ones by clique, callers first; those without any
 * left out. ps: contexts of this procedure, all of them; 0: of all procedures, without those that
 * only call where it is lost. */
GArray *fm_rank_losses(const struct fm_analysis *a, enum fm_measure_id measure, uint32_t ps);
