/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in front of libc's, by their names; in fully static programs by names of our own,
 * behind what the linker sends the calls to (waiting/next_static.c), which also says what `next`
 * is. */
#pragma once

#ifdef FATHOM_STATIC
#include "../waiting/waiting.h"

#define FM_FRONT(name) fm_front_##name
/* next, next_companion: where to keep what stands behind them; NULL: nobody asks. */
#define FM_FRONT_WAY(name, companion, next, next_companion) \
    FM_STATIC_WAY(name, companion, fm_front_##name, next, next_companion)
#else
#define FM_FRONT(name) name
#define FM_FRONT_WAY(name, companion, next, next_companion)
#endif
