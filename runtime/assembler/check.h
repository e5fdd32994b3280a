/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold, looked at in builds for development (FM_AS_CHECKS, see meson.build): an assembler
 * that is used leaves code as it is where it is not sure, and never ends a build. */
#pragma once

#ifdef FM_AS_CHECKS
#include <assert.h>
#define FM_AS_ASSERT(condition) assert(condition)
#else
#define FM_AS_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif
