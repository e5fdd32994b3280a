/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers log while they interrupt the library: queued beside the lane, and put among the
 * lane's events by time when the next block is handed over. */
#include "core/side.h"
#include "core/types.h"

enum { EVENTS_MAX = FM_EL_SIDE_BYTES / 10 };

unsigned char *fm_el_side_reserve(struct fm_el_side *s, size_t bytes)
{
    if (bytes > FM_EL_SIDE_BYTES)
        return NULL;
    uint64_t reserved = atomic_fetch_add(&s->state, (uint64_t)bytes << 32) >> 32;
    if (reserved + bytes <= FM_EL_SIDE_BYTES)
        return s->data + FM_EL_MARKER_BYTES + reserved;
    atomic_fetch_sub(&s->state, (uint64_t)bytes << 32);
    return NULL;
}

void fm_el_side_commit(struct fm_el_side *s, size_t bytes)
{
    atomic_fetch_add_explicit(&s->state, bytes, memory_order_release);
}

size_t fm_el_side_ready(struct fm_el_side *s, unsigned char **data)
{
    uint64_t state = atomic_load_explicit(&s->state, memory_order_acquire);
    uint32_t reserved = (uint32_t)(state >> 32);
    if (reserved != (uint32_t)state)
        return 0;
    *data = s->data + FM_EL_MARKER_BYTES + s->done;
    return reserved - s->done;
}

/* The front of the queue is used again once all of it has gone. */
void fm_el_side_done(struct fm_el_side *s, size_t bytes)
{
    s->done += (uint32_t)bytes;
    uint64_t all = (uint64_t)s->done << 32 | s->done;
    if (atomic_compare_exchange_strong(&s->state, &all, 0))
        s->done = 0;
}

bool fm_el_side_waits(const struct fm_el_side *s)
{
    return (uint32_t)(atomic_load_explicit(&s->state, memory_order_relaxed) >> 32) != s->done;
}

static uint64_t stamp_of(const unsigned char *p)
{
    uint64_t stamp;
    memcpy(&stamp, p + 2, 8);
    return stamp;
}

/* Offsets of the events in order of time: a handler that interrupted another stands behind the
 * place that the other had reserved, with an earlier time. */
static unsigned sort_events(const unsigned char *data, size_t bytes, uint16_t *at)
{
    unsigned n = 0;
    for (size_t p = 0; p < bytes; p += fm_el_event_bytes(data + p)) {
        unsigned i = n++;
        uint64_t stamp = stamp_of(data + p);
        for (; i > 0 && (int64_t)(stamp_of(data + at[i - 1]) - stamp) > 0; i--)
            at[i] = at[i - 1];
        at[i] = (uint16_t)p;
    }
    return n;
}

void fm_el_side_merge(unsigned char *events, size_t bytes, const unsigned char *side,
                      size_t side_bytes)
{
    uint16_t at[EVENTS_MAX];
    uint32_t before[EVENTS_MAX]; /* where in events each goes */
    unsigned n = sort_events(side, side_bytes, at), placed = 0;
    for (size_t p = 0; p < bytes && placed < n;) {
        if ((int64_t)(stamp_of(events + p) - stamp_of(side + at[placed])) > 0)
            before[placed++] = (uint32_t)p;
        else
            p += fm_el_event_bytes(events + p);
    }
    for (; placed < n; placed++)
        before[placed] = (uint32_t)bytes;
    size_t to = bytes + side_bytes, from = bytes;
    while (n-- > 0) { /* from the end, as the room is there */
        to -= from - before[n];
        memmove(events + to, events + before[n], from - before[n]);
        from = before[n];
        size_t size = fm_el_event_bytes(side + at[n]);
        to -= size;
        memcpy(events + to, side + at[n], size);
    }
}
