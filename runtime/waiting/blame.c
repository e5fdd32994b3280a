/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the holder of the lock for which a thread waits, and how long others waited for it.
 *
 * A holder's context is read from its open frames in the file while it runs on. So the result is
 * some context that it was in at about that time, or none. Its frames and records are never
 * freed. */
#include "../slots/slots.h"
#include "waiting.h"

#include <errno.h>
#include <string.h>

/* Threads by the kernel's id: the latest of those that share a slot. */
#define HOLDERS_MAX 4096u
static uint32_t holders[HOLDERS_MAX];

void fm_holders_forget(void)
{
    memset(holders, 0, sizeof holders);
}

void fm_holder_note(const struct fm_rec_thread *rec)
{
    __atomic_store_n(&holders[rec->tid % HOLDERS_MAX], fm_ref(rec), __ATOMIC_RELEASE);
}

static const struct fm_rec_thread *thread_of(uint32_t tid)
{
    uint32_t ref = __atomic_load_n(&holders[tid % HOLDERS_MAX], __ATOMIC_ACQUIRE);
    const struct fm_rec_thread *rec = ref != 0 ? fm_at(ref) : NULL;
    return rec != NULL && rec->tid == tid && rec->state == FM_REC_THREAD_LIVE ? rec : NULL;
}

/* The ref of a csd by its address; 0: it is none of the file's. */
static uint32_t ref_of(uint64_t csd)
{
    uint64_t offset = csd - (uint64_t)fm_process.base;
    return offset % FM_REC_UNIT == 0 && offset >= FM_REC_HEADER_BYTES &&
                   offset < fm_process.header->bytes_used
               ? (uint32_t)(offset / FM_REC_UNIT)
               : 0;
}

/* Without frames in the file: the holder's node, while it is in the list of threads. */
static uint32_t context_in_slots(uint32_t tid)
{
    uint64_t current = 0, mask = fm_block_signals();
    if (fm_lock_try(&fm_process.threads_lock)) {
        for (const struct fm_thread *t = fm_process.threads; t != NULL; t = t->next)
            if (t->rec->tid == tid && t->rec->state == FM_REC_THREAD_LIVE)
                current = __atomic_load_n(&t->tls->slot_current, __ATOMIC_RELAXED);
        fm_lock_give(&fm_process.threads_lock);
    }
    fm_restore_signals(mask);
    if (!fm_slots_is_current(current))
        return 0;
    const struct fm_slots_node *node = fm_slots_recorded(fm_slots_at((uint32_t)current));
    return ref_of((uint64_t)node->csd);
}

/* The csd of the innermost open frame; 0 = not known. Above the top all is zero. */
uint32_t fm_holder_context(uint32_t tid)
{
    if (fm_slots_are_used())
        return tid != 0 ? context_in_slots(tid) : 0;
    const struct fm_rec_thread *rec = tid != 0 ? thread_of(tid) : NULL;
    uint32_t ref = rec != NULL ? __atomic_load_n(&rec->current_stack, __ATOMIC_ACQUIRE) : 0;
    if (ref == 0)
        return 0;
    const struct fm_rec_stack *stack = fm_at(ref);
    uint64_t word =
        __atomic_load_n((const uint64_t *)(const void *)&stack->frames, __ATOMIC_ACQUIRE);
    uint64_t low = 0, high = word >> 32;
    if ((uint32_t)word == 0)
        return 0;
    const struct fm_rec_frame *frames = fm_at((uint32_t)word);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (__atomic_load_n(&frames[middle].cfa, __ATOMIC_ACQUIRE) != 0)
            low = middle;
        else
            high = middle;
    }
    return ref_of(__atomic_load_n(&frames[low].csd, __ATOMIC_RELAXED));
}

static struct fm_rec_blame *blame_make(struct fm_thread *thread, struct fm_rec_wait *record,
                                       uint64_t lock, uint32_t holder)
{
    struct fm_rec_blame *blame = fm_arena_refuses(&thread->bump, sizeof *blame)
                                     ? NULL
                                     : fm_arena_alloc(&thread->bump, sizeof *blame);
    if (blame == NULL)
        return NULL;
    blame->lock = lock;
    blame->holder = holder;
    blame->wait = fm_ref(record);
    blame->epoch = fm_modules_epoch();
    blame->next = record->first_blame;
    __atomic_store_n(&record->first_blame, fm_ref(blame), __ATOMIC_RELEASE);
    return blame;
}

static uint32_t blame_hash(const struct fm_rec_wait *record, uint64_t lock, uint32_t holder)
{
    uint64_t hash = lock * 0x9E3779B97F4A7C15ull + fm_ref(record);
    hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ull + holder;
    return (uint32_t)(hash * 0x94D049BB133111EBull >> 32);
}

/* The place of an entry, or that where it belongs: *place is 0 then. */
static uint32_t *place_of(const struct fm_waiting *waiting, const struct fm_rec_wait *record,
                          uint64_t lock, uint32_t holder)
{
    for (uint32_t at = blame_hash(record, lock, holder);; at++) {
        uint32_t *place = &waiting->blames[at % FM_BLAMES_MAX];
        if (*place == 0)
            return place;
        const struct fm_rec_blame *blame = fm_at(*place);
        if (blame->lock == lock && blame->holder == holder && blame->wait == fm_ref(record))
            return place;
    }
}

/* Signals are blocked. NULL: no room. */
static struct fm_rec_blame *blame_find(struct fm_thread *thread, struct fm_rec_wait *record,
                                       uint64_t lock, uint32_t holder)
{
    struct fm_waiting *waiting = &thread->waiting;
    if (waiting->blames == NULL)
        waiting->blames = fm_private_alloc(FM_BLAMES_MAX * sizeof *waiting->blames);
    if (waiting->blames == NULL)
        return NULL;
    uint32_t *place = place_of(waiting, record, lock, holder);
    /* From then on, new ones are joined for each waiting context. */
    if (*place == 0 && waiting->blames_used >= FM_BLAMES_MAX / 4 * 3)
        place = place_of(waiting, record, lock = 0, holder = 0);
    if (*place != 0)
        return fm_at(*place);
    struct fm_rec_blame *blame = NULL;
    if (waiting->blames_used < FM_BLAMES_MAX / 8 * 7)
        blame = blame_make(thread, record, lock, holder);
    if (blame == NULL)
        return NULL;
    *place = fm_ref(blame);
    waiting->blames_used++;
    return blame;
}

static struct fm_rec_blame *blame_find_slowly(struct fm_thread *thread, struct fm_rec_wait *record,
                                              uint64_t lock, uint32_t holder)
{
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    struct fm_tls *tls = thread->tls;
    tls->inside = 1;
    struct fm_rec_blame *blame = blame_find(thread, record, lock, holder);
    if (blame == NULL)
        __atomic_fetch_add(&fm_process.header->blame_dropped, 1, __ATOMIC_RELAXED);
    tls->inside = 0;
    fm_restore_signals(mask);
    errno = saved_errno;
    return blame;
}

void fm_blame_add(struct fm_thread *thread, struct fm_rec_wait *record, uint64_t lock,
                  uint32_t holder, uint64_t elapsed)
{
    const struct fm_waiting *waiting = &thread->waiting;
    const uint32_t *place =
        waiting->blames != NULL ? place_of(waiting, record, lock, holder) : NULL;
    struct fm_rec_blame *blame = place != NULL && *place != 0
                                     ? fm_at(*place)
                                     : blame_find_slowly(thread, record, lock, holder);
    if (blame == NULL)
        return;
    fm_add_once(&blame->waits, 1);
    fm_add_once(&blame->ticks, elapsed);
    fm_wait_longest(&blame->longest, elapsed);
}

void fm_blames_free(struct fm_thread *thread)
{
    if (thread->waiting.blames != NULL)
        fm_private_free(thread->waiting.blames, FM_BLAMES_MAX * sizeof(uint32_t));
}
