/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a replay: blocks of events in order of time. */
#include "core/shared.h"
#include "core/types.h"
#include "state/replay.h"

enum { BLOCK_BYTES = 16 << 20 };

void fm_el_replay_close(struct fm_el_replay *o, uint64_t end)
{
    if (o->open && !o->b->failed)
        fm_el_marker(o->b->data + o->block, o->b->used - o->block, FM_EL_NO_CAP, o->begin, end);
    o->open = false;
    o->floor = end;
}

void fm_el_replay_event(struct fm_el_replay *o, uint16_t type, uint64_t ns, const void *first,
                        size_t first_bytes, const void *second, size_t second_bytes)
{
    static const unsigned char empty[FM_EL_MARKER_BYTES];
    if (o->open && !o->whole && o->b->used - o->block > BLOCK_BYTES)
        fm_el_replay_close(o, o->latest);
    ns = ns > o->until ? o->until : ns;
    ns = ns < o->floor ? o->floor : ns;
    if (!o->open) {
        o->block = o->b->used;
        o->begin = o->latest = ns;
        o->open = true;
        fm_el_put(o->b, empty, sizeof(empty));
    }
    o->begin = ns < o->begin ? ns : o->begin;
    o->latest = ns > o->latest ? ns : o->latest;
    fm_el_put16(o->b, type);
    fm_el_put64(o->b, ns);
    if (fm_el_sizes[type] == FM_EL_VARIABLE)
        fm_el_put16(o->b, (uint16_t)(first_bytes + second_bytes));
    fm_el_put(o->b, first, first_bytes);
    fm_el_put(o->b, second, second_bytes);
    o->count++;
}

/* ---- lanes' blocks ----------------------------------------------------------------------------
 */

static struct {
    uint64_t ns;
    uint16_t type;
    uint8_t bytes, payload[8];
} lane_events[FM_EL_REPLAY_LANE_MAX]; /* sorted by time; guarded by the state lock */
static unsigned lane_events_count;
static uint16_t lane_events_cap;

void fm_el_replay_lane_event(struct fm_el_replay *o, uint16_t cap, uint16_t type, uint64_t ns,
                             const void *payload, size_t bytes)
{
    (void)o;
    if (lane_events_count == FM_EL_REPLAY_LANE_MAX)
        return;
    unsigned at = lane_events_count++;
    for (; at > 0 && lane_events[at - 1].ns > ns; at--)
        lane_events[at] = lane_events[at - 1];
    lane_events[at].ns = ns;
    lane_events[at].type = type;
    lane_events[at].bytes = (uint8_t)bytes;
    memcpy(lane_events[at].payload, payload, bytes);
    lane_events_cap = cap;
}

void fm_el_replay_lane_done(struct fm_el_replay *o)
{
    static const unsigned char empty[FM_EL_MARKER_BYTES];
    unsigned n = lane_events_count;
    lane_events_count = 0;
    if (n == 0)
        return;
    fm_el_replay_close(o, o->latest);
    size_t block = o->b->used;
    fm_el_put(o->b, empty, sizeof(empty));
    for (unsigned i = 0; i < n; i++) {
        fm_el_put16(o->b, lane_events[i].type);
        fm_el_put64(o->b, lane_events[i].ns);
        fm_el_put(o->b, lane_events[i].payload, lane_events[i].bytes);
        o->count++;
    }
    if (!o->b->failed)
        fm_el_marker(o->b->data + block, o->b->used - block, lane_events_cap, lane_events[0].ns,
                     lane_events[n - 1].ns);
}
