/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind.h"

#include "leave.h"
#include "rules.h"

#include <stddef.h>
#include <string.h>

#define REPEATS_MAX 16u /* number of steps with all registers, in one walk */
#define ALL_KNOWN ((1u << FM_UNWIND_REGISTERS) - 1)

void fm_unwind_registers_of(const mcontext_t *context, struct fm_unwind_registers *ret)
{
    static const uint8_t from[FM_UNWIND_REGISTERS] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
        REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (unsigned i = 0; i < FM_UNWIND_REGISTERS; i++)
        ret->value[i] = (uint64_t)context->gregs[from[i]];
    ret->known = ALL_KNOWN;
}

/* Makes the frame of walk->all the current one. */
static void go_on_from_all(struct fm_unwind *walk, bool exact)
{
    walk->ip = walk->all.value[FM_UNWIND_RIP];
    walk->sp = walk->all.value[FM_UNWIND_RSP];
    walk->bp = walk->all.value[FM_UNWIND_RBP];
    walk->exact = walk->all_exact = exact;
    walk->since = 0;
}

static void begin(struct fm_unwind *walk, uint64_t low, uint64_t high)
{
    walk->guessed = walk->by_bp = walk->by_slots = walk->bp_lost = false;
    walk->ip_slot = walk->bp_slot = 0;
    walk->guesses = walk->repeats = 0;
    low = (low + 7) & ~7ull;
    high = high & ~7ull;
    walk->memory = (struct fm_unwind_memory){.low = low, .high = high > low ? high : low};
}

void fm_unwind_begin(struct fm_unwind *walk, const struct fm_unwind_registers *registers,
                     uint64_t low, uint64_t high)
{
    begin(walk, low, high);
    walk->all = *registers;
    go_on_from_all(walk, true);
}

void fm_unwind_begin_at(struct fm_unwind *walk, uint64_t ip, uint64_t sp, uint64_t bp, uint64_t low,
                        uint64_t high)
{
    begin(walk, low, high);
    walk->ip = ip;
    walk->sp = sp;
    walk->bp = bp;
    walk->exact = false;
    walk->since = FM_UNWIND_SINCE_LOST;
}

/* The kernel's frame is at the stack pointer, wherever the handler's stack was; the interrupted
 * code may be on another stack. */
static enum fm_unwind_result step_signal(struct fm_unwind *walk)
{
    mcontext_t registers;
    uint64_t from = walk->sp + offsetof(ucontext_t, uc_mcontext.gregs);
    for (unsigned i = 0; i < sizeof registers.gregs / sizeof registers.gregs[0]; i++) {
        uint64_t word;
        if (!fm_unwind_word(&walk->memory, from + i * sizeof word, &word))
            return FM_UNWIND_CUT;
        registers.gregs[i] = (greg_t)word;
    }
    fm_unwind_registers_of(&registers, &walk->all);
    go_on_from_all(walk, true);
    walk->by_bp = false;
    walk->ip_slot = from + REG_RIP * sizeof(greg_t);
    walk->bp_slot = from + REG_RBP * sizeof(greg_t);
    return FM_UNWIND_FRAME;
}

/* The code to which the kernel returns from a handler, if no table describes it: mov $15, %rax;
 * syscall. */
static bool is_signal_return(uint64_t ip)
{
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
    bool readable = fm_unwind_is_code(ip, sizeof code) ||
                    (fm_unwind_is_readable(ip) && fm_unwind_is_readable(ip + sizeof code - 8));
    return readable && memcmp((const void *)ip, code, sizeof code) == 0;
}

/* Leaves the frame of walk->all, with all its registers. */
static enum fm_unwind_result step_all(struct fm_unwind *walk)
{
    struct fm_unwind_entry entry;
    struct fm_unwind_row row;
    uint64_t pc = walk->all.value[FM_UNWIND_RIP] - !walk->all_exact;
    if (!fm_unwind_row_at(pc, walk->all_exact, &entry, &row))
        return FM_UNWIND_CUT;
    enum fm_unwind_result result =
        fm_unwind_leave(&entry, &row, walk->all_exact, &walk->all, &walk->memory);
    walk->all_exact = entry.signal;
    return result;
}

/* The step needs more than ip, sp and bp: repeats the steps from where all registers were known. */
static enum fm_unwind_result step_again(struct fm_unwind *walk)
{
    if (walk->since == FM_UNWIND_SINCE_LOST || walk->repeats++ == REPEATS_MAX)
        return FM_UNWIND_CUT;
    for (; walk->since > 0; walk->since--)
        if (step_all(walk) != FM_UNWIND_FRAME)
            return FM_UNWIND_CUT;
    if (walk->all.value[FM_UNWIND_RIP] != walk->ip || walk->all.value[FM_UNWIND_RSP] != walk->sp ||
        walk->all_exact != walk->exact)
        return FM_UNWIND_CUT;
    enum fm_unwind_result result = step_all(walk);
    if (result != FM_UNWIND_FRAME)
        return result;
    go_on_from_all(walk, walk->all_exact);
    walk->by_bp = true; /* it may */
    walk->ip_slot = walk->bp_slot = 0;
    return FM_UNWIND_FRAME;
}

enum fm_unwind_result fm_unwind_step_all(struct fm_unwind *walk)
{
    return step_again(walk);
}

static enum fm_unwind_result step_guessed(struct fm_unwind *walk)
{
    if (is_signal_return(walk->ip))
        return step_signal(walk);
    if (!walk->exact && fm_unwind_is_made_by_hand(walk->ip))
        return FM_UNWIND_END;
    if (!fm_unwind_guess(walk))
        return FM_UNWIND_CUT;
    walk->guesses++;
    walk->guessed = true;
    walk->exact = false;
    walk->since = FM_UNWIND_SINCE_LOST;
    return walk->ip == 0 ? FM_UNWIND_END : FM_UNWIND_FRAME;
}

static bool cfa_by_rule(struct fm_unwind *walk, fm_rule rule, uint64_t *ret)
{
    unsigned column = fm_rule_register(rule);
    uint64_t base = column == FM_UNWIND_RBP ? walk->bp : walk->sp;
    walk->by_bp = column == FM_UNWIND_RBP;
    walk->by_slots = true;
    if (column != FM_UNWIND_RBP && column != FM_UNWIND_RSP) {
        if (walk->since != 0 || !fm_unwind_register_known(&walk->all, column))
            return false;
        base = walk->all.value[column];
        walk->by_slots = false;
    }
    switch (fm_rule_kind_of(rule)) {
    case FM_RULE_OFFSET:
        *ret = base + (uint64_t)fm_rule_offset(rule);
        return true;
    case FM_RULE_PLT:
        *ret = base + ((walk->ip & 15) >= (uint64_t)fm_rule_offset(rule) ? 16 : 8);
        return true;
    default: /* FM_RULE_LOADED, FM_RULE_LOADED_8 */
        walk->by_slots = false;
        if (!fm_unwind_word(&walk->memory, base + (uint64_t)fm_rule_offset(rule), ret))
            return false;
        *ret += fm_rule_kind_of(rule) == FM_RULE_LOADED_8 ? 8 : 0;
        return true;
    }
}

static bool bp_by_rule(struct fm_unwind *walk, fm_rule rule, uint64_t cfa)
{
    walk->bp_slot = 0;
    walk->bp_lost = false;
    switch (fm_rule_bp_of(rule)) {
    case FM_RULE_BP_SAME:
        return true;
    case FM_RULE_BP_AT_CFA:
        walk->bp_slot = cfa + (uint64_t)fm_rule_bp_offset(rule);
        break;
    case FM_RULE_BP_AT_BP:
        walk->bp_slot = walk->bp + (uint64_t)fm_rule_bp_offset(rule);
        walk->by_bp = true;
        break;
    case FM_RULE_BP_LOST:
        walk->bp = 0;
        walk->bp_lost = true;
        return true;
    }
    return fm_unwind_word(&walk->memory, walk->bp_slot, &walk->bp);
}

enum fm_unwind_result fm_unwind_step(struct fm_unwind *walk)
{
    uint64_t cfa, ip;
    fm_rule rule = fm_unwind_rule_find(walk->ip - !walk->exact, walk->exact);
    walk->guessed = walk->by_slots = false;
    switch (fm_rule_kind_of(rule)) {
    case FM_RULE_NONE:
        return step_guessed(walk);
    case FM_RULE_SIGNAL:
        return step_signal(walk);
    case FM_RULE_END:
        walk->by_slots = true;
        walk->by_bp = false;
        return FM_UNWIND_END;
    case FM_RULE_INTERPRETED:
        return step_again(walk);
    default:
        break;
    }
    if (!cfa_by_rule(walk, rule, &cfa))
        return walk->since != 0 ? step_again(walk) : FM_UNWIND_CUT;
    if (cfa < walk->sp + 8 || !fm_unwind_word(&walk->memory, cfa - 8, &ip) ||
        !bp_by_rule(walk, rule, cfa))
        return FM_UNWIND_CUT;
    walk->ip_slot = cfa - 8;
    walk->ip = ip;
    walk->sp = cfa;
    walk->exact = false;
    walk->since += walk->since != FM_UNWIND_SINCE_LOST;
    return ip == 0 ? FM_UNWIND_END : FM_UNWIND_FRAME;
}
