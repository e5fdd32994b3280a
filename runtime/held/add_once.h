/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* One instruction, because a signal handler may add to the same counter. */
static inline void fm_add_once(uint64_t *counter, uint64_t more)
{
    __asm__ volatile("addq %1, %0" : "+m"(*counter) : "er"(more) : "cc");
}
