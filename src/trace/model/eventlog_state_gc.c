/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collections of Haskell programs: what each capability does in one, and the pauses of the
 * program.
 *
 * The collector's lane shows the pauses: each from the begin to the end of the collection on the
 * capability that asked for it (events 11 and 12), which is what "+RTS -s" counts. The other
 * capabilities begin when they stop, and one that is idle logs its end when it wakes, perhaps long
 * after. A log that does not tell who asked has the first that begins instead. Which generation was
 * collected is told at the end or just behind it (event 53); so the pause is shown as ended when
 * that comes or anything else begins, and an entry that fills the pause tells the generation. */
#include "trace/model/eventlog_state_haskell.h"

enum { SWEEPER_KEY = 1 };

static struct fm_lane *collector_lane(struct happening *at)
{
    if (at->model->collector == FM_LANE_NONE)
        at->model->collector =
            fm_eventlog_number_lane(at, FM_LANE_COLLECTOR, 0, "collector")->index;
    return fm_state_lane_at(at->state, at->model->collector);
}

static struct fm_lane *capability_lane(struct happening *at)
{
    return at->capability == NULL ? NULL : fm_eventlog_capability_lane(at, at->capability_number);
}

/* --- pauses --- */

/* Shows the end of a pause that is over. */
static void close_pause(struct happening *at)
{
    struct gc_pause *pause = &at->model->pause;
    if (pause->until == 0)
        return;
    struct fm_lane *collector = collector_lane(at);
    if (pause->generation != 0 && collector->depth == 1)
        fm_state_push(at->state, collector, at->names->generations[pause->generation - 1], 0,
                      collector->stack[0].since);
    fm_state_empty(at->state, collector, pause->until);
    pause->until = pause->generation = 0;
}

static void begin_pause(struct happening *at, uint32_t number)
{
    struct gc_pause *pause = &at->model->pause;
    close_pause(at);
    if (pause->leads != 0 || (pause->asked != 0 && pause->asked != number + 1))
        return;
    *pause = (struct gc_pause){.leads = number + 1};
    fm_state_set(at->state, collector_lane(at), at->names->collecting, 0, at->time);
}

static void show_capability(struct happening *at, struct fm_lane *lane,
                            const struct capability *capability)
{
    const struct fm_lane *thread = fm_state_lane_at(at->state, capability->running);
    if (thread != NULL) /* in a call that a collection does not wait for */
        fm_state_set(at->state, lane, at->names->running, thread->key, at->time);
    else
        fm_state_set(at->state, lane, at->names->idle, 0, at->time);
}

static void end_pause(struct happening *at, uint32_t number)
{
    struct gc_pause *pause = &at->model->pause;
    if (pause->leads != number + 1)
        return;
    pause->leads = pause->asked = 0;
    pause->until = MAX(at->time, 1);
    if (pause->generation != 0)
        close_pause(at);
    for (uint32_t i = 0; i < at->model->capability_count; i++) {
        struct capability *other = &at->model->capabilities[i];
        if (i == number || other->in_gc != GC_RUNS || other->lane == FM_LANE_NONE)
            continue;
        other->in_gc = GC_OVER;
        show_capability(at, fm_state_lane_at(at->state, other->lane), other);
    }
}

/* --- capabilities --- */

void fm_eventlog_gc_leave(struct happening *at, struct capability *capability)
{
    if (capability->in_gc == GC_RUNS)
        end_pause(at, (uint32_t)(capability - at->model->capabilities));
    capability->in_gc = GC_NONE;
}

void fm_eventlog_gc_missed(struct happening *at, struct capability *capability)
{
    uint32_t number = (uint32_t)(capability - at->model->capabilities);
    if (at->model->pause.leads == 0 && at->model->pause.asked == number + 1)
        at->model->pause.asked = 0; /* it came to nothing */
    if (capability->in_gc == GC_RUNS)
        fm_state_count_inconsistent(at->state);
    fm_eventlog_gc_leave(at, capability);
    close_pause(at);
}

void fm_eventlog_gc_start(struct happening *at)
{
    struct fm_lane *lane = capability_lane(at);
    set_event_lane(at, lane != NULL ? lane : collector_lane(at));
    if (lane == NULL)
        return;
    collector_lane(at);
    struct capability *capability = fm_eventlog_capability(at->model, at->capability_number);
    if (capability->in_gc == GC_RUNS)
        fm_state_count_inconsistent(at->state);
    capability->in_gc = GC_RUNS;
    begin_pause(at, at->capability_number);
    fm_state_set(at->state, lane, at->names->collecting, 0, at->time);
}

void fm_eventlog_gc_end(struct happening *at)
{
    struct fm_lane *lane = capability_lane(at);
    struct capability *capability =
        lane == NULL ? NULL : fm_eventlog_capability(at->model, at->capability_number);
    if (capability == NULL || capability->in_gc == GC_NONE) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    set_event_lane(at, lane);
    bool runs = capability->in_gc == GC_RUNS;
    fm_eventlog_gc_leave(at, capability);
    if (runs)
        show_capability(at, lane, capability);
}

static void phase(struct happening *at, uint32_t value)
{
    struct fm_lane *lane = capability_lane(at);
    enum gc_part part =
        lane == NULL ? GC_NONE : fm_eventlog_capability(at->model, at->capability_number)->in_gc;
    if (part == GC_NONE) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    set_event_lane(at, lane);
    if (part == GC_RUNS)
        fm_state_replace(at->state, lane, 1, value, 0, at->time);
}

void fm_eventlog_gc_work(struct happening *at)
{
    phase(at, at->names->gc_work);
}

void fm_eventlog_gc_idle(struct happening *at)
{
    phase(at, at->names->gc_idle);
}

void fm_eventlog_gc_done(struct happening *at)
{
    phase(at, at->names->gc_done);
}

/* --- what is told of a collection --- */

static void mark_here(struct happening *at, uint32_t value)
{
    struct fm_lane *lane = capability_lane(at);
    if (lane == NULL)
        lane = fm_eventlog_process(at);
    set_event_lane(at, lane);
    fm_state_mark(at->state, lane, value, at->time);
}

static void ask(struct happening *at, uint32_t value)
{
    close_pause(at);
    mark_here(at, value);
    if (at->capability != NULL && at->model->pause.leads == 0)
        at->model->pause.asked = at->capability_number + 1;
}

void fm_eventlog_gc_ask_sequential(struct happening *at)
{
    ask(at, at->names->sequential);
}

void fm_eventlog_gc_ask_parallel(struct happening *at)
{
    ask(at, at->names->parallel);
}

void fm_eventlog_gc_global_sync(struct happening *at)
{
    mark_here(at, at->names->stopped);
}

void fm_eventlog_gc_statistics(struct happening *at)
{
    uint32_t generation = MIN(u16_at(at, 4), GENERATIONS - 1);
    fm_state_mark(at->state, collector_lane(at), at->names->generations[generation], at->time);
    fm_eventlog_heap_number(at, HEAP_COPIED, "copied", (double)u64_at(at, 6));
    fm_eventlog_heap_number(at, HEAP_SLOP, "slop", (double)u64_at(at, 14));
    fm_eventlog_heap_number(at, HEAP_FRAGMENTATION, "fragmentation", (double)u64_at(at, 22));
    if (at->model->pause.leads != 0 || at->model->pause.until != 0)
        at->model->pause.generation = generation + 1;
    close_pause(at);
}

/* --- the collector that does not move: marks while the program runs --- */

static struct fm_lane *sweeper_lane(struct happening *at)
{
    if (at->model->sweeper == FM_LANE_NONE)
        at->model->sweeper =
            fm_eventlog_number_lane(at, FM_LANE_COLLECTOR, SWEEPER_KEY, "non-moving collector")
                ->index;
    return fm_state_lane_at(at->state, at->model->sweeper);
}

void fm_eventlog_gc_mark_begin(struct happening *at)
{
    fm_state_set(at->state, sweeper_lane(at), at->names->mark, 0, at->time);
}

void fm_eventlog_gc_mark_end(struct happening *at)
{
    fm_state_pop_value(at->state, sweeper_lane(at), at->names->mark, at->time);
}

void fm_eventlog_gc_sync_begin(struct happening *at)
{
    fm_state_push(at->state, sweeper_lane(at), at->names->sync, 0, at->time);
}

void fm_eventlog_gc_sync_end(struct happening *at)
{
    fm_state_pop_value(at->state, sweeper_lane(at), at->names->sync, at->time);
}

void fm_eventlog_gc_sweep_begin(struct happening *at)
{
    fm_state_set(at->state, sweeper_lane(at), at->names->sweep, 0, at->time);
}

void fm_eventlog_gc_sweep_end(struct happening *at)
{
    fm_state_pop_value(at->state, sweeper_lane(at), at->names->sweep, at->time);
}
