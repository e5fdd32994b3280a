/* SPDX-License-Identifier: Apache-2.0 */
/* Where the ranks in a sum differ most: contexts ordered by the time lost while other ranks wait
 * for the slowest. */
#pragma once

#include "profile/analysis/analysis.h"

/* A caller includes its callees: among contexts on one path, the deepest that still has this share
 * of the loss above it is shown. */
#define FM_RANK_LOSS_SHARE 0.9

struct fm_rank_loss {
    uint32_t clique, row; /* indices into fm_rank_info */
    double lost;          /* (maximum - mean) x ranks, in units of the measure */
    double ratio;         /* maximum / mean, at least 1 */
};

/* The index in fm_rank_info.measures; -1: no statistics. */
int fm_rank_measure(const struct fm_profile *profile, enum fm_measure_id measure);
/* "1, 3 to 5 and 9": the ranks of the program that no part of a sum has, in at most FM_RANKS_NAMED
 * ranges; *ret_count is their number, *ret_of the number of ranks. NULL: none, or the number of
 * ranks is not known, or the sum is of one rank. g_free(). */
#define FM_RANKS_NAMED 20u
char *fm_ranks_missing(const struct fm_profile *profile, uint32_t *ret_count, uint32_t *ret_of);
/* "ranks 1, 3 to 5 and 9 of 64 are missing"; NULL likewise. g_free(). */
char *fm_ranks_missing_sentence(const struct fm_profile *profile);
/* struct fm_rank_loss, largest first, equal ones by clique, callers first; without zeros. ps: all
 * contexts of this procedure; 0: of all procedures, without those that only call where the loss
 * is. */
GArray *fm_rank_losses(const struct fm_analysis *a, enum fm_measure_id measure, uint32_t ps);
