/* SPDX-License-Identifier: Apache-2.0 */
#include "unwound.h"

#include "../unwind/unwind.h"

#include <dlfcn.h>
#include <string.h>

#define FRAMES_MAX 1024u

struct walked {
    uint64_t ip; /* the next instruction */
    uint64_t fn;
};

struct fm_unwound {
    uint32_t count;
    uint32_t guesses;
    bool cut;
    struct walked walked[FRAMES_MAX];           /* innermost first */
    struct fm_rec_frame frames[FRAMES_MAX + 2]; /* outermost first, the guard before them */
};

/* Code without unwind information is known by where that of the code before it ends. */
static uint64_t function_of(uint64_t pc)
{
    struct fm_unwind_table table;
    struct fm_unwind_entry entry;
    uint64_t below = 0;
    if (fm_unwind_table_of(pc, &table)) {
        if (fm_unwind_entry_find(&table, pc, &entry, &below))
            return entry.start;
        if (below != 0 && fm_unwind_entry_find(&table, below, &entry, NULL) && entry.end <= pc)
            return entry.end;
    }
    const struct fm_rec_module *module = fm_module_record(pc);
    return module != NULL ? module->start : FM_REC_FN_UNKNOWN;
}

static void note_frame(struct fm_unwound *u, const struct fm_unwind *walk)
{
    uint64_t pc = walk->ip - !walk->exact;
    if (fm_unwound_is_own(pc)) /* what stands in front of libc's functions */
        return;
    bool known = fm_module_known(pc) || fm_module_meet(pc);
    u->walked[u->count++] = (struct walked){
        .ip = walk->ip,
        .fn = known ? function_of(pc) : FM_REC_FN_UNKNOWN,
    };
}

/* The range that is readable without asking: from the stack pointer to the end of the thread's
 * stack. The data that libc keeps for a thread lies at the end of the stack that it makes, and the
 * mapping may go on behind it. */
static void bounds_of(const struct fm_thread *thread, uint64_t sp, uint64_t *low, uint64_t *high)
{
    const struct fm_stack *stack = fm_stack_of(thread, sp);
    uint64_t self = (uint64_t)__builtin_thread_pointer();
    bool known = !stack->guessed && stack->low <= sp && sp < stack->high;
    *low = known ? sp : 0;
    *high = known ? stack->high : 0;
    if (known && sp < self && self < stack->high)
        *high = self;
}

static void walk_stack(struct fm_thread *thread, const mcontext_t *registers)
{
    struct fm_unwound *u = thread->unwound;
    struct fm_unwind_registers all;
    struct fm_unwind walk;
    uint64_t low, high;
    enum fm_unwind_result result;
    fm_unwind_registers_of(registers, &all);
    bounds_of(thread, all.value[FM_UNWIND_RSP], &low, &high);
    fm_unwind_begin(&walk, &all, low, high);
    u->count = 0;
    do
        note_frame(u, &walk);
    while ((result = fm_unwind_step(&walk)) == FM_UNWIND_FRAME && u->count < FRAMES_MAX);
    u->cut = result != FM_UNWIND_END;
    u->guesses = walk.guesses;
}

static void count_stack(const struct fm_unwound *u)
{
    struct fm_rec_header *header = fm_process.header;
    __atomic_fetch_add(&header->stacks, 1, __ATOMIC_RELAXED);
    if (u->cut)
        __atomic_fetch_add(&header->stacks_cut, 1, __ATOMIC_RELAXED);
    if (u->guesses > 0) {
        __atomic_fetch_add(&header->stacks_guessed, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&header->frames_guessed, u->guesses, __ATOMIC_RELAXED);
    }
}

/* The context of fn in which it is active on the stack; NULL: it is not. */
static struct fm_rec_pd *active_pd(const struct fm_unwound *u, const struct fm_rec_frame *top,
                                   uint64_t fn)
{
    for (const struct fm_rec_frame *frame = top; frame > u->frames; frame--) {
        struct fm_rec_pd *pd = fm_at(((const struct fm_rec_csd *)frame->csd)->callee);
        if (pd->fn == fn)
            return pd;
    }
    for (const struct fm_rec_csd *csd = (const struct fm_rec_csd *)u->frames->csd;
         csd->caller != 0;) {
        struct fm_rec_pd *pd = fm_at(csd->callee);
        if (pd->fn == fn)
            return pd;
        csd = fm_at(((const struct fm_rec_pd *)fm_at(csd->caller))->maker);
    }
    return NULL;
}

static struct fm_rec_csd *edge_make(struct fm_thread *thread, const struct fm_rec_frame *top,
                                    uint64_t fn, uint64_t site)
{
    struct fm_rec_csd *caller = (struct fm_rec_csd *)top->csd, *csd = NULL;
    struct fm_rec_csd like = {.hook_pc = fn, .site = site};
    if (fn > FM_REC_FN_SPECIAL_MAX)
        fm_module_set_unwound(fn);
    if (!fm_arena_refuses(&thread->bump, sizeof *caller))
        csd = fm_csd_make(thread, caller, top->key, &like, fn, active_pd(thread->unwound, top, fn));
    return csd != NULL ? csd : fm_edge_lose(thread, top->key, fn, site, 0);
}

static struct fm_rec_frame *push(struct fm_thread *thread, struct fm_rec_frame *top, uint64_t fn,
                                 uint64_t site)
{
    struct fm_rec_csd *csd = fm_edge_find(thread, top->key, fn, site, false);
    if (csd == NULL)
        csd = edge_make(thread, top, fn, site);
    top[1] = (struct fm_rec_frame){
        .csd = (uint64_t)csd,
        .key = fm_callee_key(thread, csd, top->key),
        .fn = fn,
    };
    return top + 1;
}

static const struct fm_rec_frame *stack(struct fm_thread *thread, const mcontext_t *registers,
                                        const struct fm_rec_frame *base)
{
    if (thread->unwound == NULL)
        thread->unwound = fm_private_alloc(sizeof *thread->unwound);
    struct fm_unwound *u = thread->unwound;
    if (u == NULL)
        return NULL;
    uint32_t inside = thread->tls->inside;
    thread->tls->inside = 1;
    walk_stack(thread, registers);
    count_stack(u);
    fm_lock_take(&thread->lock);
    struct fm_rec_frame *top = u->frames;
    *top = *base;
    top->cfa = FM_CFA_GUARD;
    if (u->cut)
        top = push(thread, top, FM_REC_FN_CUT, 0);
    for (uint32_t i = u->count; i-- > 0;)
        top = push(thread, top, u->walked[i].fn, i + 1 < u->count ? u->walked[i + 1].ip : 0);
    fm_lock_give(&thread->lock);
    thread->tls->inside = inside;
    return top;
}

static void free_stack(struct fm_thread *thread)
{
    if (thread->unwound != NULL)
        fm_private_free(thread->unwound, sizeof *thread->unwound);
    thread->unwound = NULL;
}

static struct fm_unwound_actions actions = {
    .stack = stack,
    .free = free_stack,
    .start_new = fm_unwound_start_new,
    .start_free = fm_unwound_start_free,
    .run = fm_unwound_run,
    .run_c11 = fm_unwound_run_c11,
    .unfit = fm_unwound_unfit,
    .without = fm_unwound_without,
};

void fm_unwound_begin(void)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)(uint64_t)fm_unwound_begin, &found) == 0) {
        actions.own_low = (uint64_t)found.dlfo_map_start;
        actions.own_high = (uint64_t)found.dlfo_map_end;
    }
    fm_process.unwinds = &actions;
    fm_process.grade_flags |= FM_REC_UNWOUND;
}
