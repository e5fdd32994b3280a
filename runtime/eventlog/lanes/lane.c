/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes: each thread's buffer. Its owner appends without a lock; the holder of the lane's lock
 * hands it over. */
#include "core/live.h"
#include "core/pool.h"
#include "core/threads.h"
#include "core/types.h"
#include "lanes/deliver.h"
#include "lanes/lane.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread struct fm_el_lane *mine __attribute__((tls_model("initial-exec")));
static __thread unsigned endings __attribute__((tls_model("initial-exec")));

static struct fm_el_lane *lanes[FM_EL_LANES_MAX];
static _Atomic unsigned lane_count;
static _Atomic uint32_t lanes_used;
static struct fm_el_lane *free_lanes; /* guarded by the state lock */
static pthread_key_t end_key;
static void (*open_in_child)(void);

unsigned fm_el_lane_count(void)
{
    return atomic_load_explicit(&lane_count, memory_order_acquire);
}

struct fm_el_lane *fm_el_lane_at(unsigned i)
{
    return lanes[i];
}

uint32_t fm_el_lanes_used(void)
{
    return lanes_used;
}

struct fm_el_lane *fm_el_lane_mine(void)
{
    return mine;
}

uint32_t fm_eventlog_thread_id(void)
{
    FM_EL_FORWARD(thread_id);
    return mine ? mine->thread : 0;
}

/* ---- records -------------------------------------------------------------------------------- */

struct record {
    uint16_t type;
    bool variable;
    const struct fm_eventlog_piece_ *pieces;
    unsigned count;
    size_t bytes; /* total size of the pieces */
};

static struct record record_of(uint16_t type, const struct fm_eventlog_piece_ *pieces,
                               unsigned count)
{
    struct record r = {type, fm_el_sizes[type] == FM_EL_VARIABLE, pieces, count, 0};
    for (unsigned i = 0; i < count; i++)
        r.bytes += pieces[i].bytes;
    return r;
}

static size_t record_bytes(const struct record *r)
{
    return (r->variable ? 12 : 10) + r->bytes;
}

static void write_payload(unsigned char *p, const struct record *r)
{
    if (r->variable) {
        uint16_t length = fm_eventlog_be16_((uint16_t)r->bytes);
        memcpy(p, &length, 2);
        p += 2;
    }
    for (unsigned i = 0; i < r->count; i++) {
        if (r->pieces[i].bytes)
            memcpy(p, r->pieces[i].data, r->pieces[i].bytes);
        p += r->pieces[i].bytes;
    }
}

static void write_record(unsigned char *p, const struct record *r)
{
    uint16_t number = fm_eventlog_be16_(r->type);
    uint64_t stamp = fm_el_clock_stamp();
    memcpy(p, &number, 2);
    memcpy(p + 2, &stamp, 8);
    write_payload(p + 10, r);
}

/* Owner, lane locked: hands over, then starts at the front of a buffer of the wanted size. */
static void restart(struct fm_el_lane *l)
{
    fm_el_lane_hand_over(l);
    size_t wanted = atomic_load_explicit(&fm_el.wanted_size, memory_order_relaxed);
    if (!fm_el_lane_has_wanted(l)) {
        if (fm_el_lane_take_buffer(l, wanted))
            return;
        fm_el_count(&fm_el.resize_failures, 1); /* retried at the next restart */
    }
    l->taken = l->buffer + FM_EL_MARKER_BYTES;
    fm_el_lane_set_pos(l, l->taken); /* first, so that nothing after pos counts as an event */
    fm_el_lane_note(l, fm_el_side_mark(l->side, 0));
}

/* Owner, lane locked. limit NULL makes the next append come here: for a request, for events of
 * signal handlers, or because taking stamps needs a call. */
static void set_limit(struct fm_el_lane *l)
{
    unsigned char *limit = fm_el_clock_is_counter() ? l->buffer + l->size : NULL;
    __atomic_store_n(&l->head->limit, limit, __ATOMIC_RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    if (fm_el_side_waits(l->side)) /* a handler logged before the store */
        __atomic_store_n(&l->head->limit, NULL, __ATOMIC_RELAXED);
}

static bool append_locked(struct fm_el_lane *l, const struct record *r)
{
    FM_EL_ASSERT(r->variable || r->bytes == fm_el_sizes[r->type]);
    size_t need = record_bytes(r);
    unsigned char *pos = l->head->pos;
    bool handed = l->taken == pos && pos != l->buffer + FM_EL_MARKER_BYTES;
    if (!fm_el_lane_has_wanted(l) || handed || fm_el_side_waits(l->side) ||
        need > (size_t)(l->buffer + l->size - pos))
        restart(l);
    pos = l->head->pos;
    bool fits = need <= (size_t)(l->buffer + l->size - pos);
    if (fits) {
        write_record(pos, r);
        fm_el_lane_set_pos(l, pos + need);
    } else {
        fm_el_count(&fm_el.dropped, 1);
    }
    set_limit(l);
    return fits;
}

static void append_payload(struct fm_el_lane *l, uint16_t type, const void *payload, size_t bytes)
{
    struct record r = record_of(type, &(struct fm_eventlog_piece_){payload, bytes}, 1);
    append_locked(l, &r);
}

/* ---- beginning and end of a thread's lane -----------------------------------------------------
 */

static void post16(uint16_t type, uint16_t v)
{
    v = fm_eventlog_be16_(v);
    fm_el_global_post(type, &v, 2, NULL, 0);
}

static void post_capset_cap(uint32_t capset, uint16_t cap)
{
    uint32_t first = fm_eventlog_be32_(capset);
    cap = fm_eventlog_be16_(cap);
    fm_el_global_post(FM_EVENT_CAPSET_ASSIGN_CAP, &first, 4, &cap, 2);
}

static void post_lane_begins(const struct fm_el_lane *l, bool first_use)
{
    if (first_use) {
        post16(FM_EVENT_CAP_CREATE, l->number);
        post_capset_cap(0, l->number);
        post_capset_cap(1, l->number);
    } else {
        post16(FM_EVENT_CAP_ENABLE, l->number);
    }
    uint64_t task = fm_eventlog_be64_((uint64_t)l->task);
    unsigned char rest[10];
    uint16_t cap = fm_eventlog_be16_(l->number);
    memcpy(rest, &cap, 2);
    memcpy(rest + 2, &task, 8);
    fm_el_global_post(FM_EVENT_TASK_CREATE, &task, 8, rest, 10);
}

/* State locked. Returns a free lane, or a new one. */
static struct fm_el_lane *find_lane(bool *first_use)
{
    struct fm_el_lane *l = free_lanes;
    if (l) {
        free_lanes = l->next_free;
        *first_use = l->created_ns == 0;
        return l;
    }
    unsigned n = fm_el_lane_count();
    if (n == FM_EL_LANES_MAX || !(l = fm_el_pool_alloc(sizeof(*l))))
        return NULL;
    memset(l, 0, sizeof(*l));
    pthread_mutex_init(&l->mutex, NULL);
    l->side = &l->own_side;
    l->number = (uint16_t)n;
    lanes[n] = l;
    atomic_store_explicit(&lane_count, n + 1, memory_order_release);
    *first_use = true;
    return l;
}

static struct fm_el_lane *attach_locked(void)
{
    bool first_use;
    struct fm_el_lane *l = find_lane(&first_use);
    if (!l)
        return NULL;
    size_t size = atomic_load_explicit(&fm_el.wanted_size, memory_order_relaxed);
    pthread_mutex_lock(&l->mutex);
    l->begin = fm_el_clock_sample();
    fm_el_side_init(&l->own_side);
    l->side = NULL; /* it is empty */
    l->head = &fm_eventlog_head_;
    if (!fm_el_lane_take_buffer(l, size) || pthread_setspecific(end_key, l) != 0) {
        fm_el_lane_drop_buffer(l);
        l->head = NULL;
        pthread_mutex_unlock(&l->mutex);
        l->next_free = free_lanes;
        free_lanes = l;
        return NULL;
    }
    if (first_use)
        l->created_ns = l->begin.ns ? l->begin.ns : 1;
    l->attached_ns = l->begin.ns;
    l->task = (pid_t)syscall(SYS_gettid); /* gettid() is new in glibc 2.30 */
    l->in_use = true;
    l->thread = fm_el_state_thread_new(l->number, 1);
    pthread_mutex_unlock(&l->mutex);
    atomic_fetch_add(&lanes_used, 1);
    if (fm_eventlog_on())
        post_lane_begins(l, first_use);
    return l;
}

static struct fm_el_lane *attach(void)
{
    /* in the last round of destructors, since no later one would free another lane */
    if (endings > 2)
        return NULL;
    fm_el_state_lock();
    struct fm_el_lane *l = attach_locked();
    fm_el_state_unlock();
    mine = l;
    if (!l || !fm_eventlog_on())
        return l;
    uint32_t thread = fm_eventlog_be32_(l->thread);
    pthread_mutex_lock(&l->mutex);
    append_payload(l, FM_EVENT_THREAD_CREATE, &thread, 4);
    append_payload(l, FM_EVENT_THREAD_RUN, &thread, 4);
    pthread_mutex_unlock(&l->mutex);
    return l;
}

struct fm_el_lane *fm_el_lane_need(void)
{
    return mine ? mine : attach();
}

/* At the thread's end: hands over its events and frees the lane. */
static void detach(void *context)
{
    struct fm_el_lane *l = context;
    uint32_t before = fm_el_enter();
    unsigned char stop[10] = {0};
    uint32_t thread = fm_eventlog_be32_(l->thread);
    memcpy(stop, &thread, 4);
    stop[5] = 5; /* status 5: finished */
    pthread_mutex_lock(&l->mutex);
    if (fm_eventlog_on())
        append_payload(l, FM_EVENT_THREAD_STOP, stop, sizeof(stop));
    mine = NULL; /* handlers' events from here on are counted as dropped */
    atomic_signal_fence(memory_order_seq_cst);
    fm_el_lane_hand_over(l);
    __atomic_store_n(&fm_eventlog_head_.pos, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&fm_eventlog_head_.limit, NULL, __ATOMIC_RELAXED);
    l->head = NULL;
    fm_el_lane_drop_buffer(l);
    pthread_mutex_unlock(&l->mutex);

    fm_el_sinks_lane_ends(l->number);
    fm_el_state_lock();
    if (fm_eventlog_on()) {
        uint64_t task = fm_eventlog_be64_((uint64_t)l->task);
        fm_el_global_post(FM_EVENT_TASK_DELETE, &task, 8, NULL, 0);
        post16(FM_EVENT_CAP_DISABLE, l->number);
    }
    fm_el_state_thread_gone(l->thread);
    l->in_use = false;
    l->detached_ns = fm_el_clock_ns();
    l->next_free = free_lanes;
    free_lanes = l;
    fm_el_state_unlock();
    atomic_fetch_sub(&lanes_used, 1);
    endings++;
    fm_el_leave(before);
}

void fm_el_lanes_init(void (*fork_open)(void))
{
    open_in_child = fork_open;
    pthread_key_create(&end_key, detach);
}

/* ---- appending, the long way ------------------------------------------------------------------
 */

/* `busy` is set. */
static bool append(const struct record *r)
{
    if (atomic_load_explicit(&fm_el.fork_pending, memory_order_relaxed))
        open_in_child();
    struct fm_el_lane *l = mine ? mine : attach();
    if (!l) {
        fm_el_count(&fm_el.dropped, 1);
        return false;
    }
    pthread_mutex_lock(&l->mutex);
    bool ok = append_locked(l, r);
    pthread_mutex_unlock(&l->mutex);
    return ok;
}

/* Appends for a signal handler, or a writer's callback, that interrupted this thread inside the
 * library. */
static bool append_nested(const struct record *r)
{
    size_t need = record_bytes(r);
    struct fm_el_side *side = mine ? mine->side : NULL;
    unsigned char *to = side ? fm_el_side_reserve(side, need) : NULL;
    if (!to) {
        fm_el_count(&fm_el.dropped, 1);
        return false;
    }
    write_payload(to + 10, r);
    fm_el_side_commit(side, to, need, r->type, fm_el_clock_stamp());
    __atomic_store_n(&fm_eventlog_head_.limit, NULL, __ATOMIC_RELAXED);
    return true;
}

void fm_eventlog_slow_(uint16_t type, const void *payload, size_t bytes)
{
    FM_EL_ASSERT(fm_eventlog_head_.busy == 1);
    fm_el_inside(true); /* until fm_el_leave() */
    struct fm_eventlog_piece_ piece = {payload, bytes};
    struct record r = {type, false, &piece, 1, bytes};
    if (fm_el_leader)
        fm_el_leader->append(type, payload, bytes, NULL, 0);
    else
        append(&r);
    fm_el_leave(0);
}

void fm_eventlog_nested_(uint16_t type, const void *payload, size_t bytes)
{
    fm_el_inside(true);
    struct fm_eventlog_piece_ piece = {payload, bytes};
    struct record r = {type, false, &piece, 1, bytes};
    if (fm_el_leader)
        fm_el_leader->append(type, payload, bytes, NULL, 0);
    else
        append_nested(&r);
    fm_el_inside(false);
}

bool fm_el_append_pieces(uint16_t type, const struct fm_eventlog_piece_ *pieces, unsigned count)
{
    struct record r = record_of(type, pieces, count);
    if (r.bytes > 65535) {
        fm_el_count(&fm_el.dropped, 1);
        return false;
    }
    if (fm_eventlog_head_.busy)
        return append_nested(&r);
    uint32_t before = fm_el_enter();
    bool ok = append(&r);
    fm_el_leave(before);
    return ok;
}

bool fm_el_append(uint16_t type, const void *first, size_t first_bytes, const void *second,
                  size_t second_bytes)
{
    FM_EL_FORWARD(append, type, first, first_bytes, second, second_bytes);
    struct fm_eventlog_piece_ pieces[] = {{first, first_bytes}, {second, second_bytes}};
    return fm_el_append_pieces(type, pieces, 2);
}

/* ---- all lanes --------------------------------------------------------------------------------
 */

int fm_el_lanes_flush(int timeout_ms)
{
    struct timespec until = fm_el_deadline(timeout_ms < 0 ? 0 : timeout_ms);
    int result = 0;
    for (unsigned i = 0; i < fm_el_lane_count(); i++) {
        struct fm_el_lane *l = lanes[i];
        int rc = timeout_ms < 0 ? pthread_mutex_lock(&l->mutex)
                                : pthread_mutex_timedlock(&l->mutex, &until);
        if (rc != 0) {
            result = -ETIMEDOUT;
            continue;
        }
        fm_el_lane_hand_over(l);
        /* the owner checks at its next append: it may restart at the front, or change the size */
        if (l->head)
            __atomic_store_n(&l->head->limit, NULL, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&l->mutex);
    }
    fm_el_sink_lock();
    fm_el_global_flush_locked();
    fm_el_sink_unlock();
    if (timeout_ms != 0 && fm_el_sinks_settle(timeout_ms) != 0)
        result = -ETIMEDOUT;
    return result;
}

void fm_el_lanes_fork_lock(void)
{
    for (unsigned i = 0; i < fm_el_lane_count(); i++)
        pthread_mutex_lock(&lanes[i]->mutex);
}

void fm_el_lanes_fork_unlock(void)
{
    for (unsigned i = 0; i < fm_el_lane_count(); i++)
        pthread_mutex_unlock(&lanes[i]->mutex);
}

/* In the child, before anything is written: makes live memory private. */
void fm_el_lanes_own(void)
{
    for (unsigned i = 0; i < fm_el_lane_count(); i++)
        fm_el_live_own(lanes[i]->live);
}

/* At their next append, lanes check whether their buffers have the wanted size. */
void fm_el_lanes_nudge(void)
{
    for (unsigned i = 0; i < fm_el_lane_count(); i++) {
        pthread_mutex_lock(&lanes[i]->mutex);
        if (lanes[i]->head)
            __atomic_store_n(&lanes[i]->head->limit, NULL, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&lanes[i]->mutex);
    }
}

/* In the child: other threads do not exist, and the buffers' contents belong to the parent. */
void fm_el_lanes_after_fork(void)
{
    free_lanes = NULL;
    for (unsigned i = fm_el_lane_count(); i-- > 0;) {
        struct fm_el_lane *l = lanes[i];
        pthread_mutex_init(&l->mutex, NULL);
        fm_el_lane_drop_buffer(l);
        l->head = NULL;
        l->created_ns = 0;
        l->in_use = false;
        l->next_free = free_lanes;
        free_lanes = l;
    }
    lanes_used = 0;
    mine = NULL;
    fm_eventlog_head_.pos = fm_eventlog_head_.limit = NULL;
    pthread_setspecific(end_key, NULL);
}
