/* SPDX-License-Identifier: Apache-2.0 */
/* Large arrays of numbers. They use huge pages if the kernel offers them, which avoids most page
 * faults of a large profile. */
#pragma once

#include <glib.h>
#include <stddef.h>

#include "base/compiler.h"

/* Allocates a zeroed array of count items, for g_free(); NULL when there is not enough memory. */
void *fm_memory_try_array(size_t count, size_t item_bytes);
/* Resizes an array without zeroing; NULL when there is not enough memory, and the old array
 * stays. */
void *fm_memory_try_resize(void *array, size_t count, size_t item_bytes);

/* The kernel clears a page at its first write, which takes about half a millisecond for a huge
 * page. A job in short steps touches the pages of a new array one by one before it accesses them at
 * random. Touching rewrites the byte at offset. No effect beyond bytes. */
#define FM_MEMORY_PAGE_BYTES ((size_t)2 << 20)
void fm_memory_touch(void *array, size_t bytes, size_t offset);
