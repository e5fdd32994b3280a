/* SPDX-License-Identifier: Apache-2.0 */
#include "leave.h"

#include <stddef.h>

#define KEPT_BY_CALLEES                                                                       \
    (1u << FM_UNWIND_RBX | 1u << FM_UNWIND_RBP | 1u << FM_UNWIND_RSP | 15u << FM_UNWIND_R12 | \
     1u << FM_UNWIND_RIP)

struct frame {
    const struct fm_unwind_entry *entry;
    const struct fm_unwind_row *row;
    const struct fm_unwind_registers *registers;
    struct fm_unwind_memory *memory;
    bool left; /* registers saved relative to rbp have been restored */
};

static bool evaluate(const struct frame *frame, int32_t expression, const uint64_t *cfa,
                     uint64_t *ret)
{
    return fm_unwind_evaluate(fm_unwind_expression(frame->entry, expression), frame->registers,
                              frame->memory, cfa, ret);
}

static bool cfa_of(const struct frame *frame, uint64_t *ret)
{
    const struct fm_unwind_row *row = frame->row;
    if (row->cfa_how == FM_UNWIND_IS_EXPRESSION)
        return evaluate(frame, row->cfa_value, NULL, ret);
    if (row->cfa_how != FM_UNWIND_REGISTER_OFFSET ||
        !fm_unwind_register_known(frame->registers, row->cfa_register))
        return false;
    *ret = frame->registers->value[row->cfa_register] + (uint64_t)(int64_t)row->cfa_value;
    return true;
}

/* Whether registers already have the caller's values, when rows of a realigned frame say that they
 * are stored relative to rbp. While rbp belongs to the frame, it is below the CFA, with a copy of
 * the return address above it. The caller's rbp is above the CFA, or not a frame pointer. */
static bool is_left(const struct frame *frame, uint64_t cfa)
{
    uint64_t bp = frame->registers->value[FM_UNWIND_RBP], address, copy;
    if (!frame->row->may_be_left)
        return false;
    return bp >= cfa || !fm_unwind_word(frame->memory, cfa - 8, &address) ||
           !fm_unwind_word(frame->memory, bp + 8, &copy) || copy != address;
}

/* A register of the caller. False: not known. */
static bool column_of(const struct frame *frame, unsigned column, uint64_t cfa, uint64_t *ret)
{
    const struct fm_unwind_registers *registers = frame->registers;
    int32_t value = frame->row->value[column];
    uint64_t by_cfa = cfa + (uint64_t)(int64_t)value;
    uint8_t how = frame->row->how[column];
    if (frame->left && how == FM_UNWIND_AT_EXPRESSION)
        how = FM_UNWIND_SAME;
    switch (how) {
    case FM_UNWIND_UNSET:
        *ret = registers->value[column];
        return (KEPT_BY_CALLEES & registers->known & 1u << column) != 0;
    case FM_UNWIND_SAME:
        *ret = registers->value[column];
        return fm_unwind_register_known(registers, column);
    case FM_UNWIND_AT_CFA:
        return fm_unwind_word(frame->memory, by_cfa, ret);
    case FM_UNWIND_IS_CFA:
        *ret = by_cfa;
        return true;
    case FM_UNWIND_IN_REGISTER:
        if (value < 0 || !fm_unwind_register_known(registers, (uint64_t)value))
            return false;
        *ret = registers->value[value];
        return true;
    case FM_UNWIND_AT_EXPRESSION:
        return evaluate(frame, value, &cfa, ret) && fm_unwind_word(frame->memory, *ret, ret);
    case FM_UNWIND_IS_EXPRESSION:
        return evaluate(frame, value, &cfa, ret);
    default:
        return false;
    }
}

/* Frames are in descending order, except those of a signal handler and the code that it
 * interrupted. */
static bool is_above(const struct frame *frame, bool exact, uint64_t sp)
{
    /* A return address that never was on the stack leaves the stack pointer where it is. */
    bool may_stay = exact && frame->row->how[FM_UNWIND_RIP] == FM_UNWIND_IN_REGISTER;
    uint64_t least = frame->registers->value[FM_UNWIND_RSP] + (may_stay ? 0 : 8);
    return frame->entry->signal || sp >= least;
}

enum fm_unwind_result fm_unwind_leave(const struct fm_unwind_entry *entry,
                                      const struct fm_unwind_row *row, bool exact,
                                      struct fm_unwind_registers *registers,
                                      struct fm_unwind_memory *memory)
{
    struct frame frame = {entry, row, registers, memory, false};
    struct fm_unwind_registers caller = {.known = 0};
    uint64_t cfa;
    if (row->how[FM_UNWIND_RIP] == FM_UNWIND_UNDEFINED)
        return FM_UNWIND_END;
    if (row->how[FM_UNWIND_RIP] == FM_UNWIND_UNSET || !cfa_of(&frame, &cfa))
        return FM_UNWIND_CUT;
    frame.left = is_left(&frame, cfa);
    for (unsigned i = 0; i < FM_UNWIND_REGISTERS; i++)
        if (column_of(&frame, i, cfa, &caller.value[i]))
            caller.known |= 1u << i;
    if (row->how[FM_UNWIND_RSP] == FM_UNWIND_UNSET || row->how[FM_UNWIND_RSP] == FM_UNWIND_SAME) {
        caller.value[FM_UNWIND_RSP] = cfa;
        caller.known |= 1u << FM_UNWIND_RSP;
    }
    if (!fm_unwind_register_known(&caller, FM_UNWIND_RIP) ||
        !fm_unwind_register_known(&caller, FM_UNWIND_RSP) ||
        !is_above(&frame, exact, caller.value[FM_UNWIND_RSP]))
        return FM_UNWIND_CUT;
    if (!fm_unwind_register_known(&caller, FM_UNWIND_RBP))
        caller.value[FM_UNWIND_RBP] = 0;
    if (caller.value[FM_UNWIND_RIP] == 0)
        return FM_UNWIND_END;
    *registers = caller;
    return FM_UNWIND_FRAME;
}
