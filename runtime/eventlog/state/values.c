/* SPDX-License-Identifier: Apache-2.0 */
/* State from past events that a late destination needs: last values of counters and of the heap,
 * open spans and asynchronous spans, owners of locks. It is collected from blocks as they are
 * delivered. During a replay no block is delivered (clients by their lock, sinks by
 * fm_el_deliver_hold), so that each event is delivered once: in the replay or in a block. */
#include "core/pool.h"
#include "lanes/lane.h"
#include "state/replay.h"

enum { ENTRIES_MAX = 1 << 16, DEPTH_MAX = 64 };

/* Key (type, first, second): the event that began it or gave the value. */
struct value {
    uint64_t first, second, ns;
    uint64_t payload; /* value of a counter or of the heap */
    uint16_t type;    /* 0 = free: thread creation is not kept here */
    uint16_t cap;
};
static struct value *table; /* ENTRIES_MAX, open addressing; deletion moves entries back */
static uint32_t count;
/* free at each fork: its holder also holds the clients' or the stream's lock */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct span {
    uint32_t name;
    uint64_t ns;
};
static struct lane_spans {
    struct span open[DEPTH_MAX];
    uint32_t depth; /* may exceed DEPTH_MAX: the innermost spans are not kept */
} * spans[FM_EL_LANES_MAX];

static uint32_t home(uint16_t type, uint64_t first, uint64_t second)
{
    uint64_t h =
        (first ^ second * UINT64_C(0x9E3779B97F4A7C15) ^ type) * UINT64_C(0xC2B2AE3D27D4EB4F);
    return (uint32_t)(h >> 40) & (ENTRIES_MAX - 1);
}

static struct value *find(uint16_t type, uint64_t first, uint64_t second)
{
    uint32_t at = home(type, first, second);
    for (; table[at].type != 0; at = (at + 1) & (ENTRIES_MAX - 1))
        if (table[at].type == type && table[at].first == first && table[at].second == second)
            break;
    return &table[at];
}

/* It may have ended while no events were taken. */
static bool is_stale(uint64_t ns)
{
    return !fm_eventlog_on() || ns < atomic_load(&fm_el.on_since_ns);
}

static void take_out(uint32_t hole)
{
    FM_EL_ASSERT(count > 0 && table[hole].type != 0);
    count--;
    uint32_t mask = ENTRIES_MAX - 1;
    for (uint32_t at = (hole + 1) & mask; table[at].type != 0; at = (at + 1) & mask) {
        uint32_t begin = home(table[at].type, table[at].first, table[at].second);
        if (((at - begin) & mask) < ((at - hole) & mask))
            continue;
        table[hole] = table[at];
        hole = at;
    }
    table[hole].type = 0;
}

static void forget(uint16_t type, uint64_t first, uint64_t second)
{
    struct value *slot = find(type, first, second);
    if (slot->type != 0)
        take_out((uint32_t)(slot - table));
}

static bool is_open(const struct value *v)
{
    return v->type == FM_EVENT_ASYNC_BEGIN || v->type == FM_EVENT_LOCK_ACQUIRE;
}

static void forget_stale(void)
{
    static uint64_t done; /* entries that began before it are done */
    if (done == atomic_load(&fm_el.on_since_ns))
        return;
    done = atomic_load(&fm_el.on_since_ns);
    for (uint32_t at = 0; at < ENTRIES_MAX;)
        if (is_open(&table[at]) && is_stale(table[at].ns))
            take_out(at); /* then checks the entry that moved into its place */
        else
            at++;
}

static void set(const struct value *v)
{
    if (count >= ENTRIES_MAX * 3 / 4)
        forget_stale();
    struct value *slot = find(v->type, v->first, v->second);
    if (slot->type == 0 && count >= ENTRIES_MAX * 3 / 4)
        return; /* late readers do not learn the rest */
    count += slot->type == 0;
    FM_EL_ASSERT(v->type != 0 && count <= ENTRIES_MAX * 3 / 4);
    *slot = *v;
}

static void span(uint16_t cap, bool begins, uint32_t name, uint64_t ns)
{
    if (cap == FM_EL_NO_CAP)
        return;
    FM_EL_ASSERT(cap < FM_EL_LANES_MAX);
    struct lane_spans *l = spans[cap];
    if (!l) {
        if (!begins || !(l = fm_el_pool_alloc(sizeof(*l))))
            return;
        l->depth = 0;
        spans[cap] = l;
    }
    if (begins && l->depth &&
        is_stale(l->open[(l->depth < DEPTH_MAX ? l->depth : DEPTH_MAX) - 1].ns))
        l->depth = 0;
    if (begins && l->depth++ < DEPTH_MAX)
        l->open[l->depth - 1] = (struct span){name, ns};
    else if (!begins && l->depth > 0)
        l->depth--;
}

static void take(uint16_t type, uint16_t cap, uint64_t ns, const unsigned char *p)
{
    struct value v = {.ns = ns, .type = type, .cap = cap};
    switch (type) {
    case FM_EVENT_SPAN_BEGIN:
    case FM_EVENT_SPAN_END:
        span(cap, type == FM_EVENT_SPAN_BEGIN, fm_el_get32(p), ns);
        break;
    case FM_EVENT_COUNTER:
    case FM_EVENT_COUNTER_REAL:
        v.type = FM_EVENT_COUNTER; /* both kinds of counter event share one entry: the last value */
        v.second = 0;
        v.first = fm_el_get32(p);
        v.cap = type == FM_EVENT_COUNTER_REAL;
        v.payload = fm_el_get64(p + 4);
        set(&v);
        break;
    case FM_EVENT_HEAP_ALLOCATED:
    case FM_EVENT_HEAP_SIZE:
    case FM_EVENT_HEAP_LIVE:
        v.first = fm_el_get32(p);
        v.payload = fm_el_get64(p + 4);
        set(&v);
        break;
    case FM_EVENT_ASYNC_BEGIN:
    case FM_EVENT_ASYNC_END:
        v.type = FM_EVENT_ASYNC_BEGIN;
        v.first = fm_el_get32(p);
        v.second = fm_el_get64(p + 4);
        if (type == FM_EVENT_ASYNC_BEGIN)
            set(&v);
        else
            forget(v.type, v.first, v.second);
        break;
    case FM_EVENT_LOCK_ACQUIRE:
    case FM_EVENT_LOCK_RELEASE:
        v.type = FM_EVENT_LOCK_ACQUIRE;
        v.first = fm_el_get64(p);
        if (type == FM_EVENT_LOCK_ACQUIRE)
            set(&v);
        else
            forget(v.type, v.first, 0);
        break;
    default:
        break;
    }
}

static bool make_table(void)
{
    if (!table && (table = fm_el_pool_alloc(ENTRIES_MAX * sizeof(*table))))
        memset(table, 0, ENTRIES_MAX * sizeof(*table));
    return table;
}

void fm_el_values_take(const struct fm_el_block *b)
{
    pthread_mutex_lock(&mutex);
    const unsigned char *p = b->data + FM_EL_MARKER_BYTES, *end = b->data + b->bytes;
    if (!make_table())
        p = end;
    for (size_t n; p < end; p += n) {
        uint16_t type = fm_el_get16(p);
        n = fm_el_event_bytes(p);
        take(type, b->cap, fm_el_get64(p + 2), p + 10);
    }
    FM_EL_ASSERT(p == end); /* events are whole */
    pthread_mutex_unlock(&mutex);
}

static void lane_ends(uint16_t cap)
{
    if (spans[cap])
        spans[cap]->depth = 0;
}

void fm_el_values_lane_ends(uint16_t cap)
{
    pthread_mutex_lock(&mutex);
    lane_ends(cap);
    pthread_mutex_unlock(&mutex);
}

bool fm_el_values_any(void)
{
    pthread_mutex_lock(&mutex);
    bool any = count > 0;
    for (unsigned i = 0; i < fm_el_lane_count() && !any; i++)
        any = spans[i] && spans[i]->depth > 0;
    pthread_mutex_unlock(&mutex);
    return any;
}

void fm_el_values_reset(void)
{
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < FM_EL_LANES_MAX; i++)
        lane_ends((uint16_t)i);
    if (table)
        memset(table, 0, ENTRIES_MAX * sizeof(*table));
    count = 0;
    pthread_mutex_unlock(&mutex);
}

/* ---- replay -----------------------------------------------------------------------------------
 */

static void replay_value(struct fm_el_replay *o, const struct value *v)
{
    uint32_t name = fm_eventlog_be32_((uint32_t)v->first);
    uint64_t rest = fm_eventlog_be64_(v->type == FM_EVENT_ASYNC_BEGIN ? v->second : v->payload);
    uint16_t type = v->type == FM_EVENT_COUNTER && v->cap ? FM_EVENT_COUNTER_REAL : v->type;
    fm_el_replay_event(o, type, v->ns, &name, 4, &rest, 8);
}

/* Writes a block of the lane itself: open spans, outermost first, and the locks that it holds. */
static void replay_lane(struct fm_el_replay *o, uint16_t cap)
{
    const struct lane_spans *l = spans[cap];
    uint32_t depth = !l ? 0 : l->depth < DEPTH_MAX ? l->depth : DEPTH_MAX;
    for (uint32_t i = 0; table && i < ENTRIES_MAX; i++)
        if (table[i].type == FM_EVENT_LOCK_ACQUIRE && table[i].cap == cap &&
            !is_stale(table[i].ns)) {
            uint64_t lock = fm_eventlog_be64_(table[i].first);
            fm_el_replay_lane_event(o, cap, FM_EVENT_LOCK_ACQUIRE, table[i].ns, &lock, 8);
        }
    for (uint32_t i = 0; i < depth; i++) {
        if (is_stale(l->open[i].ns))
            continue;
        uint32_t name = fm_eventlog_be32_(l->open[i].name);
        fm_el_replay_lane_event(o, cap, FM_EVENT_SPAN_BEGIN, l->open[i].ns, &name, 4);
    }
    fm_el_replay_lane_done(o);
}

void fm_el_values_replay(struct fm_el_replay *o)
{
    uint32_t locks = 0;
    pthread_mutex_lock(&mutex);
    for (uint32_t i = 0; table && i < ENTRIES_MAX; i++) {
        locks += table[i].type == FM_EVENT_LOCK_ACQUIRE;
        if (table[i].type == FM_EVENT_ASYNC_BEGIN && is_stale(table[i].ns))
            continue;
        if (table[i].type != 0 && table[i].type != FM_EVENT_LOCK_ACQUIRE)
            replay_value(o, &table[i]);
    }
    for (unsigned i = 0; i < fm_el_lane_count(); i++)
        if (locks || (spans[i] && spans[i]->depth))
            replay_lane(o, (uint16_t)i);
    pthread_mutex_unlock(&mutex);
}
