/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind tables of one object as linkers write them: .eh_frame_hdr and .eh_frame (Linux Standard
 * Base 5.0, "Exception Frames"; DWARF 5, 6.4). Every byte is read within bounds given by the
 * caller, so a damaged table is rejected. Async-signal-safe; no locks, no memory. Only these files
 * know the format. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* DWARF's numbers for x86-64: rax rdx rcx rbx rsi rdi rbp rsp r8..r15, return address. */
enum {
    FM_UNWIND_RBX = 3,
    FM_UNWIND_RBP = 6,
    FM_UNWIND_RSP = 7,
    FM_UNWIND_R10 = 10,
    FM_UNWIND_R12 = 12,
    FM_UNWIND_R15 = 15,
    FM_UNWIND_RIP = 16,
    FM_UNWIND_REGISTERS = 17
};

struct fm_unwind_bounds {
    const uint8_t *low, *high; /* readable: low <= byte < high */
};

struct fm_unwind_table {
    const uint8_t *header;          /* .eh_frame_hdr */
    struct fm_unwind_bounds around; /* its segment */
    struct fm_unwind_bounds frames; /* the segment of .eh_frame, usually the same one */
};

/* The unwind instructions of one function (FDE), and those that it shares with others (CIE). */
struct fm_unwind_entry {
    uint64_t start, end; /* addresses of the code */
    struct fm_unwind_bounds frames;
    struct fm_unwind_bounds common, own; /* instructions: the CIE's, then the FDE's */
    uint64_t code_unit;
    int64_t data_unit;
    uint8_t encoding; /* encoding of addresses */
    bool signal;      /* the frame of a signal: the kernel saved all registers */
};

enum fm_unwind_how {
    FM_UNWIND_UNSET = 0, /* not mentioned: callee-saved registers are unchanged */
    FM_UNWIND_SAME,
    FM_UNWIND_UNDEFINED,
    FM_UNWIND_AT_CFA,         /* stored at CFA + value */
    FM_UNWIND_IS_CFA,         /* CFA + value */
    FM_UNWIND_IN_REGISTER,    /* value: number */
    FM_UNWIND_AT_EXPRESSION,  /* stored where the expression says; value: see expression_of() */
    FM_UNWIND_IS_EXPRESSION,  /* the value of the expression */
    FM_UNWIND_REGISTER_OFFSET /* for the CFA only: register + value */
};

/* How a frame is left at one instruction. 32-bit values keep a row below 100 bytes: rows stand on
 * the stacks of signal handlers. */
struct fm_unwind_row {
    uint8_t cfa_how; /* UNSET, REGISTER_OFFSET or IS_EXPRESSION */
    uint8_t cfa_register;
    uint8_t how[FM_UNWIND_REGISTERS]; /* enum fm_unwind_how */
    bool may_be_left;                 /* rbp may be the caller's already, see rules.c */
    int32_t cfa_value;
    int32_t value[FM_UNWIND_REGISTERS];
};

/* The table of the object that contains pc. False: there is none, or it has no readable table. Uses
 * the loader's _dl_find_object(), which takes no lock. */
bool fm_unwind_table_of(uint64_t pc, struct fm_unwind_table *ret);
/* Whether `bytes` bytes from address on are in executable code of a loaded object. */
bool fm_unwind_is_code(uint64_t address, unsigned bytes);
/* The entry whose code contains pc. ret_below (or NULL): start of the last entry that begins at or
 * before pc, 0 if there is none; also set when no entry contains pc. */
bool fm_unwind_entry_find(const struct fm_unwind_table *table, uint64_t pc,
                          struct fm_unwind_entry *ret, uint64_t *ret_below);
/* The row for pc: runs the instructions. False: unknown or damaged instructions. */
bool fm_unwind_row_find(const struct fm_unwind_entry *entry, uint64_t pc,
                        struct fm_unwind_row *ret);
/* The bytes of an expression that a row has by its value. */
struct fm_unwind_bounds fm_unwind_expression(const struct fm_unwind_entry *entry, int32_t value);
