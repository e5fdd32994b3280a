/* SPDX-License-Identifier: Apache-2.0 */
/* --grade=fast: the lookups that the hooks' own code does not settle, as the top is a dead frame
 * above the new one (callbacks at different depths of a library, arguments on the stack). No lock,
 * no system call; a signal handler's hooks may come between any two instructions. Compiled to use
 * general registers alone, since the function around has its arguments in the others. */
#include "internal.h"

/* A frame whose place for the return address holds another one now is dead. One that is not may be
 * so all the same; but no edge is made from it (enter_lazy_locked), so nothing is found. */
static bool may_live(const struct fm_thread *thread, const struct fm_rec_frame *frame)
{
    const struct fm_rec_csd *csd = (const struct fm_rec_csd *)frame->csd;
    return csd == thread->lost ||
           *(const uint64_t *)(fm_frame_address(frame->cfa) + 8) == csd->site;
}

/* Not static, and for hooks.S alone. 0: the slow path must do it. */
FM_EXPORT FM_RUNTIME_TEXT int fm_enter_again_v1(uint64_t site, uint64_t hook_pc, uint64_t cfa);
FM_EXPORT FM_RUNTIME_TEXT int fm_enter_again_v1(uint64_t site, uint64_t hook_pc, uint64_t cfa)
{
    struct fm_tls *tls = &fm_tls_v1;
    const struct fm_thread *thread = tls->thread;
    if (thread == NULL || tls->inside != 0 || tls->far_left < 0 || fm_process_is_copy())
        return 0;
    const struct fm_stack *stack = thread->stack;
    if (cfa < stack->low || cfa > stack->high)
        return 0;
    struct fm_rec_frame *top = tls->top;
    const struct fm_entry *entry = NULL;
    for (;; top--) {
        if ((top->cfa & (FM_CFA_SIGNAL | FM_CFA_UNCOUNTED)) != 0 && top > stack->frames)
            return 0;
        if (top > stack->frames && (fm_frame_address(top->cfa) <= cfa || !may_live(thread, top)))
            continue;
        entry = fm_entry_find(tls, fm_identity(hook_pc, site, top->key));
        break;
    }
    if (entry == NULL || top >= tls->limit)
        return 0;
    struct fm_rec_frame *frame = top + 1;
    entry->csd->calls++;
    frame->csd = (uint64_t)entry->csd;
    frame->key = entry->callee_key;
    frame->fn = 0;
    __atomic_store_n(&frame->cfa, cfa, __ATOMIC_RELEASE);
    tls->top = frame;
    return 1;
}
