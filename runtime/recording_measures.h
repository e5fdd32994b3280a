/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of single call edges other than calls and ticks: memory, waits, depths, times of single
 * calls, coverage. Part of recording_format.h, which includes it. */
#pragma once

#include <assert.h>
#include <stdint.h>

/* Allocations and frees of a callee. With FM_REC_HELD, all bytes but usable_bytes are as
 * requested, and freed blocks are counted where most is known about them:
 *
 *   freed by this callee     frees + the blocks of its flows (first_flow)
 *   allocated here, freed    own_frees + far_frees + the blocks of first_out's flows
 *   live                     allocs - those
 *
 * Without it, only the first five fields are used, and freed_bytes are usable bytes. */
struct fm_rec_alloc {
    uint64_t allocs;       /* malloc, calloc, realloc that got a block, memalign, ... */
    uint64_t bytes;        /* as requested */
    uint64_t usable_bytes; /* bytes of the same blocks, as the allocator rounded them */
    uint64_t frees; /* blocks freed by this callee, whichever allocated them; realloc: one each */
    uint64_t freed_bytes; /* 0 for blocks whose context is not known */
    uint64_t own_frees;   /* blocks allocated here that the same thread freed, if in no flow */
    uint64_t own_freed;   /* bytes of those */
    uint32_t stamp;       /* epoch in which at_peak_* were saved, see fm_rec_held */
    uint32_t thread;      /* fm_rec_thread that allocates here */
    uint64_t at_peak_bytes, at_peak_blocks;
    uint64_t far_frees, far_freed; /* as own_*, by other threads, or by code that is not recorded */
    uint32_t first_flow;           /* fm_rec_flow: blocks freed by this callee */
    uint32_t first_out;            /* fm_rec_flow: blocks allocated here and freed */
    uint64_t realloc_moved, realloc_kept; /* blocks that realloc in this callee moved, or left */
    uint32_t lifetimes; /* FM_REC_LIFETIMES: fm_rec_durations, or 0: nothing freed */
    uint32_t reserved;
};
static_assert(sizeof(struct fm_rec_alloc) == 128, "docs/format-recording.md");
#define FM_REC_ALLOC_BYTES_OLD 40u /* before version 3 */

/* Blocks that one callee freed and another (or the same) had allocated. */
struct fm_rec_flow {
    uint32_t next; /* next flow of the callee that freed them */
    uint32_t from; /* fm_rec_alloc in which they were allocated */
    uint64_t blocks;
    uint64_t bytes;
    uint32_t next_out; /* next flow out of the source record; a record with many keeps the rest in
                          own_*, far_* */
    uint32_t reserved;
    uint64_t held_ns, longest_ns; /* FM_REC_LIFETIMES: all of them together, and the longest */
};
static_assert(sizeof(struct fm_rec_flow) == 48, "docs/format-recording.md");

/* Live memory. header.live_bytes are the bytes live now, header.peak_live_bytes their maximum so
 * far. The value of an allocation record at the peak is
 *
 *   rising or stamp != epoch ? its live bytes : at_peak
 *
 * While the program has had one thread, all of it is exact. With more threads, each updates the
 * header in steps: the peak may be too low by `step` for each thread, and a record's value at
 * the peak may be off by its threads' changes since their last step. A thread that lost the
 * processor while it counted a large block adds that block: header.large_at_peak, and while
 * `rising` large_begun - large_counted, with and without _alone. */
#define FM_HELD_OFF_BYTES (16u << 10)
#define FM_HELD_LARGE_BYTES (4u << 10)
struct fm_rec_held {
    uint32_t epoch;             /* epoch of the last peak that ended, + 1 */
    uint32_t rising;            /* not 0: the present is the peak */
    uint64_t step;              /* FM_HELD_OFF_BYTES; 0: one thread */
    uint64_t peak_monotonic_ns; /* time of the last peak that ended, or of the last step while
                                   rising; 0 = none yet */
    /* Freed blocks that were allocated before the recording, or while it was stopped, or by another
     * allocator, with their usable bytes. */
    uint64_t unknown_frees, unknown_freed;
    uint64_t inherited_frees, inherited_freed; /* blocks of the process that forked this one */
    uint64_t unseen_frees,
        unseen_freed; /* blocks of the recording, freed where nothing is recorded */
    uint64_t untold_blocks, untold_bytes; /* allocated, but there was no memory to note where */
    uint64_t dropped_flows; /* freed blocks that are in no flow, because the file was full */
};
static_assert(sizeof(struct fm_rec_held) == 96, "docs/format-recording.md");

/* Live bytes over time, with fm_rec_held: noted at ticks of any thread, and with each change of
 * header.live_bytes, whose accuracy they have. A slot also has what was live when it began. Behind
 * the last note nothing changed by more than that accuracy. */
#define FM_REC_CURVE_SLOTS 512u
#define FM_REC_CURVE_SHIFT_MAX 53u /* all slots together have 2^62 ns */
struct fm_rec_curve_slot {
    uint64_t least;
    uint64_t most; /* + 1; 0: it is behind the last note */
};
struct fm_rec_curve {
    uint32_t shift; /* slot n begins n * 2^shift ns after header.start_monotonic_ns */
    uint32_t state; /* FM_REC_CURVE_FOLDING: two slots are becoming one; not to be read */
    struct fm_rec_curve_slot slots[FM_REC_CURVE_SLOTS];
};
#define FM_REC_CURVE_FOLDING 2u
static_assert(sizeof(struct fm_rec_curve) == 8 + 512 * 16, "docs/format-recording.md");

/* Data that only few csds have. */
enum fm_rec_side_kind {
    FM_REC_SIDE_VIA = 1,          /* value: return address in the nearest instrumented frame (the
                                     caller's), of the call into foreign code that called back */
    FM_REC_SIDE_QUANTA_CARRY = 2, /* value: add value * 2^32 to quanta */
    FM_REC_SIDE_EXCPS_CARRY = 3,  /* value: add value * 2^32 to excps */
    FM_REC_SIDE_SAMPLES = 4,      /* value: ref of the newest fm_rec_sample */
    FM_REC_SIDE_WAITS = 5,        /* value: ref of the newest fm_rec_wait */
    FM_REC_SIDE_DEPTHS = 6, /* for the csd that created its callee, value: ref of fm_rec_depths */
    FM_REC_SIDE_DURATIONS = 7, /* value: ref of fm_rec_durations */
    FM_REC_SIDE_SPANS = 8,     /* for a thread's root csd, value: ref of fm_rec_spans */
    /* For the csd that created its callee, value: quanta. For stacks that are not plain: some
     * context on them was created by another call than the one on the stack: */
    /* quanta of those that contain the callee's function, outermost in the callee */
    FM_REC_SIDE_CHARGED = 9,
    FM_REC_SIDE_MOVED = 10, /* to be added to the csd's own (modulo 2^64) for those that end in the
                               callee, or go on from there with frames that are not plain */
    FM_REC_SIDE_FOREIGN = 11, /* value: ref of the newest fm_rec_foreign */
};
struct fm_rec_side {
    uint32_t next;
    uint32_t kind;
    uint64_t value;
};
static_assert(sizeof(struct fm_rec_side) == 16, "docs/format-recording.md");

/* How deep a clique recursed (--grade=deep): calls into a pd by edges that created none, by depth.
 * The call that enters the clique from outside has depth 1; one that leads back has the depth of
 * the call from which it came + 1; all others have the same depth. calls[k]: depths 2^k to 2^(k+1)
 * - 1. */
#define FM_REC_DEPTH_CLASSES 30
struct fm_rec_depths {
    uint64_t greatest; /* maximum of the known depths */
    uint64_t unknown;  /* calls of which the depth is not known, as the clique was entered before a
                          fork, on another stack, or by hooks that do not count by depth */
    uint64_t calls[FM_REC_DEPTH_CLASSES];
};
static_assert(sizeof(struct fm_rec_depths) == 256, "docs/format-recording.md");

/* Quanta of a csd by code address: part of its quanta, by the program counter at the tick. In
 * foreign code, the address is in the call instruction that led there, if the stack shows it. Only
 * addresses in modules with hooks are stored. */
struct fm_rec_sample {
    uint64_t pc;
    uint64_t quanta;
    uint32_t next;
    uint32_t epoch;
};
static_assert(sizeof(struct fm_rec_sample) == 24, "docs/format-recording.md");

/* Quanta of a csd that fell into modules without hooks, by function: with FM_REC_TOTALS_FOREIGN.
 * The fm_rec_sample at `call` has them, too. */
struct fm_rec_foreign {
    uint64_t fn; /* the beginning of the function that ran; without unwind information, the address
                    that the tick met */
    uint64_t call; /* within the call that led there; 0 = not known */
    uint64_t quanta;
    uint32_t next;
    uint32_t epoch; /* FM_REC_FOREIGN_KERNEL or-ed */
};
static_assert(sizeof(struct fm_rec_foreign) == 32, "docs/format-recording.md");
#define FM_REC_FOREIGN_KERNEL (1u << 31) /* the function was in a system call */

/* Calls of one kind that may wait, made by the callee of a csd itself. Times in the wait clock
 * (header.wait_clock). An open wait is not included. */
struct fm_rec_wait {
    uint32_t next;
    uint32_t kind;    /* enum fm_rec_wait_kind */
    uint64_t calls;   /* all, also those that did not wait; locks: acquisitions */
    uint64_t waits;   /* number of waits that took wait_threshold_ns or longer; locks: that found it
                         held */
    uint64_t ticks;   /* time of the waits */
    uint64_t longest; /* time of the longest wait */
    uint64_t short_ticks; /* time of shorter calls that looked at the clock */
    uint64_t cpu_quanta;  /* CPU time of the waits and short calls, by samples: part of the csd's */
    uint32_t left;        /* number of waits left by longjmp, cancellation or an exception */
    uint32_t first_blame;
};
static_assert(sizeof(struct fm_rec_wait) == 64, "docs/format-recording.md");

/* Waits of a fm_rec_wait for one lock while one context held it. */
struct fm_rec_blame {
    uint32_t next;
    uint32_t holder; /* csd that its holder was in when the wait began; 0 = not known */
    uint64_t lock;   /* address; 0: one of several for which there was no room */
    uint32_t epoch;  /* epoch of the modules, for the address */
    uint32_t wait;   /* the fm_rec_wait that it belongs to */
    uint64_t waits, ticks, longest;
};
static_assert(sizeof(struct fm_rec_blame) == 48, "docs/format-recording.md");

/* Sleep of threads outside of recorded waits (an inline system call, a page fault). The process
 * that runs the program samples it from outside, some hundred times a second, and is the only
 * writer. A csd has one entry. */
struct fm_rec_slept {
    uint32_t csd; /* innermost open frame; a thread without any: its root */
    uint32_t samples;
    uint64_t ns; /* estimated time: for each sample, the time since the one before */
};
#define FM_REC_SLEPT_MAX 510u
struct fm_rec_sleeps {
    uint64_t looks; /* number of samples so far; 0: not sampled */
    uint32_t count; /* number of entries; further ones are not stored */
    uint32_t reserved;
    struct fm_rec_slept of[FM_REC_SLEPT_MAX];
};
static_assert(sizeof(struct fm_rec_sleeps) == 16 + 510 * 16, "docs/format-recording.md");

/* Durations of single calls by an edge with FM_REC_CSD_TRACED, from its entry hook to its exit
 * hook. Of very frequent calls, only `timed` of the csd's were timed. A leaf function has no exit
 * hook, and so no durations. */
#define FM_REC_DURATION_OCTAVES 58
#define FM_REC_DURATION_STEPS 128
struct fm_rec_durations {
    uint64_t timed;
    uint64_t ns; /* time of all of them */
    uint64_t shortest, longest;
    uint64_t left; /* number of timed calls left by longjmp, an exception, or the thread's end */
    uint64_t recent_since, recent; /* readers ignore them */
    uint64_t reserved;
    /* uint64_t[FM_REC_DURATION_STEPS] each, or 0. In the first octave each step is a nanosecond;
     * the steps of octave n are 2^(n-1) ns wide, and its first begins at 2^(n+6) ns. */
    uint32_t octaves[FM_REC_DURATION_OCTAVES];
};
static_assert(sizeof(struct fm_rec_durations) == 296, "docs/format-recording.md");

/* The timed calls of a thread, in order of their ends. */
struct fm_rec_span {
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    uint64_t ns;
    uint32_t csd;
    uint32_t left; /* 1: without its exit hook */
};
static_assert(sizeof(struct fm_rec_span) == 24, "docs/format-recording.md");
#define FM_REC_SPANS_BLOCK 170u
struct fm_rec_span_block {
    uint32_t next; /* the one filled before */
    uint32_t count;
    struct fm_rec_span spans[FM_REC_SPANS_BLOCK];
};
struct fm_rec_spans {
    uint32_t newest; /* fm_rec_span_block, or 0 */
    uint32_t reserved;
    uint64_t count;
    uint64_t dropped; /* timed but not stored: too many, or no room */
};
static_assert(sizeof(struct fm_rec_spans) == 24, "docs/format-recording.md");

/* A coverage point executed in the context of a pd. pc: return address of the compiler's callback,
 * which ran in the pd's frame. docs/format-recording.md says what has no record. */
struct fm_rec_point {
    uint64_t count;
    uint64_t pc;
    uint32_t next;
    uint32_t epoch;
};
static_assert(sizeof(struct fm_rec_point) == 24, "docs/format-recording.md");
/* In epoch: the point represents all counted blocks of a function whose entry hook ends at pc;
 * `count` uint64_t values follow it. */
#define FM_REC_POINT_BLOCKS (1u << 31)
#define FM_REC_BLOCKS_MAX (1u << 17)
