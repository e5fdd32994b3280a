/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions for development builds (FM_EL_CHECKS, see meson.build); otherwise they cost
 * nothing. */
#pragma once

#ifdef FM_EL_CHECKS
#include <assert.h>
#define FM_EL_ASSERT(condition) assert(condition)
#else
#define FM_EL_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif
