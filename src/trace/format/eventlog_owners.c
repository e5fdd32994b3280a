/* SPDX-License-Identifier: Apache-2.0 */
/* Owners of the lanes of a C program's log, where they are told later than the first event.
 *
 * A destination that comes late (a client, another file) begins with the state of the program. In
 * logs of fathom 0.1 that state has the time at which it was written, although the lanes' first
 * blocks hold earlier events. So the blocks without lane are read once, for what they say of the
 * lanes: a thread logs there from now on, or nobody does. */
#include "eventlog/reader/eventlog.h"
#include "trace/format/eventlog_trace.h"

struct owner {
    uint64_t time;
    uint32_t lane, place; /* place: order in the log, among those of one time */
    uint32_t thread;
    bool none;
};

static gint by_lane_and_time(gconstpointer a, gconstpointer b)
{
    const struct owner *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void take(struct fm_eventlog_trace *self, const struct fm_eventlog_event *event)
{
    struct owner owner = {.time = fm_eventlog_trace_time(event->time_ns),
                          .place = self->owners->len};
    switch (event->number) {
    case FM_EVENTLOG_MIGRATE_THREAD:
        if (event->payload_length < 6)
            return;
        owner.thread = fm_eventlog_get32(event->payload);
        owner.lane = fm_eventlog_get16(event->payload + 4);
        break;
    case FM_EVENTLOG_CAP_ENABLE:
    case FM_EVENTLOG_CAP_DISABLE:
        if (event->payload_length < 2)
            return;
        owner.lane = fm_eventlog_get16(event->payload);
        owner.none = true;
        break;
    default:
        return;
    }
    g_array_append_val(self->owners, owner);
}

/* Damage is noted by who reads the events themselves. */
static void read_block(struct fm_eventlog_trace *self, const struct fm_eventlog_block *block)
{
    struct fm_eventlog_event event;
    struct fm_eventlog_run *run = fm_eventlog_run_new(self->log, block, 0);
    while (fm_eventlog_run_next(run, &event, NULL))
        take(self, &event);
    fm_eventlog_run_free(run);
}

static void read_on(struct fm_eventlog_trace *self)
{
    if (self->owners == NULL)
        self->owners = g_array_new(FALSE, FALSE, sizeof(struct owner));
    guint before = self->owners->len, blocks = self->log->blocks->len;
    for (guint i = MIN(self->owners_blocks, blocks); i < blocks; i++) {
        struct fm_eventlog_block block =
            g_array_index(self->log->blocks, struct fm_eventlog_block, i);
        if (block.capability == FM_EVENTLOG_NO_CAPABILITY)
            read_block(self, &block);
    }
    self->owners_blocks = blocks;
    if (self->owners->len > before)
        g_array_sort(self->owners, by_lane_and_time);
}

bool fm_eventlog_lane_owner(struct fm_tracefile *tracefile, uint32_t lane, uint64_t time,
                            uint32_t *ret_thread)
{
    struct fm_eventlog_trace *self = tracefile->implementation;
    read_on(self);
    guint low = 0, high = self->owners->len;
    while (low < high) { /* the first of the lane that is not before time */
        guint middle = low + (high - low) / 2;
        const struct owner *owner = &g_array_index(self->owners, struct owner, middle);
        if (owner->lane < lane || (owner->lane == lane && owner->time < time))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == self->owners->len)
        return false;
    const struct owner *owner = &g_array_index(self->owners, struct owner, low);
    if (owner->lane != lane || owner->none)
        return false;
    *ret_thread = owner->thread;
    return true;
}
