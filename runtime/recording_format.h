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
 * Counters only grow. Counters of different nodes are not one snapshot: a call may be counted in
 * a caller and not yet in its callee. */
#pragma once

#include <assert.h>
#include <stdint.h>

#define FM_REC_MAGIC "FATHOMR\n"
#define FM_REC_VERSION 2u
#define FM_REC_VERSION_OLDEST 1u /* that is read: threads end before `charges` */
#define FM_REC_BYTE_ORDER 0x01020304u
#define FM_REC_HEADER_BYTES 4096u
#define FM_REC_UNIT 8u /* bytes one ref counts */

enum fm_rec_state {
    FM_REC_RUNNING =
        1,             /* or ended by a signal, _exit or exec: ask whether header.pid still lives */
    FM_REC_CLOSED = 2, /* exit() or return from main */
    FM_REC_EXECED =
        3, /* the same process went on with another program; set before exec, or by its recording */
};

enum fm_rec_tick_source {
    FM_REC_TICK_NONE = 0,      /* no timer could be had: all quanta are 0 */
    FM_REC_TICK_CPU_TIMER = 1, /* timer_create on the thread's CPU clock */
    FM_REC_TICK_PERF = 2,      /* perf_event_open, cpu-clock */
};

enum fm_rec_grade_flags {
    /* Recordings of a grade that fathom had: frames were popped lazily, exits not seen. exits :=
     * calls - excps, and open frames must not be closed by the reader. */
    FM_REC_LAZY_EXITS = 1u << 0,
    FM_REC_COVERAGE = 1u << 1,    /* coverage points were met */
    FM_REC_ALLOCATION = 1u << 2,  /* the malloc family is interposed */
    FM_REC_FORKED = 1u << 3,      /* child of fork: open frames are inherited, see fm_rec_frame */
    FM_REC_WAS_STOPPED = 1u << 4, /* by the program or from the start, at some time */
};

struct fm_rec_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t header_bytes;  /* FM_REC_HEADER_BYTES */
    uint32_t state;         /* enum fm_rec_state */
    uint32_t grade_flags;   /* enum fm_rec_grade_flags, or-ed */
    uint32_t pointer_bytes; /* 8 */
    uint64_t map_base;      /* where byte 0 of the file is in the process's memory */
    uint64_t bytes_used;    /* end of the last chunk handed out; only grows */
    uint64_t bytes_limit;   /* most that the file may grow to */

    uint32_t pid;
    uint32_t parent_pid;
    uint32_t instance;      /* n of NAME.<pid>.<n>.rec: tells images of one pid apart */
    uint32_t tick_source;   /* enum fm_rec_tick_source, of the main thread */
    uint64_t process_start; /* field 22 of /proc/PID/stat: with pid, names the process for good */
    uint64_t start_realtime_ns;
    uint64_t start_monotonic_ns;
    uint64_t end_monotonic_ns; /* 0 unless closed */
    uint64_t quantum_ns;       /* CPU time that one quantum stands for */

    uint32_t first_thread;
    uint32_t first_module;
    uint32_t first_mark;
    uint32_t first_chunk;
    uint32_t module_epoch; /* the number of changes of the module list so far, from 1 */
    uint32_t program;      /* fm_rec_text: the executable's path */
    uint32_t arguments;    /* fm_rec_text: argv, each ended by NUL */
    uint32_t directory;    /* fm_rec_text: working directory at the start */

    /* What was lost. All zero in a good recording. */
    /* Edges that were not made, as the file could not grow (disk full, limit). Their calls, and all
     * below them, are those of an edge from the thread's root to FM_REC_FN_LOST. Allocation records
     * and coverage points count here too. */
    uint64_t dropped_nodes;
    uint64_t dropped_threads; /* threads without any record */
    uint64_t dropped_modules;

    /* Heap of the whole process, in usable bytes (malloc_usable_size). Threads report in steps of
     * 64 KiB, so both may be off by that times the number of threads. */
    int64_t live_bytes;
    int64_t peak_live_bytes;
    uint64_t dropped_points; /* coverage points: blocks that ran and have no count */

    uint64_t recording_on; /* 1 while recording is not stopped by the program */
    uint64_t snapshot_of;  /* in a snapshot: its number, from 1; else 0 */
};
static_assert(sizeof(struct fm_rec_header) == 208, "docs/format-recording.md");

/* Bytes of text: the size excludes the final NUL, which is there. Padded to 8. */
struct fm_rec_text {
    uint32_t size;
    char bytes[]; /* size + 1 */
};

/* A shared object while it is loaded. The code address a, seen in epoch e, belongs to the module
 * with start <= a < end and loaded <= e < unloaded; its address in the ELF file is a - bias. */
enum fm_rec_module_flags {
    FM_REC_MODULE_EXECUTABLE = 1u << 0,
    FM_REC_MODULE_INSTRUMENTED = 1u << 1, /* at least one hook was met in it; set late */
    FM_REC_MODULE_VDSO = 1u << 2,         /* no file */
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
    uint64_t file_inode;  /* of path when it was listed; 0 = not known */
};
static_assert(sizeof(struct fm_rec_module) == 88, "docs/format-recording.md");

/* One thread that met a hook, an allocation or a tick. */
enum fm_rec_thread_state { FM_REC_THREAD_LIVE = 1, FM_REC_THREAD_ENDED = 2 };

struct fm_rec_thread {
    uint32_t next;
    uint32_t state;
    uint32_t tid;
    uint32_t number; /* order of first hooks, from 1 */
    uint64_t start_monotonic_ns;
    uint64_t end_monotonic_ns;
    uint32_t root_pd;  /* fn = 0 */
    uint32_t root_csd; /* leads to root_pd; holds what happens outside all functions */
    uint32_t first_stack;
    uint32_t tick_source;            /* enum fm_rec_tick_source */
    uint64_t user_quanta;            /* = sum of quanta over its csds */
    uint64_t instrumentation_quanta; /* ticks that fell into hooks */
    uint64_t ticks;                  /* signals that came; rate = ticks * 1e9 / cpu_ns */
    uint64_t cpu_ns;                 /* the thread's CPU time at the latest tick */
    uint64_t calls_dropped;          /* calls not counted, as memory itself was short */
    uint64_t exits_unmatched;        /* exit hooks without an open frame (entered while stopped) */
    uint64_t frames_inexact;         /* edges made from frames without frame pointer */
    uint64_t callbacks_unresolved;   /* callbacks whose unwinding met no instrumented frame */
    uint64_t started_in;             /* entry address of the first function that it entered */
    char name[16];
    uint64_t charges;        /* ticks that added to user_quanta */
    uint64_t charge_squares; /* squares of what each of them added */
};
static_assert(sizeof(struct fm_rec_thread) == 152, "docs/format-recording.md");

/* A procedure in one calling context. fn: entry address of the function as the hook gave it (in
 * a clone, the original's). 0 = the root of a thread. (--grade=deep: the function's first
 * address, from its unwind information.) */
#define FM_REC_FN_LOST 1u /* all that there was no room for: no function, and no context either */
struct fm_rec_pd {
    uint64_t fn;
    uint32_t first_csd;   /* the newest csd that leaves it */
    uint32_t maker;       /* the csd that made it */
    uint32_t epoch;       /* module epoch in which fn is meant */
    uint32_t first_point; /* coverage */
};
static_assert(sizeof(struct fm_rec_pd) == 24, "docs/format-recording.md");

/* A call edge: from caller, by one call site, to callee. Identified in its caller by
 * (hook_pc, site). All measures stand here; they are the callee's own as called by this edge.
 *
 *   exits = calls - excps - (frames of this csd still open, see fm_rec_frame)
 *
 * When the recording has ended, the frames still open have been left by exit, _exit, exec or a
 * signal: count each as an exceptional exit, so that exits + excps = calls. */
enum fm_rec_csd_flags {
    FM_REC_CSD_INLINED = 1u << 0,  /* the callee's body stands inside its caller's frame: site is
                                      0, the call site is where hook_pc lies (inline scope) */
    FM_REC_CSD_CALLBACK = 1u << 1, /* site lies in a module without hooks: qsort, signal
                                      trampoline, thread start. See FM_REC_SIDE_VIA */
    FM_REC_CSD_MADE_CALLEE = 1u << 2,
    FM_REC_CSD_SIGNAL = 1u << 3, /* site is the kernel's signal return code */
};
#define FM_REC_CSD_EPOCH_SHIFT 8u /* epoch_flags = epoch << 8 | flags; epoch stops at 2^24 - 1 */

struct fm_rec_csd {
    uint64_t calls;
    uint64_t hook_pc; /* return address of the entry hook: where in the code the hook stands */
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

struct fm_rec_alloc {
    uint64_t allocs;       /* malloc, calloc, realloc that got a block, memalign, ... */
    uint64_t bytes;        /* as requested */
    uint64_t usable_bytes; /* of the same blocks, as the allocator rounded them */
    uint64_t frees;        /* blocks freed by this callee, whoever got them; realloc: one each */
    uint64_t freed_bytes;  /* usable bytes */
};
static_assert(sizeof(struct fm_rec_alloc) == 40, "docs/format-recording.md");

/* What few csds have. */
enum fm_rec_side_kind {
    FM_REC_SIDE_VIA = 1,          /* value: return address in the nearest instrumented frame (the
                                     caller's), of the call into foreign code that called back */
    FM_REC_SIDE_QUANTA_CARRY = 2, /* value: add value * 2^32 to quanta */
    FM_REC_SIDE_EXCPS_CARRY = 3,  /* value: add value * 2^32 to excps */
    FM_REC_SIDE_SAMPLES = 4,      /* value: ref of the newest fm_rec_sample */
};
struct fm_rec_side {
    uint32_t next;
    uint32_t kind;
    uint64_t value;
};
static_assert(sizeof(struct fm_rec_side) == 16, "docs/format-recording.md");

/* Where the quanta of a csd fell: part of its quanta, by the program counter that the tick met; in
 * foreign code, by an address within the call that led there, where the stack shows it. Only
 * addresses in modules with hooks are kept. */
struct fm_rec_sample {
    uint64_t pc;
    uint64_t quanta;
    uint32_t next;
    uint32_t epoch;
};
static_assert(sizeof(struct fm_rec_sample) == 24, "docs/format-recording.md");

/* A coverage point met in the context of a pd. pc: return address of the compiler's callback, which
 * ran in the pd's frame. Blocks before a function's entry hook and behind its exit hook have no
 * records: they run once a call. Code inlined into the function may be counted here up to its entry
 * hook. */
struct fm_rec_point {
    uint64_t count;
    uint64_t pc;
    uint32_t next;
    uint32_t epoch;
};
static_assert(sizeof(struct fm_rec_point) == 24, "docs/format-recording.md");

/* Shadow stack of one thread on one stack of memory (the thread's own, a signal stack, a
 * coroutine). Its open frames are frames[1 .. n] where n + 1 is the first index with cfa = 0 or
 * capacity; frames[0] is a guard (csd: that below which the stack was entered; cfa above all).
 * Popping a frame zeroes its cfa; pushing stores the cfa last. */
struct fm_rec_frame {
    uint64_t cfa; /* canonical frame address. Bit 0 set: its call is not counted in this file
                     (inherited over fork, or entered when the file was full), so do not count
                     its exit. Bit 1 set: a signal handler's frame.
                     Bit 2 set: an inlined body's, stored 4 lower than the frame around it. */
    uint64_t csd; /* address of the csd in the process: (csd - map_base) is its offset */
    uint64_t key; /* the runtime's lookup key of csd.callee; readers ignore it */
    uint64_t fn; /* readers ignore it: the function entered, if the hook stored it, or 1: a function
                    that calls nothing, open as long as a signal's handler runs above it */
};
static_assert(sizeof(struct fm_rec_frame) == 32, "docs/format-recording.md");

struct fm_rec_stack {
    uint32_t next;
    uint32_t thread;
    uint64_t low, high; /* the memory that it shadows; high = 0: not known */
    /* When it must grow the frames move to a larger array: these two are stored as one word. */
    uint32_t frames; /* ref to fm_rec_frame[capacity] */
    uint32_t capacity;
};
static_assert(sizeof(struct fm_rec_stack) == 32, "docs/format-recording.md");

/* A phase mark set by the program, or a snapshot taken. */
struct fm_rec_mark {
    uint32_t next;
    uint32_t tid;
    uint64_t monotonic_ns;
    uint64_t user_quanta; /* of all threads at that moment */
    uint32_t snapshot;    /* number of the snapshot file NAME.snap<number>.rec, or 0 */
    uint32_t name;        /* fm_rec_text */
};
static_assert(sizeof(struct fm_rec_mark) == 32, "docs/format-recording.md");

/* Where memory of the file was handed to: a thread (nodes, side records) or the process. */
struct fm_rec_chunk {
    uint32_t next;
    uint32_t owner; /* thread, or 0 */
    uint64_t bytes; /* with this header */
    uint64_t used;  /* with this header; only grows */
};
static_assert(sizeof(struct fm_rec_chunk) == 24, "docs/format-recording.md");
