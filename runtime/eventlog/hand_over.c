/* SPDX-License-Identifier: Apache-2.0 */
/* From a lane's buffer to a block: raw stamps become times, what handlers queued joins. */
#include "internal.h"

/* Raw stamps of [p, end) become nanoseconds on the line between the two samples. Returns the number
 * of events. The branches on common sizes let the processor guess where the next event begins
 * instead of waiting for the table. */
static uint32_t convert(unsigned char *p, const unsigned char *end, const struct fm_el_sample *from,
                        const struct fm_el_sample *to)
{
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
        stamp = stamp < ticks ? stamp : ticks; /* counters of two cores differ by a few ticks */
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
    return events;
}

/* ---- handing over --------------------------------------------------------------------------- */

static void hand_over(struct fm_el_lane *l, unsigned char *data, size_t bytes)
{
    fm_el_names_announce(); /* those that the events may use */
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

/* Lane locked; by its owner or anybody. What handlers queued joins the events in the buffer, by
 * time. The buffer is the owner's to write: another joins them in a copy, and where there is no
 * room it is a block of its own, behind, with the times of its events moved up to its begin. */
void fm_el_lane_hand_over(struct fm_el_lane *l)
{
    bool owner = l->head == &fm_eventlog_head_;
    unsigned char *pos = l->taken, *side, *copy = NULL;
    if (l->head)
        pos = __atomic_load_n(&l->head->pos, __ATOMIC_ACQUIRE);
    size_t waiting = fm_el_side_ready(&l->side, &side), bytes = (size_t)(pos - l->taken);
    size_t all = FM_EL_MARKER_BYTES + bytes + waiting;
    if (owner && waiting && waiting <= (size_t)(l->buffer + l->size - pos)) {
        fm_el_side_merge(l->taken, bytes, side, waiting);
        pos += waiting;
        bytes += waiting;
        __atomic_store_n(&l->head->pos, pos, __ATOMIC_RELEASE);
        fm_el_side_done(&l->side, waiting);
        waiting = 0;
    } else if (waiting && bytes && (copy = fm_el_pool_alloc(all))) {
        memcpy(copy + FM_EL_MARKER_BYTES, l->taken, bytes);
        fm_el_side_merge(copy + FM_EL_MARKER_BYTES, bytes, side, waiting);
        fm_el_side_done(&l->side, waiting);
        hand_over(l, copy + FM_EL_MARKER_BYTES, bytes + waiting);
        fm_el_pool_free(copy, all);
        waiting = 0;
    }
    if (bytes && !copy)
        hand_over(l, l->taken, bytes);
    l->taken = pos;
    if (waiting) {
        hand_over(l, side, waiting);
        fm_el_side_done(&l->side, waiting);
    }
}
