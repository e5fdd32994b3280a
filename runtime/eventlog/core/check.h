/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold, looked at in builds for development (FM_EL_CHECKS, see meson.build); in a program
 * that is used it costs nothing. */
#pragma once

#ifdef FM_EL_CHECKS
#include <assert.h>
#define FM_EL_ASSERT(condition) assert(condition)
#else
#define FM_EL_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif
