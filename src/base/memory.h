/* SPDX-License-Identifier: Apache-2.0 */
/* Large arrays of numbers: they live in huge pages where the kernel offers them, which saves most
 * of the page faults of a large profile. */
#pragma once

#include <glib.h>
#include <stddef.h>

#include "base/compiler.h"

/* Zeroed array of count items, g_free() it; NULL when there is not enough memory. */
void *fm_memory_try_array(size_t count, size_t item_bytes);
/* Makes an array longer (or shorter) without zeroing; NULL when there is not enough memory, the old
 * array then stays. */
void *fm_memory_try_resize(void *array, size_t count, size_t item_bytes);

/* The kernel clears a page when it is first written to, a huge one for about half a millisecond.
 * Who works in short steps touches the pages of a new array one at a time before walking over it
 * at random: writes the byte at offset back. Does nothing beyond bytes. */
#define FM_MEMORY_PAGE_BYTES ((size_t)2 << 20)
void fm_memory_touch(void *array, size_t bytes, size_t offset);
