/* SPDX-License-Identifier: Apache-2.0 */
/* Values of expressions in unwind tables (DWARF 5, 2.5). */
#pragma once

#include "memory.h"
#include "table.h"

/* Registers of a frame by DWARF's numbers, and which of them are known. */
struct fm_unwind_registers {
    uint64_t value[FM_UNWIND_REGISTERS];
    uint32_t known; /* bit n: value[n] is */
};

static inline bool fm_unwind_register_known(const struct fm_unwind_registers *registers,
                                            uint64_t column)
{
    return column < FM_UNWIND_REGISTERS && (registers->known >> column & 1) != 0;
}

/* cfa: initial value on the expression's stack; NULL: none. False: an operation is unknown or
 * fails, memory cannot be read, or a register is not known. */
bool fm_unwind_evaluate(struct fm_unwind_bounds expression,
                        const struct fm_unwind_registers *registers,
                        struct fm_unwind_memory *memory, const uint64_t *cfa, uint64_t *ret);
