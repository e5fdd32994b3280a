/* SPDX-License-Identifier: Apache-2.0 */
/* Events of programs in LTTng's traces. Their thread is told by the context "vtid", their process
 * by "vpid"; without, they belong to the CPU. Functions (lttng_ust_cyg_profile) and pairs of names
 * (x_begin and x_end, _entry and _exit, _start and _stop) are spans, all others points in time. */
#include <string.h>

#include "trace/model/kernel_state.h"
#include "trace/model/program_code.h"

enum { SEARCHED_MAX = 256 }; /* as fm_state_pop_value() does */

static struct fm_lane *program_lane(struct kernel_event *at)
{
    uint64_t thread, process;
    char name[64];
    if (!fm_kernel_number(at, "vtid", &thread) || thread == 0) {
        if (at->cpu < 0)
            return NULL;
        return fm_state_lane_get(at->state, FM_LANE_CPU, (uint64_t)at->cpu, FM_LANE_NONE, at->time);
    }
    struct fm_lane *lane = fm_state_lane_find(at->state, FM_LANE_THREAD, thread & UINT32_MAX);
    if (lane == NULL)
        lane = fm_state_lane_get(at->state, FM_LANE_THREAD, thread & UINT32_MAX, FM_LANE_NONE,
                                 at->time);
    if (fm_kernel_text(at, "procname", name, sizeof name) && g_strcmp0(lane->name, name) != 0)
        fm_state_lane_rename(at->state, lane, name);
    if (lane->parent == FM_LANE_NONE && fm_kernel_number(at, "vpid", &process)) {
        struct fm_lane *parent =
            fm_state_lane_get(at->state, FM_LANE_PROCESS, process, FM_LANE_NONE, at->time);
        fm_state_lane_set_parent(at->state, lane, parent->index);
        if (process == thread)
            fm_state_lane_rename(at->state, parent, lane->name);
    }
    at->thread = lane;
    return lane;
}

static void point(struct kernel_event *at)
{
    struct fm_lane *lane = program_lane(at);
    if (lane != NULL)
        fm_state_mark(at->state, lane, at->known->value, at->time);
}

static void begin_span(struct kernel_event *at)
{
    struct fm_lane *lane = program_lane(at);
    if (lane != NULL)
        fm_state_push(at->state, lane, at->known->value, 0, at->time);
}

static void end_span(struct kernel_event *at)
{
    struct fm_lane *lane = program_lane(at);
    if (lane != NULL)
        fm_state_pop_value(at->state, lane, at->known->value, at->time);
}

static uint32_t function_value(struct kernel_event *at)
{
    uint64_t address = 0;
    (void)fm_kernel_number(at, "addr", &address);
    return fm_program_code_value(at, address);
}

static bool is_on_stack(const struct fm_lane *lane, uint32_t value)
{
    for (uint32_t i = lane->depth; i-- > 0 && lane->depth - i <= SEARCHED_MAX;) {
        if (lane->stack[i].value == value)
            return true;
    }
    return false;
}

/* A function that was entered before its object was told has its address for a name. */
static uint32_t value_on_stack(struct kernel_event *at, const struct fm_lane *lane,
                               uint64_t address)
{
    uint32_t named = fm_program_code_value(at, address);
    char name[24];
    if (is_on_stack(lane, named))
        return named;
    g_snprintf(name, sizeof name, "0x%" G_GINT64_MODIFIER "x", address);
    uint32_t plain = fm_trace_value(at->trace, name, FM_STATE_SPAN);
    return is_on_stack(lane, plain) ? plain : named;
}

static void enter_function(struct kernel_event *at)
{
    struct fm_lane *lane = program_lane(at);
    uint64_t site = 0;
    (void)fm_kernel_number(at, "call_site", &site);
    if (lane != NULL)
        fm_state_push(at->state, lane, function_value(at), site, at->time);
}

static void leave_function(struct kernel_event *at)
{
    struct fm_lane *lane = program_lane(at);
    if (lane == NULL)
        return;
    /* The fast variant does not tell the function. */
    uint64_t address;
    if (fm_kernel_number(at, "addr", &address))
        fm_state_pop_value(at->state, lane, value_on_stack(at, lane, address), at->time);
    else
        fm_state_pop(at->state, lane, at->time);
}

static bool ends_with(const char *name, const char *ending, size_t *ret_length)
{
    size_t length = strlen(name), cut = strlen(ending);
    if (length <= cut || strcmp(name + length - cut, ending) != 0)
        return false;
    *ret_length = length - cut;
    return true;
}

void fm_kernel_learn_program(struct fm_trace *trace, const char *name, struct kernel_known *known)
{
    static const char *const pairs[][2] = {
        {"_begin", "_end"}, {"_entry", "_exit"}, {"_start", "_stop"}};
    size_t length = strlen(name);
    known->handle = point;
    if (g_str_has_prefix(name, "lttng_ust_cyg_profile")) {
        known->handle = ends_with(name, ":func_entry", &length)  ? enter_function
                        : ends_with(name, ":func_exit", &length) ? leave_function
                                                                 : point;
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
        if (ends_with(name, pairs[i][0], &length))
            known->handle = begin_span;
        else if (ends_with(name, pairs[i][1], &length))
            known->handle = end_span;
    }
    kernel_handler *tells = fm_program_code_handler(name);
    if (tells != NULL)
        known->handle = tells;
    g_autofree char *span = g_strndup(name, length);
    known->value = fm_trace_value(trace, span, FM_STATE_SPAN);
}
