/* SPDX-License-Identifier: Apache-2.0 */
#include "heap_next.h"
#include "unwind/loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

__thread struct fm_heap_asked fm_heap_asked;

#define HERE ((uint64_t)__builtin_dwarf_cfa())

/* One for each function: looks all up, and calls the real one. */
#define FIRST(type, name, parameters, arguments) \
    static type first_##name parameters          \
    {                                            \
        fm_heap_look_up();                       \
        return fm_heap_next.name arguments;      \
    }
FIRST(void *, malloc, (size_t bytes), (fm_heap_ask(bytes, HERE)))
FIRST(void *, realloc, (void *block, size_t bytes), (block, bytes))
FIRST(void *, memalign, (size_t alignment, size_t bytes), (alignment, fm_heap_ask(bytes, HERE)))
FIRST(void *, aligned_alloc, (size_t alignment, size_t bytes),
      (alignment, fm_heap_ask(bytes, HERE)))
FIRST(int, posix_memalign, (void **ret, size_t alignment, size_t bytes),
      (ret, alignment, fm_heap_ask(bytes, HERE)))
FIRST(void *, valloc, (size_t bytes), (fm_heap_ask(bytes, HERE)))
FIRST(void *, pvalloc, (size_t bytes), (fm_heap_ask(bytes, HERE)))
/* Before glibc 2.34 the first dlsym() of a thread takes memory for its errors, and has other room
 * if there is none. */
static __thread bool is_looking;
static void *first_calloc(size_t count, size_t bytes)
{
    if (is_looking)
        return NULL;
    fm_heap_look_up();
    return fm_heap_next.calloc(count, bytes);
}
static void first_free(void *block)
{
    fm_heap_look_up();
    fm_heap_next.free(block);
}

struct fm_heap_next fm_heap_next = {
    .malloc = first_malloc,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .free = first_free,
    .memalign = first_memalign,
    .aligned_alloc = first_aligned_alloc,
    .posix_memalign = first_posix_memalign,
    .valloc = first_valloc,
    .pvalloc = first_pvalloc,
};

static uint64_t object_of(const void *function)
{
    struct fm_loaded found;
    return function != NULL && fm_loaded_at((uint64_t)function, &found) ? found.start : 0;
}

/* Whether no object between the program and this library can have a definition of its own. */
static bool is_first_library(void)
{
    const struct link_map *map = _r_debug.r_map;
    uint64_t own = object_of((const void *)(uint64_t)fm_heap_look_up);
    uint64_t kernels = getauxval(AT_SYSINFO_EHDR);
    for (map = map != NULL ? map->l_next : NULL; map != NULL; map = map->l_next) {
        uint64_t start = object_of(map->l_ld);
        if (start != kernels || start == 0)
            return start == own && own != 0;
    }
    return false;
}

uint64_t fm_heap_defined_at(uint64_t address, uint64_t own)
{
    Dl_info info;
    void *symbol = NULL;
    if (address == own || dladdr1((const void *)address, &info, &symbol, RTLD_DL_SYMENT) == 0 ||
        symbol == NULL || ((const ElfW(Sym) *)symbol)->st_shndx != SHN_UNDEF || !is_first_library())
        return address;
    return own;
}

/* From libfathom.so: the next definition after it, when it follows a program with its own copy. */
FM_EXPORT __attribute__((weak)) void *fm_heap_behind_v1(const char *name);
FM_EXPORT void *fm_heap_behind_v1(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    __asm__ volatile(""); /* no tail call: dlsym takes its caller by the return address */
    return symbol;
}

/* For names that libc has, so that dlsym need not allocate an error message. */
static void *find(const char *name)
{
    struct fm_loaded found;
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL || !fm_loaded_at((uint64_t)symbol, &found) || found.name == NULL ||
        (strstr(found.name, "/libfathom.so") == NULL &&
         strstr(found.name, "/libfathom-preload.so") == NULL))
        return symbol;
    void *(*behind)(const char *);
    void *function = dlsym(RTLD_NEXT, "fm_heap_behind_v1");
    memcpy(&behind, &function, sizeof behind);
    return function != NULL ? behind(name) : symbol;
}

bool fm_heap_is_next(const void *function)
{
    void *allocator;
    fm_heap_look_up();
    memcpy(&allocator, &fm_heap_next.malloc, sizeof allocator);
    return function != NULL && object_of(function) == object_of(allocator);
}

void fm_heap_look_up(void)
{
    if (__atomic_load_n(&fm_heap_next.looked_up, __ATOMIC_ACQUIRE))
        return;
    static const char *const names[] = {
        "malloc",        "calloc",         "realloc", "free",    "memalign",
        "aligned_alloc", "posix_memalign", "valloc",  "pvalloc", "malloc_usable_size"};
    void *found[sizeof names / sizeof names[0]];
    is_looking = true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        found[i] = find(names[i]);
    uint64_t allocator = object_of(found[0]);
    void *usable = found[9];
    if (object_of(usable) != allocator)
        usable = NULL;
    uint64_t libc = object_of(dlsym(RTLD_NEXT, "gnu_get_libc_version"));
    is_looking = false;
    bool other = libc != 0 && allocator != libc;
    fm_heap_next.silent = other && usable == NULL;
    fm_heap_next.other = other && usable != NULL;
    memcpy(&fm_heap_next.usable, &usable, sizeof usable);
    memcpy(&fm_heap_next.usable_next, &found[9], sizeof found[9]);
    static_assert(offsetof(struct fm_heap_next, usable) == 9 * sizeof(void *), "in this order");
    for (size_t i = 0; i < 9; i++)
        __atomic_store_n((void **)(void *)&fm_heap_next + i, found[i], __ATOMIC_RELAXED);
    __atomic_store_n(&fm_heap_next.looked_up, true, __ATOMIC_RELEASE);
}
