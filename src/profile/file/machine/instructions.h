/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code as text (x86-64, Intel's operand order, without sizes implied by registers). */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum fm_instruction_kind {
    FM_INSTRUCTION_PLAIN,
    FM_INSTRUCTION_CALL,
    FM_INSTRUCTION_JUMP,
    FM_INSTRUCTION_HOOK, /* all that fathom wrote into the function at one place, as one */
    FM_INSTRUCTION_BAD,  /* a byte that is not an instruction */
};

struct fm_instruction {
    uint64_t address;
    uint32_t size;
    enum fm_instruction_kind kind;
    uint64_t target; /* target of a direct call or jump, else 0 */
    char *text;      /* NULL for hooks */
};

/* All instructions of the code at an address: struct fm_instruction, ascending; they cover every
 * byte. At most max of them; *ret_all: whether these are all. The caller unrefs it. NULL when the
 * disassembler cannot be started. */
GArray *fm_instructions(const uint8_t *bytes, uint64_t size, uint64_t address, uint32_t max,
                        bool *ret_all);
