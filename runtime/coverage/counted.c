/* SPDX-License-Identifier: Apache-2.0 */
/* Slow paths of functions whose blocks are counted. Code adds to counters through r11, which the
 * entry hook sets, and which is reloaded after each call (assembler/expand.c). */
#include "internal.h"

static bool counts(const struct fm_tls *tls, uint64_t hook_pc)
{
    const struct fm_rec_csd *csd = (const struct fm_rec_csd *)tls->top->csd;
    return tls->top != tls->thread->stack->frames && csd->hook_pc == hook_pc;
}

FM_EXPORT FM_RUNTIME_TEXT uint64_t *fm_counters_v1(uint64_t hook_pc, uint64_t sp)
{
    const struct fm_tls *tls = &fm_tls_v2;
    if (tls->thread == NULL || tls->inside != 0 || fm_process.state != FM_RECORDING ||
        fm_process.stopped || fm_process_is_copy())
        return fm_uncounted_v1;
    /* Control returned to a frame that others left without their exit hooks, or to another
     * stack. */
    fm_frames_leave(sp);
    if (!counts(tls, hook_pc))
        return fm_uncounted_v1;
    return *fm_csd_counters((struct fm_rec_csd *)tls->top->csd);
}

/* Counters of the function that was just entered. */
static uint64_t *entered(uint64_t hook_pc)
{
    const struct fm_tls *tls = &fm_tls_v2;
    if (tls->thread == NULL || tls->inside != 0 || fm_process.state != FM_RECORDING ||
        fm_process.stopped || fm_process_is_copy() || !counts(tls, hook_pc))
        return fm_uncounted_v1;
    return *fm_csd_counters((struct fm_rec_csd *)tls->top->csd);
}

FM_EXPORT FM_RUNTIME_TEXT uint64_t *fm_enter_counted_v1(uint64_t site, uint64_t hook_pc,
                                                        uint64_t cfa)
{
    fm_enter_body_v1(site, hook_pc, cfa);
    return entered(hook_pc);
}

FM_EXPORT FM_RUNTIME_TEXT uint64_t *fm_enter_counted_leaf_v1(uint64_t site, uint64_t hook_pc,
                                                             uint64_t cfa)
{
    fm_enter_body_v1(site, hook_pc, cfa);
    uint64_t *counters = entered(hook_pc);
    fm_leave_slow_v1(0, cfa);
    return counters;
}
