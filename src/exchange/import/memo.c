/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/memo.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

/* Shorter texts are taken apart as fast. */
#define SHORTEST 16u
#define PLACES_FIRST (1u << 12)
/* From so many texts on more are stored only while as many come again: most writers add up their
 * samples, and an entry takes as much memory as a text. */
#define USED_ALWAYS (1u << 16)

struct place {
    const char *text; /* NULL: a free place */
    uint32_t size, hash;
    uint32_t beside, number;
};

struct fm_import_memo {
    struct place *places; /* open addressing */
    uint32_t mask, used;
    uint64_t again; /* texts that were found */
    bool full;      /* no more are stored */
};

struct fm_import_memo *fm_import_memo_new(void)
{
    struct fm_import_memo *memo = g_new0(struct fm_import_memo, 1);
    memo->mask = PLACES_FIRST - 1;
    memo->places = g_new0(struct place, PLACES_FIRST);
    return memo;
}

void fm_import_memo_free(struct fm_import_memo *memo)
{
    if (memo == NULL)
        return;
    g_free(memo->places);
    g_free(memo);
}

/* Both halves of the product, one on the other: 16 bytes a multiplication, as in wyhash. */
static uint64_t fold_product(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t fm_import_hash(uint64_t hash, const char *text, size_t size)
{
    while (size >= 2 * sizeof(uint64_t)) {
        uint64_t parts[2];
        memcpy(parts, text, sizeof parts);
        hash = fold_product(parts[0] ^ hash ^ 0xa0761d6478bd642fu, parts[1] ^ 0xe7037ed1a0b428dbu);
        text += sizeof parts;
        size -= sizeof parts;
    }
    if (size >= sizeof(uint64_t)) {
        uint64_t part;
        memcpy(&part, text, sizeof part);
        hash = fm_import_mix(hash ^ part);
        text += sizeof part;
        size -= sizeof part;
    }
    uint64_t rest = (uint64_t)size << 56;
    for (size_t i = 0; i < size; i++)
        rest |= (uint64_t)(uint8_t)text[i] << 8 * i;
    return fm_import_mix(hash ^ rest);
}

static bool grow(struct fm_import_memo *memo)
{
    uint32_t mask = memo->mask * 2 + 1;
    struct place *grown =
        mask == UINT32_MAX ? NULL : fm_memory_try_array(mask + 1u, sizeof(struct place));
    if (grown == NULL)
        return false;
    for (uint32_t i = 0; i <= memo->mask; i++) {
        uint32_t at = memo->places[i].hash;
        while (memo->places[i].text != NULL && grown[at & mask].text != NULL)
            at++;
        if (memo->places[i].text != NULL)
            grown[at & mask] = memo->places[i];
    }
    g_free(memo->places);
    memo->places = grown;
    memo->mask = mask;
    return true;
}

uint32_t *fm_import_memo_at(struct fm_import_memo *memo, const char *text, size_t size,
                            uint32_t beside)
{
    if (size < SHORTEST || size > UINT32_MAX)
        return NULL;
    uint32_t hash = (uint32_t)fm_import_hash(beside, text, size), at = hash;
    for (;; at++) {
        struct place *place = &memo->places[at & memo->mask];
        if (place->text == NULL)
            break;
        if (place->hash == hash && place->size == size && place->beside == beside &&
            memcmp(place->text, text, size) == 0) {
            memo->again++;
            return &place->number;
        }
    }
    if (memo->used >= USED_ALWAYS && memo->again < memo->used)
        return NULL;
    if (memo->used >= memo->mask / 2) {
        if (memo->full || !grow(memo)) {
            memo->full = true;
            return NULL;
        }
        for (at = hash; memo->places[at & memo->mask].text != NULL;)
            at++;
    }
    memo->used++;
    struct place *place = &memo->places[at & memo->mask];
    *place = (struct place){text, (uint32_t)size, hash, beside, 0};
    return &place->number;
}
