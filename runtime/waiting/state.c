/* SPDX-License-Identifier: Apache-2.0 */
/* Waits: their records, and everything that may interrupt them. The interposed functions are in the
 * other files of this folder. */
#include "waiting.h"

#include <errno.h>
#include <string.h>

#define MOMENT_MS 1 /* waits as long as that make the clock's latest moment */
#define QUEUE_MS 50 /* and for those calls, interval of reading the kernel's queue time */
#define QUEUE_CPU_NS 100000000u

/* Makes the calling thread's state; passed in, because threads.c is in a higher layer. */
static struct fm_thread *(*thread_make)(uint64_t stack_address);

void fm_waiting_prepare(struct fm_thread *(*make)(uint64_t stack_address))
{
    thread_make = make;
    const char *wish = fm_getenv("FATHOM_WAITING");
    fm_holders_forget();
    if (wish != NULL && strcmp(wish, "off") == 0)
        return;
    fm_wait_clock_begin();
    fm_sleeps_prepare();
}

void fm_waiting_linked(void)
{
    const char *wish = fm_getenv("FATHOM_WAITING");
    if (wish != NULL && strcmp(wish, "off") == 0)
        return;
    fm_process.grade_flags |= FM_REC_WAITING;
    if (fm_process.header != NULL)
        __atomic_fetch_or(&fm_process.header->grade_flags, FM_REC_WAITING, __ATOMIC_RELAXED);
}

void fm_waiting_stopped(void)
{
    __atomic_store_n(&fm_process.stopped_at, fm_process.wait_clock != 0 ? fm_wait_clock_now() : 0,
                     __ATOMIC_RELEASE);
}

/* Lists: signals blocked, inside. */
static struct fm_rec_side *waits_of(struct fm_thread *thread, struct fm_rec_csd *csd, bool make)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t ref = csd->side; ref != 0;) {
            struct fm_rec_side *side = fm_at(ref);
            if (side->kind == FM_REC_SIDE_WAITS)
                return side;
            ref = side->next;
        }
        if (pass == 0 && make)
            fm_side_add(thread, csd, FM_REC_SIDE_WAITS, 0);
    }
    return NULL;
}

static struct fm_rec_wait *record_make(struct fm_thread *thread, struct fm_rec_csd *csd,
                                       unsigned kind)
{
    bool refused =
        fm_arena_refuses(&thread->bump, sizeof(struct fm_rec_wait) + sizeof(struct fm_rec_side));
    struct fm_rec_side *side = waits_of(thread, csd, !refused);
    if (side == NULL)
        return NULL;
    for (uint32_t ref = (uint32_t)side->value; ref != 0;) {
        struct fm_rec_wait *record = fm_at(ref);
        if (record->kind == kind)
            return record;
        ref = record->next;
    }
    struct fm_rec_wait *record = refused ? NULL : fm_arena_alloc(&thread->bump, sizeof *record);
    if (record == NULL)
        return NULL;
    record->kind = kind;
    record->next = (uint32_t)side->value;
    __atomic_store_n(&side->value, fm_ref(record), __ATOMIC_RELEASE);
    return record;
}

static __attribute__((noinline)) struct fm_rec_wait *
record_find_slowly(struct fm_thread *thread, struct fm_rec_csd *csd, unsigned kind)
{
    struct fm_tls *tls = thread->tls;
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    tls->inside = 1;
    struct fm_rec_wait *record = record_make(thread, csd, kind);
    if (record != NULL) {
        struct fm_wait_slot *slot = fm_wait_slot_of(thread, csd, kind);
        slot->record = record;
        slot->key = fm_wait_key(csd, kind);
    } else {
        __atomic_fetch_add(&fm_process.header->wait_dropped, 1, __ATOMIC_RELAXED);
    }
    tls->inside = 0;
    fm_restore_signals(mask);
    errno = saved_errno;
    return record;
}

static struct fm_rec_wait *record_find(struct fm_thread *thread, struct fm_rec_csd *csd,
                                       unsigned kind)
{
    if (FM_UNLIKELY(csd == NULL))
        return NULL;
    const struct fm_wait_slot *slot = fm_wait_slot_of(thread, csd, kind);
    return FM_LIKELY(slot->key == fm_wait_key(csd, kind)) ? slot->record
                                                          : record_find_slowly(thread, csd, kind);
}

/* The calling thread's state, if its calls are recorded now. */
static inline struct fm_thread *recorded_thread(void)
{
    const struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    bool recorded = thread != NULL && tls->inside == 0 && tls->bound != FM_BOUND_NONE &&
                    fm_process.wait_clock != 0 && !fm_process_is_copy();
    return recorded ? thread : NULL;
}

/* NULL: nothing is recorded. */
static inline struct fm_rec_csd *charged_at(struct fm_thread *thread, uint64_t cfa)
{
    if (FM_UNLIKELY(fm_process.unwinds != NULL))
        return fm_process.unwinds->charged(thread, cfa);
    const struct fm_rec_frame *frame = fm_stack_charged_quickly(&fm_tls_v2, cfa);
    if (FM_UNLIKELY(frame == NULL)) {
        fm_stack_resume(thread, cfa);
        frame = fm_stack_charged(thread, cfa);
    }
    return (struct fm_rec_csd *)frame->csd;
}

void fm_wait_count_slowly(unsigned kind, uint64_t cfa)
{
    struct fm_thread *thread = recorded_thread();
    if (thread == NULL ||
        fm_process.unwinds != NULL) /* a call without a wait is not worth a walk */
        return;
    struct fm_rec_csd *csd = charged_at(thread, cfa);
    struct fm_rec_wait *record = record_find(thread, csd, kind);
    if (record != NULL)
        fm_add_once(&record->calls, 1);
}

/* When the stop began that the thread is in; 0: none. */
static uint64_t stopped_since(const struct fm_rec_thread *rec)
{
    bool stopped = __atomic_load_n(&rec->stop_since_ns, __ATOMIC_ACQUIRE) != 0;
    return FM_UNLIKELY(stopped) ? __atomic_load_n(&fm_process.stopped_at, __ATOMIC_ACQUIRE) : 0;
}

/* the few instructions of take_stop_off(), unless they are interrupted */
#define TAKING_OFF_NS 20000
#define TAKING_OFF_LOOKS 5000u

/* While the recording was not stopped, and no handler ran. */
static uint64_t elapsed_until(const struct fm_thread *thread, uint64_t since, uint64_t now)
{
    const struct fm_rec_thread *rec = thread->rec;
    uint64_t stopped_at = 0, away = 0;
    for (unsigned looks = 0; looks < TAKING_OFF_LOOKS; looks++) {
        uint32_t before = __atomic_load_n(&thread->waiting.taken_off, __ATOMIC_ACQUIRE);
        stopped_at = stopped_since(rec);
        away = __atomic_load_n(&rec->wait_away, __ATOMIC_ACQUIRE);
        if (FM_LIKELY(before % 2 == 0 &&
                      __atomic_load_n(&thread->waiting.taken_off, __ATOMIC_RELAXED) == before))
            break;
        struct timespec pause = {.tv_nsec = TAKING_OFF_NS};
        fm_system_call(35 /* nanosleep */, (long)&pause, 0, 0, 0);
    }
    if (FM_UNLIKELY(stopped_at > since && stopped_at < now))
        now = stopped_at;
    if (FM_UNLIKELY(now < since + away)) {
        __atomic_fetch_add(&fm_process.header->wait_backwards, 1, __ATOMIC_RELAXED);
        return 0;
    }
    return now - since - away;
}

static void count_wait(struct fm_rec_wait *record, uint64_t elapsed)
{
    fm_add_once(&record->waits, 1);
    fm_add_once(&record->ticks, elapsed);
    fm_wait_longest(&record->longest, elapsed);
}

/* Closes a wait that its function did not end. */
static void close_left(struct fm_thread *thread)
{
    struct fm_rec_thread *rec = thread->rec;
    uint64_t since = rec->wait_since;
    struct fm_rec_wait *record = thread->waiting.record;
    __atomic_store_n(&rec->wait_since, 0, __ATOMIC_RELEASE);
    if (record == NULL || since == 0 || fm_process.wait_clock == 0)
        return;
    record->left++;
    fm_add_once(&record->calls, 1);
    count_wait(record, elapsed_until(thread, since, fm_wait_clock_now()));
}

static bool same_stack(const struct fm_thread *thread, uint64_t a, uint64_t b)
{
    const struct fm_stack *stack = fm_stack_of(thread, a);
    uint64_t low = stack->low, high = stack->high;
    return low <= a && a <= high && low <= b && b <= high;
}

void fm_waiting_leave(struct fm_thread *thread, uint64_t sp)
{
    uint64_t cfa = thread->waiting.cfa;
    if (FM_UNLIKELY(thread->rec->wait_since != 0) && cfa <= sp && same_stack(thread, cfa, sp))
        close_left(thread);
}

/* The rest of an opening: the record is known. */
static void open_wait(struct fm_thread *thread, struct fm_rec_wait *record,
                      const struct fm_rec_csd *csd, uint64_t object, uint32_t holder, uint64_t cfa)
{
    struct fm_rec_thread *rec = thread->rec;
    thread->waiting.record = record;
    thread->waiting.cfa = cfa;
    rec->wait_kind = record->kind;
    rec->wait_object = object;
    rec->wait_csd = fm_ref(csd);
    rec->wait_holder = holder;
    rec->wait_away = 0;
    __atomic_store_n(&rec->wait_since, fm_wait_clock_now(), __ATOMIC_RELEASE);
}

/* A thread without hooks in its functions (for example a std::thread whose body was inlined into
 * the library's function) becomes known at its first wait. */
static __attribute__((noinline, cold)) struct fm_thread *thread_begin(uint64_t cfa)
{
    struct fm_tls *tls = &fm_tls_v2;
    if (tls->inside != 0 || tls->bound == FM_BOUND_NONE || fm_process.wait_clock == 0 ||
        fm_process.state != FM_RECORDING || fm_process.stopped || fm_process_is_copy())
        return NULL;
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    tls->inside = 1;
    struct fm_thread *thread = thread_make(cfa);
    tls->inside = 0;
    fm_restore_signals(mask);
    errno = saved_errno;
    return thread;
}

static struct fm_thread *thread_free_to_wait(uint64_t cfa)
{
    if (fm_tls_v2.inside == 0)
        fm_control_look(true);
    struct fm_thread *thread = recorded_thread();
    if (FM_UNLIKELY(thread == NULL) && fm_tls_v2.thread == NULL)
        thread = thread_begin(cfa);
    if (thread != NULL && FM_UNLIKELY(thread->rec->wait_since != 0)) {
        fm_waiting_leave(thread, cfa);
        if (thread->rec->wait_since != 0)
            return NULL; /* within another wait, which has it all */
    }
    return thread;
}

static __attribute__((noinline)) bool begin_slowly(unsigned kind, uint64_t object, uint64_t cfa)
{
    struct fm_thread *thread = thread_free_to_wait(cfa);
    if (thread == NULL)
        return false;
    struct fm_rec_csd *csd = charged_at(thread, cfa);
    struct fm_rec_wait *record = record_find(thread, csd, kind);
    if (record == NULL)
        return false;
    open_wait(thread, record, csd, object, 0, cfa);
    return true;
}

/* The usual case calls nothing, so no register need be saved. */
bool fm_wait_begin(unsigned kind, uint64_t object, uint64_t cfa)
{
    const struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    if (FM_UNLIKELY(thread == NULL || tls->inside != 0 || tls->bound == FM_BOUND_NONE ||
                    fm_process.wait_clock != FM_REC_CLOCK_TSC || thread->rec->wait_since != 0 ||
                    fm_process_is_copy() || fm_control_is_asked()))
        return begin_slowly(kind, object, cfa);
    const struct fm_rec_frame *frame = fm_stack_charged_quickly(tls, cfa);
    if (FM_UNLIKELY(frame == NULL))
        return begin_slowly(kind, object, cfa);
    const struct fm_rec_csd *csd = (const struct fm_rec_csd *)frame->csd;
    const struct fm_wait_slot *slot = fm_wait_slot_of(thread, csd, kind);
    if (FM_UNLIKELY(slot->key != fm_wait_key(csd, kind)))
        return begin_slowly(kind, object, cfa);
    open_wait(thread, slot->record, csd, object, 0, cfa);
    return true;
}

bool fm_wait_begin_lock(unsigned kind, const void *lock, uint32_t owner, uint64_t cfa)
{
    struct fm_thread *thread = thread_free_to_wait(cfa);
    if (thread == NULL)
        return false;
    struct fm_rec_csd *csd = charged_at(thread, cfa);
    struct fm_rec_wait *record = record_find(thread, csd, kind);
    if (record == NULL)
        return false;
    open_wait(thread, record, csd, (uint64_t)lock, fm_holder_context(owner), cfa);
    return true;
}

/* Calls for locks are counted as waits only after another thread was found to hold the lock. */
static bool is_always_wait(unsigned kind)
{
    return kind <= FM_REC_WAIT_SEMAPHORE;
}

/* clock of the CPU time of any thread: as pthread_getcpuclockid makes it. */
static int cpu_clock_of(uint32_t tid)
{
    return (int)(~tid << 3 | 6u);
}

static void times_read(struct fm_thread *thread)
{
    struct fm_rec_thread *rec = thread->rec;
    if (fm_process.wait_clock == 0)
        return;
    uint64_t cpu_ns = fm_now_ns(cpu_clock_of(rec->tid));
    thread->waiting.queue_read_cpu_ns = cpu_ns;
    fm_queue_read(rec, false);
    if (cpu_ns != 0)
        rec->cpu_last_ns = cpu_ns;
}

static __attribute__((noinline)) void note_long_wait(struct fm_thread *thread, uint64_t elapsed)
{
    int saved_errno = errno;
    fm_waiting_note_moment();
    if (elapsed >= fm_process.wait_ticks_per_ms * QUEUE_MS)
        times_read(thread);
    errno = saved_errno;
}

static __attribute__((noinline)) void end_slowly(struct fm_thread *thread, uint64_t cfa,
                                                 uint64_t now)
{
    struct fm_rec_thread *rec = thread->rec;
    uint64_t since = rec->wait_since;
    if (since == 0 || thread->waiting.cfa != cfa)
        return; /* closed meanwhile: this is a child of fork, say */
    struct fm_rec_wait *record = thread->waiting.record;
    uint64_t elapsed = elapsed_until(thread, since, now), lock = rec->wait_object;
    uint32_t kind = rec->wait_kind, holder = rec->wait_holder;
    __atomic_store_n(&rec->wait_since, 0, __ATOMIC_RELEASE);
    fm_add_once(&record->calls, 1);
    if (elapsed < fm_process.wait_threshold && !is_always_wait(kind)) {
        fm_add_once(&record->short_ticks, elapsed);
        return;
    }
    count_wait(record, elapsed);
    if (FM_UNLIKELY(thread->leaving))
        rec->end_monotonic_ns = fm_now_ns(CLOCK_MONOTONIC);
    if (kind == FM_REC_WAIT_MUTEX || kind == FM_REC_WAIT_RWLOCK)
        fm_blame_add(thread, record, lock, holder, elapsed);
    if (FM_UNLIKELY(fm_process.tick_counts))
        fm_ticks_settle(thread, fm_at(rec->wait_csd));
    if (FM_UNLIKELY(thread->traced.fast_count != 0) && fm_tls_v2.inside == 0)
        fm_traced_on_wait(thread);
    if (FM_UNLIKELY(elapsed >= fm_process.wait_ticks_per_ms * MOMENT_MS))
        note_long_wait(thread, elapsed);
}

/* A call that did not wait, again without a call. */
void fm_wait_end(uint64_t cfa)
{
    struct fm_thread *thread = fm_tls_v2.thread;
    if (FM_UNLIKELY(thread == NULL))
        return;
    struct fm_rec_thread *rec = thread->rec;
    if (FM_UNLIKELY(fm_process.wait_clock == 0)) { /* out of reach since the call began */
        __atomic_store_n(&rec->wait_since, 0, __ATOMIC_RELEASE);
        return;
    }
    uint64_t now = fm_wait_clock_now(), since = rec->wait_since,
             elapsed = now - since - rec->wait_away;
    if (FM_UNLIKELY(since == 0 || thread->waiting.cfa != cfa ||
                    elapsed >= fm_process.wait_threshold || is_always_wait(rec->wait_kind) ||
                    __atomic_load_n(&fm_process.stopped_at, __ATOMIC_ACQUIRE) > since)) {
        end_slowly(thread, cfa, now);
        return;
    }
    struct fm_rec_wait *record = thread->waiting.record;
    __atomic_store_n(&rec->wait_since, 0, __ATOMIC_RELEASE);
    fm_add_once(&record->calls, 1);
    fm_add_once(&record->short_ticks, elapsed);
}

void fm_wait_give_up(uint64_t cfa)
{
    struct fm_thread *thread = fm_tls_v2.thread;
    if (thread != NULL && thread->waiting.cfa == cfa)
        __atomic_store_n(&thread->rec->wait_since, 0, __ATOMIC_RELEASE);
}

void fm_waiting_on_tick(struct fm_thread *thread, uint64_t sp, uint64_t quanta)
{
    struct fm_rec_thread *rec = thread->rec;
    fm_waiting_leave(thread, sp);
    if (rec->wait_since != 0 && quanta > 0) {
        rec->wait_quanta += quanta;
        fm_add_once(&thread->waiting.record->cpu_quanta, quanta);
    }
    if (rec->cpu_ns - thread->waiting.queue_read_cpu_ns >= QUEUE_CPU_NS) {
        fm_waiting_note_moment();
        times_read(thread);
    }
}

void fm_waiting_put_aside(struct fm_thread *thread, unsigned index)
{
    struct fm_rec_thread *rec = thread->rec;
    /* Also saves a wait that is just being opened: waits of the handler would overwrite it. */
    thread->waiting.asides[index] = (struct fm_wait_aside){
        .since = rec->wait_since,
        .away = rec->wait_away,
        .object = rec->wait_object,
        .cfa = thread->waiting.cfa,
        .at = rec->wait_since != 0 ? fm_wait_clock_now() : 0,
        .kind = rec->wait_kind,
        .csd = rec->wait_csd,
        .holder = rec->wait_holder,
        .record = thread->waiting.record,
    };
    __atomic_store_n(&rec->wait_since, 0, __ATOMIC_RELEASE);
}

void fm_waiting_take_up(struct fm_thread *thread, unsigned index)
{
    struct fm_rec_thread *rec = thread->rec;
    const struct fm_wait_aside *aside = &thread->waiting.asides[index];
    if (rec->wait_since != 0)
        close_left(thread); /* those of the handler itself: it was left */
    rec->wait_away = aside->away;
    rec->wait_object = aside->object;
    rec->wait_kind = aside->kind;
    rec->wait_csd = aside->csd;
    rec->wait_holder = aside->holder;
    thread->waiting.cfa = aside->cfa;
    thread->waiting.record = aside->record;
    if (aside->since == 0)
        return;
    uint64_t now = fm_wait_clock_now(), stopped_at = stopped_since(rec);
    if (stopped_at != 0 && stopped_at < now) /* from then on, the time belongs to the stop */
        now = stopped_at;
    rec->wait_away += now > aside->at ? now - aside->at : 0;
    __atomic_store_n(&rec->wait_since, aside->since, __ATOMIC_RELEASE);
}

/* The stop ends. While it lasted the thread may have ended its wait, but has begun no other. */
static void take_stop_off(struct fm_thread *thread)
{
    struct fm_rec_thread *rec = thread->rec;
    uint64_t since = __atomic_load_n(&rec->wait_since, __ATOMIC_ACQUIRE);
    uint64_t from = fm_process.stopped_at > since ? fm_process.stopped_at : since;
    uint64_t now = since != 0 ? fm_wait_clock_now() : from;
    __atomic_store_n(&thread->waiting.taken_off, thread->waiting.taken_off + 1, __ATOMIC_SEQ_CST);
    if (now > from)
        __atomic_store_n(&rec->wait_away, rec->wait_away + (now - from), __ATOMIC_RELEASE);
    __atomic_store_n(&rec->stop_since_ns, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->waiting.taken_off, thread->waiting.taken_off + 1, __ATOMIC_RELEASE);
}

void fm_waiting_note_stop(struct fm_thread *thread, bool stopped, uint64_t now_ns)
{
    struct fm_rec_thread *rec = thread->rec;
    uint64_t cpu_ns = fm_now_ns(cpu_clock_of(rec->tid));
    if (stopped) {
        rec->stop_cpu_ns = cpu_ns;
        __atomic_store_n(&rec->stop_since_ns, now_ns, __ATOMIC_RELEASE);
        return;
    }
    uint64_t since_ns = rec->stop_since_ns;
    if (since_ns == 0)
        return;
    take_stop_off(thread);
    rec->stopped_ns += now_ns > since_ns ? now_ns - since_ns : 0;
    rec->stopped_cpu_ns += cpu_ns > rec->stop_cpu_ns ? cpu_ns - rec->stop_cpu_ns : 0;
}

void fm_waiting_begin_thread(struct fm_thread *thread)
{
    fm_holder_note(thread->rec);
    /* Before its first call nothing was recorded: the process before exec, the loader. */
    thread->rec->stopped_cpu_ns = fm_now_ns(cpu_clock_of(thread->rec->tid));
    if (fm_process.stopped)
        fm_waiting_note_stop(thread, true, thread->rec->start_monotonic_ns);
    /* That of a new thread begins with 0. */
    if (fm_process.wait_clock != 0 && thread->rec->tid == (uint32_t)fm_system_call(39, 0, 0, 0, 0))
        fm_queue_read(thread->rec, true);
}

void fm_waiting_end_thread(struct fm_thread *thread)
{
    if (thread->rec->wait_since != 0)
        close_left(thread);
    fm_waiting_note_moment();
    times_read(thread);
    fm_waiting_note_stop(thread, false, fm_now_ns(CLOCK_MONOTONIC));
}

void fm_waiting_reset(struct fm_thread *thread)
{
    struct fm_waiting *waiting = &thread->waiting;
    memset(waiting->slots, 0, sizeof waiting->slots);
    memset(waiting->asides, 0, sizeof waiting->asides);
    waiting->record = NULL;
    waiting->queue_read_cpu_ns = 0;
    waiting->blames_used = 0;
    waiting->taken_off = 0;
    if (waiting->blames != NULL)
        memset(waiting->blames, 0, FM_BLAMES_MAX * sizeof(uint32_t));
}

void fm_waiting_at_exit(void)
{
    if (fm_process.wait_clock == 0)
        return;
    uint64_t mask = fm_block_signals();
    fm_waiting_note_moment();
    fm_lock_take(&fm_process.threads_lock);
    for (struct fm_thread *t = fm_process.threads; t != NULL; t = t->next)
        times_read(t);
    fm_lock_give(&fm_process.threads_lock);
    fm_restore_signals(mask);
}
