/* SPDX-License-Identifier: Apache-2.0 */
/* A client's queue of shared blocks, with a limit in bytes. */
#include "clients/clients.h"
#include "core/pool.h"
#include "core/shared.h"
#include "state/replay.h"

struct fm_el_server fm_el_server = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                                    .changed = PTHREAD_COND_INITIALIZER};

static struct fm_el_shared_block *shared_new(const void *data, size_t bytes, uint32_t events)
{
    size_t capacity = fm_el_pool_size(sizeof(struct fm_el_shared_block) + bytes);
    struct fm_el_shared_block *s = fm_el_pool_alloc(capacity);
    if (!s)
        return NULL;
    s->users = 1;
    s->events = events;
    s->bytes = bytes;
    s->capacity = capacity;
    s->gap_ns = 0;
    memcpy(s->data, data, bytes);
    return s;
}

static void shared_drop(struct fm_el_shared_block *s)
{
    if (s && atomic_fetch_sub(&s->users, 1) == 1)
        fm_el_pool_free(s, s->capacity);
}

/* Mutex held, as for all of the queue. Takes over one reference to s. */
static bool enqueue(struct fm_el_client *c, struct fm_el_shared_block *s, bool front)
{
    struct fm_el_node *n = s ? fm_el_pool_alloc(sizeof(*n)) : NULL;
    if (!n) {
        shared_drop(s);
        return false;
    }
    *n = (struct fm_el_node){.next = front ? c->head : NULL, .block = s};
    if (front)
        c->head = n;
    else if (c->tail)
        c->tail->next = n;
    else
        c->head = n;
    if (!front || !c->tail)
        c->tail = n;
    FM_EL_ASSERT(c->head && c->tail && !c->tail->next);
    c->queued += s->bytes;
    return true;
}

void fm_el_queue_pop(struct fm_el_client *c)
{
    struct fm_el_node *n = c->head;
    c->head = n->next;
    if (!c->head)
        c->tail = NULL;
    FM_EL_ASSERT(c->queued >= n->block->bytes && (c->head || c->queued == n->block->bytes));
    c->queued -= n->block->bytes;
    shared_drop(n->block);
    fm_el_pool_free(n, sizeof(*n));
}

bool fm_el_queue_gap(struct fm_el_client *c, const unsigned char *next)
{
    unsigned char data[FM_EL_MISSING_MAX];
    size_t n = fm_el_missing_block(data, &c->missing, next);
    if (n == 0)
        return true;
    struct fm_el_shared_block *s = shared_new(data, n, 0);
    if (fm_el_get16(data + 22) == FM_EL_NO_CAP) /* a gap belongs to the lane that it names */
        c->global_ns = fm_el_get64(data + 14);
    if (s)
        s->gap_ns = c->global_ns;
    if (!enqueue(c, s, false))
        return false;
    c->missing = (struct fm_el_gap){0};
    return true;
}

bool fm_el_queue_bytes(struct fm_el_client *c, const void *data, size_t bytes, bool front)
{
    return enqueue(c, shared_new(data, bytes, 0), front);
}

static void miss(struct fm_el_client *c, const struct fm_el_block *b)
{
    fm_el_gap_add(&c->missing, b);
    atomic_fetch_add(&fm_el_server.dropped_events, b->events);
}

/* Makes one copy for all clients that have room; none when no client has. */
void fm_el_clients_write(const struct fm_el_block *b, bool *taken)
{
    struct fm_el_shared_block *s = NULL;
    pthread_mutex_lock(&fm_el_server.mutex);
    if (atomic_load(&fm_el.values_on))
        fm_el_values_take(b);
    for (struct fm_el_client *c = fm_el_server.clients; c; c = c->next) {
        if (!c->ready || c->ending)
            continue;
        *taken = true;
        uint64_t limit = c->limit + (b->cap == FM_EL_NO_CAP ? c->limit / 16 : 0);
        if (c->paused || c->queued + b->bytes > limit) {
            miss(c, b);
            continue;
        }
        if (!s && !(s = shared_new(b->data, b->bytes, b->events))) {
            miss(c, b);
            continue;
        }
        atomic_fetch_add(&s->users, 1);
        if (!fm_el_queue_gap(c, b->data)) {
            shared_drop(s);
            miss(c, b);
        } else if (!enqueue(c, s, false)) {
            miss(c, b);
        } else {
            atomic_fetch_add(&fm_el_server.given_events, b->events);
            if (b->cap == FM_EL_NO_CAP)
                c->global_ns = fm_el_get64(b->data + 14);
        }
    }
    pthread_mutex_unlock(&fm_el_server.mutex);
    if (s) {
        shared_drop(s);
        fm_el_service_wake();
    }
}
