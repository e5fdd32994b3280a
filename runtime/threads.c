/* SPDX-License-Identifier: Apache-2.0 */
/* State of one thread: made at its first hook, ended by a pthread key. */
#include "slots/slots.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_key_t end_key;
static bool has_end_key;

/* No hook does anything any more. */
static void tls_disable(struct fm_tls *tls)
{
    tls->bound = FM_BOUND_NONE;
    tls->heap_off = 1;
    tls->exit_own = tls->exit_any = FM_BOUND_NONE;
    tls->thread = NULL;
    tls->top = &fm_no_frame;
}

/* For the calling thread. Frames on several stacks have no order. */
static void exits_bound(struct fm_thread *thread, bool stopped)
{
    struct fm_tls *tls = thread->tls;
    tls->exit_own = tls->exit_any = FM_BOUND(0);
    if (!stopped || thread->stacks->next != NULL)
        return;
    bool none = tls->top == thread->stack->frames;
    tls->exit_own = none ? FM_BOUND_NONE : FM_BOUND(fm_frame_address(tls->top->cfa));
    tls->exit_any = tls->exit_own + (!none && (tls->top->cfa & FM_CFA_INLINED) == 0);
}

static void list_add(struct fm_thread *thread)
{
    fm_lock_take(&fm_process.threads_lock);
    thread->next = fm_process.threads;
    if (thread->next != NULL)
        thread->next->previous = thread;
    fm_process.threads = thread;
    thread->rec->number = ++fm_process.thread_count;
    if (fm_process.thread_count == 2)
        fm_held_many();
    thread->rec->next = fm_process.header->first_thread;
    __atomic_store_n(&fm_process.header->first_thread, fm_ref(thread->rec), __ATOMIC_RELEASE);
    fm_lock_give(&fm_process.threads_lock);
}

static void list_remove(struct fm_thread *thread)
{
    fm_lock_take(&fm_process.threads_lock);
    if (thread->previous != NULL)
        thread->previous->next = thread->next;
    else
        fm_process.threads = thread->next;
    if (thread->next != NULL)
        thread->next->previous = thread->previous;
    fm_lock_give(&fm_process.threads_lock);
}

static void thread_free(struct fm_thread *thread)
{
    fm_held_thread_done(thread);
    fm_blames_free(thread);
    fm_traced_end_thread(thread);
    if (fm_process.unwinds != NULL)
        fm_process.unwinds->free(thread);
    fm_private_free(thread->table, thread->table_bytes);
    fm_points_free(thread);
    for (struct fm_stack *s = thread->stacks, *next; s != NULL; s = next) {
        next = s->next;
        if (s->frames_private)
            fm_private_free(s->frames, (size_t)(s->limit + 1 - s->frames) * sizeof *s->frames);
        if (s->rec_private)
            fm_private_free(s->rec, sizeof *s->rec);
        fm_private_free(s, sizeof *s);
    }
    fm_private_free(thread, sizeof *thread);
}

/* Whether a thread runs no more, and its thread-local memory may be another's. */
static bool is_gone(const struct fm_thread *thread)
{
    long pid = fm_process.header->pid; /* not the caller's, which may be a child of vfork */
    return fm_system_call(SYS_tgkill, pid, thread->rec->tid, 0, 0) == -ESRCH;
}

void fm_threads_free_gone(void)
{
    fm_lock_take(&fm_process.threads_lock);
    for (struct fm_thread **at = &fm_process.leaving; *at != NULL;) {
        struct fm_thread *thread = *at;
        if (thread->tls == &fm_tls_v2 || !is_gone(thread)) {
            at = &thread->next;
            continue;
        }
        __atomic_store_n(at, thread->next, __ATOMIC_RELAXED);
        thread_free(thread);
    }
    fm_lock_give(&fm_process.threads_lock);
}

/* Called by the last destructors in the last round. Later events (other destructors, signal
 * handlers until the kernel removes the thread) are recorded as usual, and stored at once. So the
 * hooks' data is left to the next slow path of another thread. */
static void leave(struct fm_thread *thread)
{
    uint64_t mask = fm_block_signals();
    fm_ticks_stop(thread);
    list_remove(thread);
    thread->leaving = true;
    fm_held_flush(thread);
    if (fm_process.unwinds != NULL)
        fm_process.unwinds->tell(thread);
    fm_waiting_end_thread(thread);
    thread->rec->end_monotonic_ns = fm_now_ns(CLOCK_MONOTONIC);
    __atomic_store_n(&thread->rec->state, FM_REC_THREAD_ENDED, __ATOMIC_RELEASE);
    fm_threads_free_gone();
    fm_lock_take(&fm_process.threads_lock);
    thread->next = fm_process.leaving;
    __atomic_store_n(&fm_process.leaving, thread, __ATOMIC_RELAXED);
    fm_lock_give(&fm_process.threads_lock);
    fm_restore_signals(mask);
}

/* Other destructors may still call instrumented code: wait for the last round. */
static void thread_end(void *data)
{
    struct fm_thread *thread = data;
    if (++thread->destructor_rounds >= PTHREAD_DESTRUCTOR_ITERATIONS ||
        pthread_setspecific(end_key, thread) != 0)
        leave(thread);
}

void fm_thread_disable(void)
{
    tls_disable(&fm_tls_v2);
}

/* Whether a jump to sp leaves the section that began at the frame `section` of the same stack. */
static bool is_left(const struct fm_thread *thread, uint64_t section, uint64_t sp)
{
    if (sp <= section)
        return false;
    const struct fm_stack *stack =
        thread != NULL && thread->stack != NULL ? fm_stack_of(thread, section) : NULL;
    return stack == NULL || (stack->low <= section && sp <= stack->high);
}

void fm_thread_leave_section(uint64_t sp)
{
    struct fm_tls *tls = &fm_tls_v2;
    if (!is_left(tls->thread, tls->open_section, sp))
        return; /* within the handler */
    fm_locks_give_all();
    if (fm_process.header != NULL)
        __atomic_add_fetch(&fm_process.header->sandbox_left, 1, __ATOMIC_RELAXED);
    tls->signals_blocked = tls->calling = 0;
    tls->open_section = 0;
    fm_thread_disable(); /* its records may be half written */
    tls->inside = 0;
}

void fm_threads_end_key_make(void)
{
    has_end_key = pthread_key_create(&end_key, thread_end) == 0;
}

static bool graph_init(struct fm_thread *thread, uint64_t stack_address)
{
    thread->bump = (struct fm_bump){.chunk_bytes = FM_THREAD_CHUNK_FIRST};
    thread->rec = fm_arena_alloc(&thread->bump, sizeof *thread->rec);
    if (thread->rec == NULL)
        return false;
    thread->bump.owner = fm_ref(thread->rec);
    if (thread->bump.chunk != NULL)
        thread->bump.chunk->owner = thread->bump.owner;
    fm_held_thread(thread);
    struct fm_rec_thread *rec = thread->rec;
    rec->state = FM_REC_THREAD_LIVE;
    rec->tid = (uint32_t)fm_thread_id();
    rec->start_monotonic_ns = fm_now_ns(CLOCK_MONOTONIC);
    fm_system_call(SYS_prctl, PR_GET_NAME, (long)rec->name, 0, 0);
    thread->stack = NULL;
    thread->stacks = NULL;
    thread->entries_used = 0;
    thread->far_allowed = thread->tls->far_left = FM_FAR_LOOKUPS_FIRST;
    if (!fm_table_make(thread, FM_TABLE_ENTRIES_FIRST) || fm_graph_root(thread) == NULL)
        return false;
    thread->stack = fm_stack_add(thread, stack_address);
    if (thread->stack == NULL)
        return false;
    fm_stack_publish_current(thread);
    return true;
}

struct fm_thread *fm_thread_make(uint64_t stack_address)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = fm_private_alloc(sizeof *thread);
    if (thread != NULL) {
        thread->tls = tls;
        thread->counter.fd = thread->sampler.fd = -1;
        tls->table = NULL;
    }
    if (thread == NULL || !graph_init(thread, stack_address)) {
        __atomic_fetch_add(&fm_process.header->dropped_threads, 1, __ATOMIC_RELAXED);
        tls_disable(tls);
        if (thread != NULL && tls->table != NULL)
            fm_private_free(tls->table, tls->mask + sizeof(struct fm_entry));
        tls->table = NULL;
        if (thread != NULL)
            fm_private_free(thread, sizeof *thread);
        return NULL;
    }
    list_add(thread);
    fm_waiting_begin_thread(thread);
    tls->top = thread->stack->top;
    __atomic_store_n(&tls->thread, thread, __ATOMIC_RELEASE);
    fm_lock_take(&thread->lock); /* against a start or stop by another thread */
    tls->limit = fm_process.stopped ? NULL : thread->stack->limit;
    tls->bound = fm_thread_bound(thread, thread->stack->low);
    exits_bound(thread, fm_process.stopped);
    fm_lock_give(&thread->lock);
    /* glibc keeps the first 32 keys in the thread itself: no allocation here. */
    if (has_end_key)
        pthread_setspecific(end_key, thread);
    fm_ticks_start(thread);
    return thread;
}

void fm_threads_control(bool stopped, bool between_hooks)
{
    uint64_t mask = fm_block_signals();
    fm_lock_take(&fm_process.threads_lock);
    if (fm_process.stopped != stopped) {
        if (stopped)
            fm_waiting_stopped();
        __atomic_store_n(&fm_process.stopped, stopped, __ATOMIC_SEQ_CST);
        fm_process.was_stopped |= stopped;
        if (stopped)
            fm_process.grade_flags |= FM_REC_WAS_STOPPED;
        if (fm_process.header != NULL) {
            fm_process.header->recording_on = !stopped;
            fm_process.header->grade_flags |= fm_process.grade_flags;
        }
        uint64_t now_ns = fm_now_ns(CLOCK_MONOTONIC);
        for (struct fm_thread *t = fm_process.threads; t != NULL; t = t->next) {
            if (t->tls != &fm_tls_v2 && is_gone(t)) /* detected only by its last call */
                continue;
            fm_lock_take(&t->lock);
            fm_waiting_note_stop(t, stopped, now_ns);
            if (!stopped) /* before the first entry */
                t->tls->exit_own = t->tls->exit_any = FM_BOUND(0);
            fm_slots_stop(t, stopped);
            __atomic_store_n(&t->tls->bound, fm_thread_bound(t, t->stack->low), __ATOMIC_RELEASE);
            __atomic_store_n(&t->tls->limit, stopped ? NULL : t->stack->limit, __ATOMIC_RELEASE);
            if (stopped) /* interpose/heap.c undoes it */
                __atomic_store_n(&t->tls->heap_off, 1, __ATOMIC_SEQ_CST);
            /* Not when a hook may be about to open another frame. */
            if (stopped && between_hooks && t == fm_tls_v2.thread)
                exits_bound(t, true);
            fm_lock_give(&t->lock);
        }
    }
    fm_lock_give(&fm_process.threads_lock);
    fm_restore_signals(mask);
}

/* The corresponding address in the parent's file. */
static void *old_at(const char *old_base, uint32_t ref)
{
    return (void *)(uintptr_t)(old_base + (uint64_t)ref * FM_REC_UNIT);
}

/* Makes in the child's graph the path from the root to a csd of the parent's graph. Its depth is
 * that of the graph, in which each function occurs once on a path. */
static struct fm_rec_csd *clone_path(struct fm_thread *thread, const char *old_base,
                                     const struct fm_rec_csd *old)
{
    /* Code that is not there any more has no hook to look at, and runs no more. */
    if (old->caller == 0 || !fm_module_known(old->hook_pc))
        return fm_at(thread->rec->root_csd);
    const struct fm_rec_pd *from = old_at(old_base, old->caller);
    struct fm_rec_csd *caller = clone_path(thread, old_base, old_at(old_base, from->maker));
    if (caller == NULL)
        return NULL;
    bool hidden = (old->epoch_flags & FM_REC_CSD_SIGNAL) != 0;
    uint64_t key = fm_pd_key(thread, fm_at(caller->callee));
    struct fm_rec_csd *csd = fm_edge_find(thread, key, old->hook_pc, old->site, hidden);
    if (csd != NULL)
        return csd;
    const struct fm_rec_pd *to = old_at(old_base, old->callee);
    if (to->fn == FM_REC_FN_LOST)
        return fm_graph_lost(thread);
    struct fm_rec_pd *callee = NULL;
    if ((old->epoch_flags & FM_REC_CSD_MADE_CALLEE) == 0) {
        struct fm_rec_csd *maker = clone_path(thread, old_base, old_at(old_base, to->maker));
        if (maker == NULL)
            return NULL;
        callee = fm_at(maker->callee);
        csd = fm_edge_find(thread, key, old->hook_pc, old->site, hidden);
        if (csd != NULL)
            return csd;
    }
    csd = fm_csd_make(thread, caller, key, old, to->fn, callee);
    for (uint32_t ref = old->side; csd != NULL && ref != 0;) {
        const struct fm_rec_side *side = old_at(old_base, ref);
        if (side->kind == FM_REC_SIDE_VIA)
            fm_side_add(thread, csd, side->kind, side->value);
        ref = side->next;
    }
    return csd;
}

static bool clone_stack(struct fm_thread *thread, const char *old_base, struct fm_stack *stack,
                        const struct fm_rec_frame *old, uint64_t count)
{
    stack->rec = fm_arena_alloc(&thread->bump, sizeof *stack->rec);
    uint32_t capacity = FM_STACK_FRAMES_FIRST;
    while (capacity < count + 2)
        capacity *= 2;
    struct fm_rec_frame *frames =
        stack->rec != NULL ? fm_arena_alloc(&thread->bump, capacity * sizeof *frames) : NULL;
    if (frames == NULL)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        struct fm_rec_csd *csd =
            clone_path(thread, old_base, (const struct fm_rec_csd *)old[i].csd);
        if (csd == NULL)
            return false;
        frames[i] = old[i];
        frames[i].csd = (uint64_t)csd;
        frames[i].fn = i > 0 ? ((struct fm_rec_pd *)fm_at(csd->callee))->fn : FM_DEPTH_UNKNOWN;
        frames[i].key = fm_pd_key(thread, fm_at(csd->callee));
        if (i > 0)
            frames[i].cfa |= FM_CFA_UNCOUNTED;
    }
    stack->frames = frames;
    stack->rec_private = stack->frames_private = false;
    stack->top = frames + count - 1;
    stack->limit = frames + capacity - 1;
    stack->rec->thread = fm_ref(thread->rec);
    stack->rec->low = stack->low;
    stack->rec->high = stack->guessed ? 0 : stack->high;
    stack->rec->frames = fm_ref(frames);
    stack->rec->capacity = capacity;
    stack->rec->next = thread->rec->first_stack;
    thread->rec->first_stack = fm_ref(stack->rec);
    return true;
}

void fm_threads_fork_done(void)
{
    struct fm_thread *thread = fm_tls_v2.thread;
    for (struct fm_stack *s = thread != NULL ? thread->stacks : NULL; s != NULL; s = s->next) {
        struct fm_rec_frame *copy = s->at_fork;
        s->at_fork = NULL;
        if (copy != NULL)
            fm_private_free(copy, s->at_fork_count * sizeof *copy);
    }
}

/* The child shares the file's frames with the parent, which pushes and pops on at once. */
void fm_threads_before_fork(void)
{
    struct fm_thread *thread = fm_tls_v2.thread;
    if (thread == NULL)
        return;
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    fm_threads_fork_done();
    thread->stack->top = fm_tls_v2.top;
    for (struct fm_stack *s = thread->stacks; s != NULL; s = s->next) {
        s->at_fork_count = (uint64_t)(s->top - s->frames) + 1;
        s->at_fork = fm_private_alloc(s->at_fork_count * sizeof *s->frames);
        if (s->at_fork != NULL)
            memcpy(s->at_fork, s->frames, s->at_fork_count * sizeof *s->frames);
    }
    fm_restore_signals(mask);
    errno = saved_errno;
}

/* Copies the stacks saved before fork(); otherwise (_Fork, clone) all that the parent's file
 * has. */
static bool clone_kept(struct fm_thread *thread, const char *old_base, struct fm_stack *stack)
{
    const struct fm_rec_frame *old = stack->at_fork != NULL ? stack->at_fork : stack->frames;
    uint64_t there = (uint64_t)(stack->top - stack->frames) + 1, count = 1;
    if (stack->at_fork != NULL && stack->at_fork_count < there)
        there = stack->at_fork_count;
    while (count < there && old[count].cfa != 0 && old[count].csd != 0)
        count++;
    return clone_stack(thread, old_base, stack, old, count);
}

void fm_threads_after_fork(const char *old_base)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    fm_process.threads = fm_process.leaving = NULL; /* the other threads do not exist here */
    if (thread == NULL)
        return;
    thread->stack->top = tls->top;
    thread->next = thread->previous = NULL;
    thread->counter.fd = thread->sampler.fd = -1;
    thread->has_timer = false;
    thread->cpu_charged_ns = 0;
    fm_waiting_reset(thread);
    fm_traced_reset(thread);
    if (fm_process.unwinds != NULL)
        fm_process.unwinds->reset(thread);
    fm_held_thread_done(thread);
    struct fm_stack *stacks = thread->stacks, *current = thread->stack;
    fm_points_reset(thread);
    tls->table = NULL;
    tls->mask = 0;
    bool ok = graph_init(thread, thread->stack->low);
    if (ok) {
        /* graph_init has made a stack; the real ones replace it. */
        fm_private_free(thread->stacks, sizeof *thread->stacks);
        thread->rec->first_stack = 0;
        for (struct fm_stack *s = stacks; s != NULL && ok; s = s->next)
            ok = clone_kept(thread, old_base, s);
    }
    thread->stacks = stacks;
    thread->stack = current;
    fm_threads_fork_done();
    fm_stack_publish_current(thread);
    if (!ok) {
        fm_thread_disable();
        return;
    }
    if (current->top > current->frames)
        fm_process.header->forked_in = fm_ref((const void *)current->top->csd);
    tls->top = current->top;
    /* Another thread of the parent's may have been about to set these. */
    tls->limit = fm_process.stopped ? NULL : current->limit;
    tls->bound = fm_thread_bound(thread, current->low);
    if (!fm_process.stopped)
        tls->exit_own = tls->exit_any = FM_BOUND(0);
    list_add(thread);
    fm_slots_after_fork(thread);
    fm_waiting_begin_thread(thread);
    fm_ticks_start(thread);
}
