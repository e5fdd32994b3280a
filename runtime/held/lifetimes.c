/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetimes of blocks, by the record that allocated them. Shared by all threads, so counters are
 * added atomically. Only on request: it reads the clock twice for each block. */
#include "held/held.h"

#include <time.h>

static void add(uint64_t *word, uint64_t value)
{
    __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

/* Zeroed memory for the reference, if no other thread was faster. NULL: no room. */
static void *make_at(struct fm_thread *thread, uint32_t *ref, size_t bytes)
{
    uint32_t was = __atomic_load_n(ref, __ATOMIC_ACQUIRE);
    if (was != 0)
        return fm_at(was);
    uint64_t mask = fm_block_signals();
    void *fresh = thread == NULL                           ? fm_arena_alloc_shared(bytes)
                  : fm_arena_refuses(&thread->bump, bytes) ? NULL
                                                           : fm_arena_alloc(&thread->bump, bytes);
    fm_restore_signals(mask);
    if (fresh == NULL || __atomic_compare_exchange_n(ref, &was, fm_ref(fresh), false,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh;
    return fm_at(was);
}

uint64_t fm_lifetime_count(struct fm_thread *thread, struct fm_rec_alloc *from, uint64_t born_ns)
{
    uint64_t now = fm_now_ns(CLOCK_MONOTONIC), ns = now > born_ns ? now - born_ns : 1;
    struct fm_rec_durations *durations = make_at(thread, &from->lifetimes, sizeof *durations);
    if (durations == NULL)
        return ns;
    struct fm_duration_place place = fm_duration_place(ns);
    uint64_t *steps =
        make_at(thread, &durations->octaves[place.octave], FM_REC_DURATION_STEPS * sizeof *steps);
    if (steps == NULL)
        return ns;
    add(&steps[place.step], 1);
    uint64_t known = __atomic_load_n(&durations->shortest, __ATOMIC_RELAXED);
    while ((known == 0 || ns < known) && /* 0: none yet */
           !__atomic_compare_exchange_n(&durations->shortest, &known, ns, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
    known = __atomic_load_n(&durations->longest, __ATOMIC_RELAXED);
    while (ns > known && !__atomic_compare_exchange_n(&durations->longest, &known, ns, true,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    add(&durations->ns, ns);
    add(&durations->timed, 1);
    return ns;
}
