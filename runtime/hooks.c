/* SPDX-License-Identifier: Apache-2.0 */
/* The slow paths of the hooks: first calls, left frames, changes of stack. The fast paths are in
 * hooks.S. */
#include "internal.h"
#include "slots/slots.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static uint64_t plain_cfa(const struct fm_rec_frame *frame)
{
    return fm_frame_address(frame->cfa);
}

/* Frames pushed by fast paths leave fn unset; read it from the csd. */
static uint64_t function_of(const struct fm_rec_frame *frame)
{
    const struct fm_rec_csd *csd = (const struct fm_rec_csd *)frame->csd;
    if ((frame->cfa & FM_CFA_UNCOUNTED) != 0)
        return frame->fn;
    return ((const struct fm_rec_pd *)fm_at(csd->callee))->fn;
}

/* Hooks do not store the function of every frame; for a lost frame it is not known. */
static bool may_be_of(const struct fm_thread *thread, const struct fm_rec_frame *frame, uint64_t fn)
{
    if ((struct fm_rec_csd *)frame->csd != thread->lost || (frame->cfa & FM_CFA_UNCOUNTED) != 0)
        return function_of(frame) == fn;
    return (frame->cfa & FM_CFA_INLINED) == 0 || frame->fn == fn;
}

static bool is_guard_value(const struct fm_rec_frame *frame)
{
    return frame->cfa == FM_CFA_GUARD;
}

static bool is_guard(const struct fm_thread *thread, const struct fm_rec_frame *frame)
{
    return frame == thread->stack->frames;
}

/* The mark of a signal handler's frame says here that its call is timed. */
static bool is_timed(const struct fm_rec_frame *frame)
{
    const struct fm_rec_csd *csd = (const struct fm_rec_csd *)frame->csd;
    return (frame->cfa & FM_CFA_SIGNAL) != 0 &&
           (csd->epoch_flags & (FM_REC_CSD_TRACED | FM_REC_CSD_SIGNAL)) == FM_REC_CSD_TRACED;
}

/* Replaces fn in a frame that a signal handler's hook made for the function that it interrupted,
 * which has no exit hook. */
#define FRAME_OF_LEAF (FM_DEPTH_UNKNOWN + 1)

/* Removes the top frame. left: without its exit hook. */
static void pop(struct fm_thread *thread, bool left)
{
    struct fm_tls *tls = thread->tls;
    struct fm_rec_frame *top = tls->top;
    struct fm_rec_csd *csd = (struct fm_rec_csd *)top->csd;
    bool marked = (top->cfa & FM_CFA_SIGNAL) != 0, signal = marked && !is_timed(top);
    if (marked && !signal)
        fm_traced_leave(thread, csd, plain_cfa(top), left);
    if (left && (top->cfa & FM_CFA_UNCOUNTED) == 0)
        fm_csd_add_excp(thread, csd);
    tls->top = top - 1;
    top->cfa = 0;
    if (top->fn == FRAME_OF_LEAF)
        top->fn = 0; /* hooks do not store it for each frame */
    if (!signal)
        return;
    /* The slot belonged to a hook that the signal interrupted: restores what that had written. */
    if (thread->signal_saves_used > 0 && thread->signal_saves_used-- <= FM_SIGNAL_SAVES_MAX) {
        *top = thread->signal_saves[thread->signal_saves_used];
        fm_waiting_take_up(thread, thread->signal_saves_used);
    }
    struct fm_stack *below = thread->stack->below;
    if (!left && is_guard(thread, tls->top) && below != NULL) {
        thread->stack->top = tls->top;
        thread->stack = below;
        fm_stack_publish_current(thread);
        tls->top = below->top;
        tls->limit = fm_process.stopped ? NULL : below->limit;
        if (!fm_process.stopped)
            tls->bound = FM_BOUND(below->low);
    }
    /* The interrupted leaf function continues; it has no exit hook. */
    if (!left && !is_guard(thread, tls->top) && tls->top->fn == FRAME_OF_LEAF) {
        tls->top->cfa = 0;
        tls->top->fn = 0;
        tls->top--;
    }
}

#define OWN_ENTRY_BYTES 64 /* from a function's start to its hook: as a rule */

/* Finds the entry hook of a function's own body, in contrast to its inlined copies. The function's
 * start by the unwind table decides most cases. A recursive function that is inlined into itself is
 * recognised by its frame: the first entry of the own body has a frame of its own. */
static bool is_own_entry(const struct fm_thread *thread, uint64_t fn, uint64_t hook_pc)
{
    if (fm_function_start(hook_pc) != fn)
        return false;
    const struct fm_rec_frame *frame = thread->tls->top;
    uint64_t cfa = plain_cfa(frame);
    for (; !is_guard(thread, frame) && plain_cfa(frame) == cfa; frame--) {
        const struct fm_rec_csd *csd = (const struct fm_rec_csd *)frame->csd;
        if (csd == thread->lost && (frame->cfa & FM_CFA_INLINED) == 0)
            return hook_pc - fn <= OWN_ENTRY_BYTES; /* the function is not known */
        if (function_of(frame) == fn && (csd->epoch_flags & FM_REC_CSD_INLINED) == 0 &&
            csd->hook_pc != hook_pc)
            return false;
    }
    return true;
}

/* The code that the kernel returns to from a signal handler: mov $15, %rax; syscall. */
static bool is_signal_return(uint64_t site)
{
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
    /* On a hand-made stack, the first function may return to any address. */
    return fm_module_known(site) && memcmp((const void *)site, code, sizeof code) == 0;
}

static void mark_within(const struct fm_rec_csd *csd, bool mark)
{
    if (mark && (csd->epoch_flags & FM_REC_CSD_MADE_CALLEE) != 0)
        ((struct fm_rec_csd *)(uintptr_t)csd)->epoch_flags |= FM_REC_CSD_WITHIN;
}

/* The pd of fn that is active in this context, NULL if there is none. mark: a recursion is about to
 * be closed there, so everything above it belongs to its clique. */
static struct fm_rec_pd *active_pd(const struct fm_thread *thread, uint64_t fn, bool mark)
{
    const struct fm_stack *stack = thread->stack;
    const struct fm_rec_frame *frame = thread->tls->top;
    for (;;) {
        for (; frame > stack->frames; frame--) {
            const struct fm_rec_csd *csd = (const struct fm_rec_csd *)frame->csd;
            struct fm_rec_pd *pd = fm_at(csd->callee);
            if (pd->fn == fn)
                return pd;
            mark_within(csd, mark);
        }
        /* A stack entered from another one: continues with the context from which it was
         * entered. */
        const struct fm_rec_csd *csd = (const struct fm_rec_csd *)frame->csd;
        while (csd->caller != 0) {
            struct fm_rec_pd *pd = fm_at(csd->callee);
            if (pd->fn == fn)
                return pd;
            mark_within(csd, mark);
            csd = fm_at(((struct fm_rec_pd *)fm_at(csd->caller))->maker);
        }
        return NULL;
    }
}

static bool is_above(const struct fm_rec_pd *pd, const struct fm_rec_pd *above)
{
    while (pd != above) {
        const struct fm_rec_csd *maker = fm_at(pd->maker);
        if (maker->caller == 0)
            return false;
        pd = fm_at(maker->caller);
    }
    return true;
}

static bool frame_verified(const struct fm_thread *thread, uint64_t site, uint64_t cfa)
{
    const struct fm_stack *stack = thread->stack;
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    bool readable = cfa % 8 == 0 && cfa > here && cfa < stack->high && stack->high - cfa >= 16 &&
                    here >= stack->low;
    return readable && *(const uint64_t *)(cfa + 8) == site;
}

/* Call site in the nearest instrumented frame of the code that calls back; 0: not found. */
static uint64_t callback_via(const struct fm_thread *thread)
{
    const struct fm_rec_frame *from = thread->tls->top;
    if (is_guard(thread, from))
        from = thread->stack->below->top;
    if (plain_cfa(from) == 0 || is_guard_value(from))
        return 0;
    const struct fm_rec_csd *csd = (const struct fm_rec_csd *)from->csd;
    return fm_unwind_to(thread->stack, plain_cfa(from) + FM_CFA_FROM_FRAME,
                        fm_function_start(csd->hook_pc));
}

static FM_RUNTIME_TEXT struct fm_rec_csd *edge_make(struct fm_thread *thread, uint64_t fn,
                                                    uint64_t site, uint64_t hook_pc, uint64_t cfa,
                                                    uint32_t flags)
{
    struct fm_rec_frame *top = thread->tls->top;
    struct fm_rec_csd *caller = (struct fm_rec_csd *)top->csd;
    if (fm_arena_refuses(&thread->bump, sizeof *caller))
        return fm_edge_lose(thread, top->key, hook_pc, site, flags);
    if (!fm_module_known(hook_pc) || (site != 0 && !fm_module_known(site))) {
        /* the next call may purge what other modules left, and takes this lock */
        fm_lock_give(&thread->lock);
        fm_modules_refresh();
        fm_lock_take(&thread->lock);
    }
    fm_module_set_instrumented(hook_pc);
    uint64_t via = 0;
    if (site != 0 && !fm_module_is_instrumented(site)) {
        flags |= FM_REC_CSD_CALLBACK;
        if (!is_guard(thread, top) || thread->stack->below != NULL) {
            via = callback_via(thread);
            thread->rec->callbacks_unresolved += via == 0;
        }
    }
    if (site != 0 && !frame_verified(thread, site, cfa))
        thread->rec->frames_inexact++;
    if (thread->rec->started_in == 0)
        thread->rec->started_in = fn;
    struct fm_rec_pd *active = active_pd(thread, fn, false);
    if (active != NULL)
        flags |= is_above(fm_at(caller->callee), active) ? 0 : FM_REC_CSD_ACROSS;
    bool chosen = fm_process.traced && fm_traced_is(fn);
    bool leaf = chosen && fm_is_hook_of_leaf(hook_pc);
    flags |= chosen && !leaf ? FM_REC_CSD_TRACED : 0;
    struct fm_rec_csd like = {.hook_pc = hook_pc, .site = site, .epoch_flags = flags};
    struct fm_rec_csd *csd = fm_csd_make(thread, caller, top->key, &like, fn, active);
    if (csd == NULL)
        return fm_edge_lose(thread, top->key, hook_pc, site, flags);
    if (active != NULL)
        active_pd(thread, fn, true);
    if (leaf)
        fm_traced_leaf(thread, csd);
    if (via != 0)
        fm_side_add(thread, csd, FM_REC_SIDE_VIA, via);
    return csd;
}

static void push(struct fm_thread *thread, struct fm_rec_csd *csd, uint64_t fn, uint64_t cfa,
                 bool signal, bool inlined)
{
    struct fm_tls *tls = thread->tls;
    if (tls->top == tls->limit && !fm_stack_grow(thread)) {
        thread->rec->calls_dropped++;
        return;
    }
    struct fm_rec_frame *top = tls->top;
    struct fm_rec_frame *frame = top + 1;
    if (signal) {
        if (thread->signal_saves_used < FM_SIGNAL_SAVES_MAX) {
            thread->signal_saves[thread->signal_saves_used] = *frame;
            fm_waiting_put_aside(thread, thread->signal_saves_used);
        }
        thread->signal_saves_used++;
    }
    cfa -= inlined ? FM_CFA_INLINED : 0;
    cfa |= signal ? FM_CFA_SIGNAL : 0;
    if ((csd->epoch_flags & (FM_REC_CSD_TRACED | FM_REC_CSD_SIGNAL)) == FM_REC_CSD_TRACED &&
        fm_traced_enter(thread, csd, fm_identity(csd->hook_pc, csd->site, top->key),
                        fm_frame_address(cfa)))
        cfa |= FM_CFA_SIGNAL;
    csd->calls++;
    frame->csd = (uint64_t)csd;
    frame->key = fm_callee_key(thread, csd, top->key);
    bool depths = (csd->epoch_flags & FM_REC_CSD_DEPTHS) != 0;
    frame->fn = depths ? fm_depth_count(csd, top) : fn;
    __atomic_store_n(&frame->cfa, cfa, __ATOMIC_RELEASE);
    tls->top = frame;
}

static const mcontext_t *interrupted(uint64_t handler_frame)
{
    /* The data that the kernel pushes above a signal handler's return address. */
    const ucontext_t *context = (const ucontext_t *)(handler_frame + FM_CFA_FROM_FRAME);
    return &context->uc_mcontext;
}

/* A leaf function was counted and has no frame. If a handler interrupts it, it gets one, so that
 * the handler has its true caller: open until the handler returns. */
static FM_RUNTIME_TEXT void open_leaf(struct fm_thread *thread, uint64_t handler_frame)
{
    struct fm_tls *tls = thread->tls;
    struct fm_rec_frame *top = tls->top;
    const mcontext_t *registers = interrupted(handler_frame);
    uint64_t pc = (uint64_t)registers->gregs[REG_RIP];
    if (!fm_module_is_instrumented(pc))
        return;
    struct fm_rec_csd *csd = fm_callee_at_its_edge(thread, top, registers);
    if (csd == NULL || pc < csd->hook_pc)
        return;
    if (!fm_is_of_leaf(csd) || (tls->top == tls->limit && !fm_stack_grow(thread)))
        return;
    struct fm_rec_frame *frame = tls->top + 1;
    frame->csd = (uint64_t)csd;
    frame->key = fm_callee_key(thread, csd, tls->top->key);
    frame->fn = FRAME_OF_LEAF;
    /* Between the handler and the caller, wherever the handler's stack is. */
    uint64_t cfa = ((uint64_t)registers->gregs[REG_RSP] - FM_CFA_FROM_FRAME) & ~(uint64_t)7;
    __atomic_store_n(&frame->cfa, cfa, __ATOMIC_RELEASE);
    tls->top = frame;
}

static FM_RUNTIME_TEXT void enter_locked(struct fm_thread *thread, uint64_t fn, uint64_t site,
                                         uint64_t hook_pc, uint64_t cfa)
{
    struct fm_tls *tls = thread->tls;
    if (is_signal_return(site) && plain_cfa(tls->top) != cfa) {
        fm_stack_follow(thread, (uint64_t)interrupted(cfa)->gregs[REG_RSP]);
        open_leaf(thread, cfa);
    }
    fm_stack_switch(thread, cfa);
    while (plain_cfa(tls->top) < cfa && !is_guard(thread, tls->top))
        pop(thread, true);
    uint64_t key_site = site;
    uint32_t flags = 0;
    struct fm_rec_csd *csd = NULL;
    if (fn == 0) { /* before the function's prologue: the frame there is dead */
        flags = FM_REC_CSD_DEPTHS;
        while (plain_cfa(tls->top) == cfa && !is_guard(thread, tls->top))
            pop(thread, true);
    } else if (plain_cfa(tls->top) == cfa) {
        csd = fm_edge_find(thread, tls->top->key, hook_pc, 0, false);
        if (csd == NULL && is_own_entry(thread, fn, hook_pc)) {
            while (plain_cfa(tls->top) == cfa && !is_guard(thread, tls->top))
                pop(thread, true); /* a dead frame at the same place */
        } else {
            key_site = 0;
            flags = FM_REC_CSD_INLINED;
        }
    }
    bool signal = key_site != 0 && is_signal_return(site);
    if (signal)
        flags |= FM_REC_CSD_SIGNAL;
    if (csd == NULL)
        csd = fm_edge_find(thread, tls->top->key, hook_pc, key_site, signal);
    if (csd == NULL && fn == 0)
        fn = fm_function_start(hook_pc);
    if (csd == NULL)
        csd = edge_make(thread, fn != 0 ? fn : hook_pc - 1, key_site, hook_pc, cfa, flags);
    else if (tls->far_left < 0)
        fm_table_arrange(thread);
    push(thread, csd, fn, cfa, signal, key_site == 0);
}

static FM_RUNTIME_TEXT void enter_slow(uint64_t fn, uint64_t site, uint64_t hook_pc, uint64_t cfa)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    if (FM_UNLIKELY(tls->open_section != 0) && tls->inside != 0 && fm_process.header != NULL)
        __atomic_add_fetch(&fm_process.header->sandbox_missed, 1, __ATOMIC_RELAXED);
    if (fm_slots_are_used()) { /* as code that has no hooks */
        fm_slots_other_hooks(hook_pc);
        return;
    }
    if (tls->bound == FM_BOUND_NONE || tls->inside != 0 ||
        (thread == NULL && fm_process_is_early()))
        return;
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    tls->inside = 1;
    if (FM_UNLIKELY(fm_process_is_copy()))
        fm_process_after_fork();
    thread = tls->thread;
    if (thread == NULL && fm_process_start())
        thread = fm_thread_make(cfa);
    else if (thread == NULL)
        fm_thread_disable();
    if (thread != NULL) {
        fm_lock_take(&thread->lock);
        if (!fm_process.stopped)
            enter_locked(thread, fn, site, hook_pc, cfa);
        fm_lock_give(&thread->lock);
    }
    if (FM_UNLIKELY(fm_process.leaving != NULL))
        fm_threads_free_gone();
    tls->inside = 0;
    fm_control_look(false); /* this entry's hook is over, but of its caller's nothing is known */
    fm_restore_signals(mask);
    if (FM_UNLIKELY(fm_process.traced) && thread != NULL && thread->traced.fresh) {
        thread->traced.fresh = false; /* a handler that has run since had its slow path, too */
        thread->traced.open[thread->traced.open_count - 1].start_ns = fm_now_ns(CLOCK_MONOTONIC);
    }
    errno = saved_errno;
}

FM_EXPORT FM_RUNTIME_TEXT void fm_enter_slow_v1(uint64_t fn, uint64_t site, uint64_t hook_pc,
                                                uint64_t cfa)
{
    enter_slow(fn, site, hook_pc, cfa);
}

FM_EXPORT FM_RUNTIME_TEXT void fm_enter_leaf_v1(uint64_t fn, uint64_t site, uint64_t hook_pc,
                                                uint64_t cfa)
{
    fm_enter_slow_v1(fn, site, hook_pc, cfa);
    fm_leave_slow_v1(fn, cfa);
}

FM_EXPORT FM_RUNTIME_TEXT void fm_enter_body_v1(uint64_t site, uint64_t hook_pc, uint64_t cfa)
{
    enter_slow(0, site, hook_pc, cfa);
}

FM_EXPORT FM_RUNTIME_TEXT void fm_enter_leaf_body_v1(uint64_t site, uint64_t hook_pc, uint64_t cfa)
{
    enter_slow(0, site, hook_pc, cfa);
    fm_leave_slow_v1(0, cfa);
}

FM_EXPORT FM_RUNTIME_TEXT void fm_leave_body_v1(uint64_t site, uint64_t hook_pc, uint64_t cfa)
{
    (void)site;
    (void)hook_pc;
    fm_leave_slow_v1(0, cfa);
}

static FM_RUNTIME_TEXT void exit_locked(struct fm_thread *thread, uint64_t fn, uint64_t cfa)
{
    struct fm_tls *tls = thread->tls;
    fm_stack_switch(thread, cfa);
    while (plain_cfa(tls->top) < cfa && !is_guard(thread, tls->top))
        pop(thread, true);
    if (plain_cfa(tls->top) == cfa) {
        const struct fm_rec_frame *frame = tls->top;
        while (plain_cfa(frame) == cfa &&
               (fn == 0 ? (frame->cfa & FM_CFA_INLINED) != 0 : !may_be_of(thread, frame, fn)))
            frame--;
        if (plain_cfa(frame) == cfa) {
            while (tls->top != frame)
                pop(thread, true);
            pop(thread, false);
            return;
        }
    } else if (fn != 0 && !is_guard(thread, tls->top) && function_of(tls->top) == fn &&
               !fm_process.was_stopped) {
        /* A function split by the compiler: its exit is in a frame of its own, deeper. */
        pop(thread, false);
        return;
    }
    thread->rec->exits_unmatched++;
}

FM_EXPORT FM_RUNTIME_TEXT void fm_leave_slow_v1(uint64_t fn, uint64_t cfa)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    if (thread == NULL || tls->inside != 0 || fm_process.state != FM_RECORDING)
        return;
    int saved_errno = errno;
    uint64_t now = FM_UNLIKELY(fm_process.traced) ? fm_now_ns(CLOCK_MONOTONIC) : 0;
    uint64_t mask = fm_block_signals();
    tls->inside = 1;
    thread->traced.exit_ns = now;
    fm_lock_take(&thread->lock);
    exit_locked(thread, fn, cfa);
    thread->traced.exit_ns = 0;
    fm_lock_give(&thread->lock);
    tls->inside = 0;
    fm_restore_signals(mask);
    errno = saved_errno;
}

/* After a jump off a signal stack, nothing returns to it; the next handler starts there again. */
static bool is_signal_stack(const struct fm_thread *thread)
{
    const struct fm_rec_frame *first = &thread->stack->frames[1];
    if (is_guard(thread, thread->tls->top) ||
        ((first->cfa & FM_CFA_SIGNAL) != 0 && !is_timed(first)))
        return !is_guard(thread, thread->tls->top);
    return (first->cfa & FM_CFA_UNCOUNTED) == 0 &&
           (((const struct fm_rec_csd *)first->csd)->epoch_flags & FM_REC_CSD_SIGNAL) != 0;
}

FM_RUNTIME_TEXT void fm_frames_leave(uint64_t sp)
{
    struct fm_tls *tls = &fm_tls_v2;
    if (FM_UNLIKELY(tls->open_section != 0))
        fm_thread_leave_section(sp);
    struct fm_thread *thread = tls->thread;
    if (thread == NULL || tls->inside != 0 || fm_process_is_copy())
        return;
    if (FM_UNLIKELY(thread->slots != NULL))
        fm_slots_left(thread, sp);
    if (plain_cfa(tls->top) + FM_CFA_FROM_FRAME > sp && thread->stack->low <= sp &&
        sp <= thread->stack->high && thread->rec->wait_since == 0)
        return;
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    tls->inside = 1;
    fm_lock_take(&thread->lock);
    const struct fm_stack *now = thread->stack;
    if ((sp < now->low || now->high < sp) && is_signal_stack(thread)) {
        while (!is_guard(thread, tls->top))
            pop(thread, true);
    }
    fm_stack_switch(thread, sp);
    while (plain_cfa(tls->top) + FM_CFA_FROM_FRAME <= sp && !is_guard(thread, tls->top))
        pop(thread, true);
    fm_waiting_leave(thread, sp);
    fm_lock_give(&thread->lock);
    tls->inside = 0;
    fm_restore_signals(mask);
    errno = saved_errno;
}
