/* SPDX-License-Identifier: Apache-2.0 */
/* Charges of a tick other than to the running call: totals inside recursions (totals.c), code
 * without hooks. */
#pragma once

#include <stdint.h>

struct fm_rec_csd;
struct fm_rec_foreign;
struct fm_rec_frame;
struct fm_thread;

/* The functions that a tick has met on the stack. */
#define FM_TICK_FUNCTIONS 1024u
struct fm_tick_function {
    uint64_t fn, tick; /* tick: of which; another: a free place */
};
struct fm_tick_totals {
    uint64_t tick;
    uint32_t count;
    struct fm_tick_function seen[FM_TICK_FUNCTIONS];
};

/* Charges each function on the stack once. top: the innermost frame; charged: the call that runs,
 * which may have no frame. */
void fm_totals_charge(struct fm_thread *thread, const struct fm_rec_frame *top,
                      const struct fm_rec_csd *charged, uint64_t quanta);

/* graph.c: quanta in a module without hooks; like has all but next, and of the epoch its bits
 * alone.
 */
void fm_csd_add_foreign(struct fm_thread *thread, struct fm_rec_csd *csd,
                        const struct fm_rec_foreign *like);
