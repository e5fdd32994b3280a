/* SPDX-License-Identifier: Apache-2.0 */
/* Queue for events that signal handlers log while they interrupt the library. It is merged into the
 * lane's events by time when the next block is handed over. */
#include "core/side.h"
#include "core/types.h"

enum { EVENTS_MAX = FM_EL_SIDE_BYTES / 10, BITS = 20, MASK = (1 << BITS) - 1 };

/* The first bytes of an event, written by one store: the program is killed either before or after
 * it. */
struct front {
    unsigned char bytes[8];
};
struct word {
    uint64_t v;
} __attribute__((packed));

static void put_front(unsigned char *to, const struct front *f)
{
    struct word w;
    memcpy(&w, f, sizeof(w));
    atomic_signal_fence(memory_order_seq_cst);
    ((volatile struct word *)(void *)to)->v = w.v;
    atomic_signal_fence(memory_order_seq_cst);
}

static uint32_t reserved_of(uint64_t state)
{
    return (uint32_t)(state >> BITS) & MASK;
}

static uint64_t turns_of(uint64_t state)
{
    return state >> 2 * BITS << 2 * BITS;
}

void fm_el_side_init(struct fm_el_side *s)
{
    atomic_store(&s->state, 0);
    s->done = 0;
    memset(s->data, 0xFF, sizeof(s->data));
}

unsigned char *fm_el_side_reserve(struct fm_el_side *s, size_t bytes)
{
    if (bytes > FM_EL_SIDE_BYTES)
        return NULL;
    uint32_t reserved = reserved_of(atomic_fetch_add(&s->state, (uint64_t)bytes << BITS));
    if (reserved + bytes > FM_EL_SIDE_BYTES) {
        atomic_fetch_sub(&s->state, (uint64_t)bytes << BITS);
        return NULL;
    }
    unsigned char *event = s->data + FM_EL_MARKER_BYTES + reserved;
    struct front f = {
        {0xFE, 0xFE, (unsigned char)(bytes >> 8), (unsigned char)bytes, 0xFF, 0xFF, 0xFF, 0xFF}};
    put_front(event, &f);
    return event;
}

void fm_el_side_commit(struct fm_el_side *s, unsigned char *event, size_t bytes, uint16_t type,
                       uint64_t stamp)
{
    struct front f;
    uint16_t number = fm_eventlog_be16_(type);
    memcpy(event + 8, (unsigned char *)&stamp + 6, 2);
    memcpy(f.bytes, &number, 2);
    memcpy(f.bytes + 2, &stamp, 6);
    put_front(event, &f);
    atomic_fetch_add_explicit(&s->state, bytes, memory_order_release);
}

uint64_t fm_el_side_mark(const struct fm_el_side *s, size_t more)
{
    return turns_of(atomic_load(&s->state)) | (s->done + more);
}

size_t fm_el_side_ready(struct fm_el_side *s, unsigned char **data)
{
    uint64_t state = atomic_load_explicit(&s->state, memory_order_acquire);
    uint32_t reserved = reserved_of(state);
    if (reserved != (state & MASK))
        return 0;
    *data = s->data + FM_EL_MARKER_BYTES + s->done;
    FM_EL_ASSERT(s->done <= reserved && reserved <= FM_EL_SIDE_BYTES);
    return reserved - s->done;
}

/* When all events have been handed over, the queue restarts at its front: a new turn. */
void fm_el_side_done(struct fm_el_side *s, size_t bytes)
{
    s->done += (uint32_t)bytes;
    FM_EL_ASSERT(s->done <= FM_EL_SIDE_BYTES);
    uint64_t state = atomic_load(&s->state);
    uint64_t all = turns_of(state) | (uint64_t)s->done << BITS | s->done;
    if (state != all)
        return;
    memset(s->data + FM_EL_MARKER_BYTES, 0xFF, s->done);
    if (atomic_compare_exchange_strong(&s->state, &all, turns_of(state) + (1ull << 2 * BITS)))
        s->done = 0;
}

bool fm_el_side_waits(const struct fm_el_side *s)
{
    return reserved_of(atomic_load_explicit(&s->state, memory_order_relaxed)) != s->done;
}

static uint64_t stamp_of(const unsigned char *p)
{
    uint64_t stamp;
    memcpy(&stamp, p + 2, 8);
    return stamp;
}

/* Computes the offsets of the events in order of time. A handler that interrupted another has a
 * later offset, but may have an earlier time. */
static unsigned sort_events(const unsigned char *data, size_t bytes, uint16_t *at)
{
    unsigned n = 0;
    for (size_t p = 0; p < bytes; p += fm_el_event_bytes(data + p)) {
        unsigned i = n++;
        uint64_t stamp = stamp_of(data + p);
        for (; i > 0 && (int64_t)(stamp_of(data + at[i - 1]) - stamp) > 0; i--)
            at[i] = at[i - 1];
        FM_EL_ASSERT(i < n && n <= EVENTS_MAX);
        at[i] = (uint16_t)p;
    }
    return n;
}

void fm_el_side_merge(unsigned char *events, size_t bytes, const unsigned char *side,
                      size_t side_bytes)
{
    uint16_t at[EVENTS_MAX];
    uint32_t before[EVENTS_MAX]; /* offset in events before which each goes */
    unsigned n = sort_events(side, side_bytes, at), placed = 0;
    for (size_t p = 0; p < bytes && placed < n;) {
        if ((int64_t)(stamp_of(events + p) - stamp_of(side + at[placed])) > 0)
            before[placed++] = (uint32_t)p;
        else
            p += fm_el_event_bytes(events + p);
    }
    for (; placed < n; placed++)
        before[placed] = (uint32_t)bytes;
    FM_EL_ASSERT(placed == n);
    size_t to = bytes + side_bytes, from = bytes;
    while (n-- > 0) { /* from the end, since the free room is there */
        to -= from - before[n];
        memmove(events + to, events + before[n], from - before[n]);
        from = before[n];
        size_t size = fm_el_event_bytes(side + at[n]);
        to -= size;
        memcpy(events + to, side + at[n], size);
    }
}
