/* SPDX-License-Identifier: Apache-2.0 */
/* The first of many in an order, without ordering all of them: pages show twenty rows of a million.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Negative when a comes before b. A total order: what is equal would come in any order. */
typedef int fm_select_compare(uint32_t a, uint32_t b, void *user);

/* Puts the `wanted` items that come first in the order to the front, in order; the others follow in
 * none. O(count + count log wanted) at worst, mostly O(count). */
void fm_select_first(uint32_t *items, size_t count, size_t wanted, fm_select_compare *compare,
                     void *user);
