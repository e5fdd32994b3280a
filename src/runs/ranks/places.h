/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: which part of a sum a file belongs to. */
#pragma once

#include "runs/ranks/ranks.h"

#define FM_NO_PLACE UINT32_MAX

/* Places: the parts of the sum or, if processes of one rank are joined, its ranks. */
struct fm_rank_places {
    const struct fm_profile *sum;
    bool shared; /* places are ranks */
    uint32_t count;
    uint32_t *place_of;       /* by part */
    uint32_t *parts_at;       /* by place: number of parts */
    GHashTable *part_of_hash; /* FM_PART_HASH_BYTES of the sum's part -> its index + 1 */
};

/* sum is borrowed. */
void fm_rank_places_init(struct fm_rank_places *places, const struct fm_profile *sum);
void fm_rank_places_done(struct fm_rank_places *places);
bool fm_rank_places_has(const struct fm_rank_places *places,
                        const uint8_t hash[FM_PART_HASH_BYTES]);
/* Place of a process's profile with this hash, or of a sum of only that, or of parts of one place.
 * FM_NO_PLACE: it is not in the sum, or in several places. */
uint32_t fm_rank_places_of(const struct fm_rank_places *places, const struct fm_profile *profile,
                           const uint8_t hash[FM_PART_HASH_BYTES]);

/* Whether a sum has statistics over places that are complete in it: all of their parts, and no
 * others. */
bool fm_rank_places_are_of(const struct fm_rank_places *places, const struct fm_profile *profile);
/* The place of a part of a sum, by the hash of the part; FM_NO_PLACE. */
uint32_t fm_rank_places_of_part(const struct fm_rank_places *places,
                                const uint8_t hash[FM_PART_HASH_BYTES]);

/* The files of one place. */
struct fm_rank_files {
    GArray *parts; /* struct: part of the sum, file */
    uint32_t count;
};
void fm_rank_files_init(struct fm_rank_files *files);
void fm_rank_files_done(struct fm_rank_files *files);
/* Adds a file for which fm_rank_places_of() returned a place. */
void fm_rank_files_add(struct fm_rank_files *files, const struct fm_rank_places *places,
                       const struct fm_profile *profile, const uint8_t hash[FM_PART_HASH_BYTES]);
/* Whether the files are of one run: each process but the first was started by another one of the
 * run, or is in a sum with one that has the same parent. A sum may also contain two runs. False
 * with *ret_why, a sentence; g_free(). Empties files. */
bool fm_rank_files_are_one(struct fm_rank_files *files, char **ret_why);
