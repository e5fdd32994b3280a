/* SPDX-License-Identifier: Apache-2.0 */
/* The recording file (NAME.rec): the growing call graph of one process, written through a shared
 * mapping and readable at any moment, also after the process was killed. docs/format-recording.md
 * describes it with pictures; this header is the definition.
 *
 * Byte order and word size are those of the machine that recorded (header.byte_order tells); only
 * 64-bit machines record. A *ref* is a 32-bit offset from the start of the file in units of 8
 * bytes; 0 is "none". Nothing in the file needs the process's pointers but three kinds of
 * address: code addresses (fn, hook_pc, site, ...: translate by the module list), cfa (compare
 * only), and fm_rec_frame.csd (subtract header.map_base). The file is sparse; beyond
 * header.bytes_used it holds nothing, and bytes never written are zero.
 *
 *   header ──first_thread──▶ thread ─next▶ thread ...          newest first
 *      │                       ├─root_pd──▶ pd ─first_csd▶ csd ─next▶ csd ...
 *      │                       │                            └─callee─▶ pd
 *      │                       └─first_stack─▶ stack ─next▶ stack: the open frames
 *      ├─first_module─▶ module ─next▶ module ...                newest first
 *      ├─first_mark───▶ mark ─next▶ ...                         newest first
 *      └─first_chunk──▶ chunk ─next▶ ...  (nobody needs it to read; for fm dump and checks)
 *
 * Walk: for each thread start at root_pd. Each pd has a list of the csds that leave it (newest
 * first). csd.callee is the pd that it leads to. A pd has exactly one csd whose flags have
 * FM_REC_CSD_MADE_CALLEE (the csd that made it; pd.maker names it); every other csd that leads to
 * it closes a recursion. So following only MADE_CALLEE csds visits every pd once. Graphs of
 * different threads share nothing.
 *
 * Reading live: a node is filled in before the ref to it is stored (release), and is never moved,
 * unlinked or freed; a list only grows at its head. Every 4- and 8-byte field is stored whole.
 * Counters only grow, and are no snapshot: a call may be counted in its caller alone so far. */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "recording_measures.h"

#define FM_REC_MAGIC "FATHOMR\n"
#define FM_REC_VERSION 5u
#define FM_REC_VERSION_PLAIN 4u /* files without FM_REC_EXITS; 5 has it in addition */
/* The oldest version that can be read. 3 has no edges by unwinding. Threads of version 1 end before
 * `charges`; those of 1 and 2 before `current_stack`, and their headers before `wait_clock`, their
 * allocation records before `own_frees`. */
#define FM_REC_VERSION_OLDEST 1u
#define FM_REC_BYTE_ORDER 0x01020304u
#define FM_REC_HEADER_BYTES 4096u
#define FM_REC_UNIT 8u /* unit of refs in bytes */

enum fm_rec_state {
    FM_REC_RUNNING =
        1, /* or ended by a signal, _exit or exec: check whether header.pid still exists */
    FM_REC_CLOSED = 2, /* exit() or return from main */
    /* the process went on with another program; set before exec, or by the recording of that
     * program */
    FM_REC_EXECED = 3,
};

enum fm_rec_tick_source {
    FM_REC_TICK_NONE = 0,      /* no timer could be had: all quanta are 0 */
    FM_REC_TICK_CPU_TIMER = 1, /* timer_create on the thread's CPU clock */
    FM_REC_TICK_PERF = 2,      /* perf_event_open, cpu-clock */
    /* Quanta are no time but events of a kind; the kind (from 1) is in bits 8 to 15. */
    FM_REC_TICK_EVENT = 3,
};
/* Additional bit: for this user the kernel counts only events of user code. */
#define FM_REC_TICK_USER_ALONE (1u << 16)
/* X(upper, number, name, words, type and config of perf_event_open, counted, period). A signal
 * comes after each `period` events; what happens as a thread goes to sleep is counted, without
 * signals. */
#define FM_REC_TICK_EVENTS(X)                                                     \
    X(PAGE_FAULTS, 1, "page-faults", "page faults", 1, 2, false, 1)               \
    X(MINOR_FAULTS, 2, "minor-faults", "minor faults", 1, 5, false, 1)            \
    X(MAJOR_FAULTS, 3, "major-faults", "major faults", 1, 6, false, 1)            \
    X(CONTEXT_SWITCHES, 4, "context-switches", "context switches", 1, 3, true, 1) \
    X(MIGRATIONS, 5, "migrations", "migrations", 1, 4, true, 1)                   \
    X(CYCLES, 6, "cycles", "cycles", 0, 0, false, 2000003)                        \
    X(INSTRUCTIONS, 7, "instructions", "instructions", 0, 1, false, 2000003)      \
    X(CACHE_MISSES, 8, "cache-misses", "cache misses", 0, 3, false, 10007)        \
    X(BRANCH_MISSES, 9, "branch-misses", "branch misses", 0, 5, false, 10007)

enum fm_rec_grade_flags {
    /* Recordings of a grade that fathom had: frames were popped lazily, exits not seen. exits :=
     * calls - excps, and open frames must not be closed by the reader. */
    FM_REC_LAZY_EXITS = 1u << 0,
    FM_REC_COVERAGE = 1u << 1,    /* coverage points were met */
    FM_REC_ALLOCATION = 1u << 2,  /* the malloc family is interposed */
    FM_REC_FORKED = 1u << 3,      /* child of fork: open frames are inherited, see fm_rec_frame */
    FM_REC_WAS_STOPPED = 1u << 4, /* by the program or from the start, at some time */
    FM_REC_WAITING = 1u << 5,     /* calls that can wait are interposed, and were counted */
    FM_REC_HELD = 1u << 6,        /* blocks remember where they were allocated: fm_rec_held */
    FM_REC_WILL_HOLD = 1u << 7,   /* they would: without FM_REC_HELD there were none */
    FM_REC_LIFETIMES = 1u << 8,   /* also the lifetimes of blocks */
    FM_REC_UNWOUND = 1u << 9,     /* contexts are of stacks that were unwound, see fm_rec_csd */
    FM_REC_EXITS = 1u << 10,      /* csds are fm_rec_csd_exits, and no frames are kept */
};

/* Unit of a wait's clock values. The reader converts them to nanoseconds by two moments in the
 * header. */
enum fm_rec_wait_clock {
    FM_REC_CLOCK_TSC = 1,       /* the processor's counter, where the kernel relies on it, too */
    FM_REC_CLOCK_MONOTONIC = 2, /* nanoseconds */
};

/* Parts that are no longer recorded since the program entered a sandbox, because it forbids their
 * system calls. */
enum fm_rec_sandbox_off {
    FM_REC_SANDBOX_TICKS = 1u << 0,     /* CPU time by function */
    FM_REC_SANDBOX_NEW_TICKS = 1u << 1, /* as above, for threads that began later */
    FM_REC_SANDBOX_WAITS = 1u << 2,     /* waiting */
    FM_REC_SANDBOX_ROOM = 1u << 3, /* the file does not grow any more; its present room is used */
    FM_REC_SANDBOX_CHILDREN = 1u << 4, /* children of fork */
    FM_REC_SANDBOX_QUEUED = 1u << 5,   /* how long threads were without a processor */
    FM_REC_SANDBOX_CLOCK = 1u << 6,    /* times finer than the kernel's tick */
    /* From the start, without a sandbox of the program's own: the system refuses timers of CPU time
     * (timer_create), so no thread was sampled. */
    FM_REC_NO_CPU_TIMER = 1u << 7,
};

/* One moment by the wait clock and by CLOCK_MONOTONIC. */
struct fm_rec_moment {
    uint64_t ticks, ns;
};

/* Objects that threads wait for: number, name, description. */
#define FM_REC_WAIT_KINDS(X)                                \
    X(MUTEX, 1, "mutex", "a mutex")                         \
    X(RWLOCK, 2, "rwlock", "a read-write lock")             \
    X(CONDITION, 3, "condition", "a condition")             \
    X(SEMAPHORE, 4, "semaphore", "a semaphore")             \
    X(BARRIER, 5, "barrier", "a barrier")                   \
    X(JOIN, 6, "join", "a thread's end")                    \
    X(ONCE, 7, "once", "another thread's pthread_once")     \
    X(FUTEX, 8, "futex", "a futex")                         \
    X(READ, 9, "read", "reading")                           \
    X(WRITE, 10, "write", "writing")                        \
    X(RECEIVE, 11, "receive", "receiving")                  \
    X(SEND, 12, "send", "sending")                          \
    X(ACCEPT, 13, "accept", "a connection to accept")       \
    X(CONNECT, 14, "connect", "connecting")                 \
    X(READY, 15, "ready", "poll, select, epoll")            \
    X(SLEEP, 16, "sleep", "sleeping")                       \
    X(SIGNAL, 17, "signal", "a signal")                     \
    X(CHILD, 18, "child", "a child process")                \
    X(DISK, 19, "disk", "files and disks")                  \
    X(LOCK_FILE, 20, "lock_file", "a file's lock")          \
    X(MESSAGE, 21, "message", "messages between processes") \
    X(RANDOM, 22, "random", "random numbers")               \
    X(TERMINAL, 23, "terminal", "a terminal")               \
    X(RESOLVE, 24, "resolve", "a name to be resolved")      \
    X(LOAD, 25, "load", "a library to be loaded")           \
    X(DEVICE, 26, "device", "a device's answer")
enum fm_rec_wait_kind {
#define FM_REC_WAIT_ENUM(upper, number, name, words) FM_REC_WAIT_##upper = (number),
    FM_REC_WAIT_KINDS(FM_REC_WAIT_ENUM)
#undef FM_REC_WAIT_ENUM
        FM_REC_WAIT_KINDS_END /* the last one + 1 */
};

struct fm_rec_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t header_bytes;  /* FM_REC_HEADER_BYTES */
    uint32_t state;         /* enum fm_rec_state */
    uint32_t grade_flags;   /* enum fm_rec_grade_flags, or-ed */
    uint32_t pointer_bytes; /* 8 */
    uint64_t map_base;      /* address of byte 0 of the file in the process's memory */
    uint64_t bytes_used;    /* end of the last chunk handed out; only grows */
    uint64_t bytes_limit;   /* most that the file may grow to */

    uint32_t pid;
    uint32_t parent_pid;
    uint32_t instance;    /* n of NAME.<pid>.<n>.rec: distinguishes program images of one process */
    uint32_t tick_source; /* enum fm_rec_tick_source of the main thread, and additional bits */
    uint64_t process_start; /* field 22 of /proc/PID/stat: with pid, names the process for good */
    uint64_t start_realtime_ns;
    uint64_t start_monotonic_ns;
    uint64_t end_monotonic_ns; /* 0 unless closed */
    uint64_t quantum_ns;       /* CPU time of one quantum; FM_REC_TICK_EVENT: 0 */

    uint32_t first_thread;
    uint32_t first_module;
    uint32_t first_mark;
    uint32_t first_chunk;
    uint32_t module_epoch; /* the number of changes of the module list so far, from 1 */
    uint32_t program;      /* fm_rec_text: the executable's path */
    uint32_t arguments;    /* fm_rec_text: argv, each ended by NUL */
    uint32_t directory;    /* fm_rec_text: working directory at the start */

    /* Losses, all zero in a good recording. dropped_nodes: edges that were not made because the
     * file could not grow (disk full, limit). Their calls, and all calls below them, are counted at
     * an edge from the thread's root to FM_REC_FN_LOST. Allocation records and coverage points
     * count here, too. */
    uint64_t dropped_nodes;
    uint64_t dropped_threads; /* threads without any record */
    uint64_t dropped_modules;

    /* Heap of the whole process: with FM_REC_HELD in requested bytes, see fm_rec_held; else in
     * usable bytes (malloc_usable_size), and threads report in steps of 64 KiB, so both may be off
     * by that times the number of threads. */
    int64_t live_bytes;
    int64_t peak_live_bytes;
    uint64_t dropped_points; /* coverage points: blocks that ran and have no count */

    uint64_t recording_on; /* 1 while recording is not stopped by the program */
    uint64_t snapshot_of;  /* in a snapshot: its number, from 1; else 0 */

    /* Waiting. */
    uint32_t wait_clock;        /* enum fm_rec_wait_clock; 0: calls that can wait are not seen */
    uint32_t wait_threshold_ns; /* shorter calls are not waits */
    uint32_t wait_latest_at;    /* index of the valid entry in wait_latest[] */
    uint32_t traced; /* fm_rec_text: FATHOM_TRACE, the functions whose calls are timed one by one; 0
                        = none */
    struct fm_rec_moment wait_first;     /* when the process began */
    struct fm_rec_moment wait_latest[2]; /* from time to time */
    uint64_t wait_backwards;             /* waits whose clock ran backwards: counted without time */
    uint64_t wait_dropped;               /* calls not counted, as there was no room */
    uint64_t blame_dropped;              /* waits for locks that are in no fm_rec_blame */

    uint32_t held;    /* fm_rec_held, or 0 */
    uint32_t control; /* fm_rec_control, or 0: the program does not look at requests */
    uint32_t rank;    /* fm_rec_text: of an MPI program's process "RANK COUNT HOST", COUNT 0 = not
                         known; or 0 */
    uint32_t tick_period; /* FM_REC_TICK_EVENT: events per tick; 0 = they are counted at ticks and
                             waits, else 0 */
    uint32_t forked_in;   /* fm_rec_csd: of a child of fork, the innermost call open then; or 0 */
    uint32_t children;    /* forked by it, that record: each counts itself here, once begun */
    uint32_t sleeps;      /* fm_rec_sleeps, or 0 */
    /* Forked by it or by such a child, and not recorded: the file could not be made (chroot,
     * setuid, a sandbox). */
    uint32_t children_lost;

    /* A sandbox (seccomp) that the program has put itself in; all 0: none. */
    uint64_t sandbox_since_ns; /* CLOCK_MONOTONIC */
    uint32_t sandbox_off;      /* enum fm_rec_sandbox_off, or-ed: parts not recorded since then */
    uint32_t sandbox_left;     /* threads recorded until a handler jumped out of the runtime */
    uint64_t sandbox_missed;   /* calls in signal handlers that interrupted the runtime */
    uint64_t totals;           /* enum fm_rec_totals, or-ed: what ticks keep beside csds */

    /* With FM_REC_UNWOUND. */
    uint64_t stacks;         /* that were walked */
    uint64_t stacks_cut;     /* not to their outermost frame */
    uint64_t stacks_guessed; /* over frames without unwind information: */
    uint64_t frames_guessed; /* so many, together */

    uint32_t curve; /* fm_rec_curve, or 0: live bytes over time are not recorded */
    uint32_t reserved;

    /* Blocks of FM_HELD_LARGE_BYTES or more (fm_rec_held). */
    uint64_t large_begun;   /* bytes allocated or freed, or about to be */
    uint64_t large_counted; /* bytes of those that the sum and the records tell alike */
    uint64_t large_at_peak; /* bytes that they may have told unlike when the last peak ended */
    uint64_t large_begun_alone,
        large_counted_alone; /* as above, begun while there was one thread */
};
enum fm_rec_totals {
    FM_REC_TOTALS_CHARGED = 1u << 0, /* all functions on a stack are charged */
    FM_REC_TOTALS_FOREIGN = 1u << 1, /* functions of modules without hooks: FM_REC_SIDE_FOREIGN */
};
static_assert(sizeof(struct fm_rec_header) == 440, "docs/format-recording.md");

/* Requests to the program: the only part of the file that it reads. A sender holds the file locked
 * (flock), fills requests[asked % FM_REC_REQUESTS] while asked - done is less than FM_REC_REQUESTS,
 * and then adds 1 to `asked`. The program answers in order: first the request's result, then
 * `done`. It looks for requests at its ticks, when it waits, and when it meets a new edge. So a
 * sleeping program answers when it wakes. */
#define FM_REC_REQUESTS 8u
#define FM_REC_LABEL_BYTES 232u
enum fm_rec_command {
    FM_REC_COMMAND_START = 1,
    FM_REC_COMMAND_STOP = 2,
    FM_REC_COMMAND_MARK = 3,     /* a phase begins, named by the label */
    FM_REC_COMMAND_SNAPSHOT = 4, /* a copy was made: the file of number `value` */
};

struct fm_rec_request {
    uint32_t command; /* enum fm_rec_command */
    int32_t result;   /* 0, or a negative error number */
    uint32_t value;
    uint32_t label_bytes;  /* at most FM_REC_LABEL_BYTES */
    uint64_t monotonic_ns; /* time of the request: the time of the mark */
    char label[FM_REC_LABEL_BYTES];
};

struct fm_rec_control {
    uint32_t asked; /* requests so far */
    uint32_t done;  /* number of requests answered */
    struct fm_rec_request requests[FM_REC_REQUESTS];
};
static_assert(sizeof(struct fm_rec_control) == 8 + 8 * 256, "docs/format-recording.md");

/* Bytes of text: the size excludes the final NUL, which is there. Padded to 8. */
struct fm_rec_text {
    uint32_t size;
    char bytes[]; /* size + 1 */
};

/* A shared object while it is loaded. The code address a, seen in epoch e, belongs to the module
 * with start <= a < end and loaded <= e < unloaded; its address in the ELF file is a - bias. */
enum fm_rec_module_flags {
    FM_REC_MODULE_EXECUTABLE = 1u << 0,
    FM_REC_MODULE_INSTRUMENTED = 1u << 1, /* at least one hook in it has run; set late */
    FM_REC_MODULE_VDSO = 1u << 2,         /* no file */
    FM_REC_MODULE_UNWOUND = 1u << 3,      /* a frame of its code was unwound; set late */
};
#define FM_REC_STILL_LOADED UINT32_MAX

struct fm_rec_module {
    uint32_t next;
    uint32_t flags;
    uint64_t start, end; /* lowest and highest + 1 address of its PT_LOAD segments */
    uint64_t bias;       /* dlpi_addr */
    uint32_t loaded;     /* epoch */
    uint32_t unloaded;   /* epoch, or FM_REC_STILL_LOADED */
    uint32_t path;       /* fm_rec_text; absolute */
    uint32_t build_id_bytes;
    uint8_t build_id[32]; /* the first build_id_bytes (0..32) */
    uint64_t file_inode;  /* inode of path when it was listed; 0 = not known */
};
static_assert(sizeof(struct fm_rec_module) == 88, "docs/format-recording.md");

/* A thread that ran a hook, made an allocation or got a tick. */
enum fm_rec_thread_state { FM_REC_THREAD_LIVE = 1, FM_REC_THREAD_ENDED = 2 };

struct fm_rec_thread {
    uint32_t next;
    uint32_t state;
    uint32_t tid;
    uint32_t number; /* order of first hooks, from 1 */
    uint64_t start_monotonic_ns;
    uint64_t end_monotonic_ns;
    uint32_t root_pd;  /* fn = 0 */
    uint32_t root_csd; /* leads to root_pd; has costs outside of all functions */
    uint32_t first_stack;
    uint32_t tick_source;            /* enum fm_rec_tick_source */
    uint64_t user_quanta;            /* = sum of quanta over its csds */
    uint64_t instrumentation_quanta; /* ticks that fell into hooks */
    uint64_t ticks;                  /* signals received; rate = ticks * 1e9 / cpu_ns */
    uint64_t cpu_ns;                 /* the thread's CPU time at the latest tick */
    uint64_t calls_dropped;          /* calls not counted, as memory itself was short */
    uint64_t exits_unmatched;        /* exit hooks without an open frame (entered while stopped) */
    uint64_t frames_inexact;         /* edges made from frames without frame pointer */
    uint64_t callbacks_unresolved;   /* callbacks for which no instrumented frame was found */
    uint64_t started_in;             /* entry address of the first function that it entered */
    char name[16];
    uint64_t charges;        /* ticks that added to user_quanta */
    uint64_t charge_squares; /* sum of the squares of the charges */

    uint32_t current_stack; /* fm_rec_stack that its hooks run on; 0: none in the file */
    /* The open wait: its begin (wait clock; 0 = none; written last, cleared first), kind, and
     * context. */
    uint32_t wait_kind; /* enum fm_rec_wait_kind */
    uint64_t wait_since;
    uint64_t wait_object; /* address of the lock or other object; a descriptor; 0 */
    uint32_t wait_csd;
    uint32_t wait_holder; /* csd in which the lock's holder was; 0 = not known */
    uint64_t wait_away;   /* in the wait's clock: time in signal handlers and stops that are over */
    uint64_t wait_quanta; /* part of user_quanta: while a wait was open */
    uint64_t queued_first_ns; /* ready to run but without a processor, when it was met first */
    uint64_t queued_ns;       /* as above, latest; both 0: the kernel does not report it */
    uint64_t cpu_last_ns;     /* its CPU time when queued_ns was read */
    /* While the recording was stopped: together, and the stop that lasts (CLOCK_MONOTONIC, 0 =
     * none; CPU time then). */
    uint64_t stopped_ns, stopped_cpu_ns;
    uint64_t stop_since_ns, stop_cpu_ns;
};
static_assert(sizeof(struct fm_rec_thread) == 256, "docs/format-recording.md");

/* A procedure in one calling context. fn: entry address of the function as the hook gave it (in
 * a clone, the original's). 0 = the root of a thread. (--grade=deep: the function's first
 * address, from its unwind information.) */
#define FM_REC_FN_LOST 1u /* all that there was no room for: no function, and no context either */
#define FM_REC_FN_CUT 2u  /* callers that are not known: the stack could not be walked further */
#define FM_REC_FN_UNKNOWN 3u /* code of no module, made while the program ran */
#define FM_REC_FN_SPECIAL_MAX 3u
struct fm_rec_pd {
    uint64_t fn;
    uint32_t first_csd;   /* the newest csd that leaves it */
    uint32_t maker;       /* the csd that made it */
    uint32_t epoch;       /* module epoch in which fn is meant */
    uint32_t first_point; /* coverage */
};
static_assert(sizeof(struct fm_rec_pd) == 24, "docs/format-recording.md");

/* A call edge: from caller, by one call site, to callee. Identified in its caller by (hook_pc,
 * site). Of an edge that was found by unwinding, hook_pc is the callee's fn (a hook's is behind the
 * hook), and its calls are not counted. fn is then the first address of a function by its unwind
 * information; of code without any, the end of the last code before that has some, or the beginning
 * of the module. All measures are stored here: the callee's own costs when called through this
 * edge.
 *
 *   exits = calls - excps - (frames of this csd still open, see fm_rec_frame)
 *
 * When the recording has ended, frames still open have been left by exit, _exit, exec or a
 * signal: count each as an exceptional exit, so that exits + excps = calls. */
enum fm_rec_csd_flags {
    /* the callee's body is inside its caller's frame: site is 0, the call site is at hook_pc
     * (inline scope) */
    FM_REC_CSD_INLINED = 1u << 0,
    /* site is in a module without hooks: qsort, signal trampoline, thread start. See
     * FM_REC_SIDE_VIA */
    FM_REC_CSD_CALLBACK = 1u << 1,
    FM_REC_CSD_MADE_CALLEE = 1u << 2,
    FM_REC_CSD_SIGNAL = 1u << 3, /* site is the kernel's signal return code */
    /* closes a recursion and counts by depth. After the csd comes the distance to fm_rec_depths of
     * its callee, used by the runtime only */
    FM_REC_CSD_DEPTHS = 1u << 4,
    /* created its callee, from which a recursion leads back to its caller or further up: both
     * belong to one clique */
    FM_REC_CSD_WITHIN = 1u << 5,
    /* with DEPTHS: leads neither back to its caller, nor to a pd on the path by which that was
     * made, but to another pd of the clique: not one deeper */
    FM_REC_CSD_ACROSS = 1u << 6,
    FM_REC_CSD_TRACED = 1u << 7, /* its calls are timed one by one; the frame of one that is has
                                    bit 1 of its cfa set */
};
#define FM_REC_CSD_EPOCH_SHIFT 8u /* epoch_flags = epoch << 8 | flags; epoch stops at 2^24 - 1 */

struct fm_rec_csd {
    uint64_t calls;
    uint64_t hook_pc; /* return address of the entry hook: the hook's place in the code */
    uint64_t site;    /* return address of the callee's frame: just after the call */
    uint32_t caller;  /* pd */
    uint32_t callee;  /* pd */
    uint32_t next;    /* next csd of the caller, older */
    uint32_t alloc;   /* fm_rec_alloc, or 0 */
    uint32_t side;    /* first fm_rec_side, or 0 */
    uint32_t quanta;
    uint32_t excps; /* exceptional exits noticed so far */
    uint32_t epoch_flags;
};
static_assert(sizeof(struct fm_rec_csd) == 56, "docs/format-recording.md");

/* With FM_REC_EXITS (--hooks=slots), but for roots and FM_REC_FN_LOST. Calls that are open are not
 * told from those that were left otherwise: calls - exits are both. */
struct fm_rec_csd_exits {
    struct fm_rec_csd csd;
    uint64_t exits; /* FM_REC_EXITS_ALL: as many as calls */
};
#define FM_REC_EXITS_ALL UINT64_MAX
static_assert(sizeof(struct fm_rec_csd_exits) == 64, "docs/format-recording.md");

/* Shadow stack of one thread on one stack of memory (the thread's own, a signal stack, a
 * coroutine). Its open frames are frames[1 .. n] where n + 1 is the first index with cfa = 0 or
 * capacity; frames[0] is a guard (csd: that below which the stack was entered; cfa above all).
 * Popping a frame zeroes its cfa; pushing stores the cfa last. */
struct fm_rec_frame {
    uint64_t cfa; /* canonical frame address. Bit 0 set: its call is not counted in this file
                     (inherited over fork, or entered when the file was full), so do not count
                     its exit. Bit 1 set: a signal handler's frame, or of a call that is timed.
                     Bit 2 set: an inlined body's, stored 4 lower than the frame around it. */
    uint64_t csd; /* address of the csd in the process: (csd - map_base) is its offset */
    uint64_t key; /* the runtime's lookup key of csd.callee; readers ignore it */
    uint64_t fn;  /* readers ignore it: the function entered, if the hook stored it. Of a csd with
                     FM_REC_CSD_DEPTHS: the depth of the call, 2^62 = not known. 2^62 + 1: a function
                     that calls nothing, open as long as a signal's handler runs above it */
};
static_assert(sizeof(struct fm_rec_frame) == 32, "docs/format-recording.md");

struct fm_rec_stack {
    uint32_t next;
    uint32_t thread;
    uint64_t low, high; /* the memory that it shadows; high = 0: not known */
    /* When the array must grow, frames move to a larger one; these two are stored as one word. */
    uint32_t frames; /* ref to fm_rec_frame[capacity] */
    uint32_t capacity;
};
static_assert(sizeof(struct fm_rec_stack) == 32, "docs/format-recording.md");

/* A phase mark set by the program, or a snapshot taken. */
struct fm_rec_mark {
    uint32_t next;
    uint32_t tid;
    uint64_t monotonic_ns;
    uint64_t user_quanta; /* CPU time of all threads at that moment */
    uint32_t snapshot;    /* number of the snapshot file NAME.snap<number>.rec, or 0 */
    uint32_t name;        /* fm_rec_text */
};
static_assert(sizeof(struct fm_rec_mark) == 32, "docs/format-recording.md");

/* Memory of the file that was given to a thread (nodes, side records) or to the process. */
struct fm_rec_chunk {
    uint32_t next;
    uint32_t owner; /* thread, or 0 */
    uint64_t bytes; /* with this header */
    uint64_t used;  /* with this header; only grows */
};
static_assert(sizeof(struct fm_rec_chunk) == 24, "docs/format-recording.md");
