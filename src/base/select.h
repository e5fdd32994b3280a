/* SPDX-License-Identifier: Apache-2.0 */
/* The first N items in an order, without sorting all: pages show twenty rows of a million. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Negative when a comes before b. Use a total order, or equal items come in undefined order. */
typedef int fm_select_compare(uint32_t a, uint32_t b, void *user);

/* Moves the `wanted` items that come first to the front, sorted; the others follow in no order.
 * O(count + count log wanted) in the worst case, usually O(count). */
void fm_select_first(uint32_t *items, size_t count, size_t wanted, fm_select_compare *compare,
                     void *user);
