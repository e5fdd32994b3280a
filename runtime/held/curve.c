/* SPDX-License-Identifier: Apache-2.0 */
/* Live bytes over time, as ticks meet them: in bounded space, as slots become twice as long when
 * the run outlasts them. Nothing is done when a block is allocated or freed. */
#include "held/curve.h"

#include <time.h>

#define SHIFT_FIRST 20u /* a slot of 1 ms */

enum { IDLE = 0, WRITING = 1, FOLDING = FM_REC_CURVE_FOLDING };

static struct fm_rec_curve *current; /* NULL: no room for it, or nothing is held */

static bool is_met(const struct fm_rec_curve_slot *slot)
{
    return slot->most != 0;
}

static void meet(struct fm_rec_curve_slot *slot, uint64_t least, uint64_t most)
{
    slot->least = is_met(slot) && slot->least < least ? slot->least : least;
    slot->most = slot->most > most ? slot->most : most;
}

/* Two slots become one. */
static void fold(struct fm_rec_curve *curve)
{
    __atomic_store_n(&curve->state, FOLDING, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < FM_REC_CURVE_SLOTS; i++) {
        struct fm_rec_curve_slot slot = curve->slots[i];
        curve->slots[i] = (struct fm_rec_curve_slot){0};
        if (is_met(&slot))
            meet(&curve->slots[i / 2], slot.least, slot.most);
    }
    curve->shift++;
    __atomic_store_n(&curve->state, WRITING, __ATOMIC_SEQ_CST);
}

void fm_held_curve_make(void)
{
    struct fm_rec_curve *curve = fm_arena_alloc_shared(sizeof *curve);
    if (curve == NULL)
        return;
    curve->shift = SHIFT_FIRST;
    __atomic_store_n(&fm_process.header->curve, fm_ref(curve), __ATOMIC_RELEASE);
    __atomic_store_n(&current, curve, __ATOMIC_RELEASE); /* ticks of others write from here */
}

void fm_held_curve_forget(void)
{
    current = NULL;
}

void fm_held_on_tick(const struct fm_thread *thread)
{
    struct fm_rec_curve *curve = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    const struct fm_rec_header *header = fm_process.header;
    uint32_t state = IDLE;
    if (curve == NULL)
        return;
    uint64_t now = fm_now_ns(CLOCK_MONOTONIC_COARSE); /* 0: forbidden by a sandbox */
    if (now == 0 || !__atomic_compare_exchange_n(&curve->state, &state, WRITING, false,
                                                 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return; /* another thread's tick has the same moment */
    uint64_t start = header->start_monotonic_ns, passed = now > start ? now - start : 0;
    while (passed >> curve->shift >= FM_REC_CURVE_SLOTS)
        fold(curve);
    int64_t live = __atomic_load_n(&header->live_bytes, __ATOMIC_RELAXED) + thread->held.delta;
    uint64_t bytes = live > 0 ? (uint64_t)live : 0;
    meet(&curve->slots[passed >> curve->shift], bytes, bytes + 1);
    __atomic_store_n(&curve->state, IDLE, __ATOMIC_RELEASE);
}
