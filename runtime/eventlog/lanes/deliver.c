/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers blocks to the destinations. */
#include "core/live.h"
#include "core/shared.h"
#include "lanes/deliver.h"

#include <errno.h>
#include <pthread.h>

static const struct fm_el_sink *sinks[FM_EL_SINKS];

/* Read-locked while a block is delivered; write-locked to change a sink between two blocks. Free at
 * each fork: readers hold a lane's lock or the sink lock, the writer holds the sink lock. */
static pthread_rwlock_t passing = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void fm_el_deliver_hold(void)
{
    pthread_rwlock_wrlock(&passing);
}

void fm_el_deliver_release(void)
{
    pthread_rwlock_unlock(&passing);
}

void fm_el_sink_register(enum fm_el_sink_place place, const struct fm_el_sink *sink)
{
    FM_EL_ASSERT((unsigned)place < FM_EL_SINKS && sink->write && sink->fork_lock &&
                 sink->after_fork);
    sinks[place] = sink;
}

void fm_el_deliver(const struct fm_el_block *b)
{
    FM_EL_ASSERT(b->bytes >= FM_EL_MARKER_BYTES && fm_el_get32(b->data + 10) == b->bytes);
    bool taken = false;
    fm_el_count(&fm_el.produced, b->events);
    pthread_rwlock_rdlock(&passing);
    if (atomic_load(&fm_el.memory_on))
        sinks[FM_EL_SINK_MEMORY]->write(b, &taken);
    if (atomic_load(&fm_el.clients_on) || atomic_load(&fm_el.values_on))
        sinks[FM_EL_SINK_CLIENTS]->write(b, &taken);
    if (atomic_load(&fm_el.stream_on)) /* last, because it frees a live block */
        sinks[FM_EL_SINK_STREAM]->write(b, &taken);
    else
        fm_el_live_free(b->live);
    pthread_rwlock_unlock(&passing);
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

void fm_el_sinks_tick(void)
{
    for (unsigned i = 0; i < FM_EL_SINKS; i++)
        if (sinks[i] && sinks[i]->tick)
            sinks[i]->tick();
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
