/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation accounting: the malloc family in front of libc's own, which stays reachable by the
 * __libc_ names, so nothing needs to be looked up. An object of its own: programs that bring
 * another allocator (sanitizers) do without. In fully static programs: heap_static.h.
 *
 * malloc and free are short in programs that live on them, and what they wait for is the store
 * queue: so the counts are kept with as few stores as can be, and whatever is not usual is done out
 * of line (docs/decisions.md: what it costs). */
#include "../valgrind.h"
#include "held/held.h"

#include <dlfcn.h>
#include <emmintrin.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#ifdef FATHOM_STATIC
#include "heap_static.h"
#else
#define LIBC extern
#endif
LIBC void *__libc_malloc(size_t);
LIBC void *__libc_calloc(size_t, size_t);
LIBC void *__libc_realloc(void *, size_t);
LIBC void __libc_free(void *);
LIBC void *__libc_memalign(size_t, size_t);
LIBC void *__libc_valloc(size_t);
LIBC void *__libc_pvalloc(size_t);

#define RECORD_BYTES_MAX (sizeof(struct fm_rec_alloc) + FM_CACHE_LINE - FM_REC_UNIT)

/* The CFA of the interposed function: frames of the program that are alive lie above it. */
#define HERE ((uint64_t)__builtin_dwarf_cfa())

/* glibc's chunks have their size in the word in front of the block, with flags in its low bits; all
 * of it but one word is usable, unless the chunk is a mapping. malloc_usable_size says the same
 * and looks at the next chunk as well. */
#define CHUNK_FLAGS 7u
#define CHUNK_MAPPED 2u
static bool chunks_known; /* the allocator is glibc's, and its chunks are as above */

static inline size_t chunk_word(const void *block)
{
    return ((const size_t *)block)[-1];
}

static inline size_t chunk_usable(size_t word)
{
    return (word & ~(size_t)CHUNK_FLAGS) - sizeof word;
}

#ifdef FATHOM_STATIC
static size_t usable_asked(void *block)
{
    return malloc_usable_size(block);
}
#else
static uint64_t object_of(uint64_t function)
{
    struct dl_find_object found;
    return _dl_find_object((void *)function, &found) == 0 ? (uint64_t)found.dlfo_map_start : 0;
}

/* The next malloc_usable_size; NULL: it is of another allocator than the blocks, which are glibc's.
 */
static size_t (*next_usable(void))(void *)
{
    static size_t (*next)(void *);
    static int found; /* 1: next, 2: another's */
    int known = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (known == 0) {
        void *symbol = dlsym(RTLD_NEXT, "malloc_usable_size");
        memcpy(&next, &symbol, sizeof symbol);
        known = object_of((uint64_t)symbol) == object_of((uint64_t)__libc_malloc) ? 1 : 2;
        __atomic_store_n(&found, known, __ATOMIC_RELEASE);
    }
    return known == 1 ? next : NULL;
}

static size_t usable_asked(void *block)
{
    size_t (*next)(void *) = next_usable();
    if (next != NULL)
        return next(block);
    size_t word = chunk_word(block);
    return chunk_usable(word) - ((word & CHUNK_MAPPED) != 0 ? sizeof word : 0);
}

/* The program's question, too, is for blocks of the functions here. */
FM_EXPORT size_t malloc_usable_size(void *block)
{
    return block != NULL ? usable_asked(block) : 0;
}
#endif

static inline size_t usable_bytes(void *block)
{
    if (FM_LIKELY(chunks_known) && FM_LIKELY((chunk_word(block) & CHUNK_MAPPED) == 0))
        return chunk_usable(chunk_word(block));
    return usable_asked(block);
}

#ifdef FATHOM_STATIC
static bool is_ours(void)
{
    chunks_known = __libc_malloc != NULL && __real_malloc == __libc_malloc &&
                   __real_free == __libc_free && __real_realloc == __libc_realloc;
    return chunks_known;
}
#else
/* Another allocator that was preloaded or linked may have taken the __libc_ names. */
static bool is_ours(void)
{
    uint64_t libc = object_of((uint64_t)gnu_get_libc_version), own = object_of((uint64_t)is_ours);
    chunks_known = libc != 0 && libc == object_of((uint64_t)__libc_malloc) &&
                   libc == object_of((uint64_t)__libc_free) && libc != own;
    return object_of((uint64_t)malloc) == own;
}
#endif

__attribute__((constructor)) static void find_allocator(void)
{
    const char *wish = fm_getenv("FATHOM_HEAP");
    if (!is_ours())
        return;
    uint32_t flags = FM_REC_ALLOCATION;
    if (chunks_known && (wish == NULL || strcmp(wish, "off") != 0))
        flags |= FM_REC_WILL_HOLD;
    fm_process.grade_flags |= flags;
    if (fm_process.header != NULL)
        __atomic_fetch_or(&fm_process.header->grade_flags, flags, __ATOMIC_RELAXED);
}

/* What malloc and free change is the first cache line of a record. */
static_assert(offsetof(struct fm_rec_alloc, at_peak_bytes) == FM_CACHE_LINE, "the second line");

/* memcheck puts blocks of its own in the place of glibc's, under the same names, and tells of a
 * read in front of one. */
static void check_chunks(void *block)
{
    fm_valgrind_be_quiet(true);
    size_t word = chunk_word(block);
    fm_valgrind_be_quiet(false);
    if ((word & CHUNK_MAPPED) == 0)
        chunks_known = chunk_usable(word) == usable_asked(block);
}

/* The first record of a callee; block: one in use. */
__attribute__((noinline, cold)) static struct fm_rec_alloc *
record_make(struct fm_thread *thread, struct fm_rec_csd *csd, void *block)
{
    uint64_t mask = fm_block_signals();
    if (chunks_known)
        check_chunks(block);
    if (csd->alloc == 0) {
        if (chunks_known)
            fm_held_start();
        struct fm_rec_alloc *record = fm_arena_alloc_line(&thread->bump, sizeof *record);
        if (record != NULL)
            record->thread = fm_ref(thread->rec);
        if (record != NULL)
            __atomic_store_n(&csd->alloc, fm_ref(record), __ATOMIC_RELEASE);
        else
            __atomic_fetch_add(&fm_process.header->dropped_nodes, 1, __ATOMIC_RELAXED);
        fm_process.header->grade_flags |= FM_REC_ALLOCATION;
    }
    struct fm_rec_csd *lost = csd->alloc != 0 ? NULL : fm_graph_lost(thread);
    fm_restore_signals(mask);
    return fm_at(csd->alloc != 0 ? csd->alloc : lost->alloc);
}

/* What the running call is charged to, if the frame on top tells it and nothing is unusual; else
 * NULL. */
static inline __attribute__((always_inline)) struct fm_rec_alloc *record_at_hand(uint64_t cfa)
{
    const struct fm_tls *tls = &fm_tls_v2;
    if (FM_UNLIKELY(tls->heap_unusual != 0))
        return NULL;
    const struct fm_rec_frame *frame = fm_stack_charged_quickly(tls, cfa);
    if (FM_UNLIKELY(frame == NULL))
        return NULL;
    const struct fm_rec_csd *csd = (const struct fm_rec_csd *)frame->csd;
    return FM_LIKELY(csd->alloc != 0) ? fm_at(csd->alloc) : NULL;
}

/* Against a stop of the recording by another thread, or in a signal handler: that sets stopped and
 * then heap_off. */
__attribute__((noinline, cold)) static void take_short_way(struct fm_tls *tls)
{
    __atomic_store_n(&tls->heap_off, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&fm_process.stopped, __ATOMIC_SEQ_CST))
        tls->heap_off = 1;
}

/* The same for all cases; NULL: nothing to do. */
__attribute__((noinline)) static struct fm_rec_alloc *record_find(uint64_t cfa, void *block)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    if (thread == NULL || tls->inside != 0 || tls->bound == FM_BOUND_NONE)
        return NULL;
    fm_stack_resume(thread, cfa);
    struct fm_rec_csd *csd = (struct fm_rec_csd *)fm_stack_charged(thread, cfa)->csd;
    struct fm_rec_alloc *record;
    if (FM_LIKELY(csd->alloc != 0))
        record = fm_at(csd->alloc);
    else if (thread->lost_linked && fm_arena_refuses(&thread->bump, RECORD_BYTES_MAX))
        record = fm_at(thread->lost->alloc);
    else
        record = record_make(thread, csd, block);
    if (FM_UNLIKELY(tls->heap_off != 0) && chunks_known)
        take_short_way(tls);
    return record;
}

__attribute__((noinline, cold)) static void *tell_and_return(void *block)
{
    fm_held_flush(fm_tls_v2.thread);
    return block;
}

/* Where blocks are not remembered. Returns block. */
__attribute__((noinline)) static void *count_alloc(struct fm_rec_alloc *record, void *block,
                                                   size_t bytes)
{
    struct fm_thread_held *held = &fm_tls_v2.thread->held;
    size_t usable = usable_bytes(block);
    record->allocs++;
    record->bytes += bytes;
    record->usable_bytes += usable;
    held->delta += (int64_t)usable;
    return FM_UNLIKELY(held->delta > held->high) ? tell_and_return(block) : block;
}

static inline __attribute__((always_inline)) void pair_add(uint64_t *first, uint64_t bytes)
{
    __m128i *pair = (__m128i *)(void *)first;
    __m128i high = _mm_slli_si128(_mm_cvtsi64_si128((long long)bytes), 8);
    __m128i added = _mm_add_epi64(high, _mm_set_epi64x(0, 1));
    _mm_storeu_si128(pair, _mm_add_epi64(_mm_loadu_si128(pair), added));
}
static_assert(offsetof(struct fm_rec_alloc, freed_bytes) ==
                      offsetof(struct fm_rec_alloc, frees) + 8 &&
                  offsetof(struct fm_rec_flow, bytes) == offsetof(struct fm_rec_flow, blocks) + 8,
              "both are added to with one store");

/* Where blocks are not remembered. */
static inline __attribute__((always_inline)) void count_free(struct fm_rec_alloc *record,
                                                             size_t usable)
{
    struct fm_thread_held *held = &fm_tls_v2.thread->held;
    pair_add(&record->frees, usable);
    held->delta -= (int64_t)usable;
    if (FM_UNLIKELY(held->delta < held->low))
        fm_held_flush(fm_tls_v2.thread);
}

__attribute__((noinline)) static void *note_alloc_any(void *block, size_t bytes, uint64_t cfa)
{
    struct fm_rec_alloc *record = block != NULL ? record_find(cfa, block) : NULL;
    if (record == NULL)
        return block;
    if (fm_held.map == NULL)
        return count_alloc(record, block, bytes);
    fm_held_alloc(fm_tls_v2.thread, record, block, bytes, usable_bytes(block));
    return block;
}

/* record: NULL where nothing is recorded. */
static void note_free_of(struct fm_rec_alloc *record, const struct fm_held_block *known,
                         size_t usable)
{
    if (fm_held.map != NULL)
        fm_held_free(fm_tls_v2.thread, record, known, usable);
    else if (record != NULL)
        count_free(record, usable);
}

static inline struct fm_held_block take(const void *block)
{
    return fm_held.map != NULL ? fm_held_take(block) : (struct fm_held_block){0};
}

__attribute__((noinline)) static void note_free_any(void *block, uint64_t cfa)
{
    struct fm_rec_alloc *record = record_find(cfa, block);
    struct fm_held_block known = take(block);
    if (record != NULL || known.value != 0)
        note_free_of(record, &known, usable_bytes(block));
    __libc_free(block);
}

/* What is usual, in few stores; anything else is left to the longer way. */
static inline __attribute__((always_inline)) void *note_alloc(void *block, size_t bytes,
                                                              uint64_t cfa)
{
    if (FM_UNLIKELY(block == NULL))
        return NULL;
    struct fm_rec_alloc *record = record_at_hand(cfa);
    if (FM_UNLIKELY(record == NULL))
        return note_alloc_any(block, bytes, cfa);
    if (FM_UNLIKELY(fm_held.map == NULL))
        return count_alloc(record, block, bytes);
    size_t word = chunk_word(block);
    uint32_t *cell = fm_held_cell(block);
    size_t usable = chunk_usable(word), slack = usable - bytes;
    if (FM_UNLIKELY((word & CHUNK_MAPPED) != 0) || FM_UNLIKELY(cell == NULL) ||
        FM_UNLIKELY(slack >= FM_CELL_SLACK) || FM_UNLIKELY(record->stamp != fm_held.epoch_quick))
        return note_alloc_any(block, bytes, cfa);
    *cell = fm_cell_of(record, slack);
    record->allocs++;
    record->bytes += bytes;
    record->usable_bytes += usable;
    struct fm_thread_held *held = &fm_tls_v2.thread->held;
    held->delta += (int64_t)bytes;
    return FM_UNLIKELY(held->delta > held->high) ? tell_and_return(block) : block;
}

FM_EXPORT void *malloc(size_t bytes)
{
    return note_alloc(__libc_malloc(bytes), bytes, HERE);
}

FM_EXPORT void *calloc(size_t count, size_t bytes)
{
    return note_alloc(__libc_calloc(count, bytes), count * bytes, HERE);
}

__attribute__((noinline)) static bool count_free_alone(struct fm_rec_alloc *record, void *block)
{
    count_free(record, usable_bytes(block));
    return true;
}

/* Counts a block that is given back, if nothing about it is unusual: few values at a time, as each
 * register that must be saved is a store. */
static inline __attribute__((always_inline)) bool count_free_quickly(void *block, uint64_t cfa)
{
    struct fm_rec_alloc *record = record_at_hand(cfa);
    if (FM_UNLIKELY(record == NULL))
        return false;
    if (FM_UNLIKELY(fm_held.map == NULL))
        return count_free_alone(record, block);
    uint32_t *at = fm_held_cell(block);
    if (FM_UNLIKELY(at == NULL))
        return false;
    size_t cell = *at, slack = cell & FM_CELL_SLACK;
    struct fm_thread_held *held = &fm_tls_v2.thread->held;
    uint64_t key = fm_flow_key((uint32_t)cell, record);
    const struct fm_flow_slot *slot = fm_flow_home(held->flows, key);
    if (FM_UNLIKELY(slot->key != key) || FM_UNLIKELY(slot->epoch != fm_held.epoch_quick) ||
        FM_UNLIKELY(slack == FM_CELL_SLACK))
        return false;
    size_t word = chunk_word(block);
    size_t bytes = chunk_usable(word) - slack;
    int64_t delta = held->delta - (int64_t)bytes;
    if (FM_UNLIKELY((word & CHUNK_MAPPED) != 0) || FM_UNLIKELY(delta < held->low))
        return false;
    *at = 0;
    held->delta = delta;
    struct fm_rec_flow *flow = fm_at(slot->flow);
    pair_add(&flow->blocks, bytes);
    return true;
}

FM_EXPORT void free(void *block)
{
    if (block == NULL)
        return;
    if (FM_LIKELY(count_free_quickly(block, HERE)))
        __libc_free(block);
    else
        note_free_any(block, HERE);
}

static void *reallocate(void *block, size_t bytes, uint64_t cfa)
{
    if (block == NULL)
        return note_alloc_any(__libc_realloc(NULL, bytes), bytes, cfa);
    struct fm_rec_alloc *record = record_at_hand(cfa);
    if (record == NULL)
        record = record_find(cfa, block);
    struct fm_held_block known = take(block);
    size_t old = record != NULL || known.value != 0 ? usable_bytes(block) : 0;
    void *fresh = __libc_realloc(block, bytes);
    if (fresh == NULL && bytes != 0) {
        fm_held_put_back(&known); /* it is still there */
        return NULL;
    }
    if (record != NULL || known.value != 0)
        note_free_of(record, &known, old);
    if (fresh == NULL)
        return NULL;
    if (record == NULL)
        return note_alloc_any(fresh, bytes, cfa);
    if (fm_held.map == NULL)
        return count_alloc(record, fresh, bytes);
    *(fresh == block ? &record->realloc_kept : &record->realloc_moved) += 1;
    fm_held_alloc(fm_tls_v2.thread, record, fresh, bytes, usable_bytes(fresh));
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
    return note_alloc_any(__libc_memalign(alignment, bytes), bytes, HERE);
}

FM_EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    return note_alloc_any(__libc_memalign(alignment, bytes), bytes, HERE);
}

FM_EXPORT int posix_memalign(void **ret, size_t alignment, size_t bytes)
{
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *block = __libc_memalign(alignment, bytes); /* errno changes as it does in libc's */
    if (block == NULL)
        return ENOMEM;
    *ret = note_alloc_any(block, bytes, HERE);
    return 0;
}

FM_EXPORT void *valloc(size_t bytes)
{
    return note_alloc_any(__libc_valloc(bytes), bytes, HERE);
}

FM_EXPORT void *pvalloc(size_t bytes)
{
    return note_alloc_any(__libc_pvalloc(bytes), bytes, HERE);
}
