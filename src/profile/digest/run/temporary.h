/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary blocks: freed within the function that allocated them. */
#pragma once

#include "profile/digest/hottest.h"

/* Blocks that a function allocated in one context, itself or by a wrapper of the allocator, and
 * freed there, itself or by a function that it calls and that allocates nothing. A recursion counts
 * as one function. A block may have been kept from one call of the function to a later one: calls
 * are not told apart. */
struct fm_temporary {
    uint32_t ps, clique; /* the function, and one of its contexts of that path */
    uint64_t blocks, bytes;
    uint64_t allocs;              /* all blocks that it allocated there */
    uint64_t reallocs;            /* blocks that its realloc replaced, moved or not: some or all are
                                     among the temporary ones */
    uint64_t held_ns, longest_ns; /* lifetimes of the temporary blocks; 0 = not recorded */
};

/* Most blocks first, contexts of one path together; *ret: g_free. hot: tells wrappers. O(csds +
 * flows). */
uint32_t fm_temporaries(const struct fm_analysis *a, struct fm_hot *hot, struct fm_temporary **ret);
