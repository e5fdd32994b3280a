/* SPDX-License-Identifier: Apache-2.0 */
/* A bump allocator: a page has many small strings that all die together. */
#include <string.h>

#include "display/display_internal.h"

#define CHUNK_BYTES ((size_t)64 * 1024)
#define ALIGNMENT 8

struct arena_chunk {
    struct arena_chunk *next;
    _Alignas(ALIGNMENT) char bytes[];
};

static char *arena_take(struct arena *arena, size_t size)
{
    if (size > arena->left) {
        size_t room = MAX(size, CHUNK_BYTES);
        struct arena_chunk *chunk = g_malloc(sizeof *chunk + room);

        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->at = chunk->bytes;
        arena->left = room;
    }
    char *taken = arena->at;
    arena->at += size;
    arena->left -= size;
    return taken;
}

void *fm_arena_alloc(struct arena *arena, size_t size)
{
    size_t skew = (uintptr_t)arena->at % ALIGNMENT;
    size_t padding = skew ? ALIGNMENT - skew : 0;

    /* A new chunk begins aligned, so padding is only ever needed in the current one. */
    if (padding + size <= arena->left) {
        arena->at += padding;
        arena->left -= padding;
    } else {
        arena->left = 0;
    }
    void *taken = arena_take(arena, size);
    memset(taken, 0, size);
    return taken;
}

const char *fm_arena_copy(struct arena *arena, const char *text, size_t size)
{
    g_return_val_if_fail(text != NULL || size == 0, NULL);
    char *copy = arena_take(arena, size + 1);

    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

void fm_arena_done(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *next = arena->chunks->next;

        g_free(arena->chunks);
        arena->chunks = next;
    }
    *arena = (struct arena){0};
}
