/* SPDX-License-Identifier: Apache-2.0 */
/* A lane's memory: pages from the pool, or a slot in the live file. */
#include "core/live.h"
#include "core/pool.h"
#include "lanes/lane.h"

static size_t wanted_size(size_t wanted, bool live)
{
    return live && wanted > FM_EL_LIVE_BUFFER_MAX ? FM_EL_LIVE_BUFFER_MAX : wanted;
}

bool fm_el_lane_has_wanted(const struct fm_el_lane *l)
{
    size_t wanted = atomic_load_explicit(&fm_el.wanted_size, memory_order_relaxed);
    return l->generation == atomic_load_explicit(&fm_el_live_generation, memory_order_relaxed) &&
           l->size == wanted_size(wanted, l->live != NULL);
}

void fm_el_lane_drop_buffer(struct fm_el_lane *l)
{
    if (l->live)
        fm_el_live_free(l->live);
    else
        fm_el_pool_free(l->buffer, l->size);
    l->buffer = l->taken = NULL;
    l->live = NULL;
    l->side = &l->own_side;
}

bool fm_el_lane_take_buffer(struct fm_el_lane *l, size_t wanted)
{
    struct fm_el_lane old = {.buffer = l->buffer, .live = l->live, .size = l->size};
    uint64_t generation = atomic_load(&fm_el_live_generation);
    size_t size = wanted_size(wanted, generation != 0);
    struct fm_live_slot *slot =
        generation && wanted ? fm_el_live_alloc(FM_LIVE_LANE, l->number, size) : NULL;
    unsigned char *buffer = slot ? fm_el_live_data(slot) : wanted ? fm_el_pool_alloc(wanted) : NULL;
    if (!buffer)
        return false;
    struct fm_el_side *left = l->side, *side = &l->own_side;
    l->buffer = buffer;
    l->taken = buffer + FM_EL_MARKER_BYTES;
    l->size = slot ? size : wanted;
    l->live = slot;
    l->generation = generation;
    FM_EL_ASSERT(l->size > FM_EL_MARKER_BYTES);
    fm_el_lane_note(l, 0);
    if (slot)
        side = (struct fm_el_side *)(void *)((unsigned char *)slot + FM_LIVE_SIDE_AT);
    l->side = side;
    atomic_signal_fence(memory_order_seq_cst); /* from here on, handlers use the new buffer */
    if (l->head) {
        l->head->copy = slot ? (unsigned char **)(void *)&slot->pos : &l->own_copy;
        fm_el_lane_set_pos(l, l->taken);
    }
    if (left && left != side && fm_el_side_waits(left)) {
        l->side = left; /* a handler attached the queue before; none of this thread's handlers is
                           running */
        fm_el_lane_hand_over(l);
        l->side = side;
    }
    fm_el_lane_drop_buffer(&old);
    return true;
}

bool fm_eventlog_is_live(void)
{
    FM_EL_FORWARD(is_live);
    return atomic_load(&fm_el_live_generation) != 0;
}
