/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pool.h"

#include <pthread.h>
#include <sys/mman.h>

/* Classes of 2^8 .. 2^27 bytes. Small blocks are cut from pages of 64 KiB and kept for ever. Blocks
 * of whole pages go back to the kernel when more than CACHED_MAX of them are free. */
enum { CLASS_MIN = 8, CLASS_MAX = 34, SLAB_BYTES = 64 << 10, CLASS_SLAB = 14 };
static const size_t cached_max = (size_t)32 << 20;

struct free_piece {
    struct free_piece *next;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct free_piece *pieces[CLASS_MAX + 1];
static size_t cached;

static unsigned class_of(size_t bytes)
{
    FM_EL_ASSERT(bytes <= (size_t)1 << CLASS_MAX);
    unsigned c = CLASS_MIN;
    while (((size_t)1 << c) < bytes)
        c++;
    return c;
}

size_t fm_el_pool_size(size_t bytes)
{
    return (size_t)1 << class_of(bytes);
}

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void push(unsigned c, void *memory)
{
    struct free_piece *p = memory;
    p->next = pieces[c];
    pieces[c] = p;
}

void *fm_el_pool_alloc(size_t bytes)
{
    if (bytes > (size_t)1 << CLASS_MAX)
        return NULL;
    unsigned c = class_of(bytes);
    pthread_mutex_lock(&mutex);
    struct free_piece *p = pieces[c];
    if (p) {
        pieces[c] = p->next;
        if (c > CLASS_SLAB)
            cached -= (size_t)1 << c;
    } else if (c <= CLASS_SLAB) {
        unsigned char *slab = map(SLAB_BYTES);
        for (size_t at = (size_t)1 << c; slab && at < SLAB_BYTES; at += (size_t)1 << c)
            push(c, slab + at);
        p = (struct free_piece *)(void *)slab;
    }
    pthread_mutex_unlock(&mutex);
    return p || c <= CLASS_SLAB ? (void *)p : map((size_t)1 << c);
}

/* Frees cached blocks of other classes until a block of class c fits: sizes in present use have
 * priority. */
static void make_space(unsigned c)
{
    for (unsigned other = CLASS_MAX; other > CLASS_SLAB; other--)
        while (other != c && pieces[other] && cached + ((size_t)1 << c) > cached_max) {
            struct free_piece *p = pieces[other];
            pieces[other] = p->next;
            FM_EL_ASSERT(cached >= (size_t)1 << other);
            cached -= (size_t)1 << other;
            munmap(p, (size_t)1 << other);
        }
}

void fm_el_pool_free(void *memory, size_t bytes)
{
    if (!memory)
        return;
    unsigned c = class_of(bytes);
    pthread_mutex_lock(&mutex);
    if (c > CLASS_SLAB && (size_t)1 << c <= cached_max)
        make_space(c);
    bool keep = c <= CLASS_SLAB || cached + ((size_t)1 << c) <= cached_max;
    if (keep) {
        push(c, memory);
        if (c > CLASS_SLAB)
            cached += (size_t)1 << c;
    }
    pthread_mutex_unlock(&mutex);
    if (!keep)
        munmap(memory, (size_t)1 << c);
}

void fm_el_pool_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void fm_el_pool_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

void fm_el_put(struct fm_el_bytes *b, const void *data, size_t bytes)
{
    if (b->failed || bytes == 0)
        return;
    if (bytes > b->capacity - b->used) {
        size_t capacity = fm_el_pool_size(b->used + bytes + 1024);
        unsigned char *bigger = fm_el_pool_alloc(capacity);
        if (!bigger) {
            b->failed = true;
            return;
        }
        if (b->used)
            memcpy(bigger, b->data, b->used);
        fm_el_pool_free(b->data, b->capacity);
        b->data = bigger;
        b->capacity = capacity;
    }
    FM_EL_ASSERT(bytes <= b->capacity - b->used);
    memcpy(b->data + b->used, data, bytes);
    b->used += bytes;
}

void fm_el_put16(struct fm_el_bytes *b, uint16_t v)
{
    v = fm_eventlog_be16_(v);
    fm_el_put(b, &v, sizeof(v));
}

void fm_el_put32(struct fm_el_bytes *b, uint32_t v)
{
    v = fm_eventlog_be32_(v);
    fm_el_put(b, &v, sizeof(v));
}

void fm_el_put64(struct fm_el_bytes *b, uint64_t v)
{
    v = fm_eventlog_be64_(v);
    fm_el_put(b, &v, sizeof(v));
}

void fm_el_bytes_done(struct fm_el_bytes *b)
{
    fm_el_pool_free(b->data, b->capacity);
    *b = (struct fm_el_bytes){0};
}
