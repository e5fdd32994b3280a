/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator, to be preloaded, that keeps nothing in front of a block that could be taken for a
 * size of glibc's, and whose functions call each other by name. It never uses memory again. What it
 * does first may wait, and must not allocate: it is asked before constructors of the program run. */
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

void *memalign(size_t alignment, size_t bytes)
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

void *malloc(size_t bytes)
{
    return memalign(16, bytes);
}

void *calloc(size_t count, size_t bytes)
{
    size_t total;
    return __builtin_mul_overflow(count, bytes, &total) ? NULL : memalign(16, total);
}

void free(void *block)
{
    (void)block;
}

void *realloc(void *block, size_t bytes)
{
    if (block != NULL && bytes == 0)
        return NULL;
    void *fresh = memalign(16, bytes);
    size_t old = malloc_usable_size(block);
    if (fresh != NULL && block != NULL)
        memcpy(fresh, block, old < bytes ? old : bytes);
    return fresh;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **ret, size_t alignment, size_t bytes)
{
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    *ret = memalign(alignment, bytes);
    return *ret != NULL ? 0 : ENOMEM;
}

void *valloc(size_t bytes)
{
    return memalign(4096, bytes);
}

void *pvalloc(size_t bytes)
{
    return memalign(4096, (bytes + 4095) & ~(size_t)4095);
}

__attribute__((constructor)) static void ask(void)
{
    free(malloc(1));
}
