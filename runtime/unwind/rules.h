/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: how to leave the frame of an instruction, in 64 bits, for a walk that knows only the
 * instruction, stack and frame pointers. Made from unwind tables at first use, then cached by
 * address for all threads. */
#pragma once

#include "table.h"

enum fm_rule_kind {
    FM_RULE_NONE = 0,   /* no unwind information */
    FM_RULE_OFFSET,     /* CFA = register + offset */
    FM_RULE_LOADED,     /* CFA = *(register + offset): frames that gcc realigns */
    FM_RULE_LOADED_8,   /* CFA = *(register + offset) + 8: hand-written code */
    FM_RULE_PLT,        /* CFA = rsp + 8, + 8 from instruction `offset` of each 16 bytes on */
    FM_RULE_SIGNAL,     /* the kernel's frame: a ucontext_t at rsp */
    FM_RULE_END,        /* a thread's or coroutine's outermost frame */
    FM_RULE_INTERPRETED /* none of these: the row says it, and may need other registers */
};
enum fm_rule_bp {
    FM_RULE_BP_SAME = 0,
    FM_RULE_BP_AT_CFA, /* stored at CFA + bp_offset */
    FM_RULE_BP_AT_BP,  /* stored at rbp + bp_offset */
    FM_RULE_BP_LOST
};

/* kind 4 bits, register 4, fm_rule_bp 2, two signed offsets of 27: of the CFA, of rbp's place. In
 * the first five kinds the return address is at CFA - 8. */
typedef uint64_t fm_rule;

static inline enum fm_rule_kind fm_rule_kind_of(fm_rule rule)
{
    return (enum fm_rule_kind)(rule & 15);
}
static inline unsigned fm_rule_register(fm_rule rule)
{
    return rule >> 4 & 15;
}
static inline enum fm_rule_bp fm_rule_bp_of(fm_rule rule)
{
    return (enum fm_rule_bp)(rule >> 8 & 3);
}
/* The CFA is by rsp or rbp, which are two columns side by side, and the caller's rbp is in its
 * register or relative to the CFA. */
static inline bool fm_rule_is_usual(fm_rule rule)
{
    return (rule & (2u << 8 | 14u << 4 | 15u)) == (6u << 4 | (unsigned)FM_RULE_OFFSET);
}
static inline int64_t fm_rule_offset(fm_rule rule)
{
    return (int64_t)(rule << 27) >> 37;
}
static inline int64_t fm_rule_bp_offset(fm_rule rule)
{
    return (int64_t)rule >> 37;
}

/* The rule at pc, which is within a call instruction or, if exact, is the interrupted instruction.
 * Computed from the tables, in 0.1 to 0.5 us, and not cached. */
fm_rule fm_unwind_rule_make(uint64_t pc, bool exact);
/* The row at pc from which a rule is made. False: there is none. */
bool fm_unwind_row_at(uint64_t pc, bool exact, struct fm_unwind_entry *ret_entry,
                      struct fm_unwind_row *ret);
fm_rule fm_unwind_rule_of(const struct fm_unwind_entry *entry, const struct fm_unwind_row *row);

/* Remembered rules. Each thread reads and writes them without a lock: a slot's words are
 * `pc ^ epoch ^ rule * FM_RULE_FACTOR` and `rule`, so words of two writers do not fit, and none of
 * an earlier epoch does. (Without the factor they could: rules differ in few bits, as addresses
 * do.) */
#define FM_RULE_FACTOR 0x9E3779B97F4A7C15ull
#define FM_RULE_SLOTS_LOG2 16
struct fm_rule_slot {
    uint64_t check;
    fm_rule rule;
} __attribute__((aligned(16))); /* within one cache line */
extern struct fm_rule_slot fm_rule_slots[1u << FM_RULE_SLOTS_LOG2];
extern uint64_t fm_rule_epoch;

static inline struct fm_rule_slot *fm_rule_slot_of(uint64_t pc)
{
    return &fm_rule_slots[pc * FM_RULE_FACTOR >> (64 - FM_RULE_SLOTS_LOG2)];
}

/* The cached rule at pc; FM_RULE_NONE if there is none. */
static inline fm_rule fm_unwind_rule_known(uint64_t pc)
{
    const struct fm_rule_slot *slot = fm_rule_slot_of(pc);
    uint64_t check = __atomic_load_n(&slot->check, __ATOMIC_RELAXED);
    fm_rule rule = __atomic_load_n(&slot->rule, __ATOMIC_RELAXED);
    uint64_t epoch = __atomic_load_n(&fm_rule_epoch, __ATOMIC_RELAXED);
    return (check ^ rule * FM_RULE_FACTOR ^ epoch) == pc ? rule : FM_RULE_NONE;
}

/* Makes the rule and remembers it. */
fm_rule fm_unwind_rule_learn(uint64_t pc, bool exact);

static inline fm_rule fm_unwind_rule_find(uint64_t pc, bool exact)
{
    fm_rule rule = fm_unwind_rule_known(pc);
    return rule != FM_RULE_NONE ? rule : fm_unwind_rule_learn(pc, exact);
}

/* Clears the cache. Call it when code has been unloaded, since other code may get its addresses. */
void fm_unwind_forget(void);
