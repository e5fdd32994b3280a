/* SPDX-License-Identifier: Apache-2.0 */
/* Prefaults new arrays: a thread asks the kernel for their pages, so that the code that fills the
 * arrays need not wait while they are cleared. Does not change the contents. Does nothing where the
 * kernel does not support it (Linux before 5.14). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fm_prefault;

struct fm_prefault *fm_prefault_new(void);
/* Adds a large array that is filled from its beginning, side by side with others. */
void fm_prefault_add(struct fm_prefault *prefault, void *array, size_t bytes);
/* Adds an array that is filled after those: prefaulted when none of them is left. */
void fm_prefault_add_later(struct fm_prefault *prefault, void *array, size_t bytes);
/* Call before freeing or moving an array of which any part was added. */
void fm_prefault_forget(struct fm_prefault *prefault, const void *array, size_t bytes);
/* Whether nothing is left to request. */
bool fm_prefault_is_done(struct fm_prefault *prefault);
void fm_prefault_free(struct fm_prefault *prefault); /* NULL is allowed */
