/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap of pointers in the caller's array, for every merge: items[0] comes first. All
 * functions are inline, so that the comparison is part of the loop. before: whether a comes
 * strictly before b; with a total order, merges are deterministic. O(log count). */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

typedef bool fm_queue_before(const void *a, const void *b);

/* Moves items[at], which may have become later in the order, down to its place. */
FM_ALWAYS_INLINE void fm_queue_sift_down(void **items, size_t count, size_t at,
                                         fm_queue_before *before)
{
    assert(at < count);
    void *moving = items[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(items[child + 1], items[child]))
            child++;
        if (!before(items[child], moving))
            break;
        items[at] = items[child];
    }
    items[at] = moving;
}

/* Moves items[at], newly added at the end, up to its place. */
FM_ALWAYS_INLINE void fm_queue_sift_up(void **items, size_t at, fm_queue_before *before)
{
    void *moving = items[at];
    for (; at > 0 && before(moving, items[(at - 1) / 2]); at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = moving;
}

/* Makes a heap of an array in any order. O(count). */
FM_ALWAYS_INLINE void fm_queue_make(void **items, size_t count, fm_queue_before *before)
{
    for (size_t i = count / 2; i-- > 0;)
        fm_queue_sift_down(items, count, i, before);
}

/* Removes and returns items[0]; decrements *count, which must be at least 1. */
FM_ALWAYS_INLINE void *fm_queue_pop(void **items, size_t *count, fm_queue_before *before)
{
    assert(*count > 0);
    void *first = items[0];
    items[0] = items[--*count];
    if (*count > 0)
        fm_queue_sift_down(items, *count, 0, before);
    return first;
}
