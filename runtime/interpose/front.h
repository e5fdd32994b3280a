/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in front of libc's, by their names; in fully static programs by names of our own,
 * behind what the linker sends the calls to (waiting/next_static.c), which also says what `next`
 * is. */
#pragma once

#include "internal.h"

#ifdef FATHOM_STATIC
#include "../waiting/waiting.h"

#define FM_FRONT(name) fm_front_##name
#define FM_FRONT_EXPORT FM_EXPORT
/* next, next_companion: where to keep what stands behind them; NULL: nobody asks. */
#define FM_FRONT_WAY(name, companion, next, next_companion) \
    FM_STATIC_WAY(name, companion, fm_front_##name, next, next_companion)
#else
#define FM_FRONT(name) name
/* A function of the program's own with that name wins. */
#define FM_FRONT_EXPORT FM_EXPORT __attribute__((weak))
#define FM_FRONT_WAY(name, companion, next, next_companion)
/* Calls libc's dlclose directly, for libraries from which no frame is left. */
FM_HIDDEN void fm_front_dlclose_next(void *handle);
#endif
