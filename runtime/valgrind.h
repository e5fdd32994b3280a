/* SPDX-License-Identifier: Apache-2.0 */
/* Client requests: instruction sequences that valgrind answers, and CPUs execute without effect:
 * rotations back to the start, and an exchange of a register with itself ("client requests" in its
 * manual). */
#ifndef FATHOM_RUNTIME_VALGRIND_H
#define FATHOM_RUNTIME_VALGRIND_H

#include <stdbool.h>
#include <stdint.h>

/* 0 outside of valgrind. */
static inline uint64_t fm_valgrind_ask(uint64_t question, uint64_t argument)
{
    const uint64_t words[6] = {question, argument};
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(words)
                     : "cc", "memory");
    return answer;
}

static inline bool fm_under_valgrind(void)
{
    return fm_valgrind_ask(0x1001, 0) != 0;
}

/* Suppresses error reports of the calling thread between two calls. */
static inline void fm_valgrind_be_quiet(bool quiet)
{
    fm_valgrind_ask(0x1801, (uint64_t)(quiet ? 1 : -1));
}

#endif
