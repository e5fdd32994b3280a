/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the state: of the thread that the event happened in, or of its CPU or capability when
 * no thread is known there. */
#include <string.h>

#include "trace/filter/filter_internal.h"

/* The lane that the model saw the event on, or the CPU or capability that it happened on. */
static const struct fm_lane *lane_of(const struct fm_tracefile_context *at,
                                     const struct fm_state *state)
{
    const struct fm_lane *lane = fm_state_event_lane(state);
    if (lane != NULL || at->event.cpu < 0)
        return lane;
    uint64_t key = (uint64_t)at->event.cpu;
    lane = fm_state_find_lane(state, FM_LANE_CPU, key);
    return lane != NULL ? lane : fm_state_find_lane(state, FM_LANE_CAPABILITY, key);
}

/* The outermost state of a CPU or capability tells by its detail which thread runs. */
static const struct fm_lane *thread_of(const struct fm_lane *lane, const struct fm_state *state)
{
    if (lane == NULL || lane->kind == FM_LANE_THREAD)
        return lane;
    bool processor = lane->kind == FM_LANE_CPU || lane->kind == FM_LANE_CAPABILITY;
    if (!processor || lane->depth == 0 || lane->stack[0].detail == 0)
        return NULL;
    return fm_state_find_lane(state, FM_LANE_THREAD, lane->stack[0].detail);
}

bool fm_filter_running_thread(const struct fm_tracefile_context *at, const struct fm_state *state,
                              uint64_t *ret)
{
    const struct fm_lane *thread = thread_of(lane_of(at, state), state);
    if (thread == NULL)
        return false;
    *ret = fm_lane_number(thread);
    return true;
}

static const struct fm_lane *parent_of(const struct fm_lane *lane, const struct fm_state *state)
{
    return lane == NULL || lane->parent == FM_LANE_NONE ? NULL : fm_state_lane(state, lane->parent);
}

/* --- what old filters call mode, submode and status --- */

/* Index in the list of modes; 0 for classes that are none. */
static unsigned mode_of(enum fm_state_class state_class)
{
    switch (state_class) {
    case FM_STATE_RUNNING:
        return 1;
    case FM_STATE_SYSTEM_CALL:
    case FM_STATE_IDLE: /* the kernel's idle task */
        return 2;
    case FM_STATE_TRAP:
        return 3;
    case FM_STATE_INTERRUPT:
        return 4;
    case FM_STATE_SOFT_INTERRUPT:
        return 5;
    default:
        return 0;
    }
}

/* The innermost entry that is a mode; NULL when there is none. */
static const struct fm_state_entry *mode_entry(const struct fm_lane *thread,
                                               const struct fm_trace *trace, unsigned *ret_mode)
{
    for (uint32_t i = thread->depth; i-- > 0;) {
        uint32_t value = thread->stack[i].value;
        *ret_mode = mode_of(fm_trace_value_class(trace, value));
        if (*ret_mode == 1 && strcmp(fm_trace_value_name(trace, value), "running") == 0)
            *ret_mode = 0; /* in which mode is not known */
        if (*ret_mode != 0)
            return &thread->stack[i];
    }
    *ret_mode = 0;
    return NULL;
}

static const char *submode_of(const struct fm_lane *thread, const struct fm_trace *trace)
{
    unsigned mode;
    const struct fm_state_entry *entry = mode_entry(thread, trace, &mode);
    if (entry == NULL)
        return "UNKNOWN";
    const char *name = fm_trace_value_name(trace, entry->value);
    bool plain = strcmp(name, "kernel thread") == 0 || strcmp(name, "idle") == 0 ||
                 strcmp(name, "exiting") == 0;
    return mode == 1 || plain ? "NONE" : name;
}

/* Index in the list of statuses: that of the innermost entry that tells one. Interrupts do not. */
static unsigned status_of(const struct fm_lane *thread, const struct fm_trace *trace)
{
    enum { UNNAMED, WAIT_FORK, WAIT_CPU, EXIT, ZOMBIE, WAIT, RUN, DEAD };
    bool runs = false;
    for (uint32_t i = thread->depth; i-- > 0;) {
        uint32_t value = thread->stack[i].value;
        const char *name = fm_trace_value_name(trace, value);
        switch (fm_trace_value_class(trace, value)) {
        case FM_STATE_CREATED:
            return WAIT_FORK;
        case FM_STATE_READY:
            return WAIT_CPU;
        case FM_STATE_WAITING:
            return WAIT;
        case FM_STATE_FINISHED:
            return strcmp(name, "zombie") == 0 ? ZOMBIE : strcmp(name, "dead") == 0 ? DEAD : EXIT;
        case FM_STATE_UNKNOWN:
            break;
        case FM_STATE_SYSTEM_CALL:
            if (strcmp(name, "exiting") == 0)
                return EXIT;
            runs = true;
            break;
        default:
            runs = true;
        }
    }
    return runs ? RUN : UNNAMED;
}

/* --- tests --- */

static bool test_index(const struct filter_test *test, unsigned index)
{
    g_assert(test->op == OP_EQUAL || test->op == OP_UNEQUAL); /* words have no order */
    return (index == test->number) == (test->op == OP_EQUAL);
}

static bool test_text(const struct filter_test *test, const char *text)
{
    return text != NULL && fm_filter_compare_text(test, text, strlen(text));
}

static bool test_number(const struct filter_test *test, uint64_t value)
{
    return fm_filter_compare_unsigned(test, value);
}

/* Times are numbers of ns. */
static bool test_process(const struct filter_test *test, const struct fm_lane *thread,
                         const struct fm_state *state)
{
    const struct fm_lane *process = parent_of(thread, state);
    if (test->field->source == SOURCE_STATE_PROCESS)
        return process != NULL && test_number(test, process->key);
    if (test->field->source == SOURCE_STATE_PARENT) {
        const struct fm_lane *parent = parent_of(process, state);
        return parent != NULL && test_number(test, parent->key);
    }
    return test_text(test, process != NULL ? process->name : thread->name);
}

static bool test_thread(const struct filter_test *test, const struct fm_tracefile_context *at,
                        const struct fm_lane *thread, const struct fm_state *state)
{
    const struct fm_trace *trace = fm_state_trace(state);
    unsigned mode;
    if (thread == NULL)
        return false;
    switch (test->field->source) {
    case SOURCE_STATE_THREAD:
        return test_number(test, fm_lane_number(thread));
    case SOURCE_STATE_CPU:
        return at->event.cpu >= 0 && test_number(test, (uint64_t)at->event.cpu);
    case SOURCE_STATE_THREAD_BRAND:
        return test_text(test, thread->name);
    case SOURCE_STATE_MODE:
        mode_entry(thread, trace, &mode);
        return test_index(test, mode);
    case SOURCE_STATE_SUBMODE:
        return test_text(test, submode_of(thread, trace));
    case SOURCE_STATE_STATUS:
        return test_index(test, status_of(thread, trace));
    case SOURCE_STATE_BORN:
        return test_number(test, thread->born);
    default:
        return test_process(test, thread, state);
    }
}

static bool test_innermost(const struct filter_test *test, const struct fm_lane *lane,
                           const struct fm_trace *trace)
{
    if (lane->depth == 0)
        return false;
    const struct fm_state_entry *entry = &lane->stack[lane->depth - 1];
    switch (test->field->source) {
    case SOURCE_STATE_VALUE:
        return test_text(test, fm_trace_value_name(trace, entry->value));
    case SOURCE_STATE_CLASS:
        return test_index(test, fm_trace_value_class(trace, entry->value));
    default:
        return test_number(test, entry->since);
    }
}

bool fm_filter_test_state(const struct filter_test *test, const struct fm_tracefile_context *at,
                          const struct fm_state *state)
{
    const struct fm_lane *own = lane_of(at, state);
    const struct fm_lane *thread = thread_of(own, state);
    if (test->field->source <= SOURCE_STATE_BORN)
        return test_thread(test, at, thread, state);
    const struct fm_lane *lane = thread != NULL ? thread : own;
    if (lane == NULL)
        return false;
    switch (test->field->source) {
    case SOURCE_STATE_DEPTH:
        return test_number(test, lane->depth);
    case SOURCE_LANE_NAME:
        return test_text(test, lane->name);
    case SOURCE_LANE_KIND:
        return test_index(test, lane->kind);
    case SOURCE_LANE_KEY:
        return test_number(test, fm_lane_number(lane));
    case SOURCE_LANE_PROCESS: {
        const struct fm_lane *process = parent_of(lane, state);
        return process != NULL && test_text(test, process->name);
    }
    default:
        return test_innermost(test, lane, fm_state_trace(state));
    }
}

/* --- values --- */

static void take_number(struct fm_filter_value *ret, uint64_t number)
{
    ret->kind = FM_FILTER_IS_NUMBER;
    ret->number = number;
}

static void take_of_lane(enum filter_source source, const struct fm_lane *lane,
                         const struct fm_state *state, struct fm_filter_value *ret)
{
    const struct fm_trace *trace = fm_state_trace(state);
    const struct fm_lane *process;
    bool any = lane->depth > 0;
    switch (source) {
    case SOURCE_LANE_NAME:
        fm_filter_value_text(ret, lane->name);
        break;
    case SOURCE_LANE_KIND:
        fm_filter_value_text(ret, fm_lane_kind_name(lane->kind));
        break;
    case SOURCE_LANE_KEY:
        take_number(ret, fm_lane_number(lane));
        break;
    case SOURCE_LANE_PROCESS:
        process = parent_of(lane, state);
        fm_filter_value_text(ret, process == NULL ? NULL : process->name);
        break;
    case SOURCE_STATE_DEPTH:
        take_number(ret, lane->depth);
        break;
    case SOURCE_STATE_VALUE:
        fm_filter_value_text(
            ret, any ? fm_trace_value_name(trace, lane->stack[lane->depth - 1].value) : NULL);
        break;
    case SOURCE_STATE_CLASS:
        fm_filter_value_text(ret, any ? fm_state_class_name(fm_trace_value_class(
                                            trace, lane->stack[lane->depth - 1].value))
                                      : NULL);
        break;
    default:
        ret->kind = FM_FILTER_IS_NOTHING;
    }
}

void fm_filter_state_value(enum filter_source source, const struct fm_tracefile_context *at,
                           const struct fm_state *state, struct fm_filter_value *ret)
{
    const struct fm_lane *own = lane_of(at, state), *thread = thread_of(own, state);
    const struct fm_lane *lane = thread != NULL ? thread : own;
    ret->kind = FM_FILTER_IS_NOTHING;
    if (source > SOURCE_STATE_BORN) {
        if (lane != NULL)
            take_of_lane(source, lane, state, ret);
        return;
    }
    if (thread == NULL)
        return;
    const struct fm_lane *process = parent_of(thread, state);
    if (source == SOURCE_STATE_THREAD)
        take_number(ret, fm_lane_number(thread));
    else if (source == SOURCE_STATE_CPU && at->event.cpu >= 0)
        take_number(ret, (uint64_t)at->event.cpu);
    else if (source == SOURCE_STATE_THREAD_BRAND)
        fm_filter_value_text(ret, thread->name);
    else if (source == SOURCE_STATE_PROCESS_NAME)
        fm_filter_value_text(ret, process != NULL ? process->name : thread->name);
}
