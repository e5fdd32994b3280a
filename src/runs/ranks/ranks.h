/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a sum over its profiles: minimum, maximum with its profile, mean and standard
 * deviation of each profile's cost in a context. They are computed in a second pass, when the
 * contexts of the sum are known (README.md). */
#pragma once

#include "profile/file/profile.h"
#include "runs/merge/merge.h"

/* Limits: contexts with statistics, the most expensive first; contexts with single values, and the
 * values. */
#define FM_RANKS_CONTEXTS_MAX 65536u
#define FM_RANKS_STRIPS_MAX 1000u
#define FM_RANKS_VALUES_MAX ((size_t)1 << 22)

/* Whether statistics over the parts of a sum make sense: each part is a rank of one run with
 * several ranks, or statistics were requested. False with *ret_why, a sentence for the user
 * (g_free()), or NULL if none would be expected. */
bool fm_ranks_fit(const struct fm_profile *sum, bool asked, char **ret_why);

struct fm_ranks;
/* options: those with which the sum was made. sum is borrowed, and must fit. */
FM_MUST_USE bool fm_ranks_new(const struct fm_merge_options *options, const struct fm_profile *sum,
                              struct fm_ranks **ret, GError **error);
void fm_ranks_free(struct fm_ranks *ranks); /* NULL is allowed */
/* Whether a file of this hash is one of the parts. */
bool fm_ranks_has(const struct fm_ranks *ranks, const uint8_t hash[FM_PART_HASH_BYTES]);
/* Whether the whole profile is in the sum, and its values by rank are known: a process's with this
 * hash, a sum of processes of one rank, or a sum of whole ranks with statistics. */
bool fm_ranks_holds(const struct fm_ranks *ranks, const struct fm_profile *profile,
                    const uint8_t hash[FM_PART_HASH_BYTES]);
/* Adds a profile for which fm_ranks_holds() is true; profiles of one rank one after another. name
 * is for messages. A sum's statistics are used for contexts that correspond to one context of the
 * result. FM_ERROR_UNAVAILABLE: it is not the profile that was summed. */
FM_MUST_USE bool fm_ranks_add(struct fm_ranks *ranks, const struct fm_profile *profile,
                              const uint8_t hash[FM_PART_HASH_BYTES], const char *name,
                              GError **error);
/* Finishes the statistics; the caller owns the contents of *ret. Ranks with missing files are left
 * out. False with *ret_why (g_free()), as fm_ranks_fit(): the files of a rank are of several runs.
 * Frees ranks. */
FM_MUST_USE bool fm_ranks_finish(struct fm_ranks *ranks, struct fm_rank_info *ret, char **ret_why);
/* Number of profiles, or ranks, in the statistics of a sum. */
uint64_t fm_ranks_count(const struct fm_profile *sum);
