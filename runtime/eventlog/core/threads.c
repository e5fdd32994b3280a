/* SPDX-License-Identifier: Apache-2.0 */
/* The table of threads: open addressing by id; deletion moves entries back. */
#include "core/clock.h"
#include "core/pool.h"
#include "core/shared.h"
#include "core/threads.h"

static pthread_mutex_t state_mutex = PTHREAD_MUTEX_INITIALIZER;

/* state 255 = free slot. */
static struct {
    struct fm_el_thread *slots;
    uint32_t count, slots_max, count_max, last_id, forgotten;
} threads = {.count_max = 1000000};

void fm_el_state_lock(void)
{
    pthread_mutex_lock(&state_mutex);
}

void fm_el_state_unlock(void)
{
    pthread_mutex_unlock(&state_mutex);
}

static uint32_t thread_home(uint32_t id)
{
    return (id * 2654435761u) & (threads.slots_max - 1);
}

struct fm_el_thread *fm_el_state_thread(uint32_t id)
{
    if (threads.slots_max == 0)
        return NULL;
    uint32_t at = thread_home(id);
    for (; threads.slots[at].state != 255; at = (at + 1) & (threads.slots_max - 1))
        if (threads.slots[at].id == id)
            return &threads.slots[at];
    return NULL;
}

static struct fm_el_thread *thread_place(uint32_t id)
{
    FM_EL_ASSERT(threads.count < threads.slots_max); /* so that searches end at a free slot */
    uint32_t at = thread_home(id);
    while (threads.slots[at].state != 255)
        at = (at + 1) & (threads.slots_max - 1);
    threads.slots[at].id = id;
    return &threads.slots[at];
}

static bool threads_grow(void)
{
    if (threads.count >= threads.count_max)
        return false;
    if (threads.count * 2 < threads.slots_max)
        return true;
    uint32_t old_max = threads.slots_max, max = old_max ? old_max * 2 : 64;
    struct fm_el_thread *old = threads.slots, *slots = fm_el_pool_alloc(max * sizeof(*slots));
    if (!slots)
        return false;
    for (uint32_t i = 0; i < max; i++)
        slots[i].state = 255;
    threads.slots = slots;
    threads.slots_max = max;
    for (uint32_t i = 0; i < old_max; i++)
        if (old[i].state != 255)
            *thread_place(old[i].id) = old[i];
    fm_el_pool_free(old, old_max * sizeof(*old));
    return true;
}

uint32_t fm_el_state_thread_new(uint16_t lane, uint8_t state)
{
    uint32_t id = ++threads.last_id;
    if (id == 0)
        id = ++threads.last_id;
    if (fm_el.no_state)
        return id;
    if (!threads_grow()) {
        threads.forgotten++;
        return id;
    }
    uint64_t now = fm_el_clock_ns();
    *thread_place(id) = (struct fm_el_thread){
        .id = id, .created_ns = now, .changed_ns = now, .lane = lane, .state = state};
    threads.count++;
    return id;
}

/* Removes by moving later entries of the run back, so that no tombstones accumulate. */
void fm_el_state_thread_gone(uint32_t id)
{
    struct fm_el_thread *t = fm_el_state_thread(id);
    if (!t)
        return;
    FM_EL_ASSERT(threads.count > 0);
    threads.count--;
    uint32_t mask = threads.slots_max - 1, hole = (uint32_t)(t - threads.slots);
    for (uint32_t at = (hole + 1) & mask; threads.slots[at].state != 255; at = (at + 1) & mask) {
        uint32_t home = thread_home(threads.slots[at].id);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        threads.slots[hole] = threads.slots[at];
        hole = at;
    }
    threads.slots[hole].state = 255;
}

static void sift(struct fm_el_thread *a, uint32_t root, uint32_t n)
{
    for (uint32_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && a[child].created_ns < a[child + 1].created_ns)
            child++;
        if (a[root].created_ns >= a[child].created_ns)
            return;
        struct fm_el_thread t = a[root];
        a[root] = a[child];
        a[child] = t;
    }
}

struct fm_el_thread *fm_el_state_threads(uint32_t *count, size_t *ret_bytes)
{
    uint32_t n = 0;
    *count = 0;
    *ret_bytes = threads.count * sizeof(struct fm_el_thread);
    struct fm_el_thread *list = *ret_bytes ? fm_el_pool_alloc(*ret_bytes) : NULL;
    if (!list)
        return NULL;
    for (uint32_t i = 0; i < threads.slots_max; i++)
        if (threads.slots[i].state != 255)
            list[n++] = threads.slots[i];
    FM_EL_ASSERT(n == threads.count);
    for (uint32_t i = n / 2; i-- > 0;) /* heap sort: needs no further memory */
        sift(list, i, n);
    for (uint32_t i = n; i-- > 1;) {
        struct fm_el_thread t = list[0];
        list[0] = list[i];
        list[i] = t;
        sift(list, 0, i);
    }
    *count = n;
    return list;
}

void fm_el_state_options(const struct fm_eventlog_options *o)
{
    if (o->threads_max)
        threads.count_max = o->threads_max;
}

/* The parent's threads do not exist in the child. */
void fm_el_state_after_fork(void)
{
    pthread_mutex_init(&state_mutex, NULL);
    for (uint32_t i = 0; i < threads.slots_max; i++)
        threads.slots[i].state = 255;
    threads.count = 0;
}

void fm_el_state_stats(struct fm_eventlog_stats *s)
{
    fm_el_state_lock();
    s->threads = threads.count;
    s->threads_forgotten = threads.forgotten;
    fm_el_state_unlock();
}
