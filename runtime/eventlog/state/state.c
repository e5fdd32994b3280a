/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader that comes late must know: threads, names of locks. */
#include "internal.h"

static pthread_mutex_t state_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Threads: open addressing by id, deleted by shifting back. state 255 = free. */
static struct {
    struct fm_el_thread *slots;
    uint32_t count, slots_max, count_max, last_id, forgotten;
} threads = {.count_max = 1000000};

static struct {
    struct lock_name {
        uint64_t lock;
        uint32_t name;
    } * list;
    uint32_t count, max;
} lock_names;

void fm_el_state_lock(void)
{
    pthread_mutex_lock(&state_mutex);
}

void fm_el_state_unlock(void)
{
    pthread_mutex_unlock(&state_mutex);
}

/* ---- threads ----------------------------------------------------------------------------------
 */

static uint32_t thread_home(uint32_t id)
{
    return (id * 2654435761u) & (threads.slots_max - 1);
}

static struct fm_el_thread *thread_find(uint32_t id)
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

/* Removal by shifting the rest of the run back, so that no tombstones pile up. */
void fm_el_state_thread_gone(uint32_t id)
{
    struct fm_el_thread *t = thread_find(id);
    if (!t)
        return;
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
    for (uint32_t i = n / 2; i-- > 0;) /* heap sort: needs no memory */
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

static void thread_change(uint32_t id, uint8_t state, uint16_t status, uint32_t info)
{
    if (fm_el.no_state)
        return;
    uint32_t before = fm_el_enter();
    fm_el_state_lock();
    struct fm_el_thread *t = thread_find(id);
    struct fm_el_lane *l = fm_el_lane_mine();
    if (t && state == 2 && status == 5) {
        fm_el_state_thread_gone(id);
    } else if (t) {
        t->state = state;
        t->status = status;
        t->info = info;
        t->changed_ns = fm_el_clock_ns();
        if (l && state == 1)
            t->lane = l->number;
    }
    fm_el_state_unlock();
    fm_el_leave(before);
}

uint32_t fm_eventlog_thread_new(void)
{
    FM_EL_FORWARD(thread_new);
    uint32_t before = fm_el_enter();
    fm_el_state_lock();
    uint32_t id = fm_el_state_thread_new(FM_EL_NO_CAP, 0);
    fm_el_state_unlock();
    fm_el_leave(before);
    if (fm_eventlog_on())
        fm_eventlog_put_w32_(FM_EVENT_THREAD_CREATE, id);
    return id;
}

void fm_eventlog_thread_run(uint32_t thread)
{
    FM_EL_FORWARD(thread_run, thread);
    if (fm_eventlog_on())
        fm_eventlog_put_w32_(FM_EVENT_THREAD_RUN, thread);
    thread_change(thread, 1, 0, 0);
}

void fm_eventlog_thread_runnable(uint32_t thread)
{
    FM_EL_FORWARD(thread_runnable, thread);
    if (fm_eventlog_on())
        fm_eventlog_put_w32_(FM_EVENT_THREAD_RUNNABLE, thread);
    thread_change(thread, 3, 0, 0);
}

void fm_eventlog_thread_stop(uint32_t thread, uint16_t status, uint32_t info)
{
    FM_EL_FORWARD(thread_stop, thread, status, info);
    unsigned char payload[10];
    uint32_t id = fm_eventlog_be32_(thread), more = fm_eventlog_be32_(info);
    uint16_t why = fm_eventlog_be16_(status);
    memcpy(payload, &id, 4);
    memcpy(payload + 4, &why, 2);
    memcpy(payload + 6, &more, 4);
    if (fm_eventlog_on())
        fm_eventlog_put_(FM_EVENT_THREAD_STOP, payload, sizeof(payload));
    thread_change(thread, 2, status, info);
}

void fm_eventlog_thread_label(uint32_t thread, const char *label)
{
    FM_EL_FORWARD(thread_label, thread, label);
    size_t bytes = strlen(label);
    if (bytes > FM_EL_NAME_MAX)
        bytes = FM_EL_NAME_MAX;
    const struct fm_el_name *name = fm_el_name(label, bytes);
    uint32_t before = fm_el_enter(), id = fm_eventlog_be32_(thread);
    fm_el_state_lock();
    struct fm_el_thread *t = thread_find(thread);
    if (t)
        t->label = name;
    fm_el_state_unlock();
    fm_el_leave(before);
    if (fm_eventlog_on())
        fm_el_append(FM_EVENT_THREAD_LABEL, &id, 4, label, bytes);
}

void fm_eventlog_label_thread(const char *label)
{
    FM_EL_FORWARD(label_thread, label);
    if (fm_eventlog_head_.busy || !atomic_load(&fm_el.running))
        return;
    uint32_t before = fm_el_enter();
    struct fm_el_lane *l = fm_el_lane_need();
    fm_el_leave(before);
    if (l)
        fm_eventlog_thread_label(l->thread, label);
}

static void *grown(void *old, size_t old_bytes, size_t bytes)
{
    void *bigger = fm_el_pool_alloc(bytes);
    if (!bigger)
        return NULL;
    memset(bigger, 0, bytes);
    if (old_bytes)
        memcpy(bigger, old, old_bytes);
    fm_el_pool_free(old, old_bytes);
    return bigger;
}

void fm_eventlog_lock_name(const void *lock, const char *name)
{
    FM_EL_FORWARD(lock_name, lock, name);
    struct lock_name entry = {(uintptr_t)lock, fm_eventlog_intern(name)};
    if (entry.name == 0)
        return;
    uint32_t before = fm_el_enter();
    fm_el_state_lock();
    if (lock_names.count == lock_names.max && lock_names.count < FM_EL_NAMES_MAX) {
        uint32_t max = lock_names.max ? lock_names.max * 2 : 64;
        void *list = grown(lock_names.list, lock_names.max * sizeof(entry), max * sizeof(entry));
        if (list) {
            lock_names.list = list;
            lock_names.max = max;
        }
    }
    if (lock_names.count < lock_names.max)
        lock_names.list[lock_names.count++] = entry;
    fm_el_state_unlock();
    fm_el_leave(before);
    if (fm_eventlog_on()) {
        uint64_t address = fm_eventlog_be64_(entry.lock);
        uint32_t id = fm_eventlog_be32_(entry.name);
        fm_el_append(FM_EVENT_LOCK_NAME, &address, 8, &id, 4);
    }
}

bool fm_el_state_lock_name(uint32_t i, uint64_t *lock, uint32_t *name)
{
    if (i >= lock_names.count)
        return false;
    *lock = lock_names.list[i].lock;
    *name = lock_names.list[i].name;
    return true;
}

void fm_el_state_options(const struct fm_eventlog_options *o)
{
    if (o->threads_max)
        threads.count_max = o->threads_max;
}

/* The parent's threads are not there. */
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
