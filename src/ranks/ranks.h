/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a sum over the profiles in it: least, greatest, whose it is, mean and deviation of
 * what each of them has in a context, computed by a second pass over them when the contexts of the
 * sum are known (README.md). */
#pragma once

#include "deep/profile.h"
#include "merge/merge.h"

/* Contexts with statistics, the dearest; contexts and values that are kept one by one. */
#define FM_RANKS_CONTEXTS_MAX 65536u
#define FM_RANKS_STRIPS_MAX 1000u
#define FM_RANKS_VALUES_MAX ((size_t)1 << 22)

/* Whether statistics over the parts of a sum make sense by what it says of them: each has a rank of
 * one run, of which there are several, or they are asked for. False with *ret_why, a sentence for
 * those who made the sum (g_free()), or NULL where nobody would expect statistics. */
bool fm_ranks_fit(const struct fm_profile *sum, bool asked, char **ret_why);

struct fm_ranks;
/* options: those that the sum was made with. sum is borrowed; it fits. */
FM_MUST_USE bool fm_ranks_new(const struct fm_merge_options *options, const struct fm_profile *sum,
                              struct fm_ranks **ret, GError **error);
void fm_ranks_free(struct fm_ranks *ranks); /* NULL is allowed */
/* Whether a file of this hash is one of the parts. */
bool fm_ranks_has(const struct fm_ranks *ranks, const uint8_t hash[FM_PART_HASH_BYTES]);
/* Whether all of the profile is in the sum, and its values by rank are known: a process's of this
 * hash, a sum of processes of one rank, or a sum of whole ranks that has statistics itself. */
bool fm_ranks_holds(const struct fm_ranks *ranks, const struct fm_profile *profile,
                    const uint8_t hash[FM_PART_HASH_BYTES]);
/* A profile that it holds; those of one rank one after another. name is used in messages. Of a
 * sum's statistics those contexts count that are one context of the result; of others there are
 * none. FM_ERROR_UNAVAILABLE: it is not what was added. */
FM_MUST_USE bool fm_ranks_add(struct fm_ranks *ranks, const struct fm_profile *profile,
                              const uint8_t hash[FM_PART_HASH_BYTES], const char *name,
                              GError **error);
/* Finishes the statistics; the caller owns the contents of *ret. Ranks with missing files are left
 * out. False with *ret_why (g_free()), as fm_ranks_fit(): the files of a rank are of several runs.
 * Frees ranks. */
FM_MUST_USE bool fm_ranks_finish(struct fm_ranks *ranks, struct fm_rank_info *ret, char **ret_why);
/* How many profiles, or ranks, the statistics of a sum are over. */
uint64_t fm_ranks_count(const struct fm_profile *sum);
