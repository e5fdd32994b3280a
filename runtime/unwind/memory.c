/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"
#include "../sandbox/gate.h"

#include "../valgrind.h"

#include <errno.h>
#include <sys/syscall.h>

#define PAGE_BITS 12

/* The kernel reads the signal set before it rejects the operation. So nothing changes, and no
 * system call is used that the runtime's slow paths do not make anyway. libc's function is not
 * used, since a sanitizer may interpose it. */
static long probe(uint64_t address)
{
    if (fm_under_valgrind()) /* valgrind would report missing bytes, or bytes never written */
        return 0;
    long result = SYS_rt_sigprocmask;
    const uint64_t arguments[6] = {(uint64_t)-1, address, 0, 8};
    if (fm_sandbox.on && !fm_sandbox_allows(result, arguments))
        return 0;
    register long size __asm__("r10") = 8;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(-1L), "S"(address), "d"(0L), "r"(size)
                     : "rcx", "r11", "memory");
    return result;
}

bool fm_unwind_is_readable(uint64_t address)
{
    return probe(address) == -EINVAL;
}

bool fm_unwind_is_gone(uint64_t address)
{
    return probe(address) == -EFAULT;
}

bool fm_unwind_word_slowly(struct fm_unwind_memory *memory, uint64_t address, uint64_t *ret)
{
    uint64_t page = (address >> PAGE_BITS) + 1;
    if (address % 8 != 0)
        return false;
    if (page != memory->page && page != memory->more) {
        if (!fm_unwind_is_readable(address))
            return false;
        memory->more = memory->page;
        memory->page = page;
    }
    *ret = *(const uint64_t *)address;
    return true;
}
