/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation accounting: interposes the malloc family before libc's, or before another
 * allocator's that was linked or preloaded (heap_next.h). It is a separate archive, linked after
 * the program: programs with another allocator (sanitizers) omit it, and the names are weak, so
 * the program's own malloc has priority. In fully static programs: heap_static.h.
 *
 * malloc and free are short in programs that use them heavily, and are limited by the store
 * queue. So counts are kept with as few stores as possible, and unusual cases are handled out of
 * line (docs/decisions.md has the costs). */
#include "../valgrind.h"
#include "held/held.h"
#include "unwind/loaded.h"

/* Whether contexts are those of unwound stacks. Then who frees a block is not recorded: that would
 * take another walk. */
#ifdef FATHOM_PRELOAD
#define UNWINDS FM_LIKELY(fm_process.unwinds != NULL)
#else
#define UNWINDS false
#endif

#include <dlfcn.h>
#include <emmintrin.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#ifdef FATHOM_STATIC
#include "heap_static.h"
#define FRONT FM_EXPORT
#else
#include "heap_next.h"
#define FRONT FM_EXPORT __attribute__((weak))
#pragma weak malloc
#pragma weak free
#define NEXT(name) fm_heap_next.name
#define PADDED(bytes, cfa) fm_heap_ask(bytes, cfa)
#define IS_INNER(cfa) (FM_UNLIKELY(fm_heap_next.other) && fm_heap_is_inner(cfa))
#define REPLACED program_has
#define PROGRAMS_REALLOC realloc
#endif

#define RECORD_BYTES_MAX (sizeof(struct fm_rec_alloc) + FM_CACHE_LINE - FM_REC_UNIT)

/* The CFA of the interposed function: live frames of the program are above it. */
#define HERE ((uint64_t)__builtin_dwarf_cfa())

/* glibc's chunks have their size in the word before the block, with flags in the low bits; all of
 * it but one word is usable, unless the chunk is a mapping. malloc_usable_size computes the same,
 * but also reads the next chunk. */
#define CHUNK_FLAGS 7u
#define CHUNK_MAPPED 2u
#define CHUNK_LARGE (CHUNK_MAPPED | ~(size_t)(FM_HELD_LARGE_BYTES - 1))
static bool chunks_known; /* the allocator is glibc's, and its chunks are as above */
static bool program_has;  /* the program has its own allocator, so nothing is recorded */

static inline size_t chunk_word(const void *block)
{
    return ((const size_t *)block)[-1];
}

static inline size_t chunk_usable(size_t word)
{
    return (word & ~(size_t)CHUNK_FLAGS) - sizeof word;
}

#ifdef FATHOM_STATIC
static bool is_of_other(void)
{
    return false;
}

static bool is_silent(void)
{
    return false;
}

static size_t usable_asked(void *block)
{
    return malloc_usable_size(block);
}
#else
static bool is_of_other(void)
{
    return fm_heap_next.other;
}

static bool is_silent(void)
{
    return fm_heap_next.silent;
}

static uint64_t object_of(uint64_t function)
{
    struct fm_loaded found;
    return fm_loaded_at(function, &found) ? found.start : 0;
}

/* 0: not known. The allocator may allocate for the answer (tcmalloc, the first time). */
static size_t usable_asked(void *block)
{
    fm_heap_look_up();
    if (fm_heap_next.usable == NULL) { /* the name is another's than malloc's */
        size_t word = fm_heap_next.silent ? 0 : chunk_word(block);
        return word != 0 ? chunk_usable(word) - ((word & CHUNK_MAPPED) != 0 ? sizeof word : 0) : 0;
    }
    fm_tls_v2.inside++;
    size_t usable = fm_heap_next.usable(block);
    fm_tls_v2.inside--;
    return usable;
}

FRONT size_t malloc_usable_size(void *block)
{
    fm_heap_look_up();
    size_t (*next)(void *) = fm_heap_next.usable_next;
    return block == NULL ? 0 : next != NULL ? next(block) : usable_asked(block);
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
/* The functions defined here, even if their names resolve elsewhere. */
#define OWN(name)                                                                    \
    __asm__(".pushsection .text\n\t.hidden fm_own_" #name "\n\t.globl fm_own_" #name \
            "\n\t.set fm_own_" #name ", " #name "\n\t.popsection");                  \
    extern char fm_own_##name[] FM_HIDDEN;
OWN(malloc)
OWN(free)

static bool is_ours(void)
{
    uint64_t malloc_here = (uint64_t)fm_own_malloc, free_here = (uint64_t)fm_own_free;
    __asm__("" : "+r"(malloc_here), "+r"(free_here)); /* both names may be of one function */
    uint64_t malloc_first = fm_heap_defined_at((uint64_t)malloc, malloc_here);
    uint64_t free_first = fm_heap_defined_at((uint64_t)free, free_here);
    bool ours = object_of(malloc_first) == object_of((uint64_t)is_ours);
    program_has = ours && (malloc_first != malloc_here || free_first != free_here);
    if (program_has)
        return false;
    fm_heap_look_up();
    chunks_known = !fm_heap_next.other && !fm_heap_next.silent;
    return ours && !fm_heap_next.silent;
}
#endif

/* Before the constructors of the program that may allocate. */
__attribute__((constructor(101))) static void find_allocator(void)
{
    const char *wish = fm_getenv("FATHOM_HEAP");
    if (!is_ours())
        return;
    uint32_t flags = FM_REC_ALLOCATION;
    if ((chunks_known || is_of_other()) && (wish == NULL || strcmp(wish, "off") != 0))
        flags |= FM_REC_WILL_HOLD;
    fm_process.grade_flags |= flags;
    if (fm_process.header != NULL)
        __atomic_fetch_or(&fm_process.header->grade_flags, flags, __ATOMIC_RELAXED);
}

/* malloc and free change only the first cache line of a record. */
static_assert(offsetof(struct fm_rec_alloc, at_peak_bytes) == FM_CACHE_LINE, "the second line");

/* memcheck replaces glibc's blocks under the same names, and reports reads before a block. */
static void check_chunks(void *block)
{
    fm_valgrind_be_quiet(true);
    size_t word = chunk_word(block);
    fm_valgrind_be_quiet(false);
    if ((word & CHUNK_MAPPED) == 0)
        chunks_known = chunk_usable(word) == usable_asked(block);
}

/* Makes the first record of a callee; block: one in use. */
__attribute__((noinline, cold)) static struct fm_rec_alloc *
record_make(struct fm_thread *thread, struct fm_rec_csd *csd, void *block)
{
    uint64_t mask = fm_block_signals();
    if (chunks_known)
        check_chunks(block);
    if (csd->alloc == 0) {
        if (chunks_known || is_of_other())
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

/* The record to which the running call is charged, if the top frame has it and nothing is unusual;
 * else NULL. */
static inline __attribute__((always_inline)) struct fm_rec_alloc *record_at_hand(uint64_t cfa)
{
    const struct fm_tls *tls = &fm_tls_v2;
    if (FM_UNLIKELY(tls->heap_unusual != 0))
        return NULL;
    if (UNWINDS) {
        const struct fm_rec_csd *csd = fm_process.unwinds->charged(tls->thread, cfa);
        return FM_LIKELY(csd != NULL && csd->alloc != 0) ? fm_at(csd->alloc) : NULL;
    }
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

static struct fm_rec_csd *charged_at(struct fm_thread *thread, uint64_t cfa)
{
    if (UNWINDS)
        return fm_process.unwinds->charged(thread, cfa);
    fm_stack_resume(thread, cfa);
    return (struct fm_rec_csd *)fm_stack_charged(thread, cfa)->csd;
}

static bool is_recorded(const struct fm_tls *tls)
{
    return tls->thread != NULL && tls->inside == 0 && tls->bound != FM_BOUND_NONE && !program_has &&
           !is_silent();
}

/* As above for all cases; NULL: nothing to do. */
__attribute__((noinline)) static struct fm_rec_alloc *record_find(uint64_t cfa, void *block)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    if (!is_recorded(tls))
        return NULL;
    struct fm_rec_csd *csd = charged_at(thread, cfa);
    struct fm_rec_alloc *record;
    if (FM_UNLIKELY(csd == NULL))
        return NULL;
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

/* Counts when blocks are not tracked. Returns block. */
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

/* Counts when blocks are not tracked. */
static inline __attribute__((always_inline)) void count_free(struct fm_rec_alloc *record,
                                                             size_t usable)
{
    struct fm_thread_held *held = &fm_tls_v2.thread->held;
    pair_add(&record->frees, usable);
    held->delta -= (int64_t)usable;
    if (FM_UNLIKELY(held->delta < held->low))
        fm_held_flush(fm_tls_v2.thread);
}

#ifdef FATHOM_STATIC
static void *leave(void *block)
{
    return block;
}

static bool is_leaving(const void *block)
{
    return block == NULL;
}
#else
static void *leave(void *block)
{
    void *outer = fm_heap_asked.leaving;
    fm_heap_asked.leaving = block;
    return outer;
}

static bool is_leaving(const void *block)
{
    return block == fm_heap_asked.leaving;
}
#endif

__attribute__((noinline)) static void *note_alloc_any(void *block, size_t bytes, uint64_t cfa)
{
    if (IS_INNER(cfa))
        return block;
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

static void note_free(void *block, uint64_t cfa)
{
    if (UNWINDS && fm_held.map != NULL) {
        struct fm_held_block known = fm_held_take(block);
        if (known.value != 0 || is_recorded(&fm_tls_v2))
            fm_held_free(fm_tls_v2.thread, NULL, &known, usable_bytes(block));
        return;
    }
    struct fm_rec_alloc *record = record_find(cfa, block);
    struct fm_held_block known = take(block);
    if (record != NULL || known.value != 0)
        note_free_of(record, &known, usable_bytes(block));
}

__attribute__((noinline)) static void note_free_any(void *block, uint64_t cfa)
{
    if (!is_leaving(block))
        note_free(block, cfa);
    NEXT(free)(block);
}

/* Handles the usual case in a few stores; leaves others to the slow path. */
static inline __attribute__((always_inline)) void *note_alloc(void *block, size_t bytes,
                                                              uint64_t cfa)
{
    if (FM_UNLIKELY(block == NULL))
        return note_alloc_any(NULL, bytes, cfa);
    struct fm_rec_alloc *record = record_at_hand(cfa);
    if (FM_UNLIKELY(record == NULL))
        return note_alloc_any(block, bytes, cfa);
    if (FM_UNLIKELY(fm_held.map == NULL))
        return count_alloc(record, block, bytes);
    size_t word = chunk_word(block);
    uint32_t *cell = fm_held_cell(block);
    size_t usable = chunk_usable(word), slack = usable - bytes;
    if (FM_UNLIKELY((word & CHUNK_LARGE) != 0) || FM_UNLIKELY(cell == NULL) ||
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

FRONT void *malloc(size_t bytes)
{
    return note_alloc(NEXT(malloc)(PADDED(bytes, HERE)), bytes, HERE);
}

static bool is_small(size_t count, size_t bytes)
{
    size_t total;
    return !__builtin_mul_overflow(count, bytes, &total);
}

FRONT void *calloc(size_t count, size_t bytes)
{
    size_t total = count * bytes;
    void *block = FM_UNLIKELY(PADDED(total, HERE) != total) && is_small(count, bytes)
                      ? NEXT(calloc)(1, PADDED(total, HERE))
                      : NEXT(calloc)(count, bytes);
    return note_alloc(block, total, HERE);
}

__attribute__((noinline)) static bool count_free_alone(struct fm_rec_alloc *record, void *block)
{
    count_free(record, usable_bytes(block));
    return true;
}

/* As below where it is the callee that allocated the block that counts. */
static inline bool count_free_of_owner(void *block)
{
    const struct fm_tls *tls = &fm_tls_v2;
    if (FM_UNLIKELY(tls->heap_unusual != 0) || FM_UNLIKELY(fm_held.map == NULL))
        return false;
    uint32_t *at = fm_held_cell(block);
    if (FM_UNLIKELY(at == NULL) || FM_UNLIKELY(*at == 0))
        return false;
    struct fm_thread_held *held = &tls->thread->held;
    struct fm_rec_alloc *from = fm_cell_record(*at);
    size_t slack = *at & FM_CELL_SLACK, word = chunk_word(block);
    size_t bytes = chunk_usable(word) - slack;
    int64_t delta = held->delta - (int64_t)bytes;
    if (FM_UNLIKELY(from->thread != held->self) ||
        FM_UNLIKELY(from->stamp != fm_held.epoch_quick) || FM_UNLIKELY(slack == FM_CELL_SLACK) ||
        FM_UNLIKELY((word & CHUNK_MAPPED) != 0) || FM_UNLIKELY(delta < held->low))
        return false;
    *at = 0;
    held->delta = delta;
    pair_add(&from->own_frees, bytes);
    return true;
}

/* Counts the free of a block if nothing about it is unusual. Uses few values at a time, since each
 * saved register is a store. */
static inline __attribute__((always_inline)) bool count_free_quickly(void *block, uint64_t cfa)
{
    if (UNWINDS)
        return count_free_of_owner(block);
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

FRONT void free(void *block)
{
    if (block == NULL)
        return;
    if (FM_LIKELY(count_free_quickly(block, HERE)))
        NEXT(free)(block);
    else
        note_free_any(block, HERE);
}

#ifndef FATHOM_STATIC
void *fm_heap_alloc_note(void *block, size_t bytes, uint64_t cfa)
{
    return note_alloc_any(block, bytes, cfa);
}

void fm_heap_free_note(void *block, uint64_t cfa)
{
    note_free(block, cfa);
}
#endif

static void *reallocate(void *block, size_t bytes, uint64_t cfa)
{
    size_t padded = PADDED(bytes, cfa);
    if (block == NULL)
        return note_alloc_any(NEXT(realloc)(NULL, padded), bytes, cfa);
    struct fm_rec_alloc *record = record_at_hand(cfa);
    if (record == NULL)
        record = record_find(cfa, block);
    struct fm_held_block known = take(block);
    size_t old = record != NULL || known.value != 0 ? usable_bytes(block) : 0;
    void *outer = leave(block);
    void *fresh = NEXT(realloc)(block, bytes != 0 ? padded : 0);
    leave(outer);
    if (IS_INNER(cfa))
        return fresh;
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

FRONT void *realloc(void *block, size_t bytes)
{
    return reallocate(block, bytes, HERE);
}

FRONT void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    if (FM_UNLIKELY(REPLACED))
        return PROGRAMS_REALLOC(block, total); /* as libc's does */
    return reallocate(block, total, HERE);
}

FRONT void *memalign(size_t alignment, size_t bytes)
{
    return note_alloc_any(NEXT(memalign)(alignment, PADDED(bytes, HERE)), bytes, HERE);
}

FRONT void *aligned_alloc(size_t alignment, size_t bytes)
{
    return note_alloc_any(NEXT(aligned_alloc)(alignment, PADDED(bytes, HERE)), bytes, HERE);
}

FRONT int posix_memalign(void **ret, size_t alignment, size_t bytes)
{
    int result = NEXT(posix_memalign)(ret, alignment, PADDED(bytes, HERE));
    note_alloc_any(result == 0 ? *ret : NULL, bytes, HERE);
    return result;
}

FRONT void *valloc(size_t bytes)
{
    return note_alloc_any(NEXT(valloc)(PADDED(bytes, HERE)), bytes, HERE);
}

FRONT void *pvalloc(size_t bytes)
{
    return note_alloc_any(NEXT(pvalloc)(PADDED(bytes, HERE)), bytes, HERE);
}
