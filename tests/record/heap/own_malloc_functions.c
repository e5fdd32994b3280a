/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own: the malloc family; FOUR: the functions that every program uses alone; TWO:
 * malloc and free, in front of libc's. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int own_calls;

#ifdef TWO
void *__libc_malloc(size_t);
void __libc_free(void *);
void *malloc(size_t bytes)
{
    own_calls++;
    return __libc_malloc(bytes);
}
void free(void *block)
{
    __libc_free(block);
}
#else
static char arena[1 << 22] __attribute__((aligned(4096)));
static size_t used;

void *malloc(size_t bytes)
{
    own_calls++;
    size_t at = (used + 31) & ~(size_t)15;
    used = at + 16 + bytes;
    memcpy(arena + at, &bytes, sizeof bytes);
    return used > sizeof arena ? NULL : arena + at + 16;
}

void free(void *block)
{
    if (block != NULL && (size_t)((char *)block - arena) >= sizeof arena)
        __builtin_trap(); /* another's */
}

void *calloc(size_t count, size_t bytes)
{
    void *block = malloc(count * bytes);
    return block != NULL ? memset(block, 0, count * bytes) : NULL;
}

void *realloc(void *old, size_t bytes)
{
    void *block = malloc(bytes);
    size_t before = 0;
    if (old != NULL)
        memcpy(&before, (char *)old - 16, sizeof before);
    return block != NULL && old != NULL ? memcpy(block, old, before < bytes ? before : bytes)
                                        : block;
}
#ifndef FOUR
void *memalign(size_t alignment, size_t bytes)
{
    uintptr_t block = (uintptr_t)malloc(bytes + alignment);
    return (void *)((block + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **ret, size_t alignment, size_t bytes)
{
    *ret = memalign(alignment, bytes);
    return *ret != NULL ? 0 : ENOMEM;
}
#endif
#endif
