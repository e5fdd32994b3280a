/* SPDX-License-Identifier: Apache-2.0 */
/* Data that hooks use on every call. The layout is part of the contract between the runtime and
 * code compiled with inlined hooks (hooks.S, inline_hooks.h, the assembly expansion), so offsets
 * are asserted. The symbols that such code refers to contain FM_ABI_VERSION. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording_format.h"

/* Index entry: an edge's identity -> csd and callee's key. The identity is one number,
 *   hook_pc * FM_HOOK_FACTOR + site * 8 + key of the caller * FM_KEY_FACTOR,
 *
 * so that a lookup is one comparison. A pd's key is the identity of the edge that created it; a
 * thread's root has 64 random bits. So hooks know the callee's key before they have found the
 * edge, and following calls need not wait for the lookup; only edges that close a recursion lead
 * to another key. Two edges of one caller collide only if their sites are 200 MiB apart (the
 * factor is odd and eight times as large); others collide with probability 2^-64 per pair: 3e-10
 * for 100,000 edges.
 *
 * An entry is filled once, identity last, and never changed while its code can run: a signal
 * handler's hooks may run between any two instructions of a lookup. */
struct fm_entry {
    uint64_t identity; /* 0: free; 1: purged */
    struct fm_rec_csd *csd;
    uint64_t callee_key;
    uint64_t calls_seen; /* when the entries were last put in order */
};
#define FM_HOOK_FACTOR 0xFFFFFFFF9E3779B1ull /* fits a sign-extended 32-bit operand */
/* Makes the identity depend on the order of the edges of a path. It must be large: powers of a
 * small factor have small sums that are zero, 5 * 1 + 1 * -5, and contexts of functions at regular
 * distances would collide. Fits a sign-extended 32-bit operand. */
#define FM_KEY_FACTOR 0xFFFFFFFF85EBCA6Bull
static_assert(sizeof(struct fm_entry) == 32, "hooks.S");
static_assert(offsetof(struct fm_entry, csd) == 8, "hooks.S");
static_assert(offsetof(struct fm_entry, callee_key) == 16, "hooks.S");

/* Index entry of a coverage point in a context: its identity is pc * FM_HOOK_FACTOR + key of the
 * pd, with the same chances. Filled once, identity last. */
struct fm_point_entry {
    uint64_t identity; /* 0: free; 1: purged */
    struct fm_rec_point *point;
};
static_assert(sizeof(struct fm_point_entry) == 16, "coverage.S");
static_assert(offsetof(struct fm_point_entry, point) == 8, "coverage.S");
static_assert(offsetof(struct fm_rec_point, count) == 0, "coverage.S");

/* Bounds with which hooks compare addresses, such that the CPU's flags give the whole answer:
 *   `cmpq bound, address`  overflows if the address is not below the argument of FM_BOUND(), and
 *                          borrows, unless the bound is 0.
 *
 * Hooks may run before thread-local memory has its initial values: in resolvers of IFUNCs, and
 * all that they call, while the program is still being relocated. It is zero then, so zero must
 * mean that hooks do nothing. */
#define FM_BOUND(address) ((address) + (1ull << 63))
#define FM_BOUND_NONE 0               /* nothing is to be done */
#define FM_BOUND_NOT_READY UINT64_MAX /* entries take the slow path: no state yet */
static inline bool fm_bound_passes(uint64_t bound, uint64_t address)
{
    return (int64_t)(address - bound) < 0;
}

struct fm_thread;
struct fm_lock;
#define FM_LOCKS_HELD_MAX 8u

struct fm_tls {
    uint64_t bound;             /* FM_BOUND(lowest address of the stack that the hooks run on) */
    struct fm_rec_frame *top;   /* the frame of the running function; never NULL */
    struct fm_entry *table;     /* mask / 32 + 1 entries, in pairs that share a cache line */
    uint64_t mask;              /* (entries - 1) * 32 */
    struct fm_rec_frame *limit; /* the last frame that fits */
    struct fm_thread *thread;
    union {
        struct {
            uint32_t inside;   /* the runtime itself allocates or unwinds: hooks do nothing */
            uint32_t heap_off; /* allocations are not to be counted the short way */
        };
        uint64_t heap_unusual; /* either */
    };
    struct fm_point_entry *points; /* point_mask / 16 + 1 entries; never NULL */
    uint64_t point_mask;           /* (entries - 1) * 16 */
    int64_t far_left; /* number of lookups beyond the home pair until the index is rebuilt */
    /* Exits of frames below these bounds are ignored: for a function's own body; for one that may
     * be inlined. FM_BOUND(0), except while recording is stopped: no such frame is open. */
    uint64_t exit_own, exit_any;
    uint32_t signals_blocked; /* by the runtime, so often: ticks wait */
    uint32_t tick_waits;      /* a tick came meanwhile */
    /* For sandboxes (sandbox/sandbox.c): the number of system calls that have begun; the frame of
     * the section that could not block signals, 0 = none; the locks that the thread holds. */
    uint32_t calling;
    uint32_t lock_count;
    uint64_t open_section;
    struct fm_lock *locks[FM_LOCKS_HELD_MAX];
    /* --hooks=slots: the node of the function that left hooked code last; the thread's root, 0 =
     * none yet. */
    uint64_t slot_current, slot_root;
    struct fm_slots_thread *slot_own;   /* NULL: none yet */
    struct fm_slots_node *slot_stopped; /* runs while the recording is stopped; else NULL */
};
static_assert(offsetof(struct fm_tls, inside) == 48, "slots/node.h");
static_assert(offsetof(struct fm_tls, slot_root) == 192, "slots/node.h");
static_assert(offsetof(struct fm_tls, slot_own) == 200, "slots/node.h");
static_assert(offsetof(struct fm_tls, slot_stopped) == 208, "slots/node.h");
static_assert(offsetof(struct fm_tls, slot_current) == 184, "slots/node.h");
static_assert(offsetof(struct fm_tls, bound) == 0, "hooks.S");
static_assert(offsetof(struct fm_tls, top) == 8, "hooks.S");
static_assert(offsetof(struct fm_tls, table) == 16, "hooks.S");
static_assert(offsetof(struct fm_tls, mask) == 24, "hooks.S");
static_assert(offsetof(struct fm_tls, limit) == 32, "hooks.S");
static_assert(offsetof(struct fm_tls, points) == 56, "coverage.S");
static_assert(offsetof(struct fm_tls, point_mask) == 64, "coverage.S");
static_assert(offsetof(struct fm_tls, far_left) == 72, "hooks.S");
static_assert(offsetof(struct fm_tls, exit_own) == 80, "expand.c");
static_assert(offsetof(struct fm_tls, exit_any) == 88, "hooks.S");
static_assert(offsetof(struct fm_rec_frame, csd) == 8, "hooks.S");
static_assert(offsetof(struct fm_rec_frame, key) == 16, "hooks.S");
static_assert(offsetof(struct fm_rec_frame, fn) == 24, "hooks.S");
static_assert(sizeof(struct fm_rec_frame) == 32, "hooks.S");
static_assert(offsetof(struct fm_rec_csd, calls) == 0, "hooks.S");
static_assert(offsetof(struct fm_rec_csd, epoch_flags) == 52, "hooks.S");
static_assert(sizeof(struct fm_rec_csd) == 56, "hooks.S; expand.c: counters");
static_assert(FM_REC_CSD_MADE_CALLEE == 4 && FM_REC_CSD_DEPTHS == 16 && FM_REC_CSD_WITHIN == 32,
              "hooks.S");
static_assert(FM_REC_CSD_ACROSS == 64 && offsetof(struct fm_rec_depths, unknown) == 8, "hooks.S");
static_assert(offsetof(struct fm_rec_depths, calls) == 16, "hooks.S");

/* Expanded hooks are between two instructions without effect, which show a tick that it fell into a
 * hook: nopl N(%rax, %rax), eight bytes. */
#define FM_HOOK_BEGINS 0x4246544600841f0full
#define FM_HOOK_ENDS 0x4546544600841f0full
#define FM_HOOK_ENDS_OF_LEAF 0x4c46544600841f0full /* in a function without frame */
#define FM_HOOK_BYTES_MAX 256
/* --grade=coverage: before the end comes nopl N(%rax, %rax, 2); N is the number of counted blocks
 * of the function. */
#define FM_HOOK_COUNTS 0x40841f0fu

extern __thread struct fm_tls fm_tls_v2 __attribute__((tls_model("initial-exec")));

static inline uint64_t fm_identity(uint64_t hook_pc, uint64_t site, uint64_t caller_key)
{
    uint64_t identity = hook_pc * FM_HOOK_FACTOR + site * 8 + caller_key * FM_KEY_FACTOR;
    return identity > 1 ? identity : identity + 2;
}

/* The key of a thread's root: its ref, scattered (the finalizer of splitmix64, a bijection). */
static inline uint64_t fm_key_of_root(uint32_t pd)
{
    uint64_t key = pd + 0x9E3779B97F4A7C15ull;
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9ull;
    key = (key ^ key >> 27) * 0x94D049BB133111EBull;
    return key ^ key >> 31;
}

/* Frames are identified by the frame pointer that the function sets up, 16 below its canonical
 * frame address (CFA); it is stored in shadow frames, and passed to slow paths as cfa. */
#define FM_CFA_FROM_FRAME 16u
#define FM_CFA_UNCOUNTED 1u
#define FM_CFA_SIGNAL 2u
/* The frame of an inlined body is stored 4 lower. So it differs from the enclosing frame, and both
 * are above frames of their callees. The enclosing frame has its fn only if a slow path or a called
 * hook made it. */
#define FM_CFA_INLINED 4u
#define FM_CFA_GUARD (UINT64_MAX - 7) /* above all frames */
/* Replaces a frame's function, which is less: its call closes a recursion of unknown depth; also
 * for the guard. */
#define FM_DEPTH_UNKNOWN (1ull << 62)
static inline uint64_t fm_frame_address(uint64_t cfa)
{
    return (cfa + FM_CFA_INLINED) & ~(uint64_t)7;
}

/* Slow paths, called by the hooks with all caller-saved registers free. */
/* frame: the function's frame address. */
void fm_enter_slow_v1(uint64_t fn, uint64_t site, uint64_t hook_pc, uint64_t frame);
/* For a function that calls nothing: enters and leaves it at once. */
void fm_enter_leaf_v1(uint64_t fn, uint64_t site, uint64_t hook_pc, uint64_t frame);
void fm_leave_slow_v1(uint64_t fn, uint64_t frame);
void fm_point_slow_v1(uint64_t pc, uint64_t frame);
/* As above, for functions that have hooks at the entry and before each return. */
void fm_enter_body_v1(uint64_t site, uint64_t hook_pc, uint64_t frame);
void fm_enter_leaf_body_v1(uint64_t site, uint64_t hook_pc, uint64_t frame);
void fm_leave_body_v1(uint64_t site, uint64_t hook_pc, uint64_t frame);
/* Counters of the context whose function has its entry hook at hook_pc and continues with stack
 * pointer sp; fm_uncounted_v1: none. */
uint64_t *fm_counters_v1(uint64_t hook_pc, uint64_t sp);
/* Slow paths of entry hooks: they return the new value of r11. */
uint64_t *fm_enter_counted_v1(uint64_t site, uint64_t hook_pc, uint64_t cfa);
uint64_t *fm_enter_counted_leaf_v1(uint64_t site, uint64_t hook_pc, uint64_t cfa);
extern uint64_t fm_uncounted_v1[FM_REC_BLOCKS_MAX];
/* slots/slots.c. The innermost node, which begins as a frame does; NULL: not at hand. Code has
 * caught an exception, with that value in r15. */
const struct fm_rec_frame *fm_slots_charged_quickly(const struct fm_tls *tls);
void fm_slots_caught(uint64_t r15);
