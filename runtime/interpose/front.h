/* SPDX-License-Identifier: Apache-2.0 */
/* Functions interposed before libc's, under their names; in fully static programs under other
 * names, to which the linker redirects calls (waiting/next_static.c explains it, and `next`). */
#pragma once

#include "internal.h"

#ifdef FATHOM_STATIC
#include "../waiting/waiting.h"

#define FM_FRONT(name) fm_front_##name
#define FM_FRONT_EXPORT FM_EXPORT
/* next, next_companion: where to store the next definitions; NULL: not needed. */
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
