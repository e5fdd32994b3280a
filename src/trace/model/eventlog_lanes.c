/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes that events of event logs are about: capabilities, the process, threads, numbers. */
#include "trace/model/eventlog_state_haskell.h"

#define STAND_IN_KEY (UINT64_C(1) << 32) /* threads of the program have 32 bits */

struct capability *fm_eventlog_capability_new(struct eventlog_model *model, uint32_t number)
{
    if (number >= CAPABILITIES_MAX)
        return NULL;
    g_assert(number >= model->capability_count);
    uint32_t count = MAX(number + 1, MIN(2 * model->capability_count, CAPABILITIES_MAX));
    model->capabilities = g_renew(struct capability, model->capabilities, count);
    for (uint32_t i = model->capability_count; i < count; i++)
        model->capabilities[i] = (struct capability){
            .lane = FM_LANE_NONE, .owner = FM_LANE_NONE, .running = FM_LANE_NONE};
    model->capability_count = count;
    return &model->capabilities[number];
}

struct fm_lane *fm_eventlog_process_begin(struct happening *at, uint64_t key)
{
    struct eventlog_model *model = at->model;
    char name[32];
    g_snprintf(name, sizeof name, "process %" G_GUINT64_FORMAT, key);
    const char *told = model->process_name == 0
                           ? name
                           : fm_trace_value_name(at->state->trace, model->process_name);
    struct fm_lane *lane = fm_state_lane_find(at->state, FM_LANE_PROCESS, key);
    if (lane == NULL)
        lane = fm_state_lane_new(at->state, FM_LANE_PROCESS, key, FM_LANE_NONE, at->time, told);
    if (model->process == FM_LANE_NONE) {
        /* Adopts lanes that were seen before their process. */
        for (uint32_t i = 0; i < fm_state_lane_count(at->state); i++) {
            struct fm_lane *early = fm_state_lane_at(at->state, i);
            if (early->parent == FM_LANE_NONE && early != lane && !early->ended)
                fm_state_lane_set_parent(at->state, early, lane->index);
        }
    }
    g_assert(lane->kind == FM_LANE_PROCESS && !lane->ended);
    model->process = lane->index;
    return lane;
}

struct fm_lane *fm_eventlog_process(struct happening *at)
{
    if (at->model->process != FM_LANE_NONE)
        return fm_state_lane_at(at->state, at->model->process);
    return fm_eventlog_process_begin(at, 0);
}

struct fm_lane *fm_eventlog_thread(struct happening *at, uint32_t thread)
{
    return fm_state_lane_get(at->state, FM_LANE_THREAD, thread, at->model->process, at->time);
}

struct fm_lane *fm_eventlog_number_lane(struct happening *at, enum fm_lane_kind kind, uint64_t key,
                                        const char *name)
{
    struct fm_lane *lane = fm_state_lane_find(at->state, kind, key);
    if (lane == NULL)
        lane = fm_state_lane_new(at->state, kind, key, at->model->process, at->time, name);
    return lane;
}

struct fm_lane *fm_eventlog_capability_lane(struct happening *at, uint32_t number)
{
    struct capability *capability = fm_eventlog_capability(at->model, number);
    if (capability == NULL)
        return NULL;
    if (capability->lane == FM_LANE_NONE)
        capability->lane =
            fm_state_lane_get(at->state, FM_LANE_CAPABILITY, number, at->model->process, at->time)
                ->index;
    return fm_state_lane_at(at->state, capability->lane);
}

void fm_eventlog_own(struct happening *at, uint32_t number, struct fm_lane *thread)
{
    struct capability *capability = fm_eventlog_capability(at->model, number);
    if (capability == NULL)
        return;
    capability->owner = thread->index;
    thread->model[0] = number + 1;
    fm_state_lane_changed(at->state, thread);
    if (capability->kernel_thread == 0)
        return;
    char name[64];
    g_snprintf(name, sizeof name, "thread %" G_GUINT64_FORMAT " (%" G_GUINT64_FORMAT ")",
               thread->key, capability->kernel_thread);
    char plain[64];
    g_snprintf(plain, sizeof plain, "thread %" G_GUINT64_FORMAT, thread->key);
    if (g_strcmp0(thread->name, plain) == 0) /* not labelled yet */
        fm_state_lane_rename(at->state, thread, name);
}

bool fm_eventlog_is_stand_in(const struct fm_lane *thread)
{
    return thread->kind == FM_LANE_THREAD && thread->key >= STAND_IN_KEY;
}

/* The thread that logs into a lane without having been told of. A log that begins late may tell it
 * with a later time than that of the first event. */
static struct fm_lane *owner_lane(struct happening *at)
{
    struct capability *capability = at->capability;
    const struct fm_tracefile_class *class_ = at->tracefile->class_;
    uint32_t thread;
    if (capability->owner == FM_LANE_NONE && class_->lane_owner != NULL &&
        class_->lane_owner(at->tracefile, at->capability_number, at->time, &thread))
        fm_eventlog_own(at, at->capability_number, fm_eventlog_thread(at, thread));
    if (capability->owner == FM_LANE_NONE) {
        char name[32];
        g_snprintf(name, sizeof name, "thread on lane %u", at->capability_number);
        uint64_t key = STAND_IN_KEY | at->capability_number;
        capability->owner = fm_eventlog_number_lane(at, FM_LANE_THREAD, key, name)->index;
    }
    return fm_state_lane_at(at->state, capability->owner);
}

struct fm_lane *fm_eventlog_lane_first(struct happening *at)
{
    g_assert((at->capability == NULL) ||
             at->capability == &at->model->capabilities[at->capability_number]);
    if (at->capability == NULL)
        return fm_eventlog_process(at);
    if (at->model->native)
        return owner_lane(at);
    if (at->capability->running != FM_LANE_NONE)
        return fm_state_lane_at(at->state, at->capability->running);
    return fm_eventlog_capability_lane(at, at->capability_number);
}

void fm_eventlog_heap_number(struct happening *at, enum heap_key key, const char *name,
                             double value)
{
    g_assert(key <= HEAP_PRUNED); /* sites and bands have lanes of their own */
    fm_state_number(at->state, fm_eventlog_number_lane(at, FM_LANE_HEAP, key, name), value,
                    at->time);
}
