/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of all live blocks, and when it has a peak (docs/decisions.md: why it is exact). */
#include "held/curve.h"
#include "held/held.h"

#include <time.h>

/* Bytes that a thread of several keeps to itself. With a block that is just being counted and no
 * large one: FM_HELD_OFF_BYTES. */
#define STEP_BYTES (FM_HELD_OFF_BYTES - FM_HELD_LARGE_BYTES)
#define UNHELD_STEP_BYTES (64 << 10) /* step when blocks are not tracked */

enum { FALLEN = 0, RISING = 1 };

struct fm_held fm_held;

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Bytes of large blocks. Who leaves a peak reads this one before, and the next one after. */
static uint64_t counted_so_far(const struct fm_rec_header *h)
{
    return load(&h->large_counted) + load(&h->large_counted_alone);
}

static uint64_t begun_so_far(const struct fm_rec_header *h)
{
    return load(&h->large_begun) + load(&h->large_begun_alone);
}

static void raise_to(uint32_t *word, uint32_t value)
{
    uint32_t now = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (now < value && !__atomic_compare_exchange_n(word, &now, value, false, __ATOMIC_ACQ_REL,
                                                       __ATOMIC_RELAXED))
        ;
}

/* Never back: a thread may have been interrupted right before it. When times of allocation are
 * recorded, no event takes the fast path. */
static void epoch_set(uint32_t epoch)
{
    raise_to(&fm_held.epoch, epoch);
    raise_to(&fm_held.epoch_quick, fm_held.births != NULL ? UINT32_MAX : epoch);
}

/* The peak's state, changed as one: in whichever instruction a thread is interrupted, the epoch has
 * changed with it. */
union state {
    uint64_t word;
    struct {
        uint32_t epoch, rising;
    };
};
static_assert(offsetof(struct fm_rec_held, epoch) == 0 && offsetof(struct fm_rec_held, rising) == 4,
              "one word");

static union state state_now(const struct fm_rec_held *rec)
{
    typedef uint64_t __attribute__((may_alias)) word;
    return (union state){__atomic_load_n((const word *)(const void *)rec, __ATOMIC_ACQUIRE)};
}

static bool state_change(struct fm_rec_held *rec, union state from, union state to)
{
    typedef uint64_t __attribute__((may_alias)) word;
    return __atomic_compare_exchange_n((word *)(void *)rec, &from.word, to.word, false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void fm_held_peak_begin(struct fm_rec_held *rec)
{
    rec->epoch = 1;
    fm_held.epoch = fm_held.epoch_quick = 0; /* the parent's, if forked */
    epoch_set(1);
    rec->rising = RISING;
    rec->step = fm_held.many ? FM_HELD_OFF_BYTES : 0;
}

void fm_held_bounds_forget(void)
{
    for (struct fm_thread *t = fm_process.threads; t != NULL; t = t->next) {
        __atomic_store_n(&t->held.low, INT64_MAX, __ATOMIC_SEQ_CST);
        __atomic_store_n(&t->held.high, INT64_MIN, __ATOMIC_SEQ_CST);
    }
}

/* Sets when the thread updates the header next. In a program with one thread: at once when a peak
 * ends, and when there is a new one. */
static void bounds_set(struct fm_thread *thread)
{
    struct fm_thread_held *t = &thread->held;
    const struct fm_rec_header *h = fm_process.header;
    int64_t step = fm_held.rec != NULL ? STEP_BYTES : UNHELD_STEP_BYTES;
    if (thread->leaving) /* its later changes would be lost */
        step = 0;
    else if (fm_held.rec != NULL && !fm_held.many) {
        bool rising = fm_held.rec->rising != FALLEN;
        int64_t room = h->peak_live_bytes - h->live_bytes;
        int64_t high = rising || room > step ? step : room;
        __atomic_store_n(&t->low, rising ? INT64_MAX : -step, __ATOMIC_RELAXED);
        __atomic_store_n(&t->high, high, __ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&fm_held.many, __ATOMIC_SEQ_CST))
            return;
    }
    t->low = -step;
    t->high = step;
}

void fm_held_many(void)
{
    __atomic_store_n(&fm_held.many, true, __ATOMIC_SEQ_CST);
    if (fm_held.rec != NULL)
        fm_held.rec->step = FM_HELD_OFF_BYTES;
    fm_held_bounds_forget();
}

void fm_held_peak_leave(void)
{
    struct fm_rec_header *h = fm_process.header;
    struct fm_rec_held *rec = fm_held.rec;
    union state now = state_now(rec);
    if (now.rising == RISING) {
        uint64_t counted = counted_so_far(h);
        rec->peak_monotonic_ns = fm_now_ns(CLOCK_MONOTONIC_COARSE);
        if (state_change(rec, now, (union state){.epoch = now.epoch + 1, .rising = FALLEN})) {
            epoch_set(now.epoch + 1);
            __atomic_thread_fence(__ATOMIC_SEQ_CST); /* fm_held_large_begin() has the other half */
            uint64_t under_way = begun_so_far(h) - counted;
            if (state_now(rec).epoch == now.epoch + 1)
                __atomic_store_n(&h->large_at_peak, under_way, __ATOMIC_RELAXED);
            return;
        }
        now = state_now(rec);
    }
    epoch_set(now.epoch); /* the thread that left it may not have come so far */
}

enum fm_held_large fm_held_large_begin(uint64_t bytes)
{
    if (bytes < FM_HELD_LARGE_BYTES)
        return FM_HELD_SMALL;
    struct fm_rec_header *h = fm_process.header;
    if (!__atomic_load_n(&fm_held.many, __ATOMIC_RELAXED)) {
        /* no atomic operation: another thread may begin meanwhile, but counts elsewhere */
        fm_add_once(&h->large_begun_alone, bytes);
        return FM_HELD_LARGE_ALONE;
    }
    __atomic_fetch_add(&h->large_begun, bytes, __ATOMIC_SEQ_CST);
    return FM_HELD_LARGE;
}

void fm_held_large_end(enum fm_held_large begun, uint64_t bytes)
{
    struct fm_rec_header *h = fm_process.header;
    if (begun == FM_HELD_LARGE_ALONE)
        fm_add_once(&h->large_counted_alone, bytes);
    else if (begun == FM_HELD_LARGE)
        __atomic_fetch_add(&h->large_counted, bytes, __ATOMIC_SEQ_CST);
}

void fm_held_tell(int64_t delta)
{
    struct fm_rec_header *h = fm_process.header;
    struct fm_rec_held *rec = fm_held.rec;
    if (rec != NULL && delta < 0)
        fm_held_peak_leave();
    int64_t live = __atomic_add_fetch(&h->live_bytes, delta, __ATOMIC_RELAXED);
    if (delta != 0)
        fm_held_curve_note(live - delta, live);
    int64_t peak = __atomic_load_n(&h->peak_live_bytes, __ATOMIC_RELAXED);
    if (live <= peak)
        return;
    if (rec != NULL) {
        union state now = state_now(rec);
        if (now.rising == FALLEN)
            state_change(rec, now, (union state){.epoch = now.epoch, .rising = RISING});
        rec->peak_monotonic_ns = fm_now_ns(CLOCK_MONOTONIC_COARSE);
    }
    while (live > peak && !__atomic_compare_exchange_n(&h->peak_live_bytes, &peak, live, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

void fm_held_flush(struct fm_thread *thread)
{
    int64_t delta = thread->held.delta;
    thread->held.delta = 0;
    fm_held_tell(delta);
    bounds_set(thread);
}

void fm_held_falls(struct fm_thread *thread, int64_t bytes)
{
    int64_t delta = thread->held.delta;
    thread->held.delta = 0;
    fm_held_tell(delta);
    fm_held_tell(-bytes);
    thread->held.delta += bytes;
    bounds_set(thread);
}
