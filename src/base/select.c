/* SPDX-License-Identifier: Apache-2.0 */
#include "base/select.h"

static void sift_down(uint32_t *items, size_t count, size_t at, fm_select_compare *compare,
                      void *user)
{
    uint32_t moving = items[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare(items[child + 1], items[child], user) > 0)
            child++;
        if (compare(items[child], moving, user) <= 0)
            break;
        items[at] = items[child];
    }
    items[at] = moving;
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

void fm_select_first(uint32_t *items, size_t count, size_t wanted, fm_select_compare *compare,
                     void *user)
{
    if (wanted > count)
        wanted = count;
    if (wanted == 0)
        return;
    /* A heap of the first items seen so far, with the last of them on top. */
    for (size_t i = wanted / 2; i-- > 0;)
        sift_down(items, wanted, i, compare, user);
    for (size_t i = wanted; i < count; i++) {
        if (compare(items[i], items[0], user) >= 0)
            continue;
        swap(&items[i], &items[0]);
        sift_down(items, wanted, 0, compare, user);
    }
    for (size_t left = wanted; left > 1;) {
        swap(&items[0], &items[--left]);
        sift_down(items, left, 0, compare, user);
    }
}
