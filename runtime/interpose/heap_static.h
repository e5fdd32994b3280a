/* SPDX-License-Identifier: Apache-2.0 */
/* The malloc family in a fully static program. libc's archive has all of it in one object. Calls of
 * the program are redirected here (waiting/next_static.c), unless it has its own. Nothing here may
 * pull that object into a program that does not need it, so the references are weak. */
#pragma once

#include "../waiting/waiting.h"

#include <errno.h>

#define LIBC extern __attribute__((weak))
LIBC void *__libc_malloc(size_t);
LIBC void *__libc_calloc(size_t, size_t);
LIBC void *__libc_realloc(void *, size_t);
LIBC void __libc_free(void *);
LIBC void *__libc_memalign(size_t, size_t);
LIBC void *__libc_valloc(size_t);
LIBC void *__libc_pvalloc(size_t);
LIBC void *__real_malloc(size_t);
LIBC void __real_free(void *);
LIBC void *__real_realloc(void *, size_t);
#pragma weak malloc_usable_size
#define NEXT(name) __libc_##name
#define PADDED(bytes, cfa) (bytes)
#define IS_INNER(cfa) false
#define REPLACED (__real_realloc != __libc_realloc)
#define PROGRAMS_REALLOC __real_realloc
#define __libc_aligned_alloc __libc_memalign

static int __libc_posix_memalign(void **ret, size_t alignment, size_t bytes)
{
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *block = __libc_memalign(alignment, bytes); /* changes errno as libc's does */
    if (block == NULL)
        return ENOMEM;
    *ret = block;
    return 0;
}

#define FM_HEAP_NAMES(X) \
    X(malloc)            \
    X(calloc)            \
    X(free)              \
    X(realloc)           \
    X(reallocarray)      \
    X(memalign)          \
    X(aligned_alloc)     \
    X(posix_memalign)    \
    X(valloc)            \
    X(pvalloc)
#define HEAP_WAY(name)                      \
    extern __typeof__(name) fm_heap_##name; \
    FM_STATIC_WAY(name, name, fm_heap_##name, NULL, NULL)
FM_HEAP_NAMES(HEAP_WAY)

#define malloc fm_heap_malloc
#define calloc fm_heap_calloc
#define free fm_heap_free
#define realloc fm_heap_realloc
#define reallocarray fm_heap_reallocarray
#define memalign fm_heap_memalign
#define aligned_alloc fm_heap_aligned_alloc
#define posix_memalign fm_heap_posix_memalign
#define valloc fm_heap_valloc
#define pvalloc fm_heap_pvalloc
