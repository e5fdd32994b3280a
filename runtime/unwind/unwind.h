/* SPDX-License-Identifier: Apache-2.0 */
/* Unwinds a stack inside the recorded program, from registers outwards. Never aborts, allocates
 * or locks, and may run at any instruction, in the handler of any signal. A stack that cannot be
 * followed is cut, with the frames found so far; frames found without unwind tables are marked
 * as guesses. Method and pitfalls: README.md here.
 *
 *     struct fm_unwind walk;
 *     fm_unwind_begin(&walk, &registers, stack_low, stack_high);
 *     do
 *         use(walk.ip, walk.sp);
 *     while (fm_unwind_step(&walk) == FM_UNWIND_FRAME); */
#pragma once

#include "expression.h"

#include <ucontext.h>

enum fm_unwind_result {
    FM_UNWIND_FRAME, /* the next frame is the current one */
    FM_UNWIND_END,   /* the outermost frame was the current one: the stack is complete */
    FM_UNWIND_CUT    /* the stack cannot be followed further */
};

#define FM_UNWIND_SINCE_LOST UINT32_MAX

/* The state of a walk. Besides memory, the next step depends only on ip, sp, bp and exact. So
 * frames with the same state and the same words after ip_slot and bp_slot have the same callers. */
struct fm_unwind {
    uint64_t ip; /* the next instruction of the current frame */
    uint64_t sp, bp;
    bool exact;       /* ip was interrupted; else it is a return address: look up ip - 1 */
    bool guessed;     /* the last step was a guess */
    bool by_bp;       /* the last step depended on bp */
    bool by_slots;    /* the last step read no memory but the words at the slots */
    bool bp_lost;     /* the caller's bp is not known */
    uint64_t ip_slot; /* address from which the last step read ip; 0: not from the stack */
    uint64_t bp_slot; /* as above for bp; 0: bp is unchanged, or was not read from the stack */
    uint32_t guesses; /* so far */
    /* The rest belongs to the walk. */
    struct fm_unwind_memory memory;
    struct fm_unwind_registers all; /* registers of the frame `since` steps ago */
    bool all_exact;
    uint32_t since; /* FM_UNWIND_SINCE_LOST: steps from there cannot be repeated */
    uint32_t repeats;
};

/* registers: of the innermost frame, all, or only rip, rsp, rbp and the callee-saved ones. Memory
 * between low and high is read without asking the kernel; both may be 0. */
void fm_unwind_begin(struct fm_unwind *walk, const struct fm_unwind_registers *registers,
                     uint64_t low, uint64_t high);
/* As above, from a frame that has called: ip is its return address. Other registers are not known:
 * if one is needed, the stack is cut. */
void fm_unwind_begin_at(struct fm_unwind *walk, uint64_t ip, uint64_t sp, uint64_t bp, uint64_t low,
                        uint64_t high);
enum fm_unwind_result fm_unwind_step(struct fm_unwind *walk);
/* As above, with all registers that can be known: they are in walk->all then. */
enum fm_unwind_result fm_unwind_step_all(struct fm_unwind *walk);

/* Registers of the code that a signal interrupted. */
void fm_unwind_registers_of(const mcontext_t *context, struct fm_unwind_registers *ret);
/* Callee-saved registers and program counter of the function that this is inlined into. */
static inline __attribute__((always_inline)) void
fm_unwind_registers_here(struct fm_unwind_registers *ret)
{
    uint64_t *value = ret->value;
    __asm__ volatile("movq %%rbx, 24(%1)\n\t"
                     "movq %%rbp, 48(%1)\n\t"
                     "movq %%rsp, 56(%1)\n\t"
                     "movq %%r12, 96(%1)\n\t"
                     "movq %%r13, 104(%1)\n\t"
                     "movq %%r14, 112(%1)\n\t"
                     "movq %%r15, 120(%1)\n\t"
                     "leaq 0f(%%rip), %%rax\n\t"
                     "0: movq %%rax, 128(%1)"
                     : "=m"(ret->value)
                     : "r"(value)
                     : "rax");
    ret->known = 1u << FM_UNWIND_RBX | 1u << FM_UNWIND_RBP | 1u << FM_UNWIND_RSP |
                 15u << FM_UNWIND_R12 | 1u << FM_UNWIND_RIP;
}

/* guess.c: the caller of a frame without unwind tables. False: none was found. */
bool fm_unwind_guess(struct fm_unwind *walk);
/* Whether the return address was written by the creator of the stack: coroutines return to the
 * first instruction of a function (__start_context). */
bool fm_unwind_is_made_by_hand(uint64_t ip);
