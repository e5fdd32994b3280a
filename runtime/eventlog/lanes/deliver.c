/* SPDX-License-Identifier: Apache-2.0 */
/* The global buffer, for events that belong to no lane, and the way of a block to the destinations.
 */
#include "core/live.h"

#include <errno.h>

static pthread_mutex_t sink_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    unsigned char *buffer;
    size_t size, used;            /* used counts the marker */
    uint64_t begin_ns, latest_ns; /* of its events */
    uint64_t last_end_ns;
    uint32_t events;
    struct fm_live_slot *live; /* that the buffer is in; NULL = the pool */
    uint64_t generation;       /* of live files, when it was taken */
} global;                      /* under sink_mutex */

void fm_el_sink_lock(void)
{
    pthread_mutex_lock(&sink_mutex);
}

void fm_el_sink_unlock(void)
{
    pthread_mutex_unlock(&sink_mutex);
}

void fm_el_marker(unsigned char out[FM_EL_MARKER_BYTES], size_t block_bytes, uint16_t cap,
                  uint64_t begin_ns, uint64_t end_ns)
{
    uint16_t number = fm_eventlog_be16_(FM_EVENT_BLOCK_MARKER);
    uint32_t bytes = fm_eventlog_be32_((uint32_t)block_bytes);
    begin_ns = fm_eventlog_be64_(begin_ns);
    end_ns = fm_eventlog_be64_(end_ns);
    cap = fm_eventlog_be16_(cap);
    memcpy(out, &number, 2);
    memcpy(out + 2, &begin_ns, 8);
    memcpy(out + 10, &bytes, 4);
    memcpy(out + 14, &end_ns, 8);
    memcpy(out + 22, &cap, 2);
}

static const struct fm_el_sink *sinks[FM_EL_SINKS];

void fm_el_sink_register(enum fm_el_sink_place place, const struct fm_el_sink *sink)
{
    sinks[place] = sink;
}

void fm_el_deliver(const struct fm_el_block *b)
{
    bool taken = false;
    fm_el_count(&fm_el.produced, b->events);
    if (atomic_load(&fm_el.memory_on))
        sinks[FM_EL_SINK_MEMORY]->write(b, &taken);
    if (atomic_load(&fm_el.clients_on) || atomic_load(&fm_el_values_on))
        sinks[FM_EL_SINK_CLIENTS]->write(b, &taken);
    if (atomic_load(&fm_el.stream_on)) /* last: it frees a live block */
        sinks[FM_EL_SINK_STREAM]->write(b, &taken);
    else
        fm_el_live_free(b->live);
    if (!taken)
        fm_el_count(&fm_el.discarded, b->events);
}

int fm_el_sinks_settle(int timeout_ms)
{
    int result = 0;
    for (unsigned i = 0; i < FM_EL_SINKS; i++)
        if (sinks[i] && sinks[i]->settle && sinks[i]->settle(timeout_ms) != 0)
            result = -ETIMEDOUT;
    return result;
}

void fm_el_sinks_lane_ends(uint16_t cap)
{
    for (unsigned i = 0; i < FM_EL_SINKS; i++)
        if (sinks[i] && sinks[i]->lane_ends)
            sinks[i]->lane_ends(cap);
}

void fm_el_sinks_fork_lock(void)
{
    for (unsigned i = 0; i < FM_EL_SINKS; i++)
        sinks[i]->fork_lock();
}

void fm_el_sinks_fork_unlock(void)
{
    for (unsigned i = FM_EL_SINKS; i-- > 0;)
        sinks[i]->fork_unlock();
}

void fm_el_sinks_after_fork(void)
{
    for (unsigned i = 0; i < FM_EL_SINKS; i++)
        sinks[i]->after_fork();
}

void fm_el_sinks_stats(struct fm_eventlog_stats *s)
{
    for (unsigned i = 0; i < FM_EL_SINKS; i++)
        if (sinks[i])
            sinks[i]->stats(s);
}

static unsigned char *put_event(unsigned char *p, uint16_t type, uint64_t ns)
{
    uint16_t number = fm_eventlog_be16_(type);
    ns = fm_eventlog_be64_(ns);
    memcpy(p, &number, 2);
    memcpy(p + 2, &ns, 8);
    return p + 10;
}

const unsigned char fm_el_end_mark[2] = {0xFF, 0xFF};

void fm_el_gap_add(struct fm_el_gap *gap, const struct fm_el_block *dropped)
{
    gap->events += dropped->events;
    gap->bytes += dropped->bytes;
    gap->blocks++;
}

size_t fm_el_missing_block(unsigned char out[FM_EL_MISSING_MAX], const struct fm_el_gap *gap,
                           const unsigned char *next)
{
    if (gap->blocks == 0)
        return 0;
    uint64_t at = next ? fm_el_get64(next + 2) : fm_el_clock_ns();
    uint16_t cap = next ? fm_el_get16(next + 22) : FM_EL_NO_CAP;
    unsigned char *p = put_event(out + FM_EL_MARKER_BYTES, FM_EVENT_LOG_MESSAGE, at);
    int n = snprintf((char *)p + 2, 160, "fathom: %llu events missing (%llu bytes, %llu blocks)",
                     (unsigned long long)gap->events, (unsigned long long)gap->bytes,
                     (unsigned long long)gap->blocks);
    uint16_t length = fm_eventlog_be16_((uint16_t)n);
    memcpy(p, &length, 2);
    p = put_event(p + 2 + n, FM_EVENT_MISSING, at);
    uint64_t events = fm_eventlog_be64_(gap->events), bytes = fm_eventlog_be64_(gap->bytes);
    uint32_t blocks =
        fm_eventlog_be32_(gap->blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)gap->blocks);
    memcpy(p, &events, 8);
    memcpy(p + 8, &bytes, 8);
    memcpy(p + 16, &blocks, 4);
    size_t total = (size_t)(p + 20 - out);
    fm_el_marker(out, total, cap, at, at);
    return total;
}

static void global_note(uint64_t taken)
{
    if (global.live)
        fm_el_live_note(global.live, &(struct fm_live_state){.taken = taken});
}

/* Behind the last event, and in a live file too. */
static void global_used(size_t used)
{
    global.used = used;
    if (global.live)
        __atomic_store_n(&global.live->pos, (uintptr_t)(global.buffer + used), __ATOMIC_RELEASE);
}

/* A copy in the live file, so that the events count once whenever the program ends. */
static void copy_live(struct fm_el_block *b)
{
    struct fm_live_slot *slot = fm_el_live_alloc(FM_LIVE_BLOCK, FM_EL_NO_CAP, b->bytes);
    if (slot && slot->generation != global.live->generation) {
        fm_el_live_free(slot);
        slot = NULL;
    }
    if (slot) {
        b->data = memcpy(fm_el_live_data(slot), b->data, b->bytes);
        b->live = slot;
        fm_el_live_seal(slot, b->bytes, global.live);
    }
    global_note(b->bytes);
}

void fm_el_global_flush_locked(void)
{
    struct fm_el_name *posted = fm_el_names_post();
    if (global.used > FM_EL_MARKER_BYTES) {
        struct fm_el_block b = {global.buffer, global.used, global.events, FM_EL_NO_CAP, NULL};
        /* not the time of now: a name that is made now, and posted with the next block, must not
         * get a later time than the events that use it */
        global.last_end_ns = global.latest_ns;
        fm_el_marker(global.buffer, global.used, FM_EL_NO_CAP, global.begin_ns, global.last_end_ns);
        if (global.live)
            copy_live(&b);
        fm_el_deliver(&b);
        global_used(FM_EL_MARKER_BYTES); /* first: what lies behind is nothing */
        global_note(FM_EL_MARKER_BYTES);
        global.events = 0;
    }
    fm_el_names_posted(posted);
}

void fm_el_global_not_before(uint64_t ns)
{
    global.last_end_ns = ns > global.last_end_ns ? ns : global.last_end_ns;
}

static bool take_buffer(size_t wanted)
{
    uint64_t generation = atomic_load(&fm_el_live_generation);
    struct fm_live_slot *slot =
        generation ? fm_el_live_alloc(FM_LIVE_GLOBAL, FM_EL_NO_CAP, wanted) : NULL;
    unsigned char *buffer = slot ? fm_el_live_data(slot) : fm_el_pool_alloc(wanted);
    if (!buffer)
        return false;
    if (global.live)
        fm_el_live_free(global.live);
    else
        fm_el_pool_free(global.buffer, global.size);
    global.buffer = buffer;
    global.size = wanted;
    global.live = slot;
    global.generation = generation;
    global_used(FM_EL_MARKER_BYTES);
    global_note(FM_EL_MARKER_BYTES);
    return true;
}

/* Room for need bytes, in a buffer of the wanted size; an event that is larger than that gets a
 * larger one for once, since a name or an argument must not get lost. */
static bool make_room(size_t need)
{
    size_t wanted = atomic_load(&fm_el.wanted_size);
    if (atomic_load(&fm_el_live_generation) && wanted > FM_EL_LIVE_BUFFER_MAX)
        wanted = FM_EL_LIVE_BUFFER_MAX;
    if (need + FM_EL_MARKER_BYTES > wanted)
        wanted = need + FM_EL_MARKER_BYTES;
    bool as_wanted = global.buffer && global.size == wanted &&
                     global.generation == atomic_load(&fm_el_live_generation);
    if (as_wanted && need <= global.size - global.used)
        return true;
    fm_el_global_flush_locked();
    if (as_wanted || take_buffer(wanted))
        return true;
    fm_el_count(&fm_el.resize_failures, 1);
    return global.buffer && need <= global.size - global.used;
}

void fm_el_global_post_locked(uint16_t type, uint64_t ns, const void *first, size_t first_bytes,
                              const void *second, size_t second_bytes)
{
    bool variable = fm_el_sizes[type] == FM_EL_VARIABLE;
    size_t payload = first_bytes + second_bytes, need = payload + (variable ? 12 : 10);
    if (payload > 65535 || !make_room(need)) {
        fm_el_count(&fm_el.dropped, 1);
        return;
    }
    ns = ns < global.last_end_ns ? global.last_end_ns : ns;
    if (global.events == 0 || ns < global.begin_ns)
        global.begin_ns = ns;
    if (global.events == 0 || ns > global.latest_ns)
        global.latest_ns = ns;
    unsigned char *p = put_event(global.buffer + global.used, type, ns);
    if (variable) {
        uint16_t length = fm_eventlog_be16_((uint16_t)payload);
        memcpy(p, &length, 2);
        p += 2;
    }
    memcpy(p, first, first_bytes);
    if (second_bytes)
        memcpy(p + first_bytes, second, second_bytes);
    global.events++;
    global_used(global.used + need);
}

void fm_el_global_post(uint16_t type, const void *first, size_t first_bytes, const void *second,
                       size_t second_bytes)
{
    uint32_t before = fm_el_enter();
    fm_el_sink_lock();
    fm_el_global_post_locked(type, fm_el_clock_ns(), first, first_bytes, second, second_bytes);
    fm_el_sink_unlock();
    fm_el_leave(before);
}

void fm_el_global_own(void)
{
    fm_el_live_own(global.live);
}

void fm_el_global_after_fork(void)
{
    pthread_mutex_init(&sink_mutex, NULL);
    if (global.live) {
        fm_el_live_free(global.live);
        global.live = NULL;
        global.buffer = NULL;
        global.size = 0;
    }
    global.used = global.buffer ? FM_EL_MARKER_BYTES : 0;
    global.events = 0;
}
