/* SPDX-License-Identifier: Apache-2.0 */
/* What a function or a context is known by in every profile of one program: its numbers change when
 * another comes, this does not. Of a function: a hash of its file and name; of a context, of the
 * functions and call sites on the first way to it. Among equal ones (of two threads, say) it is
 * which in their order. */
#pragma once

#include <stdint.h>

#include "analysis/analysis.h"

/* Of one profile; computed when first asked for, then shared by threads. */
struct fm_identities;
struct fm_identities *fm_identities_new(void);
void fm_identities_free(struct fm_identities *identities); /* NULL is allowed */
/* For profiles with the same nodes: one more holder, who frees it, too. */
struct fm_identities *fm_identities_ref(struct fm_identities *identities);

/* Never 0. The analysis is that of the same profile in all calls. O(proc dynamics) the first time.
 */
uint64_t fm_identity_of_ps(struct fm_identities *identities, const struct fm_analysis *a,
                           uint32_t ps);
uint64_t fm_identity_of_clique(struct fm_identities *identities, const struct fm_analysis *a,
                               uint32_t clique);
/* 0: there is none. Of a context that has become part of a recursion: that. O(procedures), O(proc
 * dynamics). */
uint32_t fm_identity_find_ps(struct fm_identities *identities, const struct fm_analysis *a,
                             uint64_t identity);
uint32_t fm_identity_find_clique(struct fm_identities *identities, const struct fm_analysis *a,
                                 uint64_t identity);
