/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator, to be preloaded, that has taken glibc's names and keeps nothing in front of a block
 * that could be taken for a size of glibc's. It never uses memory again. What it does first may wait,
 * and must not allocate: it is asked before constructors of the program run. With PUBLIC_NAMES it
 * has the names alone that every program uses. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES (64u << 20)
static _Alignas(4096) char arena[BYTES];
static unsigned sizes[BYTES / 16]; /* of the block that starts there */
static size_t used = 4096;

#ifdef PUBLIC_NAMES
#define __libc_memalign memalign
#define __libc_malloc malloc
#define __libc_calloc calloc
#define __libc_realloc realloc
#define __libc_free free
#define __libc_valloc valloc
#define __libc_pvalloc pvalloc
#endif

static void begin(void)
{
    static int begun, busy;
    if (busy)
        abort();
    if (begun)
        return;
    begun = busy = 1;
    close(open("/dev/null", O_RDONLY));
    busy = 0;
}

void *__libc_memalign(size_t alignment, size_t bytes)
{
    begin();
    alignment = alignment < 16 ? 16 : alignment;
    if (bytes > BYTES)
        return NULL;
    for (size_t now = __atomic_load_n(&used, __ATOMIC_RELAXED);;) {
        size_t at = (now + 16 + alignment - 1) & ~(alignment - 1);
        size_t end = (at + bytes + 3 + 15) & ~(size_t)15;
        if (end > BYTES)
            return NULL;
        if (__atomic_compare_exchange_n(&used, &now, end, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            memset(arena + at - 8, 0x55, 8); /* no size, and not what glibc marks mappings by */
            sizes[at / 16] = (unsigned)bytes + 3;
            return arena + at;
        }
    }
}

size_t malloc_usable_size(void *block)
{
    if (block != NULL && (size_t)((char *)block - arena) >= BYTES)
        abort();
    return block != NULL ? sizes[(size_t)((char *)block - arena) / 16] : 0;
}

void *__libc_malloc(size_t bytes)
{
    return __libc_memalign(16, bytes);
}

void *__libc_calloc(size_t count, size_t bytes)
{
    size_t total;
    return __builtin_mul_overflow(count, bytes, &total) ? NULL : __libc_memalign(16, total);
}

void __libc_free(void *block)
{
    (void)block;
}

void *__libc_realloc(void *block, size_t bytes)
{
    if (block != NULL && bytes == 0)
        return NULL;
    void *fresh = __libc_memalign(16, bytes);
    size_t old = malloc_usable_size(block);
    if (fresh != NULL && block != NULL)
        memcpy(fresh, block, old < bytes ? old : bytes);
    return fresh;
}

void *__libc_valloc(size_t bytes)
{
    return __libc_memalign(4096, bytes);
}

void *__libc_pvalloc(size_t bytes)
{
    return __libc_memalign(4096, (bytes + 4095) & ~(size_t)4095);
}

__attribute__((constructor)) static void ask(void)
{
    free(malloc(1));
}
