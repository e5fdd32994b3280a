/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names/name.h"

#define BLOCK_BYTES ((size_t)64 << 10)

void fm_name_pool_init(struct fm_name_pool *pool)
{
    *pool = (struct fm_name_pool){.texts = g_string_chunk_new(BLOCK_BYTES),
                                  .blocks = g_ptr_array_new_with_free_func(g_free)};
}

void fm_name_pool_done(struct fm_name_pool *pool)
{
    g_string_chunk_free(pool->texts);
    g_ptr_array_unref(pool->blocks);
}

void *fm_name_take(struct fm_name_pool *pool, size_t bytes)
{
    bytes = MAX(16, (bytes + 15) & ~(size_t)15);
    if (bytes > pool->size - pool->used) {
        pool->size = MAX(BLOCK_BYTES, bytes);
        pool->used = 0;
        g_ptr_array_add(pool->blocks, g_malloc0(pool->size));
    }
    char *block = g_ptr_array_index(pool->blocks, pool->blocks->len - 1);
    pool->used += bytes;
    return block + pool->used - bytes;
}

const char *fm_name_text(struct fm_name_pool *pool, const char *text, size_t size)
{
    return g_string_chunk_insert_len(pool->texts, text, (gssize)size);
}

const char *fm_name_keep(struct fm_name_pool *pool, GString *text)
{
    const char *kept = fm_name_text(pool, text->str, text->len);
    g_string_free(text, TRUE);
    return kept;
}
