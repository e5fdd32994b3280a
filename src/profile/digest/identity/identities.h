/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of a function or context in all profiles of a program; its number may change from
 * profile to profile. For a function: a hash of its file and name. For a context: a hash of the
 * functions and call sites on the first path to it. Equal ones (as in two threads) are
 * distinguished by their order. */
#pragma once

#include <stdint.h>

#include "profile/analysis/analysis.h"

/* Identities of one profile; computed at the first request, then shared by threads. */
struct fm_identities;
struct fm_identities *fm_identities_new(void);
void fm_identities_free(struct fm_identities *identities); /* NULL is allowed */
/* For profiles with the same nodes: adds a reference, to be freed, too. */
struct fm_identities *fm_identities_ref(struct fm_identities *identities);

/* Never 0. The analysis is that of the same profile in all calls. O(proc dynamics) the first time.
 */
uint64_t fm_identity_of_ps(struct fm_identities *identities, const struct fm_analysis *a,
                           uint32_t ps);
uint64_t fm_identity_of_clique(struct fm_identities *identities, const struct fm_analysis *a,
                               uint32_t clique);
/* 0: there is none. For a context that is now part of a recursion: the recursion. O(procedures),
 * O(proc dynamics). */
uint32_t fm_identity_find_ps(struct fm_identities *identities, const struct fm_analysis *a,
                             uint64_t identity);
uint32_t fm_identity_find_clique(struct fm_identities *identities, const struct fm_analysis *a,
                                 uint64_t identity);
