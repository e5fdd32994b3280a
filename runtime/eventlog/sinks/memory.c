/* SPDX-License-Identifier: Apache-2.0 */
/* The log in memory: a list of chunks whose contents, joined, are the log.
 *
 *   head -> [chunk: blocks...][chunk][gap][chunk] <- tail (partly filled)
 *
 * Blocks may cross the border of chunks. A gap is a short chunk of its own with one block that
 * says how much is missing. Invariant: `bytes` is the sum of the capacities of the listed
 * chunks. */
#include "core/pool.h"
#include "core/shared.h"
#include "core/threads.h"
#include "core/types.h"
#include "sinks/memory.h"
#include "state/replay.h"
#include "state/state.h"
#include "core/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct chunk {
    struct chunk *next;
    unsigned char *data;
    /* data[begin, used) is part of the log; begin > 0 only beside gaps */
    size_t begin, used, capacity;
    size_t first_block;      /* offset of the first block that begins in it; capacity = none */
    struct fm_el_gap blocks; /* counts of the blocks that begin in it, or are missing here */
    bool is_gap, closed;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER, full = PTHREAD_COND_INITIALIZER;
static struct {
    struct chunk *head, *tail;
    uint64_t bytes, limit;
    enum fm_eventlog_policy policy;
    uint32_t full_count;
    bool finished, state_due;
    int fd;
    bool fd_set;
} list = {.fd = -1};
static struct fm_el_gap missing; /* new blocks dropped since the last accepted one */
static struct {
    uint64_t events;
    struct fm_el_gap dropped;
} stats;

/* ---- chunks -----------------------------------------------------------------------------------
 */

static void update_fd(void)
{
    bool wanted = list.full_count > 0 || list.finished;
    if (list.fd < 0 || wanted == list.fd_set)
        return;
    uint64_t one = 1;
    ssize_t n = wanted ? write(list.fd, &one, sizeof(one)) : read(list.fd, &one, sizeof(one));
    if (n == sizeof(one))
        list.fd_set = wanted;
}

static void close_chunk(struct chunk *c)
{
    if (c->closed)
        return;
    c->closed = true;
    list.full_count++;
    pthread_cond_broadcast(&full);
    update_fd();
}

static void chunk_free(struct chunk *c)
{
    fm_el_pool_free(c->data, c->capacity);
    fm_el_pool_free(c, sizeof(*c));
}

static struct chunk *chunk_new(size_t capacity)
{
    struct chunk *c = fm_el_pool_alloc(sizeof(*c));
    unsigned char *data = c ? fm_el_pool_alloc(capacity) : NULL;
    if (!data) {
        fm_el_pool_free(c, sizeof(*c));
        return NULL;
    }
    *c = (struct chunk){.data = data, .capacity = capacity, .first_block = capacity};
    return c;
}

static void link_chunks(struct chunk *first, struct chunk *last)
{
    if (list.tail)
        list.tail->next = first;
    else
        list.head = first;
    list.tail = last;
    for (struct chunk *c = first; c; c = c->next)
        list.bytes += c->capacity;
}

static struct chunk *pop(void)
{
    struct chunk *c = list.head;
    list.head = c->next;
    if (!list.head)
        list.tail = NULL;
    FM_EL_ASSERT(list.bytes >= c->capacity && (!c->closed || list.full_count > 0));
    list.bytes -= c->capacity;
    if (c->closed)
        list.full_count--;
    pthread_cond_broadcast(&room);
    update_fd();
    return c;
}

/* Size of the chunks that appending `bytes` adds. */
static uint64_t growth(size_t bytes)
{
    size_t chunk = atomic_load(&fm_el.wanted_size);
    size_t left = list.tail && !list.tail->closed ? list.tail->capacity - list.tail->used : 0;
    if (bytes <= left)
        return 0;
    return (bytes - left + chunk - 1) / chunk * chunk;
}

static void free_chunks(struct chunk *c)
{
    while (c) {
        struct chunk *next = c->next;
        chunk_free(c);
        c = next;
    }
}

/* Returns the chunk to fill, followed by enough new ones. They are allocated before any byte is
 * copied, so a block is added whole or not at all. */
static struct chunk *prepare(size_t bytes)
{
    struct chunk *tail = list.tail && !list.tail->closed ? list.tail : NULL;
    struct chunk *first = NULL, *last = NULL;
    size_t capacity = atomic_load(&fm_el.wanted_size);
    for (size_t have = tail ? tail->capacity - tail->used : 0; have < bytes; have += capacity) {
        struct chunk *c = chunk_new(capacity);
        if (!c) {
            free_chunks(first);
            return NULL;
        }
        if (last)
            last->next = c;
        else
            first = c;
        last = c;
    }
    if (first)
        link_chunks(first, last);
    return tail ? tail : first;
}

static bool append(const unsigned char *data, size_t bytes, uint64_t events, bool is_block)
{
    struct chunk *c = prepare(bytes);
    if (!c)
        return false;
    if (is_block) {
        if (c->first_block == c->capacity)
            c->first_block = c->used;
        c->blocks.events += events;
        c->blocks.bytes += bytes;
        c->blocks.blocks++;
    }
    while (bytes > 0) {
        size_t n = c->capacity - c->used < bytes ? c->capacity - c->used : bytes;
        memcpy(c->data + c->used, data, n);
        FM_EL_ASSERT(n <= c->capacity - c->used && !c->closed);
        c->used += n;
        data += n;
        bytes -= n;
        if (c->used == c->capacity) {
            close_chunk(c);
            c = c->next;
        }
    }
    return true;
}

/* ---- gaps -------------------------------------------------------------------------------------
 */

static struct chunk *with_block(struct chunk *c, struct chunk **before)
{
    while (c && (c->is_gap || c->first_block == c->capacity)) {
        *before = c;
        c = c->next;
    }
    return c;
}

static void fill_gap(struct chunk *gap, const struct chunk *next)
{
    unsigned char marker[FM_EL_MARKER_BYTES]; /* it may cross the border of chunks */
    size_t at = next->begin;
    for (size_t i = 0; i < sizeof(marker); i++, at++) {
        if (at == next->used) {
            next = next->next;
            at = 0;
        }
        marker[i] = next->data[at];
    }
    gap->used = fm_el_missing_block(gap->data, &gap->blocks, marker);
    FM_EL_ASSERT(gap->used > 0 && gap->used <= gap->capacity);
    gap->begin = 0;
}

static struct chunk *gap_after(struct chunk *before)
{
    if (before && before->is_gap)
        return before;
    struct chunk *gap = chunk_new(FM_EL_MISSING_MAX);
    if (!gap)
        return NULL;
    gap->is_gap = true;
    gap->next = before ? before->next : list.head;
    if (before)
        before->next = gap;
    else
        list.head = gap;
    list.bytes += gap->capacity;
    close_chunk(gap);
    return gap;
}

static void gap_join(struct fm_el_gap *a, const struct fm_el_gap *b)
{
    a->events += b->events;
    a->bytes += b->bytes;
    a->blocks += b->blocks;
}

/* Drops all blocks that begin in the oldest chunk in which any begins, up to the next border of
 * blocks in a later chunk. Bytes before them in that chunk belong to a block that the reader has
 * begun to read, so they stay. */
static bool drop_oldest(void)
{
    struct chunk *before = NULL, *unused = NULL;
    struct chunk *from = with_block(list.head, &before);
    struct chunk *to = from ? with_block(from->next, &unused) : NULL;
    if (!to)
        return false;
    if (from->first_block > from->begin) { /* the rest of an older block stays */
        struct chunk *rest = from;
        struct chunk *copy = chunk_new(rest->first_block - rest->begin);
        if (!copy)
            return false;
        copy->used = copy->capacity;
        memcpy(copy->data, rest->data + rest->begin, copy->capacity);
        copy->next = from;
        if (before)
            before->next = copy;
        else
            list.head = copy;
        list.bytes += copy->capacity;
        close_chunk(copy);
        before = copy;
    }
    struct chunk *gap = gap_after(before);
    if (!gap)
        return false;
    gap_join(&gap->blocks, &from->blocks);
    gap_join(&stats.dropped, &from->blocks);
    for (struct chunk *c = gap->next; c != to;) {
        struct chunk *next = c->next;
        list.bytes -= c->capacity;
        list.full_count -= c->closed;
        chunk_free(c);
        c = next;
    }
    FM_EL_ASSERT(to->first_block < to->capacity);
    gap->next = to;
    to->begin = to->first_block;
    fill_gap(gap, to);
    list.state_due = true;
    update_fd();
    return true;
}

/* ---- blocks in --------------------------------------------------------------------------------
 */

/* Definitions (blocks without lane) have reserved room, so that the kept blocks can be read. */
static bool find_room(const struct fm_el_block *b)
{
    uint64_t limit = list.limit + (b->cap == FM_EL_NO_CAP ? list.limit / 16 : 0);
    size_t bytes = b->bytes + (missing.blocks ? FM_EL_MISSING_MAX : 0);
    while (list.bytes + growth(bytes) > limit) {
        if (list.policy == FM_EVENTLOG_DROP_OLDEST && drop_oldest())
            continue;
        if (list.policy != FM_EVENTLOG_BLOCK || growth(bytes) > limit || list.finished)
            return false;
        pthread_cond_wait(&room, &mutex);
    }
    return !list.finished;
}

static bool put_missing(const unsigned char *next)
{
    unsigned char block[FM_EL_MISSING_MAX];
    size_t n = fm_el_missing_block(block, &missing, next);
    if (n > 0 && !append(block, n, 0, true))
        return false;
    memset(&missing, 0, sizeof(missing));
    return true;
}

static void sink_write(const struct fm_el_block *b, bool *taken)
{
    pthread_mutex_lock(&mutex);
    if (list.finished || !atomic_load(&fm_el.memory_on)) {
        pthread_mutex_unlock(&mutex);
        return;
    }
    *taken = true;
    if (find_room(b) && put_missing(b->data) && append(b->data, b->bytes, b->events, true)) {
        stats.events += b->events;
    } else {
        fm_el_gap_add(&stats.dropped, b);
        fm_el_gap_add(&missing, b);
    }
    pthread_mutex_unlock(&mutex);
}

int fm_el_memory_start(const struct fm_eventlog_options *o)
{
    struct fm_el_bytes b = {0};
    size_t chunk = atomic_load(&fm_el.wanted_size);
    fm_el_process_refresh();
    fm_el_state_lock();
    fm_el_sink_lock(); /* no definition may come between the replay and the first block */
    fm_el_header(&b);
    fm_el_replay(&b, false, 0, fm_el_clock_ns(), false);
    pthread_mutex_lock(&mutex);
    free_chunks(list.head);
    int fd = list.fd < 0 ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : list.fd;
    bool fd_set = list.fd_set;
    memset(&list, 0, sizeof(list));
    memset(&missing, 0, sizeof(missing));
    list.fd = fd;
    list.fd_set = fd_set;
    list.limit = o->memory_limit_bytes ? o->memory_limit_bytes : (uint64_t)64 << 20;
    list.limit = list.limit < 2 * chunk ? 2 * chunk : list.limit;
    list.policy = o->policy;
    update_fd();
    int result = fd < 0 || b.failed || !append(b.data, b.used, 0, false) ? -ENOMEM : 0;
    atomic_store(&fm_el.memory_on, result == 0);
    pthread_mutex_unlock(&mutex);
    fm_el_sink_unlock();
    fm_el_state_unlock();
    fm_el_bytes_done(&b);
    return result;
}

void fm_el_memory_finish(void)
{
    pthread_mutex_lock(&mutex);
    if (atomic_load(&fm_el.memory_on) && !list.finished) {
        put_missing(NULL);
        append(fm_el_end_mark, sizeof(fm_el_end_mark), 0, false);
        list.finished = true;
        if (list.tail)
            close_chunk(list.tail);
        pthread_cond_broadcast(&full);
        pthread_cond_broadcast(&room);
        update_fd();
        atomic_store(&fm_el.memory_on, 0);
    }
    pthread_mutex_unlock(&mutex);
}

/* Dropped blocks may have held definitions, so the state is appended again. */
static void sink_tick(void)
{
    pthread_mutex_lock(&mutex);
    bool due = list.state_due && !list.finished;
    list.state_due = false;
    pthread_mutex_unlock(&mutex);
    if (!due)
        return;
    struct fm_el_bytes b = {0};
    fm_el_state_lock();
    fm_el_sink_lock();
    fm_el_global_flush_locked();
    fm_el_replay(&b, true, fm_el_global_end(), fm_el_clock_ns(), false);
    pthread_mutex_lock(&mutex);
    if (!b.failed && b.used < list.limit / 8 && !list.finished && put_missing(NULL))
        append(b.data, b.used, 0, true);
    pthread_mutex_unlock(&mutex);
    fm_el_sink_unlock();
    fm_el_state_unlock();
    fm_el_bytes_done(&b);
}

/* ---- chunks out -------------------------------------------------------------------------------
 */

static struct chunk *take(bool partial)
{
    for (;;) {
        struct chunk *c = list.head;
        if (!c || (!c->closed && !(partial && c->used > c->begin)))
            return NULL;
        c = pop();
        if (c->used > c->begin)
            return c;
        chunk_free(c); /* the last chunk was exactly full */
    }
}

bool fm_eventlog_chunk_take(struct fm_eventlog_chunk *ret, bool partial)
{
    FM_EL_FORWARD(chunk_take, ret, partial);
    if (fm_eventlog_head_.busy)
        return false;
    uint32_t before = fm_el_enter();
    sink_tick();
    pthread_mutex_lock(&mutex);
    struct chunk *c = take(partial);
    pthread_mutex_unlock(&mutex);
    fm_el_leave(before);
    if (!c)
        return false;
    *ret = (struct fm_eventlog_chunk){c->data + c->begin, c->used - c->begin, c};
    return true;
}

void fm_eventlog_chunk_release(struct fm_eventlog_chunk *chunk)
{
    FM_EL_FORWARD(chunk_release, chunk);
    uint32_t before = fm_el_enter();
    if (chunk->owner_)
        chunk_free(chunk->owner_);
    *chunk = (struct fm_eventlog_chunk){0};
    fm_el_leave(before);
}

size_t fm_eventlog_chunk_get(void **out)
{
    FM_EL_FORWARD(chunk_get, out);
    struct fm_eventlog_chunk c;
    if (!fm_eventlog_chunk_take(&c, false))
        return 0;
    size_t bytes = c.bytes;
    void *copy = malloc(bytes);
    if (copy) {
        memcpy(copy, c.data, bytes);
        fm_eventlog_chunk_release(&c);
        *out = copy;
        return bytes;
    }
    uint32_t before = fm_el_enter(); /* out of memory: puts it back, nothing is lost */
    pthread_mutex_lock(&mutex);
    struct chunk *kept = c.owner_;
    kept->next = list.head;
    list.head = kept;
    list.tail = list.tail ? list.tail : kept;
    list.bytes += kept->capacity;
    kept->closed = false;
    close_chunk(kept);
    pthread_mutex_unlock(&mutex);
    fm_el_leave(before);
    return 0;
}

static void end_wait(void *before)
{
    pthread_mutex_unlock(&mutex);
    fm_el_leave(*(uint32_t *)before);
}

int fm_eventlog_chunk_wait(int timeout_ms)
{
    FM_EL_FORWARD(chunk_wait, timeout_ms);
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    struct timespec until = fm_el_deadline(timeout_ms < 0 ? 0 : timeout_ms);
    uint32_t before = fm_el_enter();
    pthread_mutex_lock(&mutex);
    int result = 0;
    if (list.fd < 0)
        result = -ENOTSUP;
    pthread_cleanup_push(end_wait, &before);
    fm_el_cancellable(true);
    while (result == 0 && list.full_count == 0 && !list.finished) {
        int rc = timeout_ms < 0 ? pthread_cond_wait(&full, &mutex)
                                : pthread_cond_timedwait(&full, &mutex, &until);
        if (rc == ETIMEDOUT)
            break;
    }
    fm_el_cancellable(false);
    if (result == 0 && list.full_count > 0)
        result = 1;
    else if (result == 0 && list.finished)
        result = -ENODATA;
    pthread_cleanup_pop(1);
    return result;
}

int fm_eventlog_chunk_fd(void)
{
    FM_EL_FORWARD(chunk_fd);
    return list.fd < 0 ? -ENOTSUP : list.fd;
}

/* ---- fork, counters ---------------------------------------------------------------------------
 */

static void sink_fork_lock(void)
{
    pthread_mutex_lock(&mutex);
}

static void sink_fork_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

static void sink_after_fork(void)
{
    pthread_mutex_init(&mutex, NULL);
    pthread_cond_init(&room, NULL);
    pthread_cond_init(&full, NULL);
    free_chunks(list.head);
    if (list.fd >= 0)
        close(list.fd);
    memset(&list, 0, sizeof(list));
    list.fd = -1;
    memset(&missing, 0, sizeof(missing));
    memset(&stats, 0, sizeof(stats));
    atomic_store(&fm_el.memory_on, 0);
}

static void sink_stats(struct fm_eventlog_stats *s)
{
    pthread_mutex_lock(&mutex);
    s->memory_events = stats.events;
    s->memory_dropped_events = stats.dropped.events;
    s->memory_dropped_blocks = stats.dropped.blocks;
    s->memory_dropped_bytes = stats.dropped.bytes;
    s->memory_bytes = list.bytes;
    pthread_mutex_unlock(&mutex);
}

const struct fm_el_sink fm_el_memory_sink = {.write = sink_write,
                                             .tick = sink_tick,
                                             .fork_lock = sink_fork_lock,
                                             .fork_unlock = sink_fork_unlock,
                                             .after_fork = sink_after_fork,
                                             .stats = sink_stats};
