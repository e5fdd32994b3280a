/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator with operators of its own, to be linked or preloaded. It ends the program when it is
 * given another's block, or a block's size is not the one that was asked for. BY_MALLOC: its
 * operators call malloc and free by name; BY_OPERATORS: all call the plain ones. Else they share no
 * name with these, as jemalloc's. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (8u << 20)
static _Alignas(4096) char arena[BYTES];
static size_t used = 64;

extern void _ZSt17__throw_bad_allocv(void) __attribute__((noreturn));

static void *take(size_t alignment, size_t bytes)
{
    size_t at = (used + sizeof(size_t) + alignment - 1) & ~(alignment - 1);
    if (bytes > BYTES - at)
        _ZSt17__throw_bad_allocv();
    used = at + (bytes != 0 ? bytes : 1);
    memcpy(arena + at - sizeof bytes, &bytes, sizeof bytes);
    return arena + at;
}

size_t malloc_usable_size(void *block)
{
    size_t bytes;
    if ((size_t)((char *)block - arena) >= BYTES)
        abort();
    memcpy(&bytes, (char *)block - sizeof bytes, sizeof bytes);
    return bytes;
}

static void give(void *block)
{
    if (block == NULL)
        return;
    size_t gone = (size_t)-1;
    if (malloc_usable_size(block) == gone)
        abort(); /* twice */
    memcpy((char *)block - sizeof gone, &gone, sizeof gone);
}

void *malloc(size_t bytes)
{
    return take(16, bytes);
}

void free(void *block)
{
    give(block);
}

void *calloc(size_t count, size_t bytes)
{
    void *block = malloc(count * bytes);
    return memset(block, 0, count * bytes);
}

void *realloc(void *old, size_t bytes)
{
    void *block = malloc(bytes);
    if (old == NULL)
        return block;
    size_t before = malloc_usable_size(old);
    memcpy(block, old, before < bytes ? before : bytes);
    free(old);
    return block;
}

void *memalign(size_t alignment, size_t bytes)
{
    return take(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **ret, size_t alignment, size_t bytes)
{
    *ret = memalign(alignment, bytes);
    return 0;
}

#ifdef BY_MALLOC
#define NEW malloc(bytes)
#define NEW_ALIGNED aligned_alloc(alignment, bytes)
#define DELETE free(block)
#else
#define NEW take(16, bytes)
#define NEW_ALIGNED take(alignment, bytes)
#define DELETE give(block)
#endif
#define CHECK                                                \
    if (block != NULL && malloc_usable_size(block) != bytes) \
        abort();

void *_Znwm(size_t bytes)
{
    return NEW;
}
void _ZdlPv(void *block)
{
    DELETE;
}
#ifdef BY_OPERATORS
#undef NEW
#undef DELETE
#define NEW _Znwm(bytes)
#define DELETE _ZdlPv(block)
#endif
void *_ZnwmSt11align_val_t(size_t bytes, size_t alignment)
{
    return NEW_ALIGNED;
}
void _ZdlPvSt11align_val_t(void *block, size_t alignment)
{
    (void)alignment;
    DELETE;
}
#ifdef BY_OPERATORS
#undef NEW_ALIGNED
#define NEW_ALIGNED _ZnwmSt11align_val_t(bytes, alignment)
#endif
void *_Znam(size_t bytes)
{
    return NEW;
}
void *_ZnwmRKSt9nothrow_t(size_t bytes, const void *quiet)
{
    (void)quiet;
    return NEW;
}
void *_ZnamRKSt9nothrow_t(size_t bytes, const void *quiet)
{
    (void)quiet;
    return NEW;
}
void *_ZnamSt11align_val_t(size_t bytes, size_t alignment)
{
    return NEW_ALIGNED;
}
void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *quiet)
{
    (void)quiet;
    return NEW_ALIGNED;
}
void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *quiet)
{
    (void)quiet;
    return NEW_ALIGNED;
}
void _ZdaPv(void *block)
{
    DELETE;
}
void _ZdlPvm(void *block, size_t bytes)
{
    CHECK DELETE;
}
void _ZdaPvm(void *block, size_t bytes)
{
    CHECK DELETE;
}
void _ZdlPvRKSt9nothrow_t(void *block, const void *quiet)
{
    (void)quiet;
    DELETE;
}
void _ZdaPvRKSt9nothrow_t(void *block, const void *quiet)
{
    (void)quiet;
    DELETE;
}
void _ZdaPvSt11align_val_t(void *block, size_t alignment)
{
    (void)alignment;
    DELETE;
}
void _ZdlPvmSt11align_val_t(void *block, size_t bytes, size_t alignment)
{
    (void)alignment;
    CHECK DELETE;
}
void _ZdaPvmSt11align_val_t(void *block, size_t bytes, size_t alignment)
{
    (void)alignment;
    CHECK DELETE;
}
void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *block, size_t alignment, const void *quiet)
{
    (void)alignment, (void)quiet;
    DELETE;
}
void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *block, size_t alignment, const void *quiet)
{
    (void)alignment, (void)quiet;
    DELETE;
}
