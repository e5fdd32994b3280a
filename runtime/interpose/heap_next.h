/* SPDX-License-Identifier: Apache-2.0 */
/* The next malloc family after heap.c, in a program that is not fully static: libc's, or that of
 * another allocator (jemalloc, tcmalloc), linked or preloaded, which the program keeps. Blocks of
 * another allocator are made at least FM_HEAP_OTHER_MIN bytes long, so that no two begin in one
 * cell of held/held.h. */
#pragma once

#include "internal.h"

#define FM_HEAP_OTHER_MIN 32u

struct fm_heap_next {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*usable)(void *);      /* NULL: the allocator does not say */
    size_t (*usable_next)(void *); /* for the program's own calls; maybe another allocator's */
    bool other;                    /* than libc's, and says how large its blocks are */
    bool silent;                   /* another that does not say it, so nothing is recorded */
    bool looked_up;
};
/* Looked up at the first call. */
extern struct fm_heap_next fm_heap_next FM_HIDDEN;
void fm_heap_look_up(void) FM_HIDDEN;
/* The address of a function's first definition. That of its name may be of the program's own entry
 * (in its PLT) instead, if code that was linked for a fixed address takes it. own: this library's
 * definition. */
uint64_t fm_heap_defined_at(uint64_t address, uint64_t own) FM_HIDDEN;
/* Is the function of the object that has malloc? */
bool fm_heap_is_next(const void *function) FM_HIDDEN;

/* Another allocator's functions may call each other by the interposed names, and so may its
 * operator new and delete (new.c): such nested calls are ignored. */
struct fm_heap_asked {
    uint64_t cfa;  /* CFA of the outermost function here; 0: none */
    void *leaving; /* the block that is being freed, already counted */
};
extern __thread struct fm_heap_asked fm_heap_asked FM_HIDDEN;

void *fm_heap_alloc_note(void *block, size_t bytes, uint64_t cfa) FM_HIDDEN; /* returns block */
/* Before the block is freed: another thread may get its address at once. */
void fm_heap_free_note(void *block, uint64_t cfa) FM_HIDDEN;

/* Before the call: returns the number of bytes to request. */
static inline size_t fm_heap_ask(size_t bytes, uint64_t cfa)
{
    if (FM_LIKELY(!fm_heap_next.other))
        return bytes;
    if (cfa > fm_heap_asked.cfa)
        fm_heap_asked.cfa = cfa;
    return bytes < FM_HEAP_OTHER_MIN ? FM_HEAP_OTHER_MIN : bytes;
}

/* After the call, even if it failed: whether it is a nested one. */
static inline bool fm_heap_is_inner(uint64_t cfa)
{
    if (cfa < fm_heap_asked.cfa)
        return true;
    fm_heap_asked.cfa = 0;
    return false;
}
