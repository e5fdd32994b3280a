/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks: the thread's own, signal stacks, coroutines. Frame addresses are comparable within one
 * stack only, so each has its own shadow stack. Callers hold the thread's lock and have blocked
 * signals. */
#include "files.h"
#include "internal.h"
#include "slots/slots.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* Stacks registered by makecontext: the only coroutines whose bounds are known. */
#define NOTED_MAX 1024u
static struct {
    uint64_t low, high;
} noted[NOTED_MAX];
static unsigned noted_count;
static fm_lock noted_lock;

void fm_stack_note(uint64_t low, uint64_t high)
{
    uint64_t mask = fm_block_signals();
    fm_lock_take(&noted_lock);
    unsigned kept = 0;
    /* overlapping stacks are gone: their memory was freed */
    for (unsigned i = 0; i < noted_count; i++)
        if (noted[i].high <= low || high <= noted[i].low)
            noted[kept++] = noted[i];
    if (kept == NOTED_MAX) { /* forget the oldest */
        memmove(noted, noted + 1, (NOTED_MAX - 1) * sizeof noted[0]);
        kept--;
    }
    noted[kept].low = low;
    noted[kept].high = high;
    noted_count = kept + 1;
    fm_lock_give(&noted_lock);
    fm_restore_signals(mask);
}

static bool noted_find(uint64_t address, uint64_t *low, uint64_t *high)
{
    bool found = false;
    fm_lock_take(&noted_lock);
    for (unsigned i = noted_count; i-- > 0 && !found;)
        if (noted[i].low <= address && address <= noted[i].high) {
            *low = noted[i].low;
            *high = noted[i].high;
            found = true;
        }
    fm_lock_give(&noted_lock);
    return found;
}

#define GUESS_BYTES (32u << 10)

/* The bounds of the stack that contains address. false: guessed. */
static bool bounds_find(uint64_t address, uint64_t *low, uint64_t *high)
{
    if (noted_find(address, low, high))
        return true;
    stack_t alternate;
    if (fm_system_call(SYS_sigaltstack, 0, (long)&alternate, 0, 0) == 0 &&
        (alternate.ss_flags & SS_DISABLE) == 0) {
        uint64_t start = (uint64_t)alternate.ss_sp;
        if (start <= address && address <= start + alternate.ss_size) {
            *low = start;
            *high = start + alternate.ss_size;
            return true;
        }
    }
    bool main_stack = false;
    if (fm_mapping_find(address, low, high, &main_stack)) {
        if (!main_stack)
            return true;
        struct rlimit limit;
        uint64_t bytes = 8u << 20;
        if (fm_limit_of(RLIMIT_STACK, &limit) && limit.rlim_cur > bytes)
            bytes = limit.rlim_cur < (1ull << 30) ? limit.rlim_cur : 1ull << 30;
        *low = *high > bytes ? *high - bytes : 0;
        return true;
    }
    *low = address - GUESS_BYTES;
    *high = address + 256;
    return false;
}

/* In the file, or else in private memory, so that recording there is as fast as elsewhere. */
static void *place_new(struct fm_thread *thread, size_t bytes, bool *ret_private)
{
    void *place =
        fm_arena_refuses(&thread->bump, bytes) ? NULL : fm_arena_alloc(&thread->bump, bytes);
    *ret_private = place == NULL;
    return place != NULL ? place : fm_private_alloc(bytes);
}

static struct fm_rec_frame *frames_new(struct fm_thread *thread, uint32_t capacity,
                                       bool *ret_private)
{
    return place_new(thread, capacity * sizeof(struct fm_rec_frame), ret_private);
}

static void publish(const struct fm_stack *stack, struct fm_rec_frame *frames, uint32_t capacity)
{
    struct fm_rec_stack *rec = stack->rec;
    if (stack->rec_private)
        return;
    if (stack->frames_private) { /* nothing is known to be open */
        if (rec->frames != 0)
            ((struct fm_rec_frame *)fm_at(rec->frames))[1].cfa = 0;
        return;
    }
    uint64_t word = (uint64_t)capacity << 32 | fm_ref(frames);
    __atomic_store_n((uint64_t *)(void *)&rec->frames, word, __ATOMIC_RELEASE);
}
static_assert(offsetof(struct fm_rec_stack, frames) % 8 == 0, "stored as one word");
static_assert(offsetof(struct fm_rec_stack, capacity) == offsetof(struct fm_rec_stack, frames) + 4,
              "stored as one word");

/* The guard represents the code below the first frame of this stack. */
static void guard_set(struct fm_thread *thread, struct fm_stack *stack,
                      const struct fm_rec_frame *below)
{
    struct fm_rec_csd *root = fm_at(thread->rec->root_csd);
    stack->frames[0] = (struct fm_rec_frame){
        .cfa = FM_CFA_GUARD,
        .csd = below != NULL ? below->csd : (uint64_t)root,
        .key = below != NULL ? below->key : thread->root_key,
        .fn = FM_DEPTH_UNKNOWN,
    };
}

struct fm_stack *fm_stack_add(struct fm_thread *thread, uint64_t address)
{
    struct fm_stack *stack = fm_private_alloc(sizeof *stack);
    if (stack == NULL)
        return NULL;
    stack->guessed = !bounds_find(address, &stack->low, &stack->high);
    /* A guess must not reach into a stack that is known. */
    for (struct fm_stack *s = thread->stacks; s != NULL && stack->guessed; s = s->next) {
        if (s->high <= address && stack->low < s->high)
            stack->low = s->high;
        if (address < s->low && s->low < stack->high)
            stack->high = s->low;
    }
    stack->rec = place_new(thread, sizeof *stack->rec, &stack->rec_private);
    if (stack->rec != NULL)
        stack->frames = frames_new(thread, FM_STACK_FRAMES_FIRST, &stack->frames_private);
    if (stack->rec == NULL || stack->frames == NULL) {
        if (stack->rec != NULL && stack->rec_private)
            fm_private_free(stack->rec, sizeof *stack->rec);
        fm_private_free(stack, sizeof *stack);
        return NULL;
    }
    stack->top = stack->frames;
    stack->limit = stack->frames + FM_STACK_FRAMES_FIRST - 1;
    guard_set(thread, stack, NULL);
    stack->rec->thread = fm_ref(thread->rec);
    stack->rec->low = stack->low;
    stack->rec->high = stack->guessed ? 0 : stack->high;
    publish(stack, stack->frames, FM_STACK_FRAMES_FIRST);
    stack->next = thread->stacks;
    thread->stacks = stack;
    if (stack->rec_private)
        return stack;
    stack->rec->next = thread->rec->first_stack;
    __atomic_store_n(&thread->rec->first_stack, fm_ref(stack->rec), __ATOMIC_RELEASE);
    return stack;
}

bool fm_stack_grow(struct fm_thread *thread)
{
    struct fm_stack *stack = thread->stack;
    struct fm_tls *tls = thread->tls;
    uint64_t used = (uint64_t)(tls->top - stack->frames) + 1;
    uint64_t capacity = (uint64_t)(stack->limit - stack->frames) + 1;
    if (capacity > 1u << 27)
        return false;
    bool is_private;
    struct fm_rec_frame *frames = frames_new(thread, (uint32_t)capacity * 2, &is_private);
    if (frames == NULL)
        return false;
    memcpy(frames, stack->frames, used * sizeof *frames);
    /* Earlier private frames stay: a hook that a signal interrupted may still write to them. */
    stack->frames_private = is_private;
    publish(stack, frames, (uint32_t)capacity * 2);
    stack->frames = frames;
    stack->limit = frames + capacity * 2 - 1;
    tls->top = frames + used - 1;
    tls->limit = stack->limit;
    return true;
}

/* For threads that wait for a lock of this one. */
void fm_stack_publish_current(struct fm_thread *thread)
{
    const struct fm_stack *stack = thread->stack;
    uint32_t ref = stack != NULL && !stack->rec_private ? fm_ref(stack->rec) : 0;
    __atomic_store_n(&thread->rec->current_stack, ref, __ATOMIC_RELEASE);
}

static void enter_stack(struct fm_thread *thread, struct fm_stack *stack)
{
    struct fm_tls *tls = thread->tls;
    if (thread->stack != NULL)
        thread->stack->top = tls->top;
    /* No frame is open on it: it is entered again, from the thread's present frame. */
    if (stack->top == stack->frames && thread->stack != NULL) {
        stack->below = thread->stack;
        guard_set(thread, stack, tls->top);
    }
    thread->stack = stack;
    fm_stack_publish_current(thread);
    tls->top = stack->top;
    tls->limit = fm_process.stopped ? NULL : stack->limit;
    tls->bound = fm_thread_bound(thread, stack->low);
}

static bool contains(const struct fm_stack *stack, uint64_t cfa)
{
    return stack->low <= cfa && cfa <= stack->high;
}

/* Under valgrind the main thread's stack is a mapping like others, and grows. It is recognised by
 * its end. */
static struct fm_stack *main_stack_grown(struct fm_thread *thread, uint64_t cfa)
{
    extern void *__libc_stack_end;
    uint64_t end = (uint64_t)__libc_stack_end, low, high;
    struct fm_stack *stack = thread->stacks;
    while (stack != NULL && !contains(stack, end))
        stack = stack->next;
    if (stack == NULL || stack->guessed || cfa >= stack->low || !bounds_find(cfa, &low, &high) ||
        high != stack->high || low >= stack->low)
        return NULL;
    stack->low = low;
    stack->rec->low = low;
    if (stack == thread->stack)
        thread->tls->bound = fm_thread_bound(thread, low);
    return stack;
}

void fm_stack_switch(struct fm_thread *thread, uint64_t cfa)
{
    struct fm_stack *now = thread->stack;
    if (now != NULL && contains(now, cfa))
        return;
    struct fm_stack *found = NULL;
    for (struct fm_stack *s = thread->stacks; s != NULL && found == NULL; s = s->next)
        if (contains(s, cfa))
            found = s;
    if (found == NULL && now != NULL && now->guessed && cfa < now->low &&
        now->low - cfa < GUESS_BYTES) {
        now->low = cfa;
        now->rec->low = cfa;
        thread->tls->bound = fm_thread_bound(thread, cfa);
        return;
    }
    if (found == NULL)
        found = main_stack_grown(thread, cfa);
    if (found == NULL)
        found = fm_stack_add(thread, cfa);
    if (found != NULL && found != now)
        enter_stack(thread, found);
}

/* makecontext starts a new coroutine on memory that an old one may have used. */
void fm_stack_forget(uint64_t low, uint64_t high)
{
    struct fm_thread *thread = fm_tls_v2.thread;
    if (thread == NULL)
        return;
    uint64_t mask = fm_block_signals();
    fm_lock_take(&thread->lock);
    for (struct fm_stack *s = thread->stacks; s != NULL; s = s->next) {
        if (s == thread->stack || s->high <= low || high <= s->low)
            continue;
        for (; s->top > s->frames; s->top--) {
            if ((s->top->cfa & FM_CFA_UNCOUNTED) == 0)
                fm_csd_add_excp(thread, (struct fm_rec_csd *)s->top->csd);
            s->top->cfa = 0;
        }
        for (struct fm_stack *above = thread->stacks; above != NULL; above = above->next)
            if (above->below == s)
                above->below = NULL; /* later stacks on this memory were not entered from there */
        s->low = low;
        s->high = high;
        s->rec->low = low;
        s->rec->high = high;
    }
    fm_lock_give(&thread->lock);
    fm_restore_signals(mask);
}

/* Frames at or below the stack pointer are dead: left by longjmp. */
const struct fm_rec_frame *fm_stack_charged(const struct fm_thread *thread, uint64_t sp)
{
    if (thread->slots != NULL)
        return fm_slots_charged((struct fm_thread *)(uintptr_t)thread);
    const struct fm_stack *stack = fm_stack_of(thread, sp);
    const struct fm_rec_frame *top = thread->tls->top;
    const struct fm_rec_frame *frame = stack == thread->stack ? top : stack->top;
    if (contains(stack, sp))
        while (frame > stack->frames && fm_frame_address(frame->cfa) + FM_CFA_FROM_FRAME <= sp)
            frame--;
    /* No frame is open on a stack that was known before the current one: code there (for example a
     * handler without hooks) was entered from here. The thread's first stack is its own. */
    if (stack != thread->stack && frame == stack->frames && stack->next != NULL)
        return top;
    return frame;
}

void fm_stack_follow(struct fm_thread *thread, uint64_t sp)
{
    const struct fm_stack *stack = fm_stack_of(thread, sp);
    const struct fm_rec_frame *frame = fm_stack_charged(thread, sp);
    if (stack != thread->stack && stack->frames < frame && frame <= stack->top)
        fm_stack_switch(thread, sp);
}

void fm_stack_resume(struct fm_thread *thread, uint64_t sp)
{
    if (FM_LIKELY(contains(thread->stack, sp)) || thread->tls->inside != 0 || thread->slots != NULL)
        return;
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    thread->tls->inside = 1;
    fm_lock_take(&thread->lock);
    if (!fm_process.stopped)
        fm_stack_follow(thread, sp);
    fm_lock_give(&thread->lock);
    thread->tls->inside = 0;
    fm_restore_signals(mask);
    errno = saved_errno;
}
