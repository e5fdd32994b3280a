/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <stdint.h>
#include <sys/mman.h>

/* In smaller arrays a huge page would be mostly wasted. */
#define HUGE_BYTES_MIN ((size_t)8 << 20)
#define PAGE_BYTES ((uintptr_t)4096)

static void prefer_huge(void *array, size_t bytes)
{
    if (bytes < HUGE_BYTES_MIN)
        return;
    uintptr_t start = ((uintptr_t)array + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    uintptr_t end = ((uintptr_t)array + bytes) & ~(PAGE_BYTES - 1);
    /* Only a hint: if it is refused, the program is just slower. */
    (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
}

void *fm_memory_try_array(size_t count, size_t item_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(MAX(count, 1), item_bytes, &bytes))
        return NULL;
    void *array = g_try_malloc0(bytes);
    if (array)
        prefer_huge(array, bytes);
    return array;
}

void *fm_memory_try_resize(void *array, size_t count, size_t item_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(MAX(count, 1), item_bytes, &bytes))
        return NULL;
    void *resized = g_try_realloc(array, bytes);
    if (resized)
        prefer_huge(resized, bytes);
    return resized;
}

void fm_memory_touch(void *array, size_t bytes, size_t offset)
{
    if (!array || offset >= bytes)
        return;
    volatile char *at = (volatile char *)array + offset;
    *at = *at;
}
