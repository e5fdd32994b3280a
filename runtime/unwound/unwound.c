/* SPDX-License-Identifier: Apache-2.0 */
#include "stack.h"
#include "unwind/loaded.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* Events remember the stack. Ticks, and events of handlers that interrupt another event, walk
 * theirs whole. */
struct fm_unwound {
    struct fm_walked_stack *last, *whole;
    uint64_t busy;  /* CFA of the event that is being recorded; 0: none */
    uint64_t epoch; /* the rules' when the last stack was walked */
    /* Not in the header yet: */
    uint32_t stacks, cut, guessed, frames_guessed;
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

/* Functions by address, as rules are remembered (unwind/rules.h): so words of two writers do not
 * fit. */
#define FUNCTION_SLOTS_LOG2 14
struct function_slot {
    uint64_t check, fn;
} __attribute__((aligned(16)));
static struct function_slot functions[1u << FUNCTION_SLOTS_LOG2];

#define FN_OWN UINT64_MAX /* a function of ours in front of libc's: it has no context */

static __attribute__((noinline)) uint64_t function_learn(uint64_t pc)
{
    uint64_t epoch = __atomic_load_n(&fm_rule_epoch, __ATOMIC_ACQUIRE);
    uint64_t fn = FN_OWN;
    if (!fm_unwound_is_own(pc)) {
        if (!fm_module_known(pc) && !fm_module_meet(pc))
            return FM_REC_FN_UNKNOWN;
        fn = function_of(pc);
    }
    struct function_slot *slot = &functions[pc * FM_RULE_FACTOR >> (64 - FUNCTION_SLOTS_LOG2)];
    __atomic_store_n(&slot->check, pc ^ epoch ^ fn * FM_RULE_FACTOR, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->fn, fn, __ATOMIC_RELAXED);
    return fn;
}

static inline uint64_t function_find(uint64_t pc)
{
    const struct function_slot *slot =
        &functions[pc * FM_RULE_FACTOR >> (64 - FUNCTION_SLOTS_LOG2)];
    uint64_t check = __atomic_load_n(&slot->check, __ATOMIC_RELAXED);
    uint64_t fn = __atomic_load_n(&slot->fn, __ATOMIC_RELAXED);
    uint64_t epoch = __atomic_load_n(&fm_rule_epoch, __ATOMIC_RELAXED);
    return (check ^ fn * FM_RULE_FACTOR ^ epoch) == pc ? fn : function_learn(pc);
}

#define STACKS_UNTOLD_MAX 4096u

static void tell_stacks(struct fm_unwound *u)
{
    struct fm_rec_header *header = fm_process.header;
    __atomic_fetch_add(&header->stacks, u->stacks, __ATOMIC_RELAXED);
    __atomic_fetch_add(&header->stacks_cut, u->cut, __ATOMIC_RELAXED);
    __atomic_fetch_add(&header->stacks_guessed, u->guessed, __ATOMIC_RELAXED);
    __atomic_fetch_add(&header->frames_guessed, u->frames_guessed, __ATOMIC_RELAXED);
    u->stacks = u->cut = u->guessed = u->frames_guessed = 0;
}

static inline void count_stack(struct fm_unwound *u, const struct fm_walked_stack *stack)
{
    u->stacks++;
    u->cut += stack->end == FM_WALK_CUT;
    u->guessed += stack->guesses > 0;
    u->frames_guessed += stack->guesses;
    if (FM_UNLIKELY(u->stacks == STACKS_UNTOLD_MAX))
        tell_stacks(u);
}

/* The context of fn in which it is active on the stack; NULL: it is not. */
static struct fm_rec_pd *active_pd(const struct fm_rec_frame *guard, const struct fm_rec_frame *top,
                                   uint64_t fn)
{
    for (const struct fm_rec_frame *frame = top; frame > guard; frame--) {
        struct fm_rec_pd *pd = fm_at(((const struct fm_rec_csd *)frame->csd)->callee);
        if (pd->fn == fn)
            return pd;
    }
    for (const struct fm_rec_csd *csd = (const struct fm_rec_csd *)guard->csd; csd->caller != 0;) {
        struct fm_rec_pd *pd = fm_at(csd->callee);
        if (pd->fn == fn)
            return pd;
        csd = fm_at(((const struct fm_rec_pd *)fm_at(csd->caller))->maker);
    }
    return NULL;
}

/* Nodes are made with signals blocked, because ticks make edges, too. */
struct making {
    struct fm_thread *thread;
    const struct fm_rec_frame *guard;
    bool blocked;
    uint64_t mask;
    uint32_t inside;
};

static void making_begin(struct making *making)
{
    making->blocked = true;
    making->mask = fm_block_signals();
    making->inside = making->thread->tls->inside;
    making->thread->tls->inside = 1;
    fm_lock_take(&making->thread->lock);
}

static void making_end(const struct making *making)
{
    fm_lock_give(&making->thread->lock);
    making->thread->tls->inside = making->inside;
    fm_restore_signals(making->mask);
}

static __attribute__((noinline)) struct fm_rec_frame
edge_make(struct making *making, const struct fm_rec_frame *top, uint64_t fn, uint64_t site)
{
    struct fm_thread *thread = making->thread;
    struct fm_rec_csd *caller = (struct fm_rec_csd *)top->csd;
    struct fm_rec_csd like = {.hook_pc = fn, .site = site};
    if (!making->blocked)
        making_begin(making);
    struct fm_rec_csd *csd = fm_edge_find(thread, top->key, fn, site, false);
    if (csd == NULL && fn > FM_REC_FN_SPECIAL_MAX)
        fm_module_set_unwound(fn);
    if (csd == NULL && !fm_arena_refuses(&thread->bump, sizeof *caller))
        csd = fm_csd_make(thread, caller, top->key, &like, fn, active_pd(making->guard, top, fn));
    if (csd == NULL)
        csd = fm_edge_lose(thread, top->key, fn, site, 0);
    return (struct fm_rec_frame){
        .csd = (uint64_t)csd,
        .key = fm_callee_key(thread, csd, top->key),
        .fn = fn,
    };
}

static inline struct fm_rec_frame *push(struct making *making, struct fm_rec_frame *top,
                                        uint64_t fn, uint64_t site)
{
    const struct fm_entry *entry =
        fm_entry_find(making->thread->tls, fm_identity(fn, site, top->key));
    if (FM_LIKELY(entry != NULL)) {
        top[1].csd = (uint64_t)entry->csd;
        top[1].key = entry->callee_key;
        top[1].fn = fn;
        top[1].cfa = 0;
    } else {
        top[1] = edge_make(making, top, fn, site);
    }
    return top + 1;
}

/* The return address in the caller of the outermost new frame. */
static uint64_t site_of(const struct fm_walked_stack *stack)
{
    uint32_t at = stack->kept;
    while (at > 0 && (stack->frames[at - 1].flags & FM_WALKED_OWN) != 0)
        at--;
    return at > 0 ? stack->frames[at - 1].ip : 0;
}

/* The contexts of the frames that were walked, which become the last stack. */
static const struct fm_rec_frame *contexts_of(struct fm_thread *thread,
                                              struct fm_walked_stack *stack)
{
    struct making making = {.thread = thread, .guard = stack->contexts};
    uint32_t kept = stack->kept > 0 ? stack->frames[stack->kept - 1].top : 0;
    struct fm_rec_frame *top = stack->contexts + kept;
    uint64_t site = site_of(stack);
    struct fm_walked_keep keep = fm_walked_keep_begin(stack);
    if (stack->end == FM_WALK_CUT)
        top = push(&making, top, FM_REC_FN_CUT, 0);
    for (uint32_t i = stack->fresh_count; i-- > 0;) {
        struct fm_walked *frame = &stack->fresh[i];
        uint64_t fn = function_find(frame->ip - !(frame->flags & FM_WALKED_EXACT));
        if (FM_LIKELY(fn != FN_OWN)) {
            top = push(&making, top, fn, site);
            site = frame->ip;
        } else {
            frame->flags |= FM_WALKED_OWN;
        }
        fm_walked_add(stack, &keep, frame, (uint32_t)(top - stack->contexts));
    }
    if (making.blocked)
        making_end(&making);
    fm_walked_keep_end(stack, &keep);
    return top;
}

static void set_base(struct fm_walked_stack *stack, const struct fm_rec_frame *base)
{
    if (stack->contexts->csd != base->csd || stack->contexts->key != base->key)
        stack->remembered = 0;
    stack->contexts[0] = *base;
    stack->contexts[0].cfa = FM_CFA_GUARD;
}

static struct fm_unwound *state_of(struct fm_thread *thread)
{
    if (thread->unwound == NULL)
        thread->unwound = fm_private_alloc(sizeof *thread->unwound);
    struct fm_unwound *u = thread->unwound;
    if (u != NULL && u->last == NULL)
        u->last = fm_private_alloc(sizeof *u->last);
    if (u != NULL && u->whole == NULL)
        u->whole = fm_private_alloc(sizeof *u->whole);
    return u != NULL && u->last != NULL && u->whole != NULL ? u : NULL;
}

static const struct fm_rec_frame *walk_whole(struct fm_thread *thread,
                                             const struct fm_walk_from *from,
                                             const struct fm_rec_frame *base)
{
    struct fm_unwound *u = state_of(thread);
    if (u == NULL)
        return NULL;
    set_base(u->whole, base);
    u->whole->remembered = 0;
    fm_walked_walk(thread, u->whole, from);
    const struct fm_rec_frame *top = contexts_of(thread, u->whole);
    count_stack(u, u->whole);
    return top;
}

static const struct fm_rec_frame *stack_of_tick(struct fm_thread *thread,
                                                const mcontext_t *registers,
                                                const struct fm_rec_frame *base)
{
    struct fm_unwind_registers all;
    fm_unwind_registers_of(registers, &all);
    const struct fm_rec_frame *top =
        walk_whole(thread, &(struct fm_walk_from){.registers = &all}, base);
    if (top != NULL)
        tell_stacks(thread->unwound);
    return top;
}

/* An event of a handler that interrupted another event, or one that was left meanwhile. */
static bool is_nested(const struct fm_thread *thread, uint64_t cfa)
{
    uint64_t busy = thread->unwound->busy;
    return busy != 0 && (cfa < busy || fm_stack_of(thread, busy) != fm_stack_of(thread, cfa));
}

static __attribute__((noinline)) struct fm_rec_csd *
charge_nested(struct fm_thread *thread, uint64_t cfa, const struct fm_rec_frame *base)
{
    uint64_t mask = fm_block_signals();
    const struct fm_rec_frame *top = walk_whole(thread, &(struct fm_walk_from){.cfa = cfa}, base);
    struct fm_rec_csd *csd = (struct fm_rec_csd *)(top != NULL ? top : base)->csd;
    fm_restore_signals(mask);
    return csd;
}

/* The stack cannot be followed with what is known of the event's caller: from here, all registers
 * are. */
static __attribute__((noinline)) void walk_from_here(struct fm_thread *thread,
                                                     struct fm_walked_stack *stack)
{
    struct fm_unwind_registers here;
    fm_unwind_registers_here(&here);
    stack->remembered = 0;
    fm_walked_walk(thread, stack, &(struct fm_walk_from){.registers = &here});
}

/* FATHOM_UNWOUND=check, for tests: each event's stack is walked whole, too. */
static bool checks;

static __attribute__((noinline)) void check(struct fm_thread *thread, uint64_t cfa,
                                            const struct fm_rec_frame *base,
                                            const struct fm_rec_csd *found)
{
    struct fm_walked_stack *whole = thread->unwound->whole;
    uint64_t mask = fm_block_signals();
    set_base(whole, base);
    whole->remembered = 0;
    fm_walked_walk(thread, whole, &(struct fm_walk_from){.cfa = cfa});
    if (whole->end == FM_WALK_CUT)
        walk_from_here(thread, whole);
    if ((const struct fm_rec_csd *)contexts_of(thread, whole)->csd != found)
        fm_complain("a remembered stack is not the one that a walk finds", "");
    fm_restore_signals(mask);
}

static bool prepare(struct fm_thread *thread)
{
    uint64_t mask = fm_block_signals();
    if (fm_process_is_copy()) {
        fm_process_after_fork();
        thread = fm_tls_v2.thread;
    }
    bool ready = thread != NULL && fm_process.state == FM_RECORDING && state_of(thread) != NULL;
    fm_restore_signals(mask);
    return ready;
}

static struct fm_rec_csd *charged(struct fm_thread *thread, uint64_t cfa)
{
    if (FM_UNLIKELY(thread->unwound == NULL || fm_process_is_copy()) && !prepare(thread))
        return NULL;
    struct fm_unwound *u = thread->unwound;
    const struct fm_rec_frame *base = fm_stack_charged(thread, cfa);
    if (FM_UNLIKELY(is_nested(thread, cfa)))
        return charge_nested(thread, cfa, base);
    struct fm_walked_stack *last = u->last;
    uint64_t epoch = __atomic_load_n(&fm_rule_epoch, __ATOMIC_ACQUIRE);
    if (FM_UNLIKELY(u->busy != 0 || u->epoch != epoch))
        last->remembered = 0;
    u->epoch = epoch;
    u->busy = cfa;
    __asm__ volatile("" ::: "memory");
    set_base(last, base);
    fm_walked_walk(thread, last, &(struct fm_walk_from){.cfa = cfa});
    if (FM_UNLIKELY(last->end == FM_WALK_CUT))
        walk_from_here(thread, last);
    struct fm_rec_csd *csd = (struct fm_rec_csd *)contexts_of(thread, last)->csd;
    count_stack(u, last);
    if (FM_UNLIKELY(checks))
        check(thread, cfa, base, csd);
    __asm__ volatile("" ::: "memory");
    u->busy = 0;
    return csd;
}

static void reset(struct fm_thread *thread)
{
    struct fm_unwound *u = thread->unwound;
    if (u == NULL)
        return;
    if (u->last != NULL)
        u->last->remembered = 0;
    u->stacks = u->cut = u->guessed = u->frames_guessed = 0;
    u->busy = 0;
}

static void tell(struct fm_thread *thread)
{
    if (thread->unwound != NULL)
        tell_stacks(thread->unwound);
}

static void free_stack(struct fm_thread *thread)
{
    struct fm_unwound *u = thread->unwound;
    thread->unwound = NULL;
    if (u == NULL)
        return;
    if (u->last != NULL)
        fm_private_free(u->last, sizeof *u->last);
    if (u->whole != NULL)
        fm_private_free(u->whole, sizeof *u->whole);
    fm_private_free(u, sizeof *u);
}

static struct fm_unwound_actions actions = {
    .stack = stack_of_tick,
    .charged = charged,
    .tell = tell,
    .reset = reset,
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
    struct fm_loaded found;
    if (fm_loaded_at((uint64_t)fm_unwound_begin, &found)) {
        actions.own_low = found.start;
        actions.own_high = found.end;
    }
    const char *wish = fm_getenv("FATHOM_UNWOUND");
    checks = wish != NULL && strcmp(wish, "check") == 0;
    fm_process.unwinds = &actions;
    fm_process.grade_flags |= FM_REC_UNWOUND;
}
