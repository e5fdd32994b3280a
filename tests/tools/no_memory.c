/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: from the NO_MEMORY_AFTER-th allocation on there is no memory, for nobody. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long allocations;
static long allowed = -1;

__attribute__((constructor)) static void begin(void)
{
    const char *after = getenv("NO_MEMORY_AFTER");
    if (after != NULL)
        allowed = atol(after);
}

static int refused(void)
{
    if (allowed < 0 || atomic_fetch_add(&allocations, 1) < allowed)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return refused() ? NULL : __libc_realloc(block, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
    if (refused())
        return ENOMEM;
    *ret = __libc_memalign(alignment, size);
    return *ret == NULL ? ENOMEM : 0;
}

void *mmap(void *at, size_t length, int protection, int flags, int descriptor, off_t offset)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (allowed >= 0 && atomic_load(&allocations) >= allowed) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (real == NULL)
        real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    return real(at, length, protection, flags, descriptor, offset);
}
