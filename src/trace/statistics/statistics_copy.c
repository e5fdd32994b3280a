/* SPDX-License-Identifier: Apache-2.0 */
/* What has been counted up to a time, while counting goes on. */
#include <string.h>

#include "trace/statistics/statistics_internal.h"

static void copy_nodes(struct fm_statistics *copy, const struct fm_statistics *from)
{
    uint32_t slabs = (from->node_count + NODE_SLAB - 1) / NODE_SLAB;
    copy->slabs = g_new(struct node *, slabs);
    for (uint32_t i = 0; i < slabs; i++) {
        uint32_t used = MIN(from->node_count - i * NODE_SLAB, (uint32_t)NODE_SLAB);
        copy->slabs[i] = g_aligned_alloc(NODE_SLAB, sizeof(struct node), sizeof(struct node));
        memcpy(copy->slabs[i], from->slabs[i], used * sizeof(struct node));
    }
    size_t slots = (size_t)from->table_mask + 1;
    copy->table = g_aligned_alloc(slots, sizeof(struct slot), sizeof(struct node));
    memcpy(copy->table, from->table, slots * sizeof(struct slot));
}

static void copy_paths(struct fm_statistics *copy, const struct fm_statistics *from)
{
    copy->paths = g_memdup2(from->paths, from->path_count * sizeof *from->paths);
    for (uint32_t i = 0; i < from->path_count; i++) {
        struct lane_path *path = &copy->paths[i];
        path->entries = g_memdup2(path->entries, path->capacity * sizeof *path->entries);
    }
}

static void copy_types(struct fm_statistics *copy, const struct fm_statistics *from)
{
    copy->types = g_array_copy(from->types);
    for (guint i = 0; i < copy->types->len; i++) {
        struct types *types = &g_array_index(copy->types, struct types, i);
        types->counts = g_memdup2(types->counts, types->count * sizeof *types->counts);
    }
}

struct fm_statistics *fm_statistics_so_far(const struct fm_statistics *from, struct fm_state *state,
                                           uint64_t time)
{
    struct fm_statistics *copy = g_memdup2(from, sizeof *from);
    copy_nodes(copy, from);
    copy_paths(copy, from);
    copy_types(copy, from);
    copy->numbers = g_array_copy(from->numbers);
    copy->names = g_string_chunk_new(4096);
    copy->observer.user = copy;
    copy->root = copy->added = NULL;
    copy->added_names = NULL;
    copy->stale = true;
    fm_state_flush(state, time, &copy->observer);
    return copy;
}
