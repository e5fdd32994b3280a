/* SPDX-License-Identifier: Apache-2.0 */
/* The slow path of the coverage callback (coverage.S): a point counts if the top of the shadow
 * stack runs in the frame that called back. */
#include "internal.h"

#include <errno.h>

FM_EXPORT FM_RUNTIME_TEXT void fm_point_slow_v1(uint64_t pc, uint64_t frame)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    if (thread == NULL || tls->inside != 0 || fm_process.state != FM_RECORDING ||
        fm_process_is_copy() || tls->bound == FM_BOUND_NONE)
        return;
    if (frame < thread->stack->low || thread->stack->high < frame)
        fm_stack_resume(thread, frame);
    /* Control returned to a frame that others left without their exit hooks. */
    if (frame > fm_frame_address(tls->top->cfa) && frame < thread->stack->high)
        fm_frames_leave(frame + 8);
    if (fm_frame_address(tls->top->cfa) != frame || tls->top == thread->stack->frames)
        return;
    /* Usually the counter exists, but not in its home pair. */
    struct fm_rec_point *known = fm_points_known(tls, pc);
    if (known != NULL) {
        known->count++;
        return;
    }
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    tls->inside = 1;
    fm_lock_take(&thread->lock);
    fm_points_count(thread, pc);
    fm_lock_give(&thread->lock);
    tls->inside = 0;
    fm_restore_signals(mask);
    errno = saved_errno;
}
