/* SPDX-License-Identifier: Apache-2.0 */
/* Reading words of memory that may not be there. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fm_unwind_memory {
    uint64_t low, high;  /* readable without asking: bounds of the thread's stack; may be empty */
    uint64_t page, more; /* two pages that were found readable, each + 1; 0: none */
};

/* Whether the word at address, a multiple of 8, can be read. Asks the kernel, in 0.1 us. */
bool fm_unwind_is_readable(uint64_t address);
/* Whether the kernel says that it cannot be read. Where it cannot be asked it is taken to be there.
 */
bool fm_unwind_is_gone(uint64_t address);

bool fm_unwind_word_slowly(struct fm_unwind_memory *memory, uint64_t address, uint64_t *ret);

/* The word at address. False: it is not aligned, or not readable. */
static inline bool fm_unwind_word(struct fm_unwind_memory *memory, uint64_t address, uint64_t *ret)
{
    if (__builtin_expect(address < memory->low ||
                             address - memory->low >= memory->high - memory->low ||
                             address % 8 != 0,
                         0))
        return fm_unwind_word_slowly(memory, address, ret);
    *ret = *(const uint64_t *)address;
    return true;
}
