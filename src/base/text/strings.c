/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/strings.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 * 1024)

struct entry {
    const char *string; /* NULL = empty slot */
    uint32_t hash;
    uint32_t length;
};

/* Number of slots of the old table that each new string moves. So the old table is empty long
 * before the next one is full, and no insertion waits for a whole rehash. */
#define PLACES_A_STRING 8u

/* Open addressing, at most half full; strings are in chunks that never move. */
struct fm_strings {
    struct entry *entries;
    size_t capacity, used; /* capacity is a power of two */
    struct entry *old;     /* the previous table; NULL when it has been moved completely */
    size_t old_capacity, old_moved;
    GPtrArray *chunks;
    char *chunk_at;
    size_t chunk_left, chunk_total;
};

struct fm_strings *fm_strings_new(void)
{
    struct fm_strings *strings = g_new0(struct fm_strings, 1);
    strings->capacity = 256;
    strings->entries = g_new0(struct entry, strings->capacity);
    strings->chunks = g_ptr_array_new_with_free_func(g_free);
    return strings;
}

void fm_strings_free(struct fm_strings *strings)
{
    if (!strings)
        return;
    g_free(strings->entries);
    g_free(strings->old);
    g_ptr_array_unref(strings->chunks);
    g_free(strings);
}

/* FNV-1a over words of eight bytes: names are short and keys are not secret. A hostile file can
 * only slow down its own loading. */
static uint32_t hash_bytes(const char *bytes, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u ^ length;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
        bytes += 8;
        length -= 8;
    }
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    return (uint32_t)(hash ^ hash >> 15);
}

static bool is_it(const struct entry *entry, uint32_t hash, const char *bytes, size_t length)
{
    return entry->hash == hash && entry->length == (uint32_t)length &&
           memcmp(entry->string, bytes, length) == 0 && entry->string[length] == '\0';
}

/* The entry of the string in a table, or the free slot for it. */
static struct entry *place_of(struct entry *entries, size_t capacity, uint32_t hash,
                              const char *bytes, size_t length)
{
    size_t place = hash & (capacity - 1);
    while (entries[place].string && !is_it(&entries[place], hash, bytes, length))
        place = (place + 1) & (capacity - 1);
    return &entries[place];
}

/* Moved entries stay in the old table too, so that probing past them still works. */
static void move_some(struct fm_strings *strings)
{
    size_t end = MIN(strings->old_moved + PLACES_A_STRING, strings->old_capacity);
    for (; strings->old_moved < end; strings->old_moved++) {
        const struct entry *entry = &strings->old[strings->old_moved];
        if (entry->string)
            *place_of(strings->entries, strings->capacity, entry->hash, entry->string,
                      entry->length) = *entry;
    }
    if (end == strings->old_capacity)
        g_clear_pointer(&strings->old, g_free);
}

static void grow(struct fm_strings *strings)
{
    while (strings->old)
        move_some(strings);
    strings->old = strings->entries;
    strings->old_capacity = strings->capacity;
    strings->old_moved = 0;
    strings->capacity *= 2;
    strings->entries = g_new0(struct entry, strings->capacity);
}

static char *take_room(struct fm_strings *strings, size_t bytes)
{
    if (bytes > strings->chunk_left) {
        size_t size = MAX(bytes, CHUNK_BYTES);
        char *chunk = g_malloc(size);
        g_ptr_array_add(strings->chunks, chunk);
        strings->chunk_total += size;
        if (size > CHUNK_BYTES)
            return chunk; /* a huge string has a chunk of its own; the current chunk stays current
                           */
        strings->chunk_at = chunk;
        strings->chunk_left = size;
    }
    char *room = strings->chunk_at;
    strings->chunk_at += bytes;
    strings->chunk_left -= bytes;
    return room;
}

const char *fm_strings_add_bytes(struct fm_strings *strings, const char *bytes, size_t length)
{
    if (length == 0)
        return "";
    if (strings->used * 2 >= strings->capacity)
        grow(strings);
    uint32_t hash = hash_bytes(bytes, length);
    struct entry *entry = place_of(strings->entries, strings->capacity, hash, bytes, length);
    if (entry->string)
        return entry->string;
    if (strings->old) {
        const struct entry *old =
            place_of(strings->old, strings->old_capacity, hash, bytes, length);
        if (old->string)
            return old->string;
        move_some(strings);
        entry = place_of(strings->entries, strings->capacity, hash, bytes, length);
    }
    char *copy = take_room(strings, length + 1);
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    *entry = (struct entry){.string = copy, .hash = hash, .length = (uint32_t)length};
    strings->used++;
    return copy;
}

const char *fm_strings_add(struct fm_strings *strings, const char *string)
{
    return fm_strings_add_bytes(strings, string, strlen(string));
}

size_t fm_strings_memory_bytes(const struct fm_strings *strings)
{
    size_t places = strings->capacity + (strings->old ? strings->old_capacity : 0);
    return strings->chunk_total + places * sizeof(struct entry);
}
