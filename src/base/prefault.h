/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of new arrays, asked of the kernel by a thread beside: who fills the arrays does not wait
 * until it has cleared them. What the arrays hold is not touched. Where the kernel cannot be asked
 * (Linux before 5.14) nothing is done. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fm_prefault;

struct fm_prefault *fm_prefault_new(void);
/* Large ones, not yet in memory, that are filled side by side from their beginnings. */
void fm_prefault_add(struct fm_prefault *prefault, void *array, size_t bytes);
/* One that is filled after those: asked for while nothing is left of them. */
void fm_prefault_add_later(struct fm_prefault *prefault, void *array, size_t bytes);
/* Before an array is freed or moved that was added, in whole or in parts. */
void fm_prefault_forget(struct fm_prefault *prefault, const void *array, size_t bytes);
/* Whether there is nothing left to ask for. */
bool fm_prefault_is_done(struct fm_prefault *prefault);
void fm_prefault_free(struct fm_prefault *prefault); /* NULL is allowed */
