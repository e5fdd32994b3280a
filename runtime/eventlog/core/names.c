/* SPDX-License-Identifier: Apache-2.0 */
#include "core/clock.h"
#include "core/names.h"
#include "core/pool.h"
#include "core/shared.h"

#include <sys/mman.h>

/* A hash table of lists that grow only at their heads; entries are never moved or removed. */
enum { BUCKETS = 1 << 14, ARENA_BYTES = 64 << 10 };
static _Atomic(struct fm_el_name *) buckets[BUCKETS];
static _Atomic(struct fm_el_name *) newest; /* head of the list of all names */
static _Atomic uint32_t last_id;

/* Memory for names that a signal handler makes when it interrupts the library, possibly while the
 * pool's lock is held. Names are allocated by one atomic addition; the rest of a full arena is not
 * used. */
struct arena {
    _Atomic size_t used;
    unsigned char data[];
};
static _Atomic(struct arena *) arena;

static void *arena_alloc(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    for (;;) {
        struct arena *a = atomic_load(&arena);
        if (a) {
            size_t at = atomic_fetch_add(&a->used, bytes);
            if (at + bytes <= ARENA_BYTES - sizeof(*a))
                return a->data + at;
        }
        struct arena *next =
            mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (next == MAP_FAILED)
            return NULL;
        if (!atomic_compare_exchange_strong(&arena, &a, next))
            munmap(next, ARENA_BYTES);
    }
}

static uint32_t hash_text(const char *text, size_t bytes)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h ^ h >> 16;
}

static struct fm_el_name *find(struct fm_el_name *n, const struct fm_el_name *end, const char *text,
                               size_t bytes)
{
    for (; n != end; n = n->next_same_hash)
        if (n->bytes == bytes && memcmp(n->text, text, bytes) == 0)
            return n;
    return NULL;
}

static struct fm_el_name *name_new(const char *text, size_t bytes, bool in_library)
{
    uint32_t id = atomic_load(&last_id);
    do {
        if (id >= FM_EL_NAMES_MAX)
            return NULL;
    } while (!atomic_compare_exchange_weak(&last_id, &id, id + 1));
    FM_EL_ASSERT(id < FM_EL_NAMES_MAX && bytes <= FM_EL_NAME_MAX);
    size_t size = sizeof(struct fm_el_name) + bytes + 1;
    struct fm_el_name *n = in_library ? arena_alloc(size) : fm_el_pool_alloc(size);
    if (!n)
        return NULL;
    *n = (struct fm_el_name){.id = id + 1, .bytes = (uint32_t)bytes};
    n->made_ns = atomic_load(&fm_el.running) ? fm_el_clock_before_ns() : 0;
    memcpy(n->text, text, bytes);
    n->text[bytes] = '\0';
    n->next_all = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &n->next_all, n))
        ;
    return n;
}

const struct fm_el_name *fm_el_names_make(const char *text, size_t bytes, bool in_library)
{
    if (bytes > FM_EL_NAME_MAX)
        return NULL;
    _Atomic(struct fm_el_name *) *bucket = &buckets[hash_text(text, bytes) % BUCKETS];
    struct fm_el_name *head = atomic_load(bucket), *seen = NULL;
    struct fm_el_name *n = find(head, NULL, text, bytes);
    if (n)
        return n;
    struct fm_el_name *made = name_new(text, bytes, in_library);
    if (!made)
        return NULL;
    do { /* another thread may add the same name: then this one stays unused */
        n = find(head, seen, text, bytes);
        if (n)
            return n;
        made->next_same_hash = seen = head;
    } while (!atomic_compare_exchange_strong(bucket, &head, made));
    return made;
}

struct fm_el_name *fm_el_names_newest(void)
{
    return atomic_load(&newest);
}
