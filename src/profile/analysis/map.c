/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/analysis/analysis_internal.h"

static size_t place_of(const struct fm_map *map, uint64_t key)
{
    uint64_t hash = key * 0x9e3779b97f4a7c15u;
    size_t place = (size_t)(hash ^ hash >> 32) & (map->capacity - 1);
    while (map->keys[place] != 0 && map->keys[place] != key)
        place = (place + 1) & (map->capacity - 1);
    return place;
}

static void grow(struct fm_map *map)
{
    struct fm_map old = *map;
    map->capacity = MAX((size_t)64, old.capacity * 2);
    map->keys = g_new0(uint64_t, map->capacity);
    map->values = g_new0(uint64_t, map->capacity);
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.keys[i] == 0)
            continue;
        size_t place = place_of(map, old.keys[i]);
        map->keys[place] = old.keys[i];
        map->values[place] = old.values[i];
    }
    fm_map_done(&old);
}

void fm_map_done(struct fm_map *map)
{
    g_free(map->keys);
    g_free(map->values);
    *map = (struct fm_map){0};
}

uint64_t *fm_map_at(struct fm_map *map, uint64_t key)
{
    if (map->used * 2 >= map->capacity)
        grow(map);
    size_t place = place_of(map, key);
    if (map->keys[place] == 0) {
        map->keys[place] = key;
        map->used++;
    }
    return &map->values[place];
}

const uint64_t *fm_map_find(const struct fm_map *map, uint64_t key)
{
    if (map->capacity == 0)
        return NULL;
    size_t place = place_of(map, key);
    return map->keys[place] == 0 ? NULL : &map->values[place];
}

int64_t *fm_sparse_at(struct fm_sparse_costs *costs, unsigned inherited, uint32_t id, uint32_t ps)
{
    uint64_t *number = fm_map_at(&costs->index, (uint64_t)id << 32 | ps);
    if (!costs->values)
        costs->values = g_array_new(FALSE, TRUE, sizeof(int64_t));
    if (*number == 0) {
        *number = costs->values->len / inherited + 1;
        g_array_set_size(costs->values, costs->values->len + inherited);
    }
    return &g_array_index(costs->values, int64_t, (*number - 1) * inherited);
}

const int64_t *fm_sparse_find(const struct fm_sparse_costs *costs, unsigned inherited, uint32_t id,
                              uint32_t ps)
{
    const uint64_t *number = fm_map_find(&costs->index, (uint64_t)id << 32 | ps);
    return number ? &g_array_index(costs->values, int64_t, (*number - 1) * inherited) : NULL;
}

void fm_sparse_done(struct fm_sparse_costs *costs)
{
    fm_map_done(&costs->index);
    g_clear_pointer(&costs->values, g_array_unref);
}
