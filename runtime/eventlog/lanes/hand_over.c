/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a block of a lane's buffer: converts raw stamps to times and merges events queued by signal
 * handlers. */
#include "core/live.h"
#include "core/pool.h"
#include "core/types.h"
#include "lanes/deliver.h"
#include "lanes/lane.h"

void fm_el_lane_set_pos(struct fm_el_lane *l, unsigned char *pos)
{
    __atomic_store_n(&l->head->pos, pos, __ATOMIC_RELEASE);
    __atomic_store_n(l->head->copy, pos, __ATOMIC_RELEASE);
}

void fm_el_lane_note(struct fm_el_lane *l, uint64_t side)
{
    if (l->live)
        fm_el_live_note(l->live, &(struct fm_live_state){.taken = (uint64_t)(l->taken - l->buffer),
                                                         .side_done = side,
                                                         .ticks = l->begin.ticks,
                                                         .ns = l->begin.ns});
}

/* Converts raw stamps of [p, end) to nanoseconds by interpolation between two samples. Returns the
 * number of events. Branches on common sizes let the CPU predict where the next event begins
 * instead of waiting for the table. */
static uint32_t convert(unsigned char *p, const unsigned char *end, const struct fm_el_sample *from,
                        const struct fm_el_sample *to)
{
    FM_EL_ASSERT(p <= end && to->ns >= from->ns);
    uint64_t ticks = to->ticks - from->ticks, scale = 0;
    if (to->ticks > from->ticks)
        scale = (uint64_t)(((unsigned __int128)(to->ns - from->ns) << 32) / ticks);
    uint32_t events = 0;
    uint64_t last = 0;
    while (p < end) {
        unsigned size = fm_el_sizes[fm_el_get16(p)];
        uint64_t stamp;
        memcpy(&stamp, p + 2, 8);
        stamp = (int64_t)(stamp - from->ticks) > 0 ? stamp - from->ticks : 0;
        stamp = stamp < ticks ? stamp : ticks; /* counters of two cores may differ by a few ticks */
        last = stamp = stamp > last ? stamp : last;
        stamp = fm_eventlog_be64_(from->ns + (uint64_t)(((unsigned __int128)stamp * scale) >> 32));
        memcpy(p + 2, &stamp, 8);
        if (size == 8) {
            __asm__ volatile("");
            p += 18;
        } else if (size == 4) {
            __asm__ volatile("");
            p += 14;
        } else if (size == FM_EL_VARIABLE) {
            p += 12 + fm_el_get16(p + 10);
        } else {
            p += 10 + size;
        }
        events++;
    }
    FM_EL_ASSERT(p == end); /* events are whole */
    return events;
}

/* ---- handing over --------------------------------------------------------------------------- */

static void hand_over(struct fm_el_lane *l, unsigned char *data, size_t bytes)
{
    fm_el_names_announce(); /* announces names that the events may use */
    struct fm_el_sample now = fm_el_clock_sample();
    uint32_t events = convert(data, data + bytes, &l->begin, &now);
    struct fm_el_block b = {.data = data - FM_EL_MARKER_BYTES,
                            .bytes = bytes + FM_EL_MARKER_BYTES,
                            .events = events,
                            .cap = l->number};
    fm_el_marker(data - FM_EL_MARKER_BYTES, b.bytes, l->number, l->begin.ns, now.ns);
    l->begin = now;
    fm_el_deliver(&b);
}

/* As above, from a copy in the live file: the buffer stays unchanged until its turn increases. So
 * each event counts once, whenever the program ends. False: no room for the copy. */
static bool hand_over_live(struct fm_el_lane *l, unsigned char *pos, const unsigned char *side,
                           size_t waiting)
{
    size_t bytes = (size_t)(pos - l->taken), all = FM_EL_MARKER_BYTES + bytes + waiting;
    struct fm_live_slot *slot = fm_el_live_alloc(FM_LIVE_BLOCK, l->number, all);
    if (!slot || slot->generation != l->live->generation) {
        fm_el_live_free(slot);
        return false;
    }
    FM_EL_ASSERT(all <= slot->bytes - FM_LIVE_SLOT_BYTES && pos >= l->taken);
    unsigned char *data = fm_el_live_data(slot), *first = data + FM_EL_MARKER_BYTES;
    memcpy(first, l->taken, bytes);
    if (waiting)
        fm_el_side_merge(first, bytes, side, waiting);
    fm_el_names_announce();
    struct fm_el_sample now = fm_el_clock_sample();
    struct fm_el_block b = {.data = data, .bytes = all, .cap = l->number, .live = slot};
    b.events = convert(first, data + all, &l->begin, &now);
    fm_el_marker(data, all, l->number, l->begin.ns, now.ns);
    fm_el_live_seal(slot, all, l->live);
    l->begin = now;
    l->taken = pos;
    fm_el_lane_note(l, fm_el_side_mark(l->side, waiting));
    if (waiting) {
        fm_el_side_done(l->side, waiting);
        fm_el_lane_note(l, fm_el_side_mark(l->side, 0));
    }
    fm_el_live_sample(&now);
    fm_el_deliver(&b);
    return true;
}

/* Hands over everything. Events of signal handlers are merged by time. The owner merges them in its
 * buffer if there is room; otherwise they are merged in a copy. Without memory for it they become a
 * block of their own after this one, with times no earlier than its begin. */
static void hand_over_all(struct fm_el_lane *l, unsigned char *pos, unsigned char *side,
                          size_t waiting)
{
    FM_EL_ASSERT(pos >= l->taken && waiting <= FM_EL_SIDE_BYTES);
    bool owner = l->head == &fm_eventlog_head_;
    size_t bytes = (size_t)(pos - l->taken), all = FM_EL_MARKER_BYTES + bytes + waiting;
    unsigned char *data = l->taken, *copy = NULL;
    if (owner && waiting && waiting <= (size_t)(l->buffer + l->size - pos)) {
        fm_el_side_merge(data, bytes, side, waiting);
        pos += waiting;
        bytes += waiting;
        fm_el_lane_set_pos(l, pos);
        fm_el_side_done(l->side, waiting);
        waiting = 0;
    } else if (waiting && bytes && (copy = fm_el_pool_alloc(all))) {
        memcpy(copy + FM_EL_MARKER_BYTES, data, bytes);
        fm_el_side_merge(copy + FM_EL_MARKER_BYTES, bytes, side, waiting);
        data = copy + FM_EL_MARKER_BYTES;
        bytes += waiting;
        fm_el_side_done(l->side, waiting);
        waiting = 0;
    }
    l->taken = pos;
    fm_el_lane_note(l, fm_el_side_mark(l->side, 0)); /* before the stamps are converted in place */
    if (bytes)
        hand_over(l, data, bytes);
    fm_el_pool_free(copy, all);
    if (waiting) {
        hand_over(l, side, waiting);
        fm_el_side_done(l->side, waiting);
    }
    fm_el_lane_note(l, fm_el_side_mark(l->side, 0));
}

void fm_el_lane_hand_over(struct fm_el_lane *l)
{
    unsigned char *pos = l->taken, *side;
    if (l->head)
        pos = __atomic_load_n(&l->head->pos, __ATOMIC_ACQUIRE);
    size_t waiting = fm_el_side_ready(l->side, &side);
    if (pos == l->taken && waiting == 0)
        return;
    if (!l->live || !hand_over_live(l, pos, side, waiting))
        hand_over_all(l, pos, side, waiting);
}
