/* SPDX-License-Identifier: Apache-2.0 */
/* Handles requests to the program that arrive through its file. Requests are untrusted: whoever may
 * write to the file may write anything into it. */
#include "internal.h"

#include <errno.h>
#include <time.h>

static const struct fm_control_actions *act_by;

void fm_control_prepare(const struct fm_control_actions *actions)
{
    struct fm_process *p = &fm_process;
    act_by = actions;
    p->requests_seen = 0;
    p->control = fm_arena_alloc_shared(sizeof *p->control);
    if (p->control != NULL)
        __atomic_store_n(&p->header->control, fm_ref(p->control), __ATOMIC_RELEASE);
}

static int answer(const struct fm_rec_request *request, bool between_hooks)
{
    char label[FM_REC_LABEL_BYTES + 1];
    uint32_t bytes = __atomic_load_n(&request->label_bytes, __ATOMIC_RELAXED);
    bytes = bytes < FM_REC_LABEL_BYTES ? bytes : FM_REC_LABEL_BYTES;
    for (uint32_t i = 0; i < bytes; i++)
        label[i] = request->label[i];
    label[bytes] = '\0';
    uint64_t now = fm_now_ns(CLOCK_MONOTONIC);
    uint64_t asked = request->monotonic_ns;
    if (asked < fm_process.header->start_monotonic_ns || asked > now)
        asked = now;
    switch (request->command) {
    case FM_REC_COMMAND_START:
    case FM_REC_COMMAND_STOP:
        fm_process.start_at_ns = fm_process.stop_at_ns = 0;
        act_by->stop(request->command == FM_REC_COMMAND_STOP, between_hooks);
        return 0;
    case FM_REC_COMMAND_MARK:
        return act_by->mark(label, 0, asked);
    case FM_REC_COMMAND_SNAPSHOT:
        return act_by->mark(label, request->value, asked);
    }
    return -EINVAL;
}

static void answer_all(bool between_hooks)
{
    struct fm_process *p = &fm_process;
    struct fm_rec_control *control = p->control;
    uint32_t asked = __atomic_load_n(&control->asked, __ATOMIC_ACQUIRE);
    if (asked - p->requests_seen > FM_REC_REQUESTS) /* no valid sender does this */
        __atomic_store_n(&p->requests_seen, asked, __ATOMIC_RELAXED);
    while (p->requests_seen != asked) {
        struct fm_rec_request *request = &control->requests[p->requests_seen % FM_REC_REQUESTS];
        request->result = answer(request, between_hooks);
        __atomic_store_n(&p->requests_seen, p->requests_seen + 1, __ATOMIC_RELAXED);
        __atomic_store_n(&control->done, p->requests_seen, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&control->done, p->requests_seen, __ATOMIC_RELEASE);
}

/* The times for start and stop may both have passed while the program slept. */
static void keep_times(bool between_hooks)
{
    struct fm_process *p = &fm_process;
    uint64_t now = p->start_at_ns == 0 && p->stop_at_ns == 0 ? 0 : fm_now_ns(CLOCK_MONOTONIC);
    if (p->start_at_ns != 0 && p->start_at_ns <= now) {
        p->start_at_ns = 0;
        act_by->stop(false, between_hooks);
    }
    if (p->stop_at_ns != 0 && p->stop_at_ns <= now) {
        p->stop_at_ns = 0;
        act_by->stop(true, between_hooks);
    }
}

void fm_control_act(bool between_hooks)
{
    struct fm_process *p = &fm_process;
    if (p->state != FM_RECORDING || fm_process_is_copy())
        return;
    uint64_t next = p->start_at_ns != 0 ? p->start_at_ns : p->stop_at_ns;
    if (__atomic_load_n(&p->control->asked, __ATOMIC_RELAXED) == p->requests_seen &&
        fm_now_ns(CLOCK_MONOTONIC_COARSE) < next)
        return;
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    if (fm_lock_try(&p->control_lock)) {
        fm_tls_v2.inside++;
        keep_times(between_hooks);
        answer_all(between_hooks);
        fm_tls_v2.inside--;
        fm_lock_give(&p->control_lock);
    } /* else another thread is at it */
    fm_restore_signals(mask);
    errno = saved_errno;
}
