/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/ids.h"

#include <glib.h>

#include "exchange/import/memo.h"

#define PLACES_FIRST 64u
#define TOGETHER 4u /* ids that follow each other lie in one line of the cache */

struct place {
    uint64_t id;
    uint32_t number; /* 0 = free */
};

struct fm_import_ids {
    struct place *places; /* open addressing, at most half full */
    uint32_t mask, used;
};

struct fm_import_ids *fm_import_ids_new(void)
{
    struct fm_import_ids *ids = g_new0(struct fm_import_ids, 1);
    ids->mask = PLACES_FIRST - 1;
    ids->places = g_new0(struct place, PLACES_FIRST);
    return ids;
}

void fm_import_ids_free(struct fm_import_ids *ids)
{
    if (ids == NULL)
        return;
    g_free(ids->places);
    g_free(ids);
}

/* The place of an id, or the free one where it belongs. */
static struct place *place_of(struct place *places, uint32_t mask, uint64_t id)
{
    uint64_t at = fm_import_mix(id / TOGETHER) * TOGETHER + id % TOGETHER;
    while (places[at & mask].number != 0 && places[at & mask].id != id)
        at++;
    return &places[at & mask];
}

static void grow(struct fm_import_ids *ids)
{
    uint32_t mask = ids->mask * 2 + 1;
    struct place *grown = g_new0(struct place, (gsize)mask + 1);
    for (uint32_t i = 0; i <= ids->mask; i++) {
        if (ids->places[i].number != 0)
            *place_of(grown, mask, ids->places[i].id) = ids->places[i];
    }
    g_free(ids->places);
    ids->places = grown;
    ids->mask = mask;
}

void fm_import_ids_put(struct fm_import_ids *ids, uint64_t id, uint32_t number)
{
    g_assert(number != 0);
    if (ids->used >= ids->mask / 2)
        grow(ids);
    struct place *place = place_of(ids->places, ids->mask, id);
    ids->used += place->number == 0;
    *place = (struct place){id, number};
}

uint32_t fm_import_ids_find(const struct fm_import_ids *ids, uint64_t id)
{
    return place_of(ids->places, ids->mask, id)->number;
}

uint32_t fm_import_ids_count(const struct fm_import_ids *ids)
{
    return ids->used;
}
