/* SPDX-License-Identifier: Apache-2.0 */
/* Sparks: each capability's pool, and seven sums over the capabilities. */
#include "trace/model/eventlog_state_haskell.h"

enum { REMAINING = 6, POOL_KEY = 0x100 /* + capability; below: the sums */ };

static struct fm_lane *pool_lane(struct happening *at, uint32_t number)
{
    uint64_t key = POOL_KEY + (uint64_t)number;
    struct fm_lane *lane = fm_state_lane_find(at->state, FM_LANE_SPARKS, key);
    if (lane != NULL)
        return lane;
    const struct fm_lane *capability = fm_eventlog_capability_lane(at, number);
    char name[48];
    g_snprintf(name, sizeof name, "spark pool %u", number);
    return fm_state_lane_new(at->state, FM_LANE_SPARKS, key,
                             capability == NULL ? at->model->process : capability->index, at->time,
                             name);
}

void fm_eventlog_spark_counters(struct happening *at)
{
    g_assert(at->event->payload_size >= 8 * SPARK_NUMBERS);
    static const char *const names[SPARK_NUMBERS] = {
        "sparks created",   "sparks dud",     "sparks overflowed", "sparks converted",
        "sparks collected", "sparks fizzled", "sparks remaining",
    };
    if (at->capability == NULL) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    for (unsigned i = 0; i < SPARK_NUMBERS; i++) {
        uint64_t now = u64_at(at, 8 * i);
        uint64_t change = now - at->capability->sparks[i];
        at->capability->sparks[i] = now;
        at->model->sparks[i] += change;
        struct fm_lane *lane = fm_eventlog_number_lane(at, FM_LANE_SPARKS, i, names[i]);
        if (change != 0 || !lane->has_number)
            fm_state_number(at->state, lane, (double)at->model->sparks[i], at->time);
    }
    uint64_t remaining = at->capability->sparks[REMAINING];
    struct fm_lane *pool = pool_lane(at, at->capability_number);
    if (!pool->has_number || pool->number != (double)remaining)
        fm_state_number(at->state, pool, (double)remaining, at->time);
}

void fm_eventlog_spark(struct happening *at)
{
    uint32_t kind = at->event->id - FM_EVENTLOG_SPARK_CREATE;
    g_assert(kind < SPARK_NUMBERS);
    if (at->capability == NULL) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    fm_state_mark(at->state, pool_lane(at, at->capability_number), at->names->sparks[kind],
                  at->time);
}

void fm_eventlog_spark_steal(struct happening *at)
{
    fm_eventlog_spark(at);
    if (at->capability == NULL)
        return;
    struct fm_lane *victim = fm_eventlog_capability_lane(at, u16_at(at, 0));
    struct fm_lane *thief = fm_eventlog_capability_lane(at, at->capability_number);
    if (victim != NULL && thief != NULL && victim != thief)
        fm_state_arrow(at->state, victim, at->time, thief, at->time);
}
