/* SPDX-License-Identifier: Apache-2.0 */
/* Interposes C++ operator new and delete before those of an allocator that has its own, as
 * jemalloc, tcmalloc and mimalloc do: these do not call malloc, so their blocks would be missed.
 * The C++ library's operators do call malloc, and so may an allocator's: then the functions here
 * just jump there. ([new.delete]; names: Itanium C++ ABI.)
 *
 * Only in executables of C++: the next definition is searched in the start-up libraries. Weak:
 * the program's own operators have priority. */
#include "heap_next.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define HERE ((uint64_t)__builtin_dwarf_cfa())

/* X(form, name), X(form, name, the form without a size). */
#define NEWS(X)                                              \
    X(NEW, _Znwm)                                            \
    X(NEW_ARRAY, _Znam)                                      \
    X(NEW_QUIET, _ZnwmRKSt9nothrow_t)                        \
    X(NEW_ARRAY_QUIET, _ZnamRKSt9nothrow_t)                  \
    X(NEW_ALIGNED, _ZnwmSt11align_val_t)                     \
    X(NEW_ARRAY_ALIGNED, _ZnamSt11align_val_t)               \
    X(NEW_ALIGNED_QUIET, _ZnwmSt11align_val_tRKSt9nothrow_t) \
    X(NEW_ARRAY_ALIGNED_QUIET, _ZnamSt11align_val_tRKSt9nothrow_t)
#define DELETES(X)                                                                                 \
    X(DELETE, _ZdlPv, DELETE)                                                                      \
    X(DELETE_ARRAY, _ZdaPv, DELETE_ARRAY)                                                          \
    X(DELETE_QUIET, _ZdlPvRKSt9nothrow_t, DELETE_QUIET)                                            \
    X(DELETE_ARRAY_QUIET, _ZdaPvRKSt9nothrow_t, DELETE_ARRAY_QUIET)                                \
    X(DELETE_SIZED, _ZdlPvm, DELETE)                                                               \
    X(DELETE_ARRAY_SIZED, _ZdaPvm, DELETE_ARRAY)                                                   \
    X(DELETE_ALIGNED, _ZdlPvSt11align_val_t, DELETE_ALIGNED)                                       \
    X(DELETE_ARRAY_ALIGNED, _ZdaPvSt11align_val_t, DELETE_ARRAY_ALIGNED)                           \
    X(DELETE_ALIGNED_QUIET, _ZdlPvSt11align_val_tRKSt9nothrow_t, DELETE_ALIGNED_QUIET)             \
    X(DELETE_ARRAY_ALIGNED_QUIET, _ZdaPvSt11align_val_tRKSt9nothrow_t, DELETE_ARRAY_ALIGNED_QUIET) \
    X(DELETE_ALIGNED_SIZED, _ZdlPvmSt11align_val_t, DELETE_ALIGNED)                                \
    X(DELETE_ARRAY_ALIGNED_SIZED, _ZdaPvmSt11align_val_t, DELETE_ARRAY_ALIGNED)
#define FORM_OF_NEW(form, name) form,
#define FORM_OF_DELETE(form, name, unsized) form,
enum form { NEWS(FORM_OF_NEW) DELETES(FORM_OF_DELETE) FORMS };

/* All forms have at most three arguments, in registers. */
typedef void *(*operator_fn)(uint64_t, uint64_t, uint64_t);
static operator_fn next[FORMS];
static bool is_other[FORMS]; /* the allocator's that has malloc, which is not libc's */

/* The C++ library's function, if it is linked in. */
extern void (*_ZSt15get_new_handlerv(void))(void) __attribute__((weak));
extern void _ZSt17__throw_bad_allocv(void) __attribute__((weak, noreturn));

static void *new_by_malloc(size_t bytes, size_t alignment, bool quiet)
{
    for (;;) {
        bytes = bytes != 0 ? bytes : 1;
        void *block = alignment == 0
                          ? malloc(bytes)
                          : aligned_alloc(alignment, (bytes + alignment - 1) & -alignment);
        if (block != NULL)
            return block;
        void (*handler)(void) = _ZSt15get_new_handlerv != NULL ? _ZSt15get_new_handlerv() : NULL;
        if (handler != NULL)
            handler();
        else if (quiet)
            return NULL;
        else if (_ZSt17__throw_bad_allocv != NULL)
            _ZSt17__throw_bad_allocv();
        else
            abort();
    }
}

/* There is no next definition: the C++ library is linked in without operators. */
static void *operator_by_malloc(enum form form, uint64_t first, uint64_t second)
{
    bool quiet = form == NEW_QUIET || form == NEW_ARRAY_QUIET || form == NEW_ALIGNED_QUIET ||
                 form == NEW_ARRAY_ALIGNED_QUIET;
    if (form < DELETE)
        return new_by_malloc(first, form >= NEW_ALIGNED ? second : 0, quiet);
    free((void *)first);
    return NULL;
}

static void resolve(void)
{
#define NAME_OF_NEW(form, name) #name,
#define NAME_OF_DELETE(form, name, unsized) #name,
    static const char *const names[FORMS] = {NEWS(NAME_OF_NEW) DELETES(NAME_OF_DELETE)};
    static bool resolved;
    if (__atomic_load_n(&resolved, __ATOMIC_ACQUIRE))
        return;
    for (unsigned i = 0; i < FORMS; i++) {
        void *symbol = dlsym(RTLD_NEXT, names[i]);
        memcpy(&next[i], &symbol, sizeof symbol);
        is_other[i] = fm_heap_is_next(symbol) && fm_heap_next.other;
    }
    __atomic_store_n(&resolved, true, __ATOMIC_RELEASE);
}

__attribute__((constructor(101))) static void resolve_at_start(void)
{
    resolve();
}

static void end_asking(const uint64_t *cfa)
{
    fm_heap_is_inner(*cfa);
}

static void *allocate(enum form form, size_t bytes, uint64_t second, uint64_t third, uint64_t cfa)
{
    resolve();
    if (FM_UNLIKELY(next[form] == NULL))
        return operator_by_malloc(form, bytes, second);
    if (FM_LIKELY(!is_other[form]))
        return next[form](bytes, second, third);
    uint64_t asked __attribute__((cleanup(end_asking))) = cfa; /* std::bad_alloc may pass */
    void *block = next[form](fm_heap_ask(bytes, asked), second, third);
    return fm_heap_alloc_note(block, bytes, cfa);
}

/* The size of a block is not passed on, since it may be larger than the program requested. */
static void release(enum form form, enum form unsized, uint64_t block, uint64_t second,
                    uint64_t third, uint64_t cfa)
{
    resolve();
    if (FM_UNLIKELY(next[form] == NULL)) {
        operator_by_malloc(form, block, second);
        return;
    }
    struct fm_heap_asked *asked = &fm_heap_asked;
    if (FM_LIKELY(!is_other[form]) || block == 0) {
        next[form](block, second, third);
        return;
    }
    void *place = (void *)block, *outer = asked->leaving;
    if (outer != place)
        fm_heap_free_note(place, cfa);
    asked->leaving = place;
    if (form == unsized || !is_other[unsized])
        next[form](block, second, third);
    else
        next[unsized](block, third, 0); /* the alignment comes after the size */
    asked->leaving = outer;
}

#define NEW_HERE(form, name)                                                  \
    FM_EXPORT __attribute__((weak)) void *name(uint64_t, uint64_t, uint64_t); \
    FM_EXPORT void *name(uint64_t bytes, uint64_t second, uint64_t third)     \
    {                                                                         \
        return allocate(form, bytes, second, third, HERE);                    \
    }
#define DELETE_HERE(form, name, unsized)                                     \
    FM_EXPORT __attribute__((weak)) void name(uint64_t, uint64_t, uint64_t); \
    FM_EXPORT void name(uint64_t block, uint64_t second, uint64_t third)     \
    {                                                                        \
        release(form, unsized, block, second, third, HERE);                  \
    }
NEWS(NEW_HERE)
DELETES(DELETE_HERE)
