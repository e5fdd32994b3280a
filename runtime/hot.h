/* SPDX-License-Identifier: Apache-2.0 */
/* What the hooks touch on every call. The layout is part of the contract between the runtime and
 * code compiled with inlined hooks (hooks.S, inline_hooks.h, the assembly expansion), so the
 * offsets are asserted; FM_ABI_VERSION names it in the symbols that such code refers to. */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "recording_format.h"

/* Index entry: (hook_pc, site, caller's key) -> csd and callee's key. An entry is filled once,
 * hook_pc last, and never changed while its code can run: a signal handler's hooks may come
 * between any two instructions of a lookup. */
struct fm_entry {
    uint64_t hook_pc; /* 0: free; 1: purged */
    uint64_t site;
    uint32_t caller_key;
    uint32_t callee_key;
    struct fm_rec_csd *csd;
};
static_assert(sizeof(struct fm_entry) == 32, "hooks.S");
static_assert(offsetof(struct fm_entry, site) == 8, "hooks.S");
static_assert(offsetof(struct fm_entry, caller_key) == 16, "hooks.S");
static_assert(offsetof(struct fm_entry, callee_key) == 20, "hooks.S");
static_assert(offsetof(struct fm_entry, csd) == 24, "hooks.S");

/* low = lowest address of the stack that the hooks run on; two special values send every entry
 * hook elsewhere. */
#define FM_LOW_NOT_READY UINT64_MAX     /* take the slow path: no state yet */
#define FM_LOW_STOPPED (UINT64_MAX - 1) /* do nothing: recording is stopped */

struct fm_thread;

struct fm_tls {
    uint64_t low;
    struct fm_rec_frame *top;   /* the frame of the running function; never NULL once low is set */
    struct fm_entry *table;     /* mask / 32 + 1 entries, in pairs of one cache line */
    uint64_t mask;              /* (entries - 1) * 32 */
    struct fm_rec_frame *limit; /* the last frame that fits */
    struct fm_thread *thread;
    uint64_t inside; /* the runtime itself allocates or unwinds: hooks do nothing */
};
static_assert(offsetof(struct fm_tls, low) == 0, "hooks.S");
static_assert(offsetof(struct fm_tls, top) == 8, "hooks.S");
static_assert(offsetof(struct fm_tls, table) == 16, "hooks.S");
static_assert(offsetof(struct fm_tls, mask) == 24, "hooks.S");
static_assert(offsetof(struct fm_tls, limit) == 32, "hooks.S");
static_assert(offsetof(struct fm_rec_frame, csd) == 8, "hooks.S");
static_assert(offsetof(struct fm_rec_frame, key) == 16, "hooks.S");
static_assert(offsetof(struct fm_rec_frame, fn_low) == 20, "hooks.S");
static_assert(offsetof(struct fm_rec_csd, calls) == 0, "hooks.S");

extern __thread struct fm_tls fm_tls_v1 __attribute__((tls_model("initial-exec")));

/* A pd's key: its ref, scattered. Multiplication by an odd number is a bijection, so keys are as
 * unique as refs. */
#define FM_KEY_FACTOR 0x9E3779B1u

static inline uint64_t fm_entry_offset(uint64_t hook_pc, uint64_t site, uint32_t key, uint64_t mask)
{
    return ((hook_pc + site + key) << 5) & mask;
}

#define FM_CFA_UNCOUNTED 1u
#define FM_CFA_SIGNAL 2u
#define FM_CFA_FLAGS 3u

/* Slow paths, called by the hooks with all caller-saved registers free. */
void fm_enter_slow_v1(uint64_t fn, uint64_t site, uint64_t hook_pc, uint64_t cfa);
void fm_exit_slow_v1(uint64_t fn, uint64_t cfa);
