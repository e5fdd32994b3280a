/* SPDX-License-Identifier: Apache-2.0 */
/* The clock: a signal for each thread as it uses CPU time, charged to the running call.
 *
 * A tick charges as many quanta as the thread's CPU clock has advanced since the last one:
 * signals that the kernel merges or delays cost resolution, not time.
 *
 * The kernel delivers a CPU timer's signal when it returns to the program, so it interrupts no
 * system call. perf's signals are more frequent, but may arrive just before a thread sleeps in a
 * call, which then fails with EINTR; and the kernel restarts its timer at each context switch. */
#include "../held/curve.h"
#include "../slots/slots.h"
#include "../unwind/memory.h"
#include "../unwind/unwind.h"
#include "../unwound/unwound.h"
#include "../valgrind.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define QUANTUM_NS 1000000u
/* perf's ticks vary by half of their period or more, so a quantum is a tenth of it. */
#define PERF_QUANTUM_NS 100000u
#define PERF_QUANTUM_LEAST_NS 10000u
#define PERF_PERIOD_SHORT_NS 400000u
/* it comes with the kernel's own tick: HZ, mostly 250, times a second */
#define TIMER_NS 1000000u

#define RET_OPCODE 0xc3
static const uint8_t syscall_opcode[] = {0x0f, 0x05};
#define PROLOGUE_BYTES 8 /* endbr64, push %rbp, mov %rsp, %rbp */
#define EDGES_MAX 4096   /* maximum number of edges examined for one tick */
#define FRAME_WORDS_MAX 1024u

/* Hidden: a program must not use those of libfathom.so. */
extern const char __start_fm_hooks_text[] FM_HIDDEN, __stop_fm_hooks_text[] FM_HIDDEN;
extern const char __start_fm_runtime_text[] FM_HIDDEN, __stop_fm_runtime_text[] FM_HIDDEN;

static bool in_runtime(uint64_t pc)
{
    return fm_unwound_is_own(pc) ||
           (pc >= (uint64_t)__start_fm_hooks_text && pc < (uint64_t)__stop_fm_hooks_text) ||
           (pc >= (uint64_t)__start_fm_runtime_text && pc < (uint64_t)__stop_fm_runtime_text);
}

#define PAGE 4096u

/* Whether this is the code of a hook expanded in a function; the next mark is then its end. */
static bool in_written_hook(uint64_t pc)
{
    const uint8_t *code = (const uint8_t *)pc;
    size_t bytes = FM_HOOK_BYTES_MAX + 8, in_page = PAGE - pc % PAGE;
    if (in_page < bytes && !fm_unwind_is_readable(pc + in_page))
        bytes = in_page;
    for (size_t i = 0; i + 8 <= bytes; i++) {
        uint64_t word;
        memcpy(&word, code + i, sizeof word);
        if (word == FM_HOOK_BEGINS || word == FM_HOOK_ENDS || word == FM_HOOK_ENDS_OF_LEAF)
            return word != FM_HOOK_BEGINS;
    }
    return false;
}

/* The edge by which caller calls fn from one of the return addresses; NULL if there is none yet. */
static struct fm_rec_csd *edge_by_site(const struct fm_rec_pd *caller, uint64_t fn,
                                       const uint64_t *sites, unsigned count)
{
    uint32_t ref = __atomic_load_n(&caller->first_csd, __ATOMIC_ACQUIRE);
    for (unsigned steps = 0; ref != 0 && steps < EDGES_MAX; steps++) {
        struct fm_rec_csd *csd = fm_at(ref);
        const struct fm_rec_pd *callee = fm_at(csd->callee);
        for (unsigned i = 0; i < count && callee->fn == fn; i++) {
            if (csd->site == sites[i])
                return csd;
        }
        ref = csd->next;
    }
    return NULL;
}

/* A leaf function has no frame of its own in the shadow stack. And before its entry hook and after
 * its exit hook, any function runs while its caller is at the top of the shadow stack; for
 * functions of a nanosecond or two that is most of their time. The interrupted code shows it: it
 * belongs to another function than the top's, entered by an edge of the top's whose return address
 * is on the stack. NULL: the top itself runs. */
struct fm_rec_csd *fm_callee_at_its_edge(const struct fm_thread *thread,
                                         const struct fm_rec_frame *top,
                                         const mcontext_t *registers)
{
    uint64_t pc = (uint64_t)registers->gregs[REG_RIP], sp = (uint64_t)registers->gregs[REG_RSP];
    uint64_t frame = (uint64_t)registers->gregs[REG_RBP], sites[3];
    const struct fm_rec_csd *csd = (const struct fm_rec_csd *)top->csd;
    const struct fm_rec_pd *running = fm_at(csd->callee);
    const struct fm_stack *stack = fm_stack_of(thread, sp);
    uint64_t low = stack->low, high = stack->high;
    if (sp < low || sp + 16 > high || sp % 8 != 0)
        return NULL;
    uint64_t fn = fm_function_start(pc);
    if (fn == 0 || fn == running->fn)
        return NULL;
    /* The frame's address without its marks, which are worth less than 4 either way. */
    bool own_frame = frame != ((top->cfa + 4) & ~(uint64_t)7);
    bool at_edge = pc - fn <= PROLOGUE_BYTES || *(const uint8_t *)pc == RET_OPCODE;
    unsigned count = 0;
    if (own_frame && frame >= sp && frame <= high - 16 && frame % 8 == 0)
        sites[count++] = ((const uint64_t *)frame)[1];
    sites[count++] = ((const uint64_t *)sp)[0];
    sites[count++] = ((const uint64_t *)sp)[1];
    struct fm_rec_csd *edge = edge_by_site(running, fn, sites, count);
    /* A body inlined into the top's frame is no other function. */
    return edge != NULL && (own_frame || at_edge || fm_is_of_leaf(edge)) ? edge : NULL;
}

bool fm_is_hook_of_leaf(uint64_t hook_pc)
{
    uint64_t mark;
    memcpy(&mark, (const char *)hook_pc - sizeof mark, sizeof mark);
    return mark == FM_HOOK_ENDS_OF_LEAF;
}

bool fm_is_of_leaf(const struct fm_rec_csd *csd)
{
    const struct fm_rec_pd *callee = fm_at(csd->callee);
    return csd->hook_pc != callee->fn && fm_is_hook_of_leaf(csd->hook_pc);
}

/* Call site, in the frame's function, of the foreign code that is running: an address in the call
 * instruction; 0: not found. The return address is below all other data of the frame that leads
 * into that function. So, seen from the frame's end, it comes first; remains of deeper calls are
 * beyond it. */
static uint64_t call_into_foreign_code(const struct fm_thread *thread,
                                       const struct fm_rec_frame *top, uint64_t sp)
{
    if (thread->slots != NULL)
        return fm_slots_call_under_way((const struct fm_slots_node *)(const void *)top);
    const struct fm_rec_csd *csd = (const struct fm_rec_csd *)top->csd;
    const struct fm_rec_pd *running = fm_at(csd->callee);
    uint64_t cfa = (top->cfa + 4) & ~(uint64_t)7; /* without its marks */
    const struct fm_stack *stack = fm_stack_of(thread, sp);
    if (running->fn == 0 || sp < stack->low || cfa > stack->high || sp % 8 != 0 || cfa < sp + 24)
        return 0;
    if (fm_under_valgrind()) /* valgrind would report each word that was never written */
        return 0;
    const uint64_t *words = (const uint64_t *)sp; /* [0] up to the frame's own return address */
    uint64_t count = (cfa - sp) / 8 - 1;
    uint64_t last = count > FRAME_WORDS_MAX ? count - FRAME_WORDS_MAX : 0;
    for (uint64_t i = count; i > last; i--) {
        uint64_t word = words[i - 1];
        if (fm_module_is_instrumented(word) && fm_function_start(word - 1) == running->fn)
            return word - 1;
    }
    return 0;
}

/* A tick that came during a system call meets the code behind it, or the call itself if the kernel
 * begins it again. */
static bool is_in_kernel(uint64_t pc)
{
    const uint8_t *code = (const uint8_t *)pc;
    return (pc % PAGE >= sizeof syscall_opcode &&
            memcmp(code - sizeof syscall_opcode, syscall_opcode, sizeof syscall_opcode) == 0) ||
           (pc % PAGE <= PAGE - sizeof syscall_opcode &&
            memcmp(code, syscall_opcode, sizeof syscall_opcode) == 0);
}

static void keep_foreign(struct fm_thread *thread, struct fm_rec_csd *charged, uint64_t pc,
                         uint64_t call, uint64_t quanta)
{
    uint64_t fn = fm_function_start(pc);
    bool in_kernel = is_in_kernel(pc);
    fm_csd_add_foreign(thread, charged,
                       &(struct fm_rec_foreign){.fn = fn != 0 ? fn : pc,
                                                .call = call,
                                                .quanta = quanta,
                                                .epoch = in_kernel ? FM_REC_FOREIGN_KERNEL : 0});
}

/* Keeps where the time fell: in foreign code, what ran and where that was called. */
static void keep_sample(struct fm_thread *thread, struct fm_rec_csd *charged,
                        const struct fm_rec_frame *frame, uint64_t pc, uint64_t sp, uint64_t quanta)
{
    if (!fm_module_is_instrumented(pc)) {
        uint64_t call = charged == (struct fm_rec_csd *)frame->csd
                            ? call_into_foreign_code(thread, frame, sp)
                            : 0;
        keep_foreign(thread, charged, pc, call, quanta);
        pc = call;
    }
    if (pc != 0)
        fm_csd_add_sample(thread, charged, pc, quanta);
}

static uint64_t time_passed(struct fm_thread *thread, uint64_t cpu_ns)
{
    uint64_t quanta = 0;
    if (cpu_ns > thread->cpu_charged_ns)
        quanta = (cpu_ns - thread->cpu_charged_ns) / fm_process.quantum_ns;
    thread->cpu_charged_ns += quanta * fm_process.quantum_ns;
    return quanta;
}

static void charge(struct fm_thread *thread, const mcontext_t *registers, uint64_t quanta)
{
    uint64_t pc = (uint64_t)registers->gregs[REG_RIP], sp = (uint64_t)registers->gregs[REG_RSP];
    const struct fm_rec_frame *frame = thread->slots != NULL
                                           ? fm_slots_interrupted(thread, registers)
                                           : fm_stack_charged(thread, sp);
    const struct fm_rec_frame *unwound =
        fm_process.unwinds != NULL ? fm_process.unwinds->stack(thread, registers, frame) : NULL;
    frame = unwound != NULL ? unwound : frame;
    struct fm_rec_csd *callee =
        unwound == NULL ? fm_callee_at_its_edge(thread, frame, registers) : NULL;
    struct fm_rec_csd *charged = callee != NULL ? callee : (struct fm_rec_csd *)frame->csd;
    /* The sum follows at once: a kill in between leaves it short of its parts. */
    fm_csd_add_quanta(thread, charged, quanta);
    thread->rec->user_quanta += quanta;
    thread->rec->charges += quanta > 0;
    thread->rec->charge_squares += quanta * quanta;
    struct fm_unwind_registers at;
    if (thread->slots != NULL)
        fm_unwind_registers_of(registers, &at);
    if (thread->slots != NULL)
        fm_slots_totals(thread, frame, &at, charged, quanta);
    else
        fm_totals_charge(thread, frame, charged, quanta);
    if (quanta > 0 && charged != thread->lost && unwound != NULL && fm_module_known(pc))
        fm_csd_add_sample(thread, charged, pc, quanta);
    else if (quanta > 0 && charged != thread->lost && unwound == NULL)
        keep_sample(thread, charged, frame, pc, sp, quanta);
    bool is_time = fm_process.tick_source != FM_REC_TICK_EVENT;
    fm_waiting_on_tick(thread, sp, is_time ? quanta : 0);
}

static void take(const ucontext_t *context)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    if (thread == NULL || fm_process_is_copy())
        return;
    int saved_errno = errno;
    uint64_t cpu_ns = fm_now_ns(CLOCK_THREAD_CPUTIME_ID);
    if (cpu_ns == 0) /* in a sandbox: the timer has counted its expirations */
        cpu_ns = thread->cpu_charged_ns + thread->expirations * (uint64_t)TIMER_NS;
    thread->expirations = 0;
    bool is_time = fm_process.tick_source != FM_REC_TICK_EVENT;
    uint64_t quanta = is_time ? time_passed(thread, cpu_ns) : fm_tick_events_passed(thread);
    thread->rec->ticks++;
    thread->rec->cpu_ns = cpu_ns;
    uint64_t pc = context != NULL ? (uint64_t)context->uc_mcontext.gregs[REG_RIP] : 0;
    bool in_hook = context == NULL || tls->inside != 0 || in_runtime(pc) || in_written_hook(pc);
    if (tls->inside == 0)
        fm_traced_on_tick(thread);
    if (!fm_process.stopped && in_hook)
        thread->rec->instrumentation_quanta += quanta;
    else if (!fm_process.stopped)
        charge(thread, &context->uc_mcontext, quanta);
    if (!fm_process.stopped)
        fm_held_on_tick(thread);
    if (tls->inside == 0)
        fm_control_look(!in_hook);
    errno = saved_errno;
}

static FM_RUNTIME_TEXT void catch_up(void)
{
    struct fm_tls *tls = &fm_tls_v2;
    tls->signals_blocked++; /* the next tick waits, too */
    tls->tick_waits = 0;
    take(NULL);
    tls->signals_blocked--;
}

static const struct fm_tick_actions actions = {
    .take = take, .catch_up = catch_up, .look = fm_tick_signal_look_slowly};

void fm_ticks_prepare(void)
{
    fm_process.tick_actions = &actions;
    const char *wish = fm_getenv("FATHOM_TICKS");
    fm_process.tick_source = FM_REC_TICK_CPU_TIMER;
    if (wish != NULL && strcmp(wish, "perf") == 0)
        fm_process.tick_source = FM_REC_TICK_PERF;
    if (wish != NULL && strcmp(wish, "none") == 0)
        fm_process.tick_source = FM_REC_TICK_NONE;
    if (wish != NULL)
        fm_tick_event_wish(wish);
    uint64_t period = fm_process.tick_period;
    fm_process.quantum_ns = QUANTUM_NS;
    if (fm_process.tick_source == FM_REC_TICK_PERF)
        fm_process.quantum_ns =
            period != 0 && period < PERF_PERIOD_SHORT_NS ? PERF_QUANTUM_LEAST_NS : PERF_QUANTUM_NS;
    if (fm_process.tick_source == FM_REC_TICK_EVENT)
        fm_process.quantum_ns = 0;
    fm_process.header->quantum_ns = fm_process.quantum_ns;
    fm_process.header->totals =
        FM_REC_TOTALS_CHARGED | (fm_process.unwinds == NULL ? FM_REC_TOTALS_FOREIGN : 0);
}

/* 0: stops the timer. */
static bool set_timer(int id, long first_ns, long every_ns)
{
    struct itimerspec every = {.it_interval.tv_nsec = every_ns, .it_value.tv_nsec = first_ns};
    return fm_system_call(SYS_timer_settime, id, 0, (long)&every, 0) == 0;
}

static bool start_timer(struct fm_thread *thread)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = FM_TICK_SIGNAL,
                             .sigev_value = fm_tick_value()};
    event._sigev_un._tid = (pid_t)thread->rec->tid;
    int id = 0;
    /* The system call itself: libc's timer_create allocates memory. */
    if (fm_system_call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&event, (long)&id, 0) != 0)
        return false;
    if (!set_timer(id, (long)fm_tick_random(thread, TIMER_NS), TIMER_NS)) {
        fm_system_call(SYS_timer_delete, id, 0, 0, 0);
        return false;
    }
    thread->timer = id;
    thread->has_timer = true;
    return true;
}

void fm_ticks_start(struct fm_thread *thread)
{
    int source = fm_process.tick_source;
    bool is_event = source == FM_REC_TICK_EVENT, user_alone = false;
    if (fm_process.ticks_held)
        source = FM_REC_TICK_NONE;
    if (source != FM_REC_TICK_NONE)
        fm_tick_signal_take();
    thread->cpu_charged_ns = fm_now_ns(CLOCK_THREAD_CPUTIME_ID);
    fm_tick_random_seed(thread);
    if (source == FM_REC_TICK_PERF && !fm_tick_event_start(thread, &user_alone))
        source = FM_REC_TICK_CPU_TIMER;
    if (is_event && !fm_tick_event_start(thread, &user_alone))
        source = FM_REC_TICK_NONE; /* nothing else is in its place: it has another unit */
    if (is_event && source != FM_REC_TICK_NONE && fm_process.tick_counts)
        /* without it, CPU time outside of waits is charged at the thread's end */
        start_timer(thread);
    if (source == FM_REC_TICK_CPU_TIMER && !start_timer(thread)) {
        source = FM_REC_TICK_NONE;
        if (thread->rec->number == 1)
            fm_process.header->sandbox_off |= FM_REC_NO_CPU_TIMER;
    }
    thread->rec->tick_source = (uint32_t)source;
    if (thread->rec->number != 1)
        return;
    fm_process.header->tick_period = is_event ? (uint32_t)fm_process.tick_period : 0;
    fm_process.header->tick_source =
        (uint32_t)source |
        (is_event && source != FM_REC_TICK_NONE
             ? fm_process.tick_event << 8 | (user_alone ? FM_REC_TICK_USER_ALONE : 0)
             : 0);
}

void fm_ticks_hold(bool held)
{
    fm_lock_take(&fm_process.threads_lock);
    fm_process.ticks_held = held;
    for (struct fm_thread *t = fm_process.threads; t != NULL; t = t->next) {
        if (t->has_timer)
            set_timer(t->timer, held ? 0 : TIMER_NS, held ? 0 : TIMER_NS);
        fm_tick_event_hold(t, held);
    }
    fm_lock_give(&fm_process.threads_lock);
}

void fm_ticks_stop(struct fm_thread *thread)
{
    fm_ticks_settle_rest(thread);
    fm_ticks_leave(thread);
    if (thread->has_timer)
        fm_system_call(SYS_timer_delete, thread->timer, 0, 0, 0);
    thread->has_timer = false;
}
