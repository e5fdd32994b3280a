/* SPDX-License-Identifier: Apache-2.0 */
/* Private state of the runtime. Locks, outermost first: fm_process.threads_lock (the list of
 * threads) > fm_thread.lock (its owner's slow path, or another thread that purges or stops it) >
 * fm_process.lock (the file's growth). All are taken with all signals blocked, so a holder keeps
 * running unless it is descheduled; waiters spin for a moment and then sleep. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

#include "hot.h"
#include "recording_format.h"
#include "ticks/totals.h"
#include "unwound/actions.h"

#define FM_LIKELY(x) __builtin_expect(!!(x), 1)
#define FM_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Code whose CPU time counts as instrumentation: its ticks are not charged to the program. */
#define FM_RUNTIME_TEXT __attribute__((section("fm_runtime_text"), noinline))
#define FM_EXPORT __attribute__((visibility("default")))
#define FM_HIDDEN __attribute__((visibility("hidden")))

/* A thread's chunks double from the first size to the second: short threads may be many. */
#define FM_THREAD_CHUNK_FIRST (4u << 10)
#define FM_THREAD_CHUNK_BYTES (64u << 10)
#define FM_PROCESS_CHUNK_BYTES (16u << 10)
#define FM_STACK_FRAMES_FIRST 64u /* doubled as needed */
#define FM_TABLE_ENTRIES_FIRST 1024u
#define FM_FAR_LOOKUPS_FIRST 1024
#define FM_SIGNAL_SAVES_MAX 64u
#define FM_CACHE_LINE 64u
#define FM_MODULES_MAX 4096u

/* The lock's state and, in the bits above, the generation of the process that took it. A child of
 * fork has none of its parent's other threads, so a lock that one of them held is free there. */
enum { FM_LOCK_FREE = 0, FM_LOCK_HELD, FM_LOCK_AWAITED };
#define FM_LOCK_GENERATION_SHIFT 2
typedef struct fm_lock {
    int word;
} fm_lock;

/* Bump allocation in the file: zeroed memory, 8-byte aligned, never freed. */
struct fm_bump {
    struct fm_rec_chunk *chunk;
    uint32_t chunk_bytes;
    uint32_t owner;
};

/* A stack on which a thread's hooks run. */
struct fm_stack {
    struct fm_stack *next;
    struct fm_stack *below; /* the stack from which this one was entered */
    uint64_t low, high;
    bool guessed; /* bounds are a guess: they grow */
    struct fm_rec_stack *rec;
    struct fm_rec_frame *frames;
    struct fm_rec_frame *top; /* valid while it is not the current stack */
    struct fm_rec_frame *limit;
    bool rec_private, frames_private; /* the file had no room: readers do not see the open frames */
    struct fm_rec_frame *at_fork;     /* copy for the child: the parent continues in the file */
    uint64_t at_fork_count;
};

/* Records of waiting that were met lately: by edge and kind. */
#define FM_WAIT_SLOTS 64u
struct fm_wait_slot {
    uint64_t key;
    struct fm_rec_wait *record;
};

/* An open wait, while the handler of a signal runs in it. */
struct fm_wait_aside {
    uint64_t since, away, object, cfa, at;
    uint32_t kind, csd, holder;
    struct fm_rec_wait *record;
};

#define FM_BLAMES_MAX 4096u /* a power of two */
struct fm_waiting {
    /* record of the open wait; the rest of it is in the file's thread */
    struct fm_rec_wait *record;
    uint64_t cfa;               /* CFA of the function that waits */
    uint64_t queue_read_cpu_ns; /* the thread's CPU time when its run queue time was last read */
    uint32_t taken_off;         /* odd while the end of a stop is subtracted from the open wait */
    uint32_t blames_used;
    uint32_t *blames; /* FM_BLAMES_MAX refs of fm_rec_blame by hash; NULL: none yet */
    struct fm_wait_slot slots[FM_WAIT_SLOTS];
    struct fm_wait_aside asides[FM_SIGNAL_SAVES_MAX]; /* parallel to signal_saves */
};

/* Entry in the private index of a thread's flows. */
struct fm_flow_slot {
    uint64_t key;   /* 0: free */
    uint32_t flow;  /* fm_rec_flow */
    uint32_t epoch; /* at least up to this epoch, its source record has been saved */
};

/* Heap changes of a thread that the header does not have yet, and when it gets them: before a free
 * that makes delta less than low, after an allocation that makes it more than high. */
struct fm_thread_held {
    int64_t delta, low, high;
    uint64_t flows; /* index of flows, held/held.h */
    uint32_t flows_used;
    uint32_t self; /* ref of the thread's record */
};

/* A call that is being timed. */
struct fm_traced_open {
    uint64_t cfa; /* CFA of its frame, without flag bits */
    struct fm_rec_csd *csd;
    uint64_t start_ns;
};
#define FM_TRACED_OPEN_MAX 4096u
#define FM_TRACED_FAST_MAX 64u
struct fm_traced {
    struct fm_traced_open *open; /* FM_TRACED_OPEN_MAX; NULL: none yet */
    uint32_t open_count;
    uint32_t fast_count;
    bool fresh;                        /* the newest was opened by the slow path that runs */
    uint64_t exit_ns;                  /* when the exit hook that runs was met; 0: none */
    uint64_t fast[FM_TRACED_FAST_MAX]; /* identities of edges that go untimed, */
    uint64_t fast_since_ns;            /* the first of them from then on */
    struct fm_rec_spans *spans;
};

/* Result of perf_event_open. */
struct fm_perf_event {
    int fd;      /* -1: none */
    uint64_t id; /* the kernel's id of the event: the program may have closed the descriptor */
};

struct fm_thread {
    struct fm_thread *next, *previous; /* fm_process.threads; fm_process.leaving: next only */
    struct fm_tls *tls;
    fm_lock lock;
    struct fm_rec_thread *rec;
    struct fm_bump bump;
    struct fm_stack *stack, *stacks; /* the current one; all */
    uint32_t entries_used;
    uint64_t points_used;
    int64_t far_allowed; /* number of lookups beyond the home pair before the index is rebuilt */
    uint64_t root_key;
    struct fm_rec_csd *lost; /* counts events that have no room here; linked at its first use */
    bool lost_linked;
    struct fm_rec_point lost_point;
    struct fm_perf_event counter, sampler; /* perf events; the sampler sends ticks */
    uint64_t events_charged;               /* number of counted events already charged */
    bool has_timer;
    int timer;               /* the kernel's id */
    uint64_t cpu_charged_ns; /* CPU time turned into quanta so far */
    uint64_t tick_random;    /* state of fm_tick_random() */
    uint64_t expirations;    /* expirations of the timer since the last tick */
    struct fm_thread_held held;
    unsigned destructor_rounds;
    bool leaving; /* in its last destructors, or after them */
    /* Freed when the thread is gone, together with its struct fm_tls. */
    struct fm_entry *table;
    struct fm_point_entry *points;
    size_t table_bytes, points_bytes;
    unsigned signal_saves_used;
    struct fm_rec_frame signal_saves[FM_SIGNAL_SAVES_MAX];
    struct fm_waiting waiting;
    struct fm_traced traced;
    struct fm_tick_totals totals;
    struct fm_unwound *unwound;    /* the stack that was walked last; NULL: none yet */
    struct fm_slots_thread *slots; /* --hooks=slots; NULL: not yet */
};

/* Functions called by files that do not depend on ticks. */
struct fm_tick_actions {
    /* A tick of the calling thread, which no other interrupts. NULL: it interrupted the runtime. */
    void (*take)(const ucontext_t *context);
    void (*catch_up)(void); /* handles a tick that waited while the runtime had blocked signals */
    void (*look)(void);     /* checks whether libc has replaced the tick's handler */
};

enum fm_process_state { FM_NOT_STARTED = 0, FM_RECORDING, FM_INERT };

struct fm_process {
    int state; /* enum fm_process_state */
    fm_lock lock;
    fm_lock threads_lock;
    uint32_t grade_flags;
    bool stopped;
    bool was_stopped; /* ever: frames may be missing from the shadow stacks */
    /* The process's generation, from 1; the kernel zeroes it in a child. NULL: it cannot. */
    volatile int *wiped_by_fork;
    int generation; /* as above: the parent's until the child has its own */
    char *base;     /* address at which the file is mapped */
    int fd;
    uint64_t file_dev, file_inode;
    uint64_t refused_bytes; /* least that there was no room for, until then; 0 = none */
    uint64_t refused_until_ns;
    uint64_t bytes_extended; /* the file has room up to here */
    uint64_t bytes_max;      /* to which it may grow where it is mapped */
    struct fm_rec_header *header;
    struct fm_rec_header *lost_in; /* child without a file: the parent's, which counts it */
    struct fm_bump bump;
    struct fm_thread *threads; /* live ones */
    struct fm_thread *leaving; /* threads that have ended but may still run for a moment */
    uint32_t thread_count;
    uint64_t quantum_ns; /* 0: ticks of an event that is no time */
    int tick_source;     /* requested source: enum fm_rec_tick_source */
    const struct fm_tick_actions *tick_actions;
    const struct fm_unwound_actions *unwinds; /* NULL: contexts are those of the hooks alone */
    bool tick_signal_watched;                 /* libc may still replace the tick's handler */
    uint64_t tick_period;                     /* period of perf's event; 0: default of cpu-clock */
    uint32_t tick_event;                      /* its number, with FM_REC_TICK_EVENT */
    bool tick_counts; /* it is counted at ticks and waits, and sends no signals */
    bool ticks_held;  /* off: a sandbox forbids handlers to return */
    uint64_t loader_adds, loader_subs;
    bool traced; /* calls of some functions are timed one by one */
    int snapshots;
    struct fm_rec_control *control; /* in the file; NULL: none */
    uint32_t requests_seen;
    fm_lock control_lock, moment_lock;
    /* When to go on and when to stop, by CLOCK_MONOTONIC; 0: never, or it has been. */
    uint64_t start_at_ns, stop_at_ns;
    uint32_t wait_clock; /* enum fm_rec_wait_clock; 0: calls that can wait are let through */
    uint64_t wait_ticks_per_ms;
    uint64_t wait_threshold; /* in ticks of the wait clock */
    uint64_t stopped_at;     /* as above, when the recording was last stopped */
    struct fm_rec_moment wait_first;
    char path[4096];      /* path of the file */
    char base_name[4000]; /* path of the first process's file without .rec */
};
extern struct fm_process fm_process FM_HIDDEN;

/* sys.c: functions that would otherwise need stdio or malloc. */
#define FM_SIGNAL_BIT(signal) (1ull << ((signal)-1))
uint64_t fm_block_signals(void); /* all but FM_TICK_SIGNAL, and ticks; returns the old mask */
/* Flag in the mask for the case that it never blocks that signal, because the program's sandbox
 * forbids it. `inside` then has FM_INSIDE_OPEN, so that handlers find the hooks off. */
#define FM_SIGNALS_OPEN FM_SIGNAL_BIT(SIGKILL)
#define FM_INSIDE_OPEN (1u << 31)
void fm_restore_signals(uint64_t mask);
/* All system calls of the runtime go through here. It bypasses libc's syscall(), which may be
 * interposed. Returns -errno; -EPERM without a call if a filter of the program forbids it
 * (sandbox/gate.h). */
long fm_system_call6(long number, long a, long b, long c, long d, long e, long f);
static inline long fm_system_call(long number, long a, long b, long c, long d)
{
    return fm_system_call6(number, a, b, c, d, 0, 0);
}
pid_t fm_thread_id(void); /* id of the calling thread; 0 = not known */
/* Another part of this process's memory; how much of it can be read. */
size_t fm_copy_readable(void *to, const void *from, size_t bytes);
/* Reserves addresses for fm_private_alloc(), before a sandbox forbids mmap. */
void fm_private_reserve(size_t bytes);
void fm_lock_take(fm_lock *lock);
bool fm_lock_try(fm_lock *lock); /* false: another thread holds it */
void fm_lock_give(fm_lock *lock);
void fm_locks_give_all(void); /* that the calling thread holds */
uint64_t fm_now_ns(int clock);
/* Like mmap() and related calls, see fm_system_call6(). NULL and errno: failure. */
void *fm_memory_map(void *at, size_t bytes, int protection, int flags, int fd, uint64_t offset);
void fm_memory_unmap(void *memory, size_t bytes);
void fm_memory_advise(void *memory, size_t bytes, int advice);
void *fm_private_alloc(size_t bytes); /* anonymous memory, zeroed; NULL on failure */
/* As above, for memory that will be used completely: its pages are allocated at once, large ones if
 * available. */
void *fm_private_alloc_ahead(size_t bytes);
void fm_private_free(void *memory, size_t bytes);
size_t fm_text_append(char *buffer, size_t size, size_t used, const char *text);
size_t fm_text_append_number(char *buffer, size_t size, size_t used, uint64_t number);
void fm_complain(const char *what, const char *which); /* prints a line on stderr */
const char *fm_getenv(const char *name);               /* works before libc's environ is set */
/* Bounds of the mapping that contains address, from /proc/self/maps. */
bool fm_mapping_find(uint64_t address, uint64_t *ret_low, uint64_t *ret_high, bool *ret_main_stack);

/* addresses.c */
char *fm_addresses_choose(void);     /* chooses the address of the file; NULL: there is no room */
bool fm_addresses_map(uint64_t end); /* from bytes_extended; errno EEXIST: another mapping */

/* arena.c */
bool fm_arena_open(bool complains);
void fm_arena_reserve(void); /* reserves room for data needed when the file cannot grow any more */
void fm_arena_leave_file(void);                           /* closes its descriptor */
int fm_descriptor_raise(int fd);                          /* to a number out of the program's way */
void *fm_arena_alloc(struct fm_bump *bump, size_t bytes); /* NULL: no room */
/* As above, aligned to a cache line. */
void *fm_arena_alloc_line(struct fm_bump *bump, size_t bytes);
/* Whether it surely gives NULL: no lock, no system call. */
bool fm_arena_refuses(const struct fm_bump *bump, size_t bytes);
void fm_arena_close(uint32_t state);
void *fm_arena_alloc_shared(size_t bytes); /* memory that belongs to the process, not to a thread */
uint32_t fm_arena_text(const char *bytes, size_t size); /* fm_rec_text, 0: no room */
static inline void *fm_at(uint32_t ref)
{
    return fm_process.base + (uint64_t)ref * FM_REC_UNIT;
}
static inline uint32_t fm_ref(const void *object)
{
    return (uint32_t)((uint64_t)((const char *)object - fm_process.base) / FM_REC_UNIT);
}

/* modules.c. Async-signal-safe except the refresh itself, which takes the loader's lock. */
void fm_modules_refresh(void);
FM_EXPORT void fm_module_leaves_v1(const void *inside);
void fm_modules_after_fork(const char *old_base); /* the new file is open */
static inline uint32_t fm_modules_epoch(void)
{
    return fm_process.header->module_epoch;
}
bool fm_module_known(uint64_t address);
void fm_module_set_instrumented(uint64_t address);
bool fm_module_is_instrumented(uint64_t address);
const struct fm_rec_module *fm_module_record(uint64_t address); /* NULL: none */
/* First address of the function that contains pc, from unwind tables; 0 if not known. */
uint64_t fm_function_start(uint64_t pc);
/* Finds by an unwind from here the address at which the frame with that CFA continues when its
 * callee returns; 0: the unwind does not reach it. stack: the one that the caller runs on.
 * function: start of the frame's function; beyond code without unwind tables, it is searched
 * for. */
uint64_t fm_unwind_to(const struct fm_stack *stack, uint64_t cfa, uint64_t function);

/* graph.c */
/* The index: pairs of entries in one cache line, the home pair first, then the following pairs. At
 * most half full; the most frequent edges are in their home pairs. */
static inline struct fm_entry *fm_entry_at(const struct fm_tls *tls, uint64_t offset)
{
    return (struct fm_entry *)((char *)tls->table + (offset & tls->mask));
}
static inline struct fm_entry *fm_entry_find(const struct fm_tls *tls, uint64_t identity)
{
    for (uint64_t step = 0;; step += 64) {
        bool has_free = false; /* if it has, nothing has overflowed from this pair */
        for (unsigned i = 0; i < 2; i++) {
            struct fm_entry *entry = fm_entry_at(tls, (identity & ~32ull) + step + i * 32u);
            if (entry->identity == identity)
                return entry;
            has_free |= entry->identity == 0;
        }
        if (has_free)
            return NULL;
    }
}
struct fm_rec_csd *fm_edge_find(struct fm_thread *thread, uint64_t caller_key, uint64_t hook_pc,
                                uint64_t site, bool hidden);
uint64_t fm_pd_key(const struct fm_thread *thread, const struct fm_rec_pd *pd);
uint64_t fm_callee_key(const struct fm_thread *thread, const struct fm_rec_csd *csd,
                       uint64_t caller_key);
struct fm_rec_pd *fm_graph_root(struct fm_thread *thread);      /* makes it; NULL: no room */
bool fm_table_make(struct fm_thread *thread, uint32_t entries); /* with the old one's entries */
void fm_table_arrange(struct fm_thread *thread);
/* A call from the caller's frame by an edge with FM_REC_CSD_DEPTHS is counted: its depth, or
 * FM_DEPTH_UNKNOWN. */
uint64_t fm_depth_count(struct fm_rec_csd *csd, const struct fm_rec_frame *caller);
void fm_side_add(struct fm_thread *thread, struct fm_rec_csd *csd, uint32_t kind, uint64_t add);
void fm_csd_add_excp(struct fm_thread *thread, struct fm_rec_csd *csd);
/* Keeps by address quanta that were added. */
void fm_csd_add_sample(struct fm_thread *thread, struct fm_rec_csd *csd, uint64_t pc,
                       uint64_t quanta);
void fm_csd_add_quanta(struct fm_thread *thread, struct fm_rec_csd *csd, uint64_t quanta);
/* caller_key: of the pd that caller leads to. */
struct fm_rec_csd *fm_csd_make(struct fm_thread *thread, struct fm_rec_csd *caller,
                               uint64_t caller_key, const struct fm_rec_csd *like, uint64_t fn,
                               struct fm_rec_pd *callee);
/* Returns the edge used instead of one that cannot be made: hooks find it under the pd's key from
 * then on. flags: FM_REC_CSD_SIGNAL or none. */
struct fm_rec_csd *fm_edge_lose(struct fm_thread *thread, uint64_t caller_key, uint64_t hook_pc,
                                uint64_t site, uint32_t flags);
struct fm_rec_csd *fm_graph_lost(struct fm_thread *thread); /* as above, without index */
void fm_graph_purge(uint64_t start, uint64_t end);          /* code of an unloaded module */

/* coverage/blocks.c */
/* Number of counted blocks of the function whose entry hook ends at hook_pc, + 1; 0 = not
 * counted. */
static inline uint32_t fm_hook_blocks(uint64_t hook_pc)
{
    uint32_t words[2];
    __builtin_memcpy(words, (const char *)hook_pc - 16, sizeof words);
    return words[0] == FM_HOOK_COUNTS && words[1] <= FM_REC_BLOCKS_MAX ? words[1] + 1 : 0;
}
static inline uint64_t *fm_block_counters(struct fm_rec_point *point)
{
    return (uint64_t *)(void *)(point + 1);
}
/* The counters of a pd, made at its first edge; fm_uncounted_v1 where there is no room. */
uint64_t *fm_pd_counters(struct fm_thread *thread, struct fm_rec_pd *pd, uint64_t hook_pc);
/* Layout after the csds of such functions: number of depths, counters. */
#define FM_CSD_COUNTERS_BYTES (sizeof(int64_t) + sizeof(uint64_t *))
static inline uint64_t **fm_csd_counters(struct fm_rec_csd *csd)
{
    return (uint64_t **)(void *)((char *)(csd + 1) + sizeof(int64_t));
}

/* coverage/points.c */
struct fm_rec_point *fm_points_known(const struct fm_tls *tls, uint64_t pc); /* at the top; NULL */
void fm_points_count(struct fm_thread *thread, uint64_t pc); /* locked; makes it if it is new */
void fm_points_purge(struct fm_thread *thread, uint64_t start, uint64_t end);
void fm_points_reset(struct fm_thread *thread); /* forgets the index */
void fm_points_free(struct fm_thread *thread);

/* stacks.c */
struct fm_stack *fm_stack_add(struct fm_thread *thread, uint64_t address);
/* Makes the stack that contains cfa the current one; makes a new one if there is none. */
void fm_stack_switch(struct fm_thread *thread, uint64_t cfa);
bool fm_stack_grow(struct fm_thread *thread);
void fm_stack_forget(uint64_t low, uint64_t high); /* makecontext is about to use this memory */
void fm_stack_note(uint64_t low, uint64_t high);
void fm_stack_publish_current(struct fm_thread *thread);
/* sys.c: the stack that contains sp; the current one if none is known to. The program may switch
 * stacks before a hook notices. */
const struct fm_stack *fm_stack_of(const struct fm_thread *thread, uint64_t sp);
/* The innermost live frame when the stack pointer is sp: the one to charge. */
const struct fm_rec_frame *fm_stack_charged(const struct fm_thread *thread, uint64_t sp);
/* Makes that frame's stack the current one, so that following calls take the fast path. resume:
 * without lock, outside of hooks. */
void fm_stack_follow(struct fm_thread *thread, uint64_t sp);
void fm_stack_resume(struct fm_thread *thread, uint64_t sp);
/* As fm_stack_charged(), if the top is that frame or has just returned into it; else NULL, also
 * when no frame is open on the current stack. Addresses between those of two frames of a stack, and
 * below its lowest, belong to that stack. */
static inline const struct fm_rec_frame *fm_stack_charged_quickly(const struct fm_tls *tls,
                                                                  uint64_t sp)
{
    const struct fm_rec_frame *frame = tls->top;
    /* i.e. fm_frame_address(frame->cfa) + FM_CFA_FROM_FRAME > sp, whatever the flag bits */
    uint64_t alive = sp - FM_CFA_FROM_FRAME + FM_CFA_INLINED;
    if (FM_UNLIKELY(!fm_bound_passes(tls->bound, sp)))
        return tls->slot_root != 0 ? fm_slots_charged_quickly(tls) : NULL;
    if (FM_LIKELY((int64_t)frame->cfa >= (int64_t)alive)) /* the guard's is negative */
        return frame;
    frame--;
    return (int64_t)frame->cfa >= (int64_t)alive ? frame : NULL;
}

/* hooks.c */
/* longjmp, exceptions: control goes to the frame whose stack pointer is sp. */
void fm_frames_leave(uint64_t sp);

/* tls.c */
extern struct fm_rec_frame fm_no_frame FM_HIDDEN; /* the top of a thread without state */
extern struct fm_point_entry fm_no_points[2];

/* threads.c. Call fm_process_start() before. */
struct fm_thread *fm_thread_make(uint64_t stack_address); /* makes the calling thread's */
/* between_hooks: the calling thread is in no hook. */
void fm_threads_control(bool stopped, bool between_hooks);
void fm_threads_end_key_make(void);
void fm_threads_free_gone(void); /* frees memory of ended threads; signals are blocked */
void fm_thread_disable(void);    /* the calling thread is not recorded any more */
/* A handler jumps to a frame with that stack pointer, while tls.open_section is set. If the jump
 * leaves the section, its locks are freed and the thread is recorded no more. */
void fm_thread_leave_section(uint64_t sp);
/* Around fork() in the forking thread: saves its open frames for the child; frees them. */
void fm_threads_before_fork(void);
void fm_threads_fork_done(void);
/* Carries the context of the forking thread over to the new file. old_base: the parent's file. */
void fm_threads_after_fork(const char *old_base);

/* held/held.c */
void fm_held_thread(struct fm_thread *thread); /* prepares thread->held; its record exists */
void fm_held_thread_done(struct fm_thread *thread);
void fm_held_flush(struct fm_thread *thread); /* adds the thread's changes to the header */
void fm_held_many(void);                      /* threads_lock is held: there is a second thread */
void fm_held_after_fork(void);                /* the new file is open */
void fm_held_forget(void);                    /* there is no file for it */

/* ticks/ticks.c */
/* The edge by which the code that was interrupted has been entered from the top's function, if it
 * has no frame in the shadow stack: not yet, not any more, or never. NULL: the top itself runs. */
struct fm_rec_csd *fm_callee_at_its_edge(const struct fm_thread *thread,
                                         const struct fm_rec_frame *top,
                                         const mcontext_t *registers);
/* Whether the callee is a leaf function, which has no frame of its own. */
bool fm_is_of_leaf(const struct fm_rec_csd *csd);
bool fm_is_hook_of_leaf(uint64_t hook_pc);
/* ticks/events.c. wish: EVENT[:PERIOD], with an event of perf_event_open; others have no effect. */
void fm_tick_event_wish(const char *wish);
/* perf's clock, or the event. False: the kernel refuses it. *ret_user_alone is set where it refuses
 * its own part. */
bool fm_tick_event_start(struct fm_thread *thread, bool *ret_user_alone);
void fm_tick_event_again(struct fm_thread *thread); /* a signal of the event has arrived */
void fm_tick_event_hold(struct fm_thread *thread, bool held);
/* How many there were since the last look. */
uint64_t fm_tick_events_passed(struct fm_thread *thread);
/* Charges them to csd. */
void fm_ticks_settle(struct fm_thread *thread, struct fm_rec_csd *csd);
/* As above at the end, to the frames that are then open. */
void fm_ticks_settle_rest(struct fm_thread *thread);
/* Uniform random number from 1 to most. Ticks come at random times, never in step with programs. */
uint64_t fm_tick_random(struct fm_thread *thread, uint64_t most);
void fm_tick_random_seed(struct fm_thread *thread);
void fm_ticks_prepare(void);
void fm_ticks_start(struct fm_thread *thread);
void fm_ticks_stop(struct fm_thread *thread);
void fm_ticks_hold(bool held); /* stops or restarts the ticks of all threads, also later ones */
void fm_ticks_leave(struct fm_thread *thread); /* child of fork: closes the parent's descriptor */
/* ticks/signal.c */
#define FM_TICK_SIGNAL 33         /* SIGSETXID of libc's */
void fm_tick_signal_take(void);   /* installs the tick's handler */
bool fm_tick_signal_lend(void);   /* before exec: restores the program's action; false: none */
union sigval fm_tick_value(void); /* marks a timer's signal as a tick */
bool fm_tick_signal_is_tick(const siginfo_t *info);
/* The kernel's sigaction for the program, with the kernel's structure; -errno. */
long fm_tick_signal_exchange(const void *action, void *ret_old);
void fm_tick_signal_look_slowly(void);
/* libc installs its own handler when it makes the program's first thread; call this after functions
 * that may have done so. */
extern char __libc_single_threaded __attribute__((weak)); /* new in glibc 2.32 */
static inline void fm_tick_signal_look(void)
{
    if (FM_UNLIKELY(fm_process.tick_signal_watched && !__libc_single_threaded))
        fm_process.tick_actions->look();
}

/* waiting/state.c. All but the first three are called with signals blocked. */
/* For a file that was opened; again in a child of fork. `make`: a thread is known from its first
 * wait on, when no function of it has a hook. */
void fm_waiting_prepare(struct fm_thread *(*make)(uint64_t stack_address));
void fm_waiting_linked(void); /* calls that can wait are interposed */
void fm_waiting_on_tick(struct fm_thread *thread, uint64_t sp, uint64_t quanta);
/* Closes an open wait whose function was left: its frame was at or below sp, on the same stack. */
void fm_waiting_leave(struct fm_thread *thread, uint64_t sp);
/* A handler begins in a wait, and ends: index as for signal_saves. */
void fm_waiting_put_aside(struct fm_thread *thread, unsigned index);
void fm_waiting_take_up(struct fm_thread *thread, unsigned index);
void fm_waiting_begin_thread(struct fm_thread *thread);
void fm_waiting_end_thread(struct fm_thread *thread);
void fm_blames_free(struct fm_thread *thread);
void fm_waiting_reset(struct fm_thread *thread); /* in a child of fork: drops the parent's state */
void fm_waiting_at_exit(void);
void fm_waiting_stopped(void);
void fm_waiting_note_moment(void); /* that the program was there now */
/* From now on the thread is, or is not, in a stop of the recording. */
void fm_waiting_note_stop(struct fm_thread *thread, bool stopped, uint64_t now_ns);

/* control.c: requests from outside, and times for start and stop. */
struct fm_control_actions { /* all with signals blocked and `inside` */
    void (*stop)(bool stopped, bool between_hooks);
    int (*mark)(const char *label, uint32_t snapshot, uint64_t monotonic_ns);
};
/* For a file that was opened; again in a child of fork. */
void fm_control_prepare(const struct fm_control_actions *actions);
void fm_control_act(bool between_hooks);
/* Whether there is a request; for any thread that holds no lock. A tick says whether it interrupted
 * a hook; all other callers are between hooks. */
static inline bool fm_control_is_asked(void)
{
    const struct fm_rec_control *control = fm_process.control;
    return control != NULL && (__atomic_load_n(&control->asked, __ATOMIC_RELAXED) !=
                                   __atomic_load_n(&fm_process.requests_seen, __ATOMIC_RELAXED) ||
                               (fm_process.start_at_ns | fm_process.stop_at_ns) != 0);
}

static inline void fm_control_look(bool between_hooks)
{
    if (FM_UNLIKELY(fm_control_is_asked()))
        fm_control_act(between_hooks);
}

/* Place of a duration in fm_rec_durations. */
struct fm_duration_place {
    unsigned octave;
    uint64_t step;
};
static inline struct fm_duration_place fm_duration_place(uint64_t ns)
{
    unsigned octave = ns < FM_REC_DURATION_STEPS ? 0 : 57 - (unsigned)__builtin_clzll(ns);
    uint64_t step = octave == 0 ? ns : (ns >> (octave - 1)) - FM_REC_DURATION_STEPS;
    return (struct fm_duration_place){.octave = octave, .step = step};
}

/* traced/traced.c. All with signals blocked. */
void fm_traced_prepare(void);   /* for a file that was opened */
bool fm_traced_is(uint64_t fn); /* whether the function is among the chosen ones */
/* A call by a traced edge begins: whether it is timed, and its frame to be marked. */
bool fm_traced_enter(struct fm_thread *thread, struct fm_rec_csd *csd, uint64_t identity,
                     uint64_t cfa);
void fm_traced_leave(struct fm_thread *thread, struct fm_rec_csd *csd, uint64_t cfa, bool left);
/* A chosen leaf function: reported, but not timed. */
void fm_traced_leaf(struct fm_thread *thread, struct fm_rec_csd *csd);
void fm_traced_on_tick(struct fm_thread *thread); /* all is timed again */
void fm_traced_on_wait(struct fm_thread *thread); /* likewise, if some time has passed */
void fm_traced_reset(struct fm_thread *thread);   /* in a child of fork */
void fm_traced_end_thread(struct fm_thread *thread);
/* The identity under which the index has a traced edge: the hooks do not find it. */
#define FM_TRACED_HIDDEN (1ull << 63)

/* interpose/interpose.c, called by contexts.S */
void fm_makecontext_noted(const ucontext_t *context);
void *fm_makecontext_next(void);
extern void *fm_makecontext_behind FM_HIDDEN;

extern void *fm_early_tls FM_HIDDEN; /* set by early.S; NULL: none */
extern size_t fm_early_tls_bytes FM_HIDDEN;
bool fm_process_is_early(void); /* libc has not begun yet: nothing can be recorded now */
bool fm_process_start(void);    /* idempotent; true while recording */
void fm_process_after_fork(void);
/* Whether this process is a copy of the one that opened the file, by fork, _Fork or clone (not
 * vfork, which shares the memory). */
static inline bool fm_process_is_copy(void)
{
    return fm_process.wiped_by_fork != NULL && *fm_process.wiped_by_fork == 0;
}
