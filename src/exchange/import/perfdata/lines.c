/* SPDX-License-Identifier: Apache-2.0 */
/* Time by line, of the innermost functions of stacks. */
#include "exchange/import/perfdata/reader.h"
#include "profile/file/attached/source_map.h"

/* Functions and lines, as keys. */
static uint64_t key_of(uint32_t function, uint32_t line)
{
    return (uint64_t)function << 32 | line;
}

void fm_perf_lines_add(struct fm_perf_reader *in, uint64_t value)
{
    const struct fm_perf_inner *inner = &in->inner;
    if (inner->function == FM_PERF_NO_FUNCTION || inner->line == 0)
        return;
    if (in->lines == NULL)
        in->lines = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    uint64_t key = key_of(fm_stacks_ps(in->stacks, inner->function), inner->line);
    uint64_t *sum = g_hash_table_lookup(in->lines, &key);
    if (sum == NULL) {
        sum = g_new0(uint64_t, 1);
        g_hash_table_insert(in->lines, g_memdup2(&key, sizeof key), sum);
    }
    *sum += value;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = **(const uint64_t *const *)a, y = **(const uint64_t *const *)b;
    return x < y ? -1 : x > y;
}

struct fm_source_map *fm_perf_lines_map(const struct fm_perf_reader *in)
{
    guint count;
    if (in->lines == NULL)
        return NULL;
    g_autofree gpointer *keys = g_hash_table_get_keys_as_array(in->lines, &count);
    qsort(keys, count, sizeof *keys, by_key);
    struct fm_source_map_builder *builder = fm_source_map_builder_new();
    fm_source_map_builder_has_times(builder);
    uint32_t ps = 0;
    for (guint i = 0; i < count; i++) {
        const uint64_t *key = keys[i], *sum = g_hash_table_lookup(in->lines, key);
        ps = (uint32_t)(*key >> 32);
        fm_source_map_builder_add(builder, ps, (uint32_t)*key, NULL, 0);
        fm_source_map_builder_add_time(builder, *sum);
    }
    return fm_source_map_builder_finish(builder, ps);
}
