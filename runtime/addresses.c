/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the address at which the recording file is mapped. Addresses are not reserved: the kernel
 * counts reserved addresses towards RLIMIT_AS, so a program that limits itself would run out of
 * them. Instead the file is mapped in a range that is otherwise unused, and grows in place. */
#include "internal.h"

#include <errno.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* The kernel fills such a gap from one end, so its middle stays free until the program has mapped
 * 128 GiB. Sanitizers allow mappings this far below the libraries. */
#define GAP_BYTES (256ull << 30)
#define GAP_BYTES_MIN (64u << 10)
#define SMALL_BYTES 4096u

/* Before Linux 4.17 the flag is unknown, and the address a hint. */
static bool map_at(char *address, uint64_t bytes, int protection, int flags, int fd,
                   uint64_t offset)
{
    char *got = fm_memory_map(address, bytes, protection, flags | MAP_FIXED_NOREPLACE, fd, offset);
    if (got == NULL)
        return false;
    if (got == address)
        return true;
    fm_memory_unmap(got, bytes);
    errno = EEXIST;
    return false;
}

static bool is_free(char *address)
{
    if (!map_at(address, SMALL_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        return false;
    fm_memory_unmap(address, SMALL_BYTES);
    return true;
}

char *fm_addresses_choose(void)
{
    for (uint64_t bytes = GAP_BYTES; bytes >= GAP_BYTES_MIN; bytes /= 2) {
        char *gap = fm_memory_map(NULL, bytes, PROT_NONE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (gap == NULL)
            continue;
        fm_memory_unmap(gap, bytes);
        /* With a limit on addresses the gap is larger than may be tried. */
        char *far = gap - GAP_BYTES / 2;
        return bytes < GAP_BYTES && is_free(far) ? far : gap + bytes / 2;
    }
    return NULL;
}

bool fm_addresses_map(uint64_t end)
{
    const struct fm_process *p = &fm_process;
    return map_at(p->base + p->bytes_extended, end - p->bytes_extended, PROT_READ | PROT_WRITE,
                  MAP_SHARED, p->fd, p->bytes_extended);
}
