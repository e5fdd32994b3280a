/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation accounting: the malloc family in front of libc's own, which stays reachable by the
 * __libc_ names, so nothing needs to be looked up. An object of its own: programs that bring
 * another allocator (sanitizers) or are linked statically do without. */
#include "internal.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
extern void *__libc_memalign(size_t, size_t);
extern void *__libc_valloc(size_t);
extern void *__libc_pvalloc(size_t);

#define FLUSH_BYTES (64 << 10)

__attribute__((noinline, cold)) static struct fm_rec_alloc *record_make(struct fm_thread *thread,
                                                                        struct fm_rec_csd *csd)
{
    uint64_t mask = fm_block_signals();
    if (csd->alloc == 0) {
        struct fm_rec_alloc *record = fm_arena_alloc(&thread->bump, sizeof *record);
        if (record != NULL)
            __atomic_store_n(&csd->alloc, fm_ref(record), __ATOMIC_RELEASE);
        else
            __atomic_fetch_add(&fm_process.header->dropped_nodes, 1, __ATOMIC_RELAXED);
        fm_process.header->grade_flags |= FM_REC_ALLOCATION;
    }
    fm_restore_signals(mask);
    return csd->alloc != 0 ? fm_at(csd->alloc) : NULL;
}

/* What the running call is charged to; NULL: nothing to do. */
static inline __attribute__((always_inline)) struct fm_rec_alloc *record_of_caller(uint64_t sp)
{
    struct fm_tls *tls = &fm_tls_v1;
    struct fm_thread *thread = tls->thread;
    if (thread == NULL || tls->inside != 0 || tls->low == FM_LOW_STOPPED)
        return NULL;
    const struct fm_rec_frame *frame = tls->top;
    if (FM_UNLIKELY(fm_frame_address(frame->cfa) + FM_CFA_FROM_FRAME <= sp))
        frame = fm_stack_charged(thread, sp);
    struct fm_rec_csd *csd = (struct fm_rec_csd *)frame->csd;
    return FM_LIKELY(csd->alloc != 0) ? (struct fm_rec_alloc *)fm_at(csd->alloc)
                                      : record_make(thread, csd);
}

static inline void live_add(int64_t bytes)
{
    struct fm_thread *thread = fm_tls_v1.thread;
    int64_t delta = thread->live_delta += bytes;
    if (FM_UNLIKELY(delta > FLUSH_BYTES || delta < -FLUSH_BYTES))
        fm_heap_flush(thread);
}

static inline void note_alloc(struct fm_rec_alloc *record, void *block, size_t bytes)
{
    if (record == NULL || block == NULL)
        return;
    size_t usable = malloc_usable_size(block);
    record->allocs++;
    record->bytes += bytes;
    record->usable_bytes += usable;
    live_add((int64_t)usable);
}

static inline void note_free(struct fm_rec_alloc *record, size_t usable)
{
    if (record == NULL)
        return;
    record->frees++;
    record->freed_bytes += usable;
    live_add(-(int64_t)usable);
}

/* The CFA of the interposed function: frames of the program that are alive lie above it. */
#define HERE ((uint64_t)__builtin_frame_address(0) + 16)

FM_EXPORT void *malloc(size_t bytes)
{
    void *block = __libc_malloc(bytes);
    note_alloc(record_of_caller(HERE), block, bytes);
    return block;
}

FM_EXPORT void *calloc(size_t count, size_t bytes)
{
    void *block = __libc_calloc(count, bytes);
    note_alloc(record_of_caller(HERE), block, count * bytes);
    return block;
}

FM_EXPORT void free(void *block)
{
    if (block == NULL)
        return;
    struct fm_rec_alloc *record = record_of_caller(HERE);
    if (record != NULL)
        note_free(record, malloc_usable_size(block));
    __libc_free(block);
}

static void *reallocate(void *block, size_t bytes, uint64_t sp)
{
    struct fm_rec_alloc *record = record_of_caller(sp);
    size_t old = block != NULL && record != NULL ? malloc_usable_size(block) : 0;
    void *fresh = __libc_realloc(block, bytes);
    if (block != NULL && (fresh != NULL || bytes == 0))
        note_free(record, old);
    note_alloc(record, fresh, bytes);
    return fresh;
}

FM_EXPORT void *realloc(void *block, size_t bytes)
{
    return reallocate(block, bytes, HERE);
}

FM_EXPORT void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return reallocate(block, total, HERE);
}

FM_EXPORT void *memalign(size_t alignment, size_t bytes)
{
    void *block = __libc_memalign(alignment, bytes);
    note_alloc(record_of_caller(HERE), block, bytes);
    return block;
}

FM_EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *block = __libc_memalign(alignment, bytes);
    note_alloc(record_of_caller(HERE), block, bytes);
    return block;
}

FM_EXPORT int posix_memalign(void **ret, size_t alignment, size_t bytes)
{
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    int saved_errno = errno;
    void *block = __libc_memalign(alignment, bytes);
    errno = saved_errno;
    if (block == NULL)
        return ENOMEM;
    note_alloc(record_of_caller(HERE), block, bytes);
    *ret = block;
    return 0;
}

FM_EXPORT void *valloc(size_t bytes)
{
    void *block = __libc_valloc(bytes);
    note_alloc(record_of_caller(HERE), block, bytes);
    return block;
}

FM_EXPORT void *pvalloc(size_t bytes)
{
    void *block = __libc_pvalloc(bytes);
    note_alloc(record_of_caller(HERE), block, bytes);
    return block;
}
