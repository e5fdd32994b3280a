/* SPDX-License-Identifier: Apache-2.0 */
/* C programs: one thread logs into a lane; its spans, functions and waits are one stack. */
#include <math.h>

#include "trace/model/eventlog_state.h"

/* --- threads: lanes of the log, and threads of the program's own scheduler --- */

static bool is_owner(const struct happening *at, const struct fm_lane *thread)
{
    uint64_t number = thread->model[0];
    return number > 0 && number <= at->model->capability_count &&
           at->model->capabilities[number - 1].owner == thread->index;
}

static void thread_create(struct happening *at)
{
    uint32_t id = u32_at(at, 0);
    struct fm_lane *thread = fm_state_lane_find(at->state, FM_LANE_THREAD, id);
    if (thread != NULL) { /* a replay tells again */
        set_event_lane(at, thread);
        return;
    }
    thread = fm_eventlog_thread(at, id);
    set_event_lane(at, thread);
    if (at->capability != NULL && at->capability->owner == FM_LANE_NONE)
        fm_eventlog_own(at, at->capability_number, thread);
    else if (at->capability != NULL)
        fm_state_set(at->state, thread, at->names->created, 0, at->time);
}

static void thread_run(struct happening *at)
{
    struct fm_lane *thread = fm_eventlog_thread(at, u32_at(at, 0));
    set_event_lane(at, thread);
    if (is_owner(at, thread))
        return;
    if (at->capability != NULL && at->capability->owner == FM_LANE_NONE) {
        fm_eventlog_own(at, at->capability_number, thread);
        return;
    }
    uint64_t detail = at->capability == NULL ? 0 : (uint64_t)at->capability_number + 1;
    fm_state_set(at->state, thread, at->names->running, detail, at->time);
}

static void give_up(struct happening *at, struct capability *capability)
{
    if (capability->owner == FM_LANE_NONE)
        return;
    fm_state_lane_end(at->state, fm_state_lane_at(at->state, capability->owner), at->time);
    capability->owner = FM_LANE_NONE;
}

static void thread_stop(struct happening *at)
{
    struct fm_lane *thread = fm_state_lane_find(at->state, FM_LANE_THREAD, u32_at(at, 0));
    uint16_t status = u16_at(at, 4);
    if (thread == NULL) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    set_event_lane(at, thread);
    if (is_owner(at, thread)) {
        if (status == 5)
            give_up(at, &at->model->capabilities[thread->model[0] - 1]);
        return;
    }
    if (status == 5) {
        fm_state_lane_end(at->state, thread, at->time);
        return;
    }
    uint32_t value = at->names->stops[MIN(status, STOP_STATUSES - 1)];
    fm_state_set(at->state, thread, value, at->event->payload_size >= 10 ? u32_at(at, 6) : 0,
                 at->time);
}

static void thread_runnable(struct happening *at)
{
    struct fm_lane *thread = fm_eventlog_thread(at, u32_at(at, 0));
    set_event_lane(at, thread);
    if (!is_owner(at, thread))
        fm_state_set(at->state, thread, at->names->runnable, 0, at->time);
}

/* Only a replay says so: the thread logs into that lane. */
static void thread_migrate(struct happening *at)
{
    struct fm_lane *thread = fm_eventlog_thread(at, u32_at(at, 0));
    set_event_lane(at, thread);
    if (is_owner(at, thread))
        return;
    struct capability *capability = fm_eventlog_capability(at->model, u16_at(at, 4));
    if (capability == NULL)
        return;
    const struct fm_lane *owner = fm_state_lane_at(at->state, capability->owner);
    if (owner != NULL && fm_eventlog_is_stand_in(owner))
        give_up(at, capability);
    if (capability->owner == FM_LANE_NONE)
        fm_eventlog_own(at, u16_at(at, 4), thread);
}

/* Another task than the owner's: the lane changed hands where events are missing. */
static void task_create(struct happening *at)
{
    struct capability *capability = fm_eventlog_capability(at->model, u16_at(at, 8));
    if (capability == NULL)
        return;
    if (capability->kernel_thread != 0 && capability->kernel_thread != u64_at(at, 10))
        give_up(at, capability);
    capability->kernel_thread = u64_at(at, 10);
    if (capability->owner != FM_LANE_NONE)
        fm_eventlog_own(at, u16_at(at, 8), fm_state_lane_at(at->state, capability->owner));
}

/* A lane is new, or another thread's from now on, or nobody's. */
static void lane_changes_hands(struct happening *at)
{
    struct capability *capability = fm_eventlog_capability(at->model, u16_at(at, 0));
    if (capability == NULL)
        return;
    /* A replay may repeat the making of a lane that is in use. */
    if (at->event->id == FM_EVENTLOG_CAP_CREATE && capability->owner != FM_LANE_NONE)
        return;
    give_up(at, capability);
    capability->kernel_thread = 0;
}

/* --- spans and functions --- */

static void span_begin(struct happening *at)
{
    struct fm_lane *lane = fm_eventlog_lane_here(at);
    set_event_lane(at, lane);
    fm_state_push(at->state, lane, fm_eventlog_text_value(at->names, u32_at(at, 0)), 0, at->time);
}

static void span_end(struct happening *at)
{
    struct fm_lane *lane = fm_eventlog_lane_here(at);
    set_event_lane(at, lane);
    fm_state_pop_value(at->state, lane, fm_eventlog_text_value(at->names, u32_at(at, 0)), at->time);
}

static void function_enter(struct happening *at)
{
    struct fm_lane *lane = fm_eventlog_lane_here(at);
    set_event_lane(at, lane);
    fm_state_push(at->state, lane, fm_eventlog_function_value(at->names, u64_at(at, 0)),
                  u64_at(at, 8), at->time);
}

static void function_exit(struct happening *at)
{
    struct fm_lane *lane = fm_eventlog_lane_here(at);
    set_event_lane(at, lane);
    fm_state_pop_value(at->state, lane, fm_eventlog_function_value(at->names, u64_at(at, 0)),
                       at->time);
}

static void instant(struct happening *at)
{
    struct fm_lane *lane = fm_eventlog_lane_here(at);
    set_event_lane(at, lane);
    fm_state_mark(at->state, lane, fm_eventlog_text_value(at->names, u32_at(at, 0)), at->time);
}

/* Handles an event of a type that the program declares. */
static void declared(struct happening *at)
{
    uint32_t *value = &at->names->declared[at->event->id - DECLARED_FIRST];
    if (*value == 0) {
        const struct fm_tracefile_class *class_ = at->tracefile->class_;
        const char *name =
            class_->event_name == NULL ? NULL : class_->event_name(at->tracefile, at->event->id);
        *value = fm_trace_value(at->state->trace, name == NULL ? "event" : name, FM_STATE_SPAN);
    }
    struct fm_lane *lane = fm_eventlog_lane_here(at);
    set_event_lane(at, lane);
    fm_state_mark(at->state, lane, *value, at->time);
}

static void counter_is(struct happening *at, double number)
{
    uint32_t id = u32_at(at, 0);
    struct fm_lane *lane = fm_state_lane_find(at->state, FM_LANE_COUNTER, id);
    if (lane == NULL) {
        uint32_t value = fm_eventlog_text_value(at->names, id);
        lane = fm_eventlog_number_lane(at, FM_LANE_COUNTER, id,
                                       fm_trace_value_name(at->state->trace, value));
    }
    fm_state_number(at->state, lane, number, at->time);
}

static void counter(struct happening *at)
{
    counter_is(at, (double)(int64_t)u64_at(at, 4));
}

static void counter_real(struct happening *at)
{
    uint64_t bits = u64_at(at, 4);
    double number;
    memcpy(&number, &bits, sizeof number);
    if (isfinite(number))
        counter_is(at, number);
}

/* --- asynchronous spans: each in the lowest free row of its name --- */

static guint hash_asynchronous(gconstpointer data)
{
    const struct asynchronous_key *key = data;
    uint64_t mixed = (key->id ^ (uint64_t)key->name << 40) * UINT64_C(0x9E3779B97F4A7C15);
    return (guint)(mixed >> 32);
}

static gboolean equal_asynchronous(gconstpointer a, gconstpointer b)
{
    const struct asynchronous_key *x = a, *y = b;
    return x->id == y->id && x->name == y->name;
}

GHashTable *fm_eventlog_asynchronous_new(void)
{
    return g_hash_table_new_full(hash_asynchronous, equal_asynchronous, g_free, NULL);
}

void fm_eventlog_asynchronous_add(struct eventlog_model *model, uint32_t name, uint64_t id,
                                  uint32_t lane)
{
    struct asynchronous_key *key = g_new(struct asynchronous_key, 1);
    *key = (struct asynchronous_key){.id = id, .name = name};
    g_hash_table_insert(model->asynchronous, key, GUINT_TO_POINTER(lane));
}

enum { ROWS_MAX = 1024 };

/* Row 0 of a name keeps the number of the lowest row that may be free in model[0]. */
static struct fm_lane *free_row(struct happening *at, uint32_t name, uint32_t value)
{
    const char *text = fm_trace_value_name(at->state->trace, value);
    uint64_t key = (uint64_t)name << 32;
    struct fm_lane *first = fm_eventlog_number_lane(at, FM_LANE_ASYNC, key, text);
    for (uint64_t row = first->model[0]; row < ROWS_MAX; row++) {
        struct fm_lane *lane = fm_eventlog_number_lane(at, FM_LANE_ASYNC, key | row, text);
        if (lane->depth == 0) {
            first->model[0] = row + 1;
            fm_state_lane_changed(at->state, first);
            return lane;
        }
    }
    return NULL;
}

static void asynchronous_begin(struct happening *at)
{
    uint32_t name = u32_at(at, 0);
    struct asynchronous_key key = {.id = u64_at(at, 4), .name = name};
    uint32_t value = fm_eventlog_text_value(at->names, name);
    struct fm_lane *lane = NULL;
    if (!g_hash_table_contains(at->model->asynchronous, &key))
        lane = free_row(at, name, value);
    if (lane == NULL) { /* begun twice, or more at a time than there are rows */
        fm_state_count_inconsistent(at->state);
        return;
    }
    fm_state_push(at->state, lane, value, key.id, at->time);
    fm_eventlog_asynchronous_add(at->model, name, key.id, lane->index);
}

static void asynchronous_end(struct happening *at)
{
    struct asynchronous_key key = {.id = u64_at(at, 4), .name = u32_at(at, 0)};
    void *found;
    if (!g_hash_table_lookup_extended(at->model->asynchronous, &key, NULL, &found)) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    g_hash_table_remove(at->model->asynchronous, &key);
    struct fm_lane *lane = fm_state_lane_at(at->state, GPOINTER_TO_UINT(found));
    fm_state_pop(at->state, lane, at->time);
    struct fm_lane *first = fm_state_lane_find(at->state, FM_LANE_ASYNC, (uint64_t)key.name << 32);
    uint64_t row = lane->key & UINT32_MAX;
    if (row < first->model[0]) {
        first->model[0] = row;
        fm_state_lane_changed(at->state, first);
    }
}

/* --- locks ---
 * A lock's lane: an entry for each holder (more than one for read locks and recursive ones), value
 * "held", detail = the holder's lane. model[0], model[1]: lane + 1 that released it last, and when.
 * A thread that waits has an entry of class waiting on its stack, detail = the lock's address. */

static struct fm_lane *lock_lane(struct happening *at, uint64_t address)
{
    return fm_state_lane_get(at->state, FM_LANE_LOCK, address, at->model->process, at->time);
}

static uint32_t wait_value(struct happening *at, struct fm_lane *lock)
{
    if (lock->model[2] == 0) {
        char *name = g_strconcat("waiting for ", lock->name, NULL);
        lock->model[2] = fm_trace_value(at->state->trace, name, FM_STATE_WAITING);
        g_free(name);
        fm_state_lane_changed(at->state, lock);
    }
    return (uint32_t)lock->model[2];
}

static void lock_wait(struct happening *at)
{
    struct fm_lane *thread = fm_eventlog_lane_here(at);
    set_event_lane(at, thread);
    struct fm_lane *lock = lock_lane(at, u64_at(at, 0));
    fm_state_push(at->state, thread, wait_value(at, lock), lock->key, at->time);
}

static bool is_waiting_for(const struct happening *at, const struct fm_lane *thread,
                           uint64_t address)
{
    if (thread->depth == 0 || thread->hidden > 0)
        return false;
    const struct fm_state_entry *top = &thread->stack[thread->depth - 1];
    return top->detail == address &&
           fm_trace_value_class(at->state->trace, top->value) == FM_STATE_WAITING;
}

static void lock_acquire(struct happening *at)
{
    struct fm_lane *thread = fm_eventlog_lane_here(at);
    set_event_lane(at, thread);
    struct fm_lane *lock = lock_lane(at, u64_at(at, 0));
    if (is_waiting_for(at, thread, lock->key)) {
        fm_state_pop(at->state, thread, at->time);
        uint64_t from = lock->model[0];
        if (from != 0 && from - 1 != thread->index)
            fm_state_arrow(at->state, fm_state_lane_at(at->state, (uint32_t)(from - 1)),
                           lock->model[1], thread, at->time);
    }
    lock->model[0] = 0;
    fm_state_push(at->state, lock, at->names->held, thread->index, at->time);
}

/* Takes the entry at depth out. Those above it are begun anew one level lower, so that an entry
 * never changes its depth. */
static void release_entry(struct happening *at, struct fm_lane *lock, uint32_t depth)
{
    uint32_t above = lock->depth - depth - 1;
    if (above == 0) {
        fm_state_pop(at->state, lock, at->time);
        return;
    }
    struct fm_state_entry *kept = g_memdup2(&lock->stack[depth + 1], above * sizeof *kept);
    while (lock->depth > depth)
        fm_state_pop(at->state, lock, at->time);
    for (uint32_t i = 0; i < above; i++)
        fm_state_push(at->state, lock, kept[i].value, kept[i].detail, at->time);
    g_free(kept);
}

static void lock_release(struct happening *at)
{
    struct fm_lane *thread = fm_eventlog_lane_here(at);
    set_event_lane(at, thread);
    struct fm_lane *lock = lock_lane(at, u64_at(at, 0));
    lock->model[0] = thread->index + UINT64_C(1);
    lock->model[1] = at->time;
    fm_state_lane_changed(at->state, lock);
    enum { HOLDERS_MAX = 64 };
    uint32_t least = lock->depth > HOLDERS_MAX ? lock->depth - HOLDERS_MAX : 0;
    for (uint32_t depth = lock->depth; depth-- > least && lock->hidden == 0;) {
        if (lock->stack[depth].detail == thread->index) {
            release_entry(at, lock, depth);
            return;
        }
    }
    /* Released by another than who acquired it, or acquired before the log begins. */
    if (lock->depth == 0 || lock->hidden > 0 || lock->depth > 1)
        fm_state_count_inconsistent(at->state);
    if (lock->depth > 0)
        fm_state_pop(at->state, lock, at->time);
}

static void lock_name(struct happening *at)
{
    uint32_t value = fm_eventlog_text_value(at->names, u32_at(at, 8));
    struct fm_lane *lock = lock_lane(at, u64_at(at, 0));
    lock->model[2] = 0; /* waiting is named after the lock */
    fm_state_lane_rename(at->state, lock, fm_trace_value_name(at->state->trace, value));
}

/* --- allocation samples --- */

static uint32_t sample_slot(const struct eventlog_model *model, uint64_t address)
{
    uint32_t slot = (uint32_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & model->sample_mask;
    while (model->samples[slot].address != 0 && model->samples[slot].address != address)
        slot = (slot + 1) & model->sample_mask;
    return slot;
}

static void grow_samples(struct eventlog_model *model)
{
    struct sample *old = model->samples;
    uint32_t slots = old == NULL ? 0 : model->sample_mask + 1;
    model->sample_mask = (slots == 0 ? 256 : 2 * slots) - 1;
    model->samples = g_new0(struct sample, model->sample_mask + 1);
    for (uint32_t i = 0; i < slots; i++) {
        if (old[i].address != 0)
            model->samples[sample_slot(model, old[i].address)] = old[i];
    }
    g_free(old);
}

void fm_eventlog_sample_add(struct eventlog_model *model, uint64_t address, uint64_t weight,
                            uint32_t site)
{
    if (model->samples == NULL || model->sample_count >= model->sample_mask / 2)
        grow_samples(model);
    uint32_t slot = sample_slot(model, address);
    model->sample_count += model->samples[slot].address == 0;
    model->samples[slot] = (struct sample){address, weight, site};
}

static void remove_sample(struct eventlog_model *model, uint32_t hole)
{
    uint32_t mask = model->sample_mask;
    for (uint32_t at = (hole + 1) & mask; model->samples[at].address != 0; at = (at + 1) & mask) {
        uint64_t address = model->samples[at].address;
        uint32_t home = (uint32_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            model->samples[hole] = model->samples[at];
            hole = at;
        }
    }
    model->samples[hole] = (struct sample){0};
    model->sample_count--;
}

static void add_live(struct happening *at, uint32_t site, double bytes)
{
    struct fm_lane *lane = fm_state_lane_find(at->state, FM_LANE_HEAP, HEAP_SITE_KEY | site);
    if (lane == NULL) {
        uint32_t value = fm_eventlog_text_value(at->names, site);
        lane = fm_eventlog_number_lane(at, FM_LANE_HEAP, HEAP_SITE_KEY | site,
                                       fm_trace_value_name(at->state->trace, value));
    }
    fm_state_number(at->state, lane, lane->number + bytes, at->time);
    at->model->sampled_live += bytes;
    fm_state_number(at->state,
                    fm_eventlog_number_lane(at, FM_LANE_HEAP, HEAP_SAMPLED_LIVE, "sampled, live"),
                    at->model->sampled_live, at->time);
}

static void allocation_sample(struct happening *at)
{
    struct eventlog_model *model = at->model;
    uint32_t site = u32_at(at, 0);
    uint64_t address = u64_at(at, 4), weight = u64_at(at, 20);
    struct fm_lane *thread = fm_eventlog_lane_here(at);
    set_event_lane(at, thread);
    if (model->samples != NULL && address != 0) {
        const struct sample *old = &model->samples[sample_slot(model, address)];
        if (old->address != 0) { /* its being freed was missed */
            fm_state_count_inconsistent(at->state);
            add_live(at, old->site, -(double)old->weight);
        }
    }
    model->sampled_ever += (double)weight;
    fm_state_number(
        at->state,
        fm_eventlog_number_lane(at, FM_LANE_HEAP, HEAP_SAMPLED_EVER, "sampled, allocated"),
        model->sampled_ever, at->time);
    add_live(at, site, (double)weight);
    if (address != 0)
        fm_eventlog_sample_add(model, address, weight, site);
}

static void allocation_free(struct happening *at)
{
    struct eventlog_model *model = at->model;
    set_event_lane(at, fm_eventlog_lane_here(at));
    uint64_t address = u64_at(at, 0);
    uint32_t slot = model->samples == NULL || address == 0 ? 0 : sample_slot(model, address);
    if (model->samples == NULL || address == 0 || model->samples[slot].address == 0) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    struct sample freed = model->samples[slot];
    remove_sample(model, slot);
    add_live(at, freed.site, -(double)freed.weight);
}

/* --- the rest --- */

static void loaded_module(struct happening *at)
{
    fm_symbols_add(at->names->symbols, u64_at(at, 0), u64_at(at, 8), u64_at(at, 16),
                   text_at(at, 24), at->event->payload_size - 24);
}

static void missing(struct happening *at)
{
    struct fm_lane *process = fm_eventlog_process(at);
    fm_state_mark(at->state, process, at->names->missing, at->time);
    at->model->missing += u64_at(at, 0);
    fm_state_number(at->state,
                    fm_eventlog_number_lane(at, FM_LANE_COUNTER, UINT64_MAX, "missing events"),
                    (double)at->model->missing, at->time);
}

/* The end of its lane's use says the same. */
static void ignore(struct happening *at)
{
    (void)at;
}

static const struct event_rule thread_rules[] = {
    [FM_EVENTLOG_CREATE_THREAD] = {thread_create, 4},
    [FM_EVENTLOG_RUN_THREAD] = {thread_run, 4},
    [FM_EVENTLOG_STOP_THREAD] = {thread_stop, 6},
    [FM_EVENTLOG_THREAD_RUNNABLE] = {thread_runnable, 4},
    [FM_EVENTLOG_MIGRATE_THREAD] = {thread_migrate, 6},
    [FM_EVENTLOG_CAP_CREATE] = {lane_changes_hands, 2},
    [FM_EVENTLOG_CAP_DELETE] = {lane_changes_hands, 2},
    [FM_EVENTLOG_CAP_DISABLE] = {lane_changes_hands, 2},
    [FM_EVENTLOG_CAP_ENABLE] = {lane_changes_hands, 2},
    [FM_EVENTLOG_TASK_CREATE] = {task_create, 18},
    [FM_EVENTLOG_TASK_DELETE] = {ignore, 0},
};

static const struct event_rule own_rules[] = {
    [FM_EVENTLOG_SPAN_BEGIN - FM_EVENTLOG_SPAN_BEGIN] = {span_begin, 4},
    [FM_EVENTLOG_SPAN_END - FM_EVENTLOG_SPAN_BEGIN] = {span_end, 4},
    [FM_EVENTLOG_INSTANT - FM_EVENTLOG_SPAN_BEGIN] = {instant, 4},
    [FM_EVENTLOG_COUNTER - FM_EVENTLOG_SPAN_BEGIN] = {counter, 12},
    [FM_EVENTLOG_ALLOC_SAMPLE - FM_EVENTLOG_SPAN_BEGIN] = {allocation_sample, 28},
    [FM_EVENTLOG_ALLOC_FREE - FM_EVENTLOG_SPAN_BEGIN] = {allocation_free, 8},
    [FM_EVENTLOG_LOCK_WAIT - FM_EVENTLOG_SPAN_BEGIN] = {lock_wait, 8},
    [FM_EVENTLOG_LOCK_ACQUIRE - FM_EVENTLOG_SPAN_BEGIN] = {lock_acquire, 8},
    [FM_EVENTLOG_LOCK_RELEASE - FM_EVENTLOG_SPAN_BEGIN] = {lock_release, 8},
    [FM_EVENTLOG_FUNCTION_ENTER - FM_EVENTLOG_SPAN_BEGIN] = {function_enter, 16},
    [FM_EVENTLOG_FUNCTION_EXIT - FM_EVENTLOG_SPAN_BEGIN] = {function_exit, 8},
    [FM_EVENTLOG_ASYNC_BEGIN - FM_EVENTLOG_SPAN_BEGIN] = {asynchronous_begin, 12},
    [FM_EVENTLOG_ASYNC_END - FM_EVENTLOG_SPAN_BEGIN] = {asynchronous_end, 12},
    [FM_EVENTLOG_LOCK_NAME - FM_EVENTLOG_SPAN_BEGIN] = {lock_name, 12},
    [FM_EVENTLOG_MODULE - FM_EVENTLOG_SPAN_BEGIN] = {loaded_module, 24},
    [FM_EVENTLOG_MISSING - FM_EVENTLOG_SPAN_BEGIN] = {missing, 20},
    [FM_EVENTLOG_VALUE - FM_EVENTLOG_SPAN_BEGIN] = {instant, 12},
    [FM_EVENTLOG_COUNTER_REAL - FM_EVENTLOG_SPAN_BEGIN] = {counter_real, 12},
    [FM_EVENTLOG_VALUE_REAL - FM_EVENTLOG_SPAN_BEGIN] = {instant, 12},
};

const struct event_rule *fm_eventlog_rule_c(uint32_t number)
{
    static const struct event_rule of_the_program = {declared, 0};
    const struct event_rule *rule = NULL;
    if (number >= DECLARED_FIRST && number < DECLARED_END)
        rule = &of_the_program;
    else if (number < G_N_ELEMENTS(thread_rules))
        rule = &thread_rules[number];
    else if (number >= FM_EVENTLOG_SPAN_BEGIN &&
             number - FM_EVENTLOG_SPAN_BEGIN < G_N_ELEMENTS(own_rules))
        rule = &own_rules[number - FM_EVENTLOG_SPAN_BEGIN];
    return rule == NULL || rule->handle == NULL ? NULL : rule;
}
