/* SPDX-License-Identifier: Apache-2.0 */
/* Live bytes over time: in bounded space, as slots become twice as long when the run outlasts them.
 * They are noted at ticks and whenever a thread updates the header, so between two notes each
 * thread's memory changes by less than a step, however long the program sleeps. */
#include "held/curve.h"

#include <time.h>

#define SHIFT_FIRST 20u /* a slot of 1 ms */

enum { IDLE = 0, WRITING = 1, FOLDING = FM_REC_CURVE_FOLDING };

static struct fm_rec_curve *current; /* NULL: no room for it, or nothing is held */
static uint32_t latest;              /* the slot of the last note; changed while WRITING */
static uint64_t start;               /* as in the header, where other threads' changes are */

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
    latest /= 2;
    curve->shift++;
    __atomic_store_n(&curve->state, WRITING, __ATOMIC_SEQ_CST);
}

void fm_held_curve_make(void)
{
    struct fm_rec_curve *curve = fm_arena_alloc_shared(sizeof *curve);
    if (curve == NULL)
        return;
    curve->shift = SHIFT_FIRST;
    latest = 0;
    start = fm_process.header->start_monotonic_ns;
    __atomic_store_n(&fm_process.header->curve, fm_ref(curve), __ATOMIC_RELEASE);
    __atomic_store_n(&current, curve, __ATOMIC_RELEASE); /* ticks of others write from here */
}

void fm_held_curve_forget(void)
{
    current = NULL;
}

static bool is_noted(const struct fm_rec_curve *curve, uint64_t passed, uint64_t least,
                     uint64_t most)
{
    uint32_t at = __atomic_load_n(&latest, __ATOMIC_RELAXED);
    const struct fm_rec_curve_slot *slot = &curve->slots[at];
    return passed >> curve->shift == at && is_met(slot) && slot->least <= least &&
           most <= slot->most;
}

void fm_held_curve_note(int64_t before, int64_t live)
{
    struct fm_rec_curve *curve = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    uint32_t state = IDLE;
    if (curve == NULL)
        return;
    uint64_t now = fm_now_ns(CLOCK_MONOTONIC_COARSE); /* 0: forbidden by a sandbox */
    uint64_t passed = now > start ? now - start : 0;
    uint64_t old = before > 0 ? (uint64_t)before : 0, bytes = live > 0 ? (uint64_t)live : 0;
    uint64_t least = old < bytes ? old : bytes, most = (old > bytes ? old : bytes) + 1;
    if (now == 0 || is_noted(curve, passed, least, most) ||
        !__atomic_compare_exchange_n(&curve->state, &state, WRITING, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return; /* what another thread notes has the same moment */
    while (passed >> curve->shift >= FM_REC_CURVE_SLOTS)
        fold(curve);
    for (uint64_t at = passed >> curve->shift; latest < at; latest++)
        meet(&curve->slots[latest + 1], old, old + 1);
    meet(&curve->slots[passed >> curve->shift], least, most);
    __atomic_store_n(&curve->state, IDLE, __ATOMIC_RELEASE);
}

void fm_held_on_tick(const struct fm_thread *thread)
{
    int64_t live = __atomic_load_n(&fm_process.header->live_bytes, __ATOMIC_RELAXED);
    fm_held_curve_note(live + thread->held.delta, live + thread->held.delta);
}
